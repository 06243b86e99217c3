"""The options of a release that keeps sums exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from discreet.arrays import Integers
from discreet.errors import BadInput, choose
from discreet.lattice.inequalities import Inequalities, inequalities_of
from discreet.lattice.invariants import Kept, Sums, kept_list
from discreet.lattice.laws import LAWS
from discreet.options import option
from discreet.ways import WaySpec


@dataclass(frozen=True)
class KeepSums(WaySpec):
    """Keep sums exactly: integer noise on the lattice that they leave free, and nothing repaired afterwards."""

    name: ClassVar[str] = "keep-sums"

    keep: tuple[Kept, ...] = option(
        (), "what stays exact: total, margin:A,B, sum:COL=VALUE or a 0/1 matrix in a file; in Python also total() ...",
        kind=list, metavar="WHAT",
    )  # fmt: skip
    law: str = option("l1", "how the noise falls off on the lattice", values=lambda: LAWS)
    nonnegative: bool = option(False, "no negative counts", kind=bool)
    inequalities: Inequalities | None = option(
        None, "(matrix, least): what the rows of the matrix must at least sum to", flag=""
    )
    per_unit: bool = option(
        False, "epsilon for every unit of distance, not for the change that the guarantee names", kind=bool
    )
    allow_diagnosed: bool = option(False, "accept a Markov chain's sample where nothing exact is known", kind=bool)

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", kept_list(self.keep))
        choose(self.law, LAWS, "law")
        self.check_types()
        if self.inequalities is not None:
            object.__setattr__(self, "inequalities", inequalities_of(self.inequalities))
        if not self.keep:
            raise BadInput("sums were to be kept", "none is named", "Keep total, margin:COLUMN or sum:COLUMN=VALUE")

    def in_order(self, given_rows: Integers) -> KeepSums:
        """Sums and inequalities of one's own are about the rows as they were given; published rows may be sorted."""
        return replace(
            self,
            keep=tuple(_sums_in_order(what, given_rows) for what in self.keep),
            inequalities=None if self.inequalities is None else self.inequalities.in_order(given_rows),
        )


def _sums_in_order(what: Kept, given_rows: Integers) -> Kept:
    if not isinstance(what, Sums) or len(what.rows[0]) != len(given_rows):
        return what
    return Sums(tuple(tuple(row[place] for place in given_rows.tolist()) for row in what.rows), what.name)
