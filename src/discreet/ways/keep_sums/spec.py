"""The options of a release that keeps sums exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, get_args

from discreet.arrays import Integers
from discreet.errors import BadInput, called, choose
from discreet.lattice.conditioning import By
from discreet.lattice.inequalities import Inequalities
from discreet.lattice.invariants import Kept, Sums, kept_list
from discreet.lattice.laws import LAWS
from discreet.lattice.orders import Limit, limits_list
from discreet.options import option, spelt_fields
from discreet.ways import WaySpec

CONDITION = f"Use {called('nonnegative_by', 'condition')}"


@spelt_fields
@dataclass(frozen=True)
class KeepSums(WaySpec):
    """Keep sums exactly, or inequalities: noise on the lattice they leave."""

    name: ClassVar[str] = "keep-sums"

    keep: tuple[Kept, ...] = option(
        (), "what stays exact: total, margin:A,B, sum:COL=VALUE or a 0/1 matrix in a file; in Python also total() ...",
        kind=list, metavar="WHAT",
    )  # fmt: skip
    law: str | None = option(
        None, "how the noise falls off on the lattice; if not given, l1 for epsilon, gaussian for rho",
        values=lambda: LAWS, usual="l1",
    )  # fmt: skip
    nonnegative: bool = option(False, "no negative counts", kind=bool)
    nonnegative_by: By | None = option(
        None, "how: project the signed table onto counts with the same kept sums, in public and free of charge, or "
        "condition the noise; project, unless there are inequalities", values=lambda: get_args(By), usual="project",
    )  # fmt: skip
    inequalities: tuple[Limit, ...] = option(
        (), "what holds in the table and must hold in the published one: order:COL=A,B,.. (the count of A is at most "
        "that of B, and so on, wherever the other keys agree), or a CSV file with a line for each: a factor for every "
        "row of the table, then the least sum; in Python also (matrix, least)", kind=list, metavar="WHAT",
    )  # fmt: skip
    per_unit: bool = option(
        False, "epsilon for every unit of distance, not for the change that the guarantee names", kind=bool
    )
    allow_diagnosed: bool = option(False, "accept a Markov chain's sample where nothing exact is known", kind=bool)

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", kept_list(self.keep))
        object.__setattr__(self, "inequalities", limits_list(self.inequalities))
        self._settle_how()
        self.check_options()
        if not self.keep and not self.inequalities:
            raise BadInput("sums were to be kept", "none is named", "Keep total, margin:COLUMN or sum:COLUMN=VALUE")

    def _settle_how(self) -> None:
        """nonnegative="condition" is short for both options; what is not said follows from the rest."""
        word: object = self.nonnegative
        if isinstance(word, str) and word in get_args(By):
            if self.nonnegative_by not in (None, word):
                found = f"{called('nonnegative_by')} is {self.nonnegative_by!r}"
                raise BadInput(f"{called('nonnegative')} was given as {word!r}", found, "Say it once")
            object.__setattr__(self, "nonnegative", True)
            object.__setattr__(self, "nonnegative_by", word)
        if self.nonnegative_by is not None:
            choose(self.nonnegative_by, get_args(By), "nonnegative_by")
            if self.nonnegative is False:
                asked = f"{called('nonnegative_by', self.nonnegative_by)} was asked for"
                raise BadInput(asked, "negative counts are allowed", f"Add {called('nonnegative')}")
        elif self.nonnegative is True:
            object.__setattr__(self, "nonnegative_by", "condition" if self.inequalities else "project")
        if self.nonnegative_by == "project" and self.inequalities:
            found = "inequalities are met by conditioning, and a projection afterwards could break them"
            raise BadInput(
                f"{called('nonnegative_by', 'project')} was asked for together with inequalities", found, CONDITION
            )

    @property
    def conditioned(self) -> bool:
        """Whether the noise itself leaves no count negative."""
        return self.nonnegative and self.nonnegative_by == "condition"

    @property
    def projected(self) -> bool:
        return self.nonnegative and self.nonnegative_by == "project"

    def in_order(self, given_rows: Integers) -> KeepSums:
        """Sums and inequalities of one's own are about the rows as they were given; published rows may be sorted."""
        return replace(
            self,
            keep=tuple(_sums_in_order(what, given_rows) for what in self.keep),
            inequalities=tuple(
                item.in_order(given_rows) if isinstance(item, Inequalities) else item for item in self.inequalities
            ),
        )


def _sums_in_order(what: Kept, given_rows: Integers) -> Kept:
    if not isinstance(what, Sums) or len(what.rows[0]) != len(given_rows):
        return what
    return Sums(tuple(tuple(row[place] for place in given_rows.tolist()) for row in what.rows), what.name)
