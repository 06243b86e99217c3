"""Proofs of privacy in integer arithmetic: a claim holds, or a witness shows where it fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.certify.rows import ExactRows, exact_rows
from discreet.guarantee import Grade, gaussian_delta
from discreet.mechanism import Exponents, Mechanism, NoiseThenMap, Weights
from discreet.numbers import Epsilon, Number, decimal_above, epsilon_of, log_bounds, probability, text
from discreet.sample.laws import Gaussian, Geometric

Rows = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Witness:
    """Where the claim fails: this output is `ratio` times as likely from `input` as from `neighbour`."""

    input: int
    neighbour: int
    output: int
    ratio: Fraction | None  # None: it cannot come from the neighbour at all
    allowed: Fraction
    delta: Fraction | None = None  # what delta would have to be, if one was claimed

    def as_json(self) -> dict[str, Any]:
        return {
            "input": self.input,
            "neighbour": self.neighbour,
            "output": self.output,
            "ratio": None if self.ratio is None else float(self.ratio),
            "allowed": float(self.allowed),
            **({} if self.delta is None else {"delta": decimal_above(self.delta, 15)}),
        }


@dataclass(frozen=True)
class Certificate:
    """The verdict on a claim of (epsilon, delta) for a mechanism."""

    holds: bool
    epsilon: Epsilon
    delta: Fraction
    smallest_odds: Fraction | None  # at which it would hold with this delta; None: at no epsilon
    witness: Witness | None
    grade: Grade

    def __bool__(self) -> bool:
        return self.holds

    @property
    def smallest_epsilon(self) -> str | None:
        """Rounded up."""
        if self.smallest_odds is None:
            return None
        return "0" if self.smallest_odds <= 1 else decimal_above(log_bounds(self.smallest_odds)[1])

    def as_json(self) -> dict[str, Any]:
        return {
            "holds": self.holds,
            "epsilon": str(self.epsilon),
            "delta": text(self.delta),
            "smallest_epsilon": self.smallest_epsilon,
            "witness": None if self.witness is None else self.witness.as_json(),
            "grade": self.grade,
        }


def certify(
    mechanism: Mechanism | Any, epsilon: Number | Epsilon | None = None, delta: Number = 0, alpha: Number | None = None
) -> Certificate:
    """Prove that a mechanism, or any matrix of probabilities, is (epsilon, delta)-private for neighbouring counts."""
    asked, allowed_delta = epsilon_of(epsilon, alpha), probability(delta, "delta")
    if isinstance(mechanism, Mechanism):
        if isinstance(mechanism.form, NoiseThenMap):
            return _certify_noise(mechanism.form, asked, allowed_delta)
        if isinstance(mechanism.form, Exponents):
            return _certify_powers(mechanism.form, asked, allowed_delta)
        rows = _rows_of(mechanism.form)
    else:
        rows = exact_rows(mechanism)
    return _certify_rows(rows, asked, allowed_delta)


def smallest_odds(mechanism: Mechanism) -> Fraction | None:
    """The smallest r with T[i, j] <= r T[k, j] for all neighbouring i, k."""
    form = mechanism.form
    if isinstance(form, Weights):
        worst = _worst_ratio(_rows_of(form))
        return None if worst.ratio is None else max(worst.ratio, Fraction(1))
    if isinstance(form, Exponents):
        return form.odds ** _largest_step(form)
    return _noise_odds(form)


def privacy_profile(mechanism: Mechanism, epsilon: Epsilon) -> Fraction:
    """delta(epsilon), exact or rounded up by less than 2^-64; for noise, before any map (which can only lower it)."""
    form = mechanism.form
    if not isinstance(form, NoiseThenMap):
        rows = mechanism.weights
        return max(_excess(one, other, epsilon)[0] for one, other in _pairs(rows.rows, (rows.total,) * len(rows.rows)))
    if isinstance(form.noise, Gaussian):
        return gaussian_delta(form.noise.variance, epsilon)
    return _two_sided_delta(form.noise.chance_below, epsilon)


def _rows_of(form: Weights) -> ExactRows:
    return ExactRows(form.rows, (form.total,) * len(form.rows))


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
            this, that = rows.sums[other], rows.sums[one]
            for j, (a, b) in enumerate(zip(rows.rows[one], rows.rows[other])):
                if b == 0 < a:
                    return Witness(one, other, j, None, Fraction(1))
                numerator, denominator = a * this, b * that
                if numerator * best[1] > best[0] * denominator:
                    best, place = (numerator, denominator), (one, other, j)
    return Witness(*place, Fraction(*best), Fraction(1))


def _pairs(rows: Rows, sums: Sequence[int]) -> Iterator[tuple[list[Fraction], list[Fraction]]]:
    """Neighbouring rows as probabilities, in both directions."""
    exact = [[Fraction(entry, total) for entry in row] for row, total in zip(rows, sums)]
    for one, other in pairwise(exact):
        yield one, other
        yield other, one


def _excess(one: Sequence[Fraction], other: Sequence[Fraction], epsilon: Epsilon) -> tuple[Fraction, Fraction]:
    """sum_j max(0, one_j - e^epsilon other_j): rounded up, and the same as (a, b) would give a - b e^epsilon."""
    above = [(p, q) for p, q in zip(one, other) if epsilon.compare(p, q) > 0]
    a, b = sum((p for p, _ in above), Fraction(0)), sum((q for _, q in above), Fraction(0))
    return a - b * epsilon.bounds(96)[0], a - b * epsilon.bounds(96)[1]


def _certify_delta(rows: ExactRows, epsilon: Epsilon, delta: Fraction) -> Certificate:
    odds: Fraction | None = Fraction(1)
    worst: tuple[Fraction, Witness] | None = None
    for index, (one, other) in enumerate(_pairs(rows.rows, rows.sums)):
        needed = _odds_for(one, other, delta)
        odds = None if odds is None or needed is None else max(odds, needed)
        if needed is not None and epsilon.allows(needed):
            continue
        excess = _excess(one, other, epsilon)[0]
        if worst is None or excess > worst[0]:
            worst = excess, _delta_witness(one, other, index, epsilon, excess)
    if worst is None:
        return Certificate(True, epsilon, delta, odds, None, "exact")
    return Certificate(False, epsilon, delta, odds, worst[1], "refuted")


def _delta_witness(
    one: Sequence[Fraction], other: Sequence[Fraction], index: int, epsilon: Epsilon, excess: Fraction
) -> Witness:
    i, forward = index // 2, index % 2 == 0
    allowed = epsilon.bounds()[0]
    output = max(range(len(one)), key=lambda j: one[j] - allowed * other[j])
    ratio = one[output] / other[output] if other[output] else None
    return Witness(i if forward else i + 1, i + 1 if forward else i, output, ratio, allowed, excess)


def _odds_for(one: Sequence[Fraction], other: Sequence[Fraction], delta: Fraction) -> Fraction | None:
    """The smallest r >= 1 with sum_j max(0, one_j - r other_j) <= delta: a convex, piecewise linear function of r."""
    never = sum((p for p, q in zip(one, other) if q == 0), Fraction(0))
    if never > delta:
        return None
    ratios = sorted(((p / q, p, q) for p, q in zip(one, other) if q > 0 and p > q), reverse=True)
    p_sum, q_sum = never, Fraction(0)
    for k, (_, p, q) in enumerate(ratios):
        p_sum, q_sum = p_sum + p, q_sum + q
        following = ratios[k + 1][0] if k + 1 < len(ratios) else Fraction(1)
        if p_sum - following * q_sum > delta:
            return (p_sum - delta) / q_sum
    return Fraction(1)


def _largest_step(form: Exponents) -> int:
    return int(np.abs(np.diff(form.powers, axis=0)).max(initial=0))


def _certify_powers(form: Exponents, epsilon: Epsilon, delta: Fraction) -> Certificate:
    """Rows share their normaliser, so ratios are powers of the odds: compare exponents."""
    odds = form.odds ** _largest_step(form)
    if epsilon.allows(odds):
        return Certificate(True, epsilon, delta, odds, None, "exact")
    steps = np.diff(form.powers, axis=0)
    i, j = (int(k) for k in np.unravel_index(np.abs(steps).argmax(), steps.shape))
    pair = (i, i + 1) if steps[i, j] > 0 else (i + 1, i)
    return Certificate(False, epsilon, delta, odds, Witness(*pair, j, odds, epsilon.bounds()[0]), "refuted")


def _noise_odds(form: NoiseThenMap) -> Fraction | None:
    """The largest ratio of neighbouring masses of the noise; clamping and mapping cannot raise it."""
    if isinstance(form.noise, Gaussian):
        return None
    if isinstance(form.noise, Geometric):
        return form.noise.odds
    centre, factor = form.noise.steps
    first = factor / form.noise.odds
    return max(form.noise.odds, centre / first, first / centre)


def _certify_noise(form: NoiseThenMap, epsilon: Epsilon, delta: Fraction) -> Certificate:
    if isinstance(form.noise, Gaussian):
        needed = gaussian_delta(form.noise.variance, epsilon)
        if needed <= delta:
            return Certificate(True, epsilon, delta, epsilon.odds(), None, "enclosed")
        witness = Witness(0, 1, 0, None, epsilon.bounds()[0], needed)
        return Certificate(False, epsilon, delta, None, witness, "refuted")
    odds = _noise_odds(form)
    assert odds is not None
    if epsilon.allows(odds) or (delta and _two_sided_delta(form.noise.chance_below, epsilon) <= delta):
        return Certificate(True, epsilon, delta, odds, None, "exact")
    witness = Witness(0, 1, 0, odds, epsilon.bounds()[0])
    return Certificate(False, epsilon, delta, odds, witness, "refuted")


def _two_sided_delta(chance_below: Any, epsilon: Epsilon, reach: int = 4) -> Fraction:
    """delta(epsilon) of two-sided noise whose masses fall geometrically away from the centre.

    The outputs that tell x from x + 1 are those up to x: P(X <= 0) - e^epsilon P(X <= -1), or none at all.
    """
    best = Fraction(0)
    for k in range(-reach, reach + 1):
        best = max(best, chance_below(k) - epsilon.bounds(96)[0] * chance_below(k - 1))
    return best


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
