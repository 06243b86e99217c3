"""Proofs of privacy in integer arithmetic: a claim holds, or a witness shows where it fails."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from typing import Any, Literal

import numpy as np

from discreet.certify.profile import (
    SMALL,
    Moments,
    PrivacyCurve,
    RowPair,
    curve_of,
    delta_text,
    factors,
    judged_rows,
    least_delta,
    moments_of,
    pairs_of,
)  # fmt: skip
from discreet.certify.rows import ExactRows, exact_rows
from discreet.errors import BadInput, NotProven
from discreet.laws import NoiseLaw, least_epsilon
from discreet.mechanism import Continued, Exponents, Form, Mechanism, NoiseThenMap
from discreet.numbers import LARGEST_EPSILON, Epsilon, Number, decimal_above, log_bounds, text
from discreet.options import spelt
from discreet.privacy import Grade, Loss, loss_of
from discreet.privacy.convert import SMALLEST_DELTA
from discreet.privacy.values import Approximate, Pure, odds_only
from discreet.shown import Shown

Rows = Sequence[Sequence[int]]
LARGEST_FLOAT = Fraction(sys.float_info.max)  # shown where no float can hold a ratio


@dataclass(frozen=True, repr=False)
class Witness(Shown):
    """Where the claim fails: this output is `ratio` times as likely from `input` as from `neighbour`."""

    input: int
    neighbour: int
    output: int
    ratio: Fraction | None  # None: it cannot come from the neighbour at all
    allowed: Fraction
    delta: Fraction | None = None  # what delta would have to be, if one was claimed

    def as_json(self) -> dict[str, object]:
        return {
            "input": self.input,
            "neighbour": self.neighbour,
            "output": self.output,
            "ratio": None if self.ratio is None else for_people(self.ratio),
            "allowed": for_people(self.allowed),
            **({} if self.delta is None else {"delta": decimal_above(self.delta, 15)}),
        }


def for_people(number: Fraction) -> float:
    """For people; what no float can hold becomes the largest there is."""
    return float(min(number, LARGEST_FLOAT))


@dataclass(frozen=True, repr=False)
class Certificate(Shown):
    """The verdict on a claim of (epsilon, delta) for a mechanism; where no epsilon was claimed, what it has."""

    holds: bool | None  # None: nothing was claimed
    epsilon: Epsilon | None
    delta: Fraction
    smallest_odds: Fraction | None  # at which it would hold with this delta; None: at no epsilon
    witness: Witness | None
    grade: Grade
    least_delta: Fraction | None = None  # at this epsilon, where it was worked out
    curve: PrivacyCurve | None = None  # delta by epsilon, where it was asked for
    moments: tuple[Moments, ...] = ()  # bias and variance by true count, with the curve
    goes_on: bool = False  # whether larger counts have the noise of the last of these

    def __bool__(self) -> bool:
        return bool(self.holds)

    @property
    def smallest_epsilon(self) -> str | None:
        """At this delta; rounded up. None: there is none."""
        if self.smallest_odds is None:
            return None
        return "0" if self.smallest_odds <= 1 else decimal_above(log_bounds(self.smallest_odds)[1])

    @property
    def smallest_delta(self) -> str | None:
        """At this epsilon; rounded up. None where no epsilon was claimed."""
        return None if self.least_delta is None else delta_text(self.least_delta)

    def plot(self, path: str) -> None:
        """Draw delta by epsilon to a PNG, SVG or PDF file."""
        from discreet import plot

        if self.curve is None:
            raise BadInput("a curve was to be drawn", "it was not worked out", "Ask certify for it with curve=True")
        plot.save(plot.privacy_curve(self.curve.points), path)

    def as_json(self) -> dict[str, object]:
        return {
            "holds": self.holds,
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "delta": text(self.delta),
            "smallest_epsilon": self.smallest_epsilon,
            "smallest_delta": self.smallest_delta,
            "curve": None if self.curve is None else self.curve.as_json(),
            "witness": None if self.witness is None else self.witness.as_json(),
            "grade": self.grade,
            **({} if self.curve is None else self._profile()),
        }

    def _profile(self) -> dict[str, object]:
        assert self.curve is not None
        floor = self.curve.floor
        return {
            "delta_at_any_epsilon": "0" if floor is None else delta_text(floor.delta),
            "bias": [float(one.bias) for one in self.moments],
            "variance": [float(one.variance) for one in self.moments],
        }


@spelt
def certify(
    mechanism: Mechanism | Any,
    epsilon: Number | Epsilon | Loss | None = None,
    delta: Number = 0,
    alpha: Number | None = None,
    *,
    rho: Number | None = None,
    curve: bool = False,
) -> Certificate:
    """Prove that a mechanism, or any matrix of probabilities, is (epsilon, delta)-private for neighbouring counts.

    curve: work out delta for many epsilons, too. Then epsilon may be left out: nothing is claimed, and the certificate
    says what the mechanism has.
    """
    given = getattr(mechanism, "mechanism", mechanism)  # of a design
    if isinstance(given, (str, PathLike)):
        why = "it is the name of something, and a proof needs its probabilities"
        raise BadInput(f"{str(given)!r} was to be certified", why, "Read a file first, with dc.read_mechanism")
    judged = given if isinstance(given, Mechanism) else exact_rows(given)
    form = judged.form if isinstance(judged, Mechanism) else judged
    shown: dict[str, Any] = {}
    if curve:
        shown = {"curve": curve_of(form), "moments": moments_of(form), "goes_on": isinstance(form, Continued)}
    if curve and epsilon is None and alpha is None and rho is None:
        found = _certified(judged, odds_only(loss_of(LARGEST_EPSILON, delta=delta), "certify"))
        return replace(found, holds=None, epsilon=None, witness=None, grade=_grade(form), **shown)
    claim = odds_only(loss_of(epsilon, alpha=alpha, delta=delta, rho=rho), "certify")
    found = _certified(judged, claim)
    return replace(found, least_delta=_needed(form, claim, found), **shown)


def _needed(form: Form | ExactRows, claim: Pure | Approximate, found: Certificate) -> Fraction | None:
    """The least delta at the claimed epsilon; None for large matrices of powers, which would have to be written out."""
    if found.holds and not claim.delta:
        return Fraction(0)
    if isinstance(form, Exponents) and form.shape[0] > SMALL:
        return None
    return least_delta(form, claim.epsilon)


def _grade(form: Form | ExactRows) -> Grade:
    """How firmly delta is known."""
    return form.noise.grade if isinstance(form, NoiseThenMap) and judged_rows(form) is None else "exact"


def _certified(mechanism: Mechanism | ExactRows, claim: Pure | Approximate) -> Certificate:
    if isinstance(mechanism, ExactRows):
        return _certify_rows(mechanism, claim.epsilon, claim.delta)
    if isinstance(mechanism.form, NoiseThenMap):
        return _certify_noise(mechanism.form, claim.epsilon, claim.delta)
    if isinstance(mechanism.form, Exponents) and not claim.delta:
        return _certify_powers(mechanism.form, claim.epsilon)
    rows = judged_rows(mechanism.form)
    assert rows is not None, "a matrix has rows"
    return _certify_rows(rows, claim.epsilon, claim.delta)


def smallest_odds(mechanism: Mechanism) -> Fraction | None:
    """The smallest r with T[i, j] <= r T[k, j] for all neighbouring i, k."""
    form = mechanism.form
    if isinstance(form, Exponents):
        return form.odds ** _largest_step(form)
    rows = judged_rows(form)
    if rows is not None:
        return _worst_ratio(rows).ratio
    assert isinstance(form, NoiseThenMap)
    return form.noise.worst_odds


def _certify_rows(rows: ExactRows, epsilon: Epsilon, delta: Fraction) -> Certificate:
    if delta:
        return _certify_delta(rows, epsilon, delta)
    worst = _worst_ratio(rows)
    holds = worst.ratio is not None and epsilon.allows(worst.ratio)
    odds = None if worst.ratio is None else max(worst.ratio, Fraction(1))
    if holds:
        return Certificate(True, epsilon, delta, odds, None, "exact")
    witness = Witness(worst.input, worst.neighbour, worst.output, worst.ratio, epsilon.bounds()[0])
    return Certificate(False, epsilon, delta, odds, witness, "refuted")


def _worst_ratio(rows: ExactRows) -> Witness:
    """The largest T[i, j] / T[k, j] over neighbouring inputs i, k, found by cross-multiplication."""
    best, place = (1, 1), (0, min(1, len(rows.rows) - 1), 0)
    for i in range(len(rows.rows) - 1):
        for one, other in ((i, i + 1), (i + 1, i)):
            this, that = factors(rows.sums[other], rows.sums[one])
            for j, (a, b) in enumerate(zip(rows.rows[one], rows.rows[other])):
                if b == 0 < a:
                    return Witness(one, other, j, None, Fraction(1))
                numerator, denominator = a * this, b * that
                if numerator * best[1] > best[0] * denominator:
                    best, place = (numerator, denominator), (one, other, j)
    return Witness(*place, Fraction(*best), Fraction(1))


def _certify_delta(rows: ExactRows, epsilon: Epsilon, delta: Fraction) -> Certificate:
    odds: Fraction | None = Fraction(1)
    worst: tuple[Fraction, RowPair] | None = None
    for pair in pairs_of(rows):
        needed = pair.odds_for(delta)
        odds = None if odds is None or needed is None else max(odds, needed)
        if needed is None or not epsilon.allows(needed):
            excess = pair.excess(epsilon)
            worst = (excess, pair) if worst is None or excess > worst[0] else worst
    if worst is None:
        return Certificate(True, epsilon, delta, odds, None, "exact")
    return Certificate(False, epsilon, delta, odds, _delta_witness(worst[1], epsilon, worst[0]), "refuted")


def _delta_witness(pair: RowPair, epsilon: Epsilon, excess: Fraction) -> Witness:
    allowed = epsilon.bounds()[0]
    output = max(range(len(pair.one)), key=lambda j: pair.one[j] - allowed * pair.other[j])
    ratio = Fraction(pair.one[output], pair.other[output]) if pair.other[output] else None
    return Witness(pair.input, pair.neighbour, output, ratio, allowed, excess)


def _largest_step(form: Exponents) -> int:
    return int(np.abs(np.diff(form.powers, axis=0)).max(initial=0))


def _certify_powers(form: Exponents, epsilon: Epsilon) -> Certificate:
    """Rows share their normaliser, so ratios are powers of the odds: compare exponents."""
    odds = form.odds ** _largest_step(form)
    if epsilon.allows(odds):
        return Certificate(True, epsilon, Fraction(0), odds, None, "exact")
    steps = np.diff(form.powers, axis=0)
    i, j = (int(k) for k in np.unravel_index(np.abs(steps).argmax(), steps.shape))
    pair = (i, i + 1) if steps[i, j] > 0 else (i + 1, i)
    return Certificate(False, epsilon, Fraction(0), odds, Witness(*pair, j, odds, epsilon.bounds()[0]), "refuted")


def _certify_noise(form: NoiseThenMap, epsilon: Epsilon, delta: Fraction) -> Certificate:
    """By the noise alone; where that does not do, what clamping and mapping leave of it may."""
    noise = form.noise
    worst = noise.worst_odds
    if worst is not None and not delta and epsilon.allows(worst):
        return Certificate(True, epsilon, delta, worst, None, "exact")
    rows = judged_rows(form)
    if rows is not None:
        return _certify_rows(rows, epsilon, delta)
    needed, odds = noise.delta(epsilon), _noise_odds(noise, delta)
    if needed <= delta:
        enough = epsilon.bounds()[1]  # the search for the least odds ends a little above them
        return Certificate(True, epsilon, delta, None if odds is None else min(odds, enough), None, noise.grade)
    lacking = needed if delta or worst is None else None
    witness = Witness(0, 1, 0, worst, epsilon.bounds()[0], lacking)
    return Certificate(False, epsilon, delta, odds, witness, "refuted")


def _noise_odds(noise: NoiseLaw, delta: Fraction) -> Fraction | None:
    """Odds at which the noise is private with this delta: the smallest, or where that takes no delta its worst ones."""
    largest = Epsilon(value=Fraction(LARGEST_EPSILON))
    if not SMALLEST_DELTA <= delta < 1 or noise.delta(largest) > delta:
        return noise.worst_odds
    return Epsilon(value=least_epsilon(noise, delta)).bounds()[1]


def underivable(rows: Rows, odds: Fraction) -> Witness | None:
    """None if the mechanism is a map of the geometric one; else where the test of Gupte and Sundararajan fails.

    With a = 1/odds, every T[j, i] - a T[j-1, i] >= a (T[j+1, i] - a T[j, i]), and the ends fall by a at most.
    """
    p, q = odds.numerator, odds.denominator
    last = len(rows) - 1
    for i in range(len(rows[0])):
        column = [row[i] for row in rows]
        for j in range(last + 1):
            before, after = column[j - 1] if j else 0, column[j + 1] if j < last else 0
            if 0 < j < last:
                fails = p * p * column[j] - p * q * before < p * q * after - q * q * column[j]
            else:
                fails = p * column[j] < q * (after + before)
            if fails:
                ratio = Fraction(max(before, after), column[j]) if column[j] else None
                return Witness(j, j + 1 if j < last else j - 1, i, ratio, odds)
    return None


@dataclass(frozen=True)
class Proof:
    """The verdict on the mechanism of the rows, in the terms of one unit in one row."""

    epsilon: str
    delta: str
    smallest_epsilon: str | None
    grade: Grade
    holds: Literal[True] = True


def _lacking(mechanism: Mechanism, claim: Pure | Approximate, found: Certificate) -> str:
    """What would do: more epsilon, or at this epsilon more delta."""
    delta = _needed(mechanism.form, claim, found)
    more = "" if delta is None else f"a delta of {delta_text(delta)}"
    return " or ".join(part for part in (found.smallest_epsilon and f"epsilon {found.smallest_epsilon}", more) if part)


def proof_of(mechanism: Mechanism, claim: Pure | Approximate) -> Proof:
    """That the mechanism loses no more than this when one count changes by one; or an error with a witness."""
    found = _certified(mechanism, claim)
    if not found.holds:
        lacking = f"the mechanism does not meet it: it would need {_lacking(mechanism, claim, found)}"
        raise NotProven(f"{claim} was asked for", lacking, witness=found.witness)
    return Proof(str(found.epsilon), text(found.delta), found.smallest_epsilon, found.grade)
