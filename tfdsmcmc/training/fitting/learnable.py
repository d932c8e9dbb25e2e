"""What a model says of itself to the parts that fit, save and load it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import keras
    from numpy.typing import ArrayLike

    from tfdsmcmc.rows.context import Context
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.supports import Support
    from tfdsmcmc.training.run import Run


class Learnable(Protocol):
    """A model with variables θ, and φ beside them, that learns from rows.

    Attributes:
      run: `Run`, or None before `compile`. It stands on the model, where TensorFlow's checkpoints find it.
      drawn: how often draws were made without a seed.
      optimizer: of what learns beside θ, or None; Keras saves it.
    """

    run: Run | None
    drawn: int
    optimizer: keras.Optimizer | None

    @property
    def seed(self) -> int: ...

    @property
    def units(self) -> int: ...

    @property
    def support(self) -> Support: ...

    @property
    def context(self) -> Context | None: ...

    @property
    def takes_gaps(self) -> bool: ...

    @property
    def theta_variables(self) -> list[keras.Variable]: ...

    @property
    def phi_variables(self) -> list[keras.Variable]: ...

    @property
    def weights(self) -> Sequence[keras.Variable]:
        """All variables of the model, whether or not they learn."""

    def source(
        self, name: str, x: RowsLike, mask: ArrayLike | None = None, num_rows: int | None = None,
        gaps_are_filled: bool = False,
    ) -> Source:  # fmt: skip
        """The rows that a user passes as a source, checked."""

    def check_rows(self, rows: Rows | Source) -> Any:
        """Raises a ValueError for rows that the model cannot learn from."""
