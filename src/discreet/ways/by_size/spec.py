"""The options of a release in which every row has a largest count of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.errors import BadInput, called, choose
from discreet.laws import calibrated_laws
from discreet.options import option, spelt_fields
from discreet.ways import WaySpec
from discreet.ways.row_by_row.spec import BOUNDED, LAWS, MATRICES


def names() -> tuple[str, ...]:
    """The mechanisms over the counts from 0 to a largest one."""
    return (*calibrated_laws(), *MATRICES)


@spelt_fields
@dataclass(frozen=True)
class BySize(WaySpec):
    """Every row by itself, through a mechanism for the size of its own group: a group of 4 is never published as 5."""

    name: ClassVar[str] = "by-size"

    max_count: str = option(
        "", "the public key column with the size of every group, larger counts are treated as it", metavar="COLUMN"
    )
    mechanism: Any = option(
        None,
        "a name; or for every size a design, a mechanism or a matrix, certified before use; if not given, geometric "
        "for epsilon, discrete-gaussian for rho",
        values=lambda: (*(law for law in LAWS if law != BOUNDED), *MATRICES),
        open=True,
        usual="geometric",
    )

    def __post_init__(self) -> None:
        if not isinstance(self.max_count, str) or not self.max_count:
            found = f"{called('max_count')} is {self.max_count!r}"
            raise BadInput("groups of their own sizes were asked for", found, "Name the key column with their sizes")
        if isinstance(self.mechanism, str):
            choose(self.mechanism, names(), "mechanism for groups of their own sizes")
        elif not isinstance(self.mechanism, (Mapping, type(None))):
            found = "one mechanism fits one size"
            raise BadInput("a mechanism of your own was given", found, "Give a mapping: {size: mechanism, ...}")
