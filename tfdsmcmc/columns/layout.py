"""Where the entries and the parameters of columns stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc._common.concatenating import in_order
from tfdsmcmc.columns.base import Kind
from tfdsmcmc.supports import SideBySide


class Group(NamedTuple):
    """Columns of one likeness.

    Attributes:
      kind: of the first of them, by whose equations all are computed.
      columns: their numbers, (C,).
      entries: the entries of each in a row, (C, entries).
      first: the first of their parameters, which stand together, column by column.
    """

    kind: Kind
    columns: np.ndarray
    entries: np.ndarray
    first: int

    @property
    def size(self) -> int:
        """The parameters of all of them."""
        return len(self.columns) * self.kind.parameters


class Layout:
    """Columns in the order of a table, gathered in groups.

    Args:
      kinds: list of `Kind`, at least one.

    Attributes:
      kinds: the list.
      groups: list of `Group`.
      units: D, entries of a row.
      parameters: P, of a row; the groups' one after the other.
      owners: (D,), the column of each entry.
      parameter_owners: (P,), the column of each parameter.
      support: `supports.SideBySide`.

    Raises:
      ValueError: for no list of kinds.
    """

    def __init__(self, kinds: Sequence[Kind]):
        if not isinstance(kinds, (list, tuple)) or not kinds or not all(isinstance(kind, Kind) for kind in kinds):
            raise ValueError(f"columns must be a list of kinds of columns, at least one. Received: columns={kinds!r}")
        self.kinds: list[Kind] = list(kinds)
        widths = [kind.entries for kind in self.kinds]
        ends = np.cumsum(widths)
        self.units: int = int(ends[-1])
        self.owners: np.ndarray = np.repeat(np.arange(len(widths)), widths)
        self.first_entries: np.ndarray = ends - widths
        self.groups: list[Group] = []
        first, likenesses = 0, [kind.likeness for kind in self.kinds]
        for likeness in dict.fromkeys(likenesses):
            columns = np.array([i for i, own in enumerate(likenesses) if own == likeness])
            kind = self.kinds[columns[0]]
            entries = self.first_entries[columns][:, np.newaxis] + np.arange(kind.entries)
            self.groups.append(Group(kind, columns, entries, first))
            first += self.groups[-1].size
        self.parameters: int = first
        owners = [np.repeat(group.columns, group.kind.parameters) for group in self.groups]
        self.parameter_owners: np.ndarray = np.concatenate(owners)
        self._entries_back = np.argsort(np.concatenate([group.entries.ravel() for group in self.groups]))
        self._columns_back = np.argsort(np.concatenate([group.columns for group in self.groups]))
        self.support: SideBySide = SideBySide(
            [
                (group.kind.support_of([self.kinds[i] for i in group.columns]), group.entries.ravel().tolist())
                for group in self.groups
            ]
        )

    def place_of(self, column: int) -> tuple[int, int]:
        """(the number of its group, its place among the columns of that)."""
        for number, group in enumerate(self.groups):
            if column in group.columns:
                return number, int(np.flatnonzero(group.columns == column)[0])
        raise ValueError(f"column must be one of {len(self.kinds)}. Received: column={column}")

    def values_of(self, group: Group, rows: tf.Tensor) -> tf.Tensor:
        """The entries of a group, (…, C, entries), of rows (…, D)."""
        return tf.gather(rows, group.entries, axis=-1)

    def parameters_of(self, group: Group, parameters: tf.Tensor) -> tf.Tensor:
        """The parameters of a group, (…, C, parameters), of those of rows (…, P)."""
        part = parameters[..., group.first : group.first + group.size]
        return tf.reshape(part, tf.concat([tf.shape(part)[:-1], [len(group.columns), group.kind.parameters]], 0))

    def rows(self, parts: Sequence[tf.Tensor]) -> tf.Tensor:
        """Rows (…, D) of the entries of all groups, (…, C, entries) each."""
        return in_order([_joined(part) for part in parts], self._entries_back)

    def by_column(self, parts: Sequence[tf.Tensor]) -> tf.Tensor:
        """(…, number of columns) in the order of the table, of what each group has of its own, (…, C)."""
        return parts[0] if len(parts) == 1 else tf.gather(tf.concat(parts, -1), self._columns_back, axis=-1)

    def observed_columns(self, observed: tf.Tensor) -> tf.Tensor:
        """Which columns are observed as a whole, (…, number of columns), of which entries are, (…, D)."""
        observed = tf.cast(observed, tf.bool)
        return self.by_column([tf.reduce_all(self.values_of(group, observed), -1) for group in self.groups])


def _joined(part):
    """The last two axes as one."""
    width = part.shape[-1] * part.shape[-2]
    return tf.reshape(part, tf.concat([tf.shape(part)[:-2], [width]], 0))
