"""The options of a release in which every column of counts has its own share of the budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.errors import BadInput, called, choose
from discreet.laws import calibrated_laws
from discreet.numbers import whole
from discreet.options import option, spelt_fields
from discreet.ways import WaySpec
from discreet.ways.keep_distribution.spec import KeepDistribution, count_or_word
from discreet.ways.row_by_row.spec import BOUNDED, LAWS, MATRICES, SIGNED, RowByRow


def names() -> tuple[str, ...]:
    """The mechanisms that can be calibrated to any share."""
    return (*calibrated_laws(), SIGNED, *MATRICES)


@spelt_fields
@dataclass(frozen=True)
class ByShare(WaySpec):
    """Every row by itself, with noise for the share of its column (--count births@3/4,deaths@1/4)."""

    name: ClassVar[str] = "by-share"

    mechanism: str | None = option(
        None, "a name; if not given, geometric for epsilon, discrete-gaussian for rho",
        values=lambda: (*(law for law in LAWS if law != BOUNDED), SIGNED, *MATRICES), open=True, usual="geometric",
    )  # fmt: skip
    max_count: int | None = option(None, "the largest count, larger ones are treated as it", read=count_or_word)

    def __post_init__(self) -> None:
        if self.mechanism is not None:
            choose(self.mechanism, names(), "mechanism for columns with shares of their own")
        if self.max_count is not None:
            object.__setattr__(self, "max_count", whole(self.max_count, "max_count", 1))


def for_shares(spec: WaySpec) -> WaySpec:
    """What was asked of a release, where columns of counts have shares of their own."""
    if isinstance(spec, ByShare):
        return spec
    if spec in (KeepDistribution(), KeepDistribution(favor="balance")):
        return ByShare()
    if spec == KeepDistribution(signed=True):
        return ByShare(SIGNED)
    if isinstance(spec, RowByRow) and not spec.own and not spec.bounded:
        return ByShare(spec.mechanism, spec.max_count)
    found = "what was asked of the release is about all counts together"
    own = f"signed, or a mechanism by name with its {called('max_count')}"
    do = f"Leave the shares out, or have every row drawn by itself: {own}"
    raise BadInput("columns of counts were given shares of their own", found, do)
