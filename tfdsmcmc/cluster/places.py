"""What the tasks of a call share: a worker opens it at its first task, and keeps it, with its programs, for the others.

Rows that have a name are opened where the work is. Rows in memory travel, each task's own with the task.
"""

from __future__ import annotations

import pathlib
import secrets
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from tfdsmcmc.cluster.checking import check_function, made
from tfdsmcmc.posterior import load
from tfdsmcmc.rows import Shard

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.source import RandomAccessSource

_SEED = 0  # of the models that workers make, whose weights are those of the samples
_own = threading.local()  # of a thread: the place of a call, since two threads do not share a model


class Place(NamedTuple):
    """What a worker has opened.

    Attributes:
      model: of the samples' architecture.
      posterior: `Posterior`; None where each task brings what it needs of it.
      source: of all rows; None where each task brings its own.
    """

    model: Any
    posterior: Posterior | None
    source: RandomAccessSource | None


class Call(NamedTuple):
    """What every task of a call carries.

    Attributes:
      token: a text that tells this call from others.
      make_model: function of a seed.
      posterior: a folder, or a `Posterior`; None where each task brings what it needs of it.
      rows: what `read` takes; None where each task brings its own.
      read: function from a model and rows to their source.
    """

    token: str
    make_model: Callable[[int], Any]
    posterior: Posterior | FilePath | None
    rows: RowsLike | str | None
    read: Callable[[Any, Any], RandomAccessSource]

    def here(self) -> Place:
        """The place of this thread, opened where it is not."""
        if getattr(_own, "token", None) != self.token:
            forget()
            model = made(self.make_model, _SEED)
            posterior = self.posterior
            if not (posterior is None or hasattr(posterior, "samples")):
                posterior = load(posterior)
            source = None if self.rows is None else self.read(model, self.rows)
            _own.token, _own.place = self.token, Place(model, posterior, source)
        return _own.place

    def shard_here(self, rows: tuple[int, int] | Shard) -> Shard:
        """The rows of a task, of what `shards` has made of them."""
        return rows if isinstance(rows, Shard) else Shard(self.here().source, *rows)


def called(
    make_model: Callable[[int], Any],
    posterior: Posterior | FilePath,
    rows: RowsLike | str,
    read: Callable[[Any, Any], RandomAccessSource],
) -> tuple[Call, Place]:
    """The `Call` of some arguments, and its place here, with all rows.

    Raises:
      ValueError: for a `make_model` that is no function of a seed or makes no model, or no posterior.
    """
    check_function(make_model)
    if posterior is None:  # of which each task would have the fresh weights of its model
        raise ValueError("posterior is a folder of samples, or a Posterior. Received: posterior=None")
    call = Call(secrets.token_hex(8), make_model, posterior, rows, read)
    return call, call.here()


def shards(call: Call, limits: list[tuple[int, int]]) -> tuple[Call, list[tuple[int, int] | Shard]]:
    """The call and the rows of its tasks as they travel: numbers of rows that have a name, or the rows themselves.

    Args:
      call: whose place is open here.
      limits: list of (first, last), of the rows of each task.
    """
    if isinstance(call.rows, (str, pathlib.Path)):
        return call, list(limits)
    source = call.here().source
    return call._replace(rows=None), [Shard(source, first, last) for first, last in limits]


def forget() -> None:
    """Lets go of what this thread has opened."""
    _own.__dict__.clear()
