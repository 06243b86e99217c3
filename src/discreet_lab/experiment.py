"""A published experiment: claims as printed, our values beside them, a verdict, and a control that must fail."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

REPRODUCED, DIFFERS, NOT_PUBLIC, FAILED = "reproduced", "differs with reason", "data not public", "failed"
PAPERS = {
    "000": "Kohli and Laskowski: fixed-point count mechanisms",
    "001": "Sadeghi, Asoodeh and Calmon: mechanisms for count queries",
    "002": "Dharangutte, Gao, Gong and Yu: integer subspace differential privacy",
    "003": "Gong and Meng: congenial differential privacy under mandated disclosure",
    "004": "Cormode, Kulkarni and Srivastava: constrained private mechanisms for count data",
}


@dataclass(frozen=True)
class RunSetting:
    """How to run: quickly or in full, with which folder of real data, from which seed."""

    quick: bool = True
    data: Path | None = None
    seed: int = 0

    def repeats(self, full: int, quick: int) -> int:
        return quick if self.quick else full


@dataclass(frozen=True)
class Claim:
    """One thing the paper says, and what we find. `why` explains a difference; without it that is a failure."""

    what: str
    published: str
    ours: str
    holds: bool
    why: str = ""


def printed(what: str, published: str, ours: float, within: float | None = None, why: str = "") -> Claim:
    """A number as printed: ours must round to it, or lie `within` so far of it where simulation blurs it."""
    allowed = 0.5 * 10.0 ** _exponent(published) * (1 + 1e-9) if within is None else within
    holds = math.isfinite(ours) and abs(ours - float(published)) <= allowed
    shown = published if within is None else f"{published} ± {within:g}"
    return Claim(what, shown, _rounded(ours, published), bool(holds), "" if holds else why)


def stated(what: str, published: str, ours: str, holds: bool, why: str = "") -> Claim:
    """Something said in words: a shape, an order, an equality."""
    return Claim(what, published, ours, bool(holds), "" if holds else why)


@dataclass(frozen=True)
class Control:
    """The same claims on something deliberately wrong. At least one of them must fail, or the check checks nothing."""

    what: str
    claims: tuple[Claim, ...]

    @property
    def caught(self) -> bool:
        return any(not claim.holds for claim in self.claims)


@dataclass(frozen=True)
class Data:
    """Where the numbers came from. `stand_in` says why they are not the paper's own, if they are not."""

    source: str
    stand_in: str = ""
    obtainable: bool = True


@dataclass(frozen=True)
class Result:
    """What running an experiment gives."""

    claims: tuple[Claim, ...]
    control: Control
    improvement: str
    data: tuple[Data, ...] = ()
    note: str = ""
    draw: Callable[[], Any] | None = field(default=None, compare=False)

    @property
    def stand_ins(self) -> tuple[Data, ...]:
        return tuple(data for data in self.data if data.stand_in)

    @property
    def verdict(self) -> str:
        """A stand-in is never 'reproduced'; an unexplained difference, or a control that passes, is a failure."""
        if not self.control.caught:
            return FAILED
        if any(not data.obtainable for data in self.stand_ins):
            return NOT_PUBLIC
        if self.stand_ins:
            return DIFFERS
        if all(claim.holds for claim in self.claims):
            return REPRODUCED
        return DIFFERS if all(claim.holds or claim.why for claim in self.claims) else FAILED

    @property
    def reasons(self) -> str:
        """Why the verdict is not plain 'reproduced', and what else should be known."""
        parts = [f"Stand-in for {data.source}: {data.stand_in}." for data in self.stand_ins]
        parts += [f"{claim.what}: {claim.why}." for claim in self.claims if not claim.holds and claim.why]
        if not self.stand_ins:
            unexplained = [claim.what for claim in self.claims if not claim.holds and not claim.why]
            parts += [f"Unexplained: {what}." for what in unexplained]
        if not self.control.caught:
            parts.append(f"The control passed: {self.control.what}.")
        return " ".join([*parts, self.note]).strip()


@dataclass(frozen=True)
class Experiment:
    """A published figure, table or example, and the function that repeats it."""

    name: str
    what: str
    run: Callable[[RunSetting], Result] = field(compare=False)

    @property
    def paper(self) -> str:
        return PAPERS[self.name[:3]]


def _exponent(published: str) -> int:
    exponent = Decimal(published).as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent


def _rounded(ours: float, published: str) -> str:
    """One digit more than was printed."""
    if not math.isfinite(ours):
        return str(ours)
    if "e" in published.lower():
        return f"{ours:.2e}"
    if float(ours).is_integer() and _exponent(published) >= 0:
        return f"{ours:.0f}"
    return f"{ours:.{max(0, 1 - _exponent(published))}f}"
