"""A table of counts: the public schema apart from the secret counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn

import numpy as np

from discreet.arrays import FrameT, Integers
from discreet.errors import BadInput, did_you_mean
from discreet.shown import Shown

if TYPE_CHECKING:
    from discreet.io.coded import KeyColumn

Order = Literal["sorted", "as-given"]  # by the keys; or as it came, which was declared public


@dataclass(frozen=True)
class Schema:
    """What everybody may know: which rows there are, and what their columns are called."""

    keys: tuple[str, ...]
    count: str
    rows: int
    categories: Any = field(repr=False, compare=False)  # the key columns, as an Arrow table, in published order
    kind: str = "pyarrow"  # the frame that came in, and that goes out
    contributions: int = 1  # in how many rows one person may be counted
    order: Order = "sorted"
    rows_are_disjoint: bool = False  # the user's word, where keys seem to mean a total
    dropped_totals: int = 0  # rows that were left out because their keys mean a total
    suppressed_as: int | None = (
        None  # counts up to this were suppressed before, by a public rule, and are taken as this
    )
    shares: tuple[tuple[str, Fraction], ...] = ()  # of several columns of counts: the part of the budget of each
    notes: tuple[int, ...] = field(default=(), compare=False)  # rows of the file that were left out as notes

    @property
    def key_columns(self) -> dict[str, KeyColumn]:
        """The key columns by their names, without a Python value for every row."""
        from discreet.io.coded import key_columns

        return key_columns(self.categories, self.keys)

    def column(self, name: str) -> list[Any]:
        """The values of one key column, row by row."""
        if name not in self.keys:
            raise BadInput(f"the key column {name!r} was asked for", "there is none", did_you_mean(name, self.keys))
        values: list[Any] = self.categories.column(name).to_pylist()
        return values


LARGEST_TOTAL = 1 << 62  # of all counts together: no sum of some of them leaves 64 bits, and noise has room beside it


def refuse_large(counts: Integers, parts: int = 1) -> None:
    """Refuse counts whose sum a machine word does not hold: it would come out wrong, and be published so. Of a table in
    parts each may have its share: nobody tells how large the others are."""
    most = LARGEST_TOTAL // parts
    near = float(counts.sum(dtype=np.float64))  # to a few parts in 10^16 times the number of rows: far below a half
    if near > most / 2 and sum(counts.tolist()) > most:
        share = "2^62" if parts == 1 else f"2^62 / {parts}, its share of {parts} parts"
        raise BadInput(
            "a table of counts was given", f"its counts add up to more than {share}", "Count in larger units"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Table(Shown, Generic[FrameT]):
    """A schema and its counts. The counts are secret: they are shown nowhere."""

    schema: Schema
    counts: Integers
    given_rows: Integers | None = None  # of each row, where it stood; None: in place

    def __post_init__(self) -> None:
        refuse_large(self.counts)
        self.counts.flags.writeable = False

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        """Secret counts are not written anywhere by the way, as caches and other processes would have it."""
        found = "its counts are secret, and a pickle would hold them"
        raise BadInput("a table was to be pickled", found, "Make it anew where it is needed, or pickle the release")

    def __copy__(self) -> Table[FrameT]:
        return self  # it does not change

    def __deepcopy__(self, _memo: Any) -> Table[FrameT]:
        return self

    def __len__(self) -> int:
        return self.schema.rows

    def histogram(self, max_count: int) -> Integers:
        """How many rows have each count 0..max_count; larger counts are treated as max_count."""
        return np.bincount(np.minimum(self.counts, max_count), minlength=max_count + 1)
