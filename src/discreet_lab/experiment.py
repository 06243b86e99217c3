"""A published experiment: claims as printed, our values beside them, a verdict, and for every claim a control that
must fail it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from discreet.arrays import Floats

REPRODUCED, DIFFERS, NOT_PUBLIC, FAILED = "reproduced", "differs with reason", "data not public", "failed"
SAME_ORDER, NOT_RESOLVED = "same order", "not resolved"
ORDER = 4.0  # 'about 10,000' off a logarithmic axis: within this factor, either way, it is of the same order
RESAMPLES = 400  # sets of runs drawn again from ours: their spread is known to 4%
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
    """One thing the paper says, and what we find. `why` explains a difference; without it that is a failure.

    `only` says that it holds in a weaker sense: of the same order, or that the margin is wider than the number.
    """

    what: str
    published: str
    ours: str
    holds: bool
    why: str = ""
    only: str = ""


def printed(what: str, published: str, ours: float, within: float | None = None, why: str = "") -> Claim:
    """A number as printed: ours must round to it, or lie `within` so far of it where simulation blurs it.

    A margin as wide as the number itself resolves nothing.
    """
    allowed = 0.5 * 10.0 ** _exponent(published) * (1 + 1e-9) if within is None else within
    holds = math.isfinite(ours) and abs(ours - float(published)) <= allowed
    shown = published if within is None else f"{published} ± {within:g}"
    only = NOT_RESOLVED if holds and within is not None and within >= abs(float(published)) else ""
    return Claim(what, shown, _rounded(ours, published), bool(holds), "" if holds else why, only)


def of_order(what: str, published: int, ours: float, unit: str, why: str = "") -> Claim:
    """A number that the paper gives as 'about': ours must be of the same order, which is a verdict of its own."""
    holds = published / ORDER <= ours <= published * ORDER
    only = SAME_ORDER if holds else ""
    return Claim(what, f"about {published:,} {unit}", f"{ours:,.0f}", holds, "" if holds else why, only)


def simulated(
    what: str, published: str, runs: Floats, statistic: Callable[[Floats], float], theirs: int, why: str = ""
) -> Claim:
    """A number that the paper has as the mean of `theirs` runs; ours from many runs, a row each.

    Ours is what that many of our runs show on average, and how far that varies from one set of runs to the next is
    the margin: three standard deviations, and the rounding.
    """
    rng = np.random.default_rng(0)
    samples = [statistic(runs[rng.integers(0, len(runs), theirs)].mean(axis=0)) for _ in range(RESAMPLES)]
    blur = math.sqrt(1 + theirs / len(runs)) * float(np.std(samples))
    return printed(
        what, published, float(np.mean(samples)), _two_digits(3 * blur + 0.5 * 10.0 ** _exponent(published)), why
    )


def stated(what: str, published: str, ours: str, holds: bool, why: str = "") -> Claim:
    """Something said in words: a shape, an order, an equality."""
    return Claim(what, published, ours, bool(holds), "" if holds else why)


@dataclass(frozen=True)
class Control:
    """Claims on something deliberately wrong, which must fail those that it is there for."""

    what: str
    claims: tuple[Claim, ...]

    @property
    def catches(self) -> frozenset[str]:
        """The claims that fail here."""
        return frozenset(claim.what for claim in self.claims if not claim.holds)


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
    controls: tuple[Control, ...]
    improvement: str
    data: tuple[Data, ...] = ()
    note: str = ""
    draw: Callable[[], Any] | None = field(default=None, compare=False)

    @property
    def stand_ins(self) -> tuple[Data, ...]:
        return tuple(data for data in self.data if data.stand_in)

    @property
    def unfalsified(self) -> tuple[str, ...]:
        """Claims that we say hold, and that no control fails: a check of them checks nothing."""
        caught = frozenset[str]().union(*(control.catches for control in self.controls))
        asserted = [claim.what for claim in self.claims if claim.holds and claim.only != NOT_RESOLVED]
        return tuple(what for what in asserted if what not in caught)

    @property
    def idle(self) -> tuple[str, ...]:
        """Controls that fail nothing."""
        return tuple(control.what for control in self.controls if not control.catches)

    @property
    def verdict(self) -> str:
        """A stand-in is never 'reproduced'; an unexplained difference, or a claim that cannot fail, is a failure."""
        if self.unfalsified or self.idle:
            return FAILED
        if any(not data.obtainable for data in self.stand_ins):
            return NOT_PUBLIC
        if self.stand_ins:
            return DIFFERS
        if not all(claim.holds or claim.why for claim in self.claims):
            return FAILED
        if not all(claim.holds for claim in self.claims):
            return DIFFERS
        weaker = {claim.only for claim in self.claims}
        return next((verdict for verdict in (NOT_RESOLVED, SAME_ORDER) if verdict in weaker), REPRODUCED)

    @property
    def reasons(self) -> str:
        """Why the verdict is not plain 'reproduced', and what else should be known."""
        parts = [f"Stand-in for {data.source}: {data.stand_in}." for data in self.stand_ins]
        parts += [f"{claim.what}: {claim.why}." for claim in self.claims if not claim.holds and claim.why]
        if not self.stand_ins:
            unexplained = [claim.what for claim in self.claims if not claim.holds and not claim.why]
            parts += [f"Unexplained: {what}." for what in unexplained]
        parts += [f"No control fails it: {what}." for what in self.unfalsified]
        parts += [f"The control passed: {what}." for what in self.idle]
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


def _two_digits(margin: float) -> float:
    """Rounded up: what is shown is what is allowed."""
    digits = 1 - math.floor(math.log10(margin))
    return float(math.ceil(margin * 10**digits) / 10**digits)


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
