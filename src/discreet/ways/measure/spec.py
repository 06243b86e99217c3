"""The options of a release that measures margins at several levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.errors import BadInput
from discreet.lattice.invariants import Kept, kept_list
from discreet.levels.asked import AUTO, Asked, Auto, asked_list, with_shares
from discreet.options import listed, option, spelt_fields
from discreet.ways import WaySpec


def names_of(given: Any) -> tuple[str, ...]:
    """Names of columns: several, or one, or several in one word with commas."""
    words = given.split(",") if isinstance(given, str) else listed(given)
    if not all(isinstance(word, str) for word in words):
        raise BadInput("levels were asked for", "they are not names of columns", "Give names, coarse ones first")
    return tuple(word.strip() for word in words if word.strip())


@spelt_fields
@dataclass(frozen=True)
class Measure(WaySpec):
    """Measure margins at several levels, and combine them into one table that is best at all of them."""

    name: ClassVar[str] = "measure"

    measure: tuple[Asked, ...] | Auto = option(
        AUTO, "what to measure: total, margin:A,B, cells, each with an optional share (margin:state@1/4); or auto: all "
        "levels, all margins up to two ways, and the cells where these are no more", kind=list, metavar="WHAT",
    )  # fmt: skip
    levels: tuple[str, ...] = option(
        (), "nested columns, coarse to fine: state,county,precinct; found by themselves where rows are not all "
        "combinations", read=names_of, metavar="A,B,..",
    )  # fmt: skip
    shares: Any = option(None, "parts of the budget by question, which add up to 1, or auto", flag="")
    keep: tuple[Kept, ...] = option(
        (), "what stays exact: total, margin:A,B; it is published, and not measured", kind=list, metavar="WHAT",
    )  # fmt: skip

    def __post_init__(self) -> None:
        asked = with_shares(asked_list(self.measure), self.shares)
        object.__setattr__(self, "measure", asked)
        object.__setattr__(self, "shares", None)  # they stand beside the questions now
        object.__setattr__(self, "levels", names_of(self.levels))
        object.__setattr__(self, "keep", kept_list(self.keep))
        self.check_options()
