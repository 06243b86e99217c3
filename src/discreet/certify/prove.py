"""Proofs of privacy in integer arithmetic: a claim holds, or a witness shows where it fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from discreet.certify.rows import ExactRows, exact_rows
from discreet.errors import NotProven
from discreet.laws import NoiseLaw, least_epsilon
from discreet.mechanism import EdgeThenNoise, Exponents, Mechanism, NoiseThenMap, Weights, exact_weights
from discreet.numbers import LARGEST_EPSILON, Epsilon, Number, decimal_above, log_bounds, text
from discreet.privacy import Grade, Loss, loss_of
from discreet.privacy.convert import SMALLEST_DELTA
from discreet.privacy.values import Approximate, Pure, odds_only

Rows = Sequence[Sequence[int]]
LARGEST_FLOAT = Fraction(sys.float_info.max)  # shown where no float can hold a ratio
SMALL = 201  # rows up to which noise is also judged by its matrix


@dataclass(frozen=True)
class Witness:
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

    def as_json(self) -> dict[str, object]:
        return {
            "holds": self.holds,
            "epsilon": str(self.epsilon),
            "delta": text(self.delta),
            "smallest_epsilon": self.smallest_epsilon,
            "witness": None if self.witness is None else self.witness.as_json(),
            "grade": self.grade,
        }


def certify(
    mechanism: Mechanism | Any,
    epsilon: Number | Epsilon | Loss | None = None,
    delta: Number = 0,
    alpha: Number | None = None,
    *,
    rho: Number | None = None,
) -> Certificate:
    """Prove that a mechanism, or any matrix of probabilities, is (epsilon, delta)-private for neighbouring counts."""
    return _certified(mechanism, odds_only(loss_of(epsilon, alpha=alpha, delta=delta, rho=rho), "certify"))


def _certified(mechanism: Mechanism | Any, claim: Pure | Approximate) -> Certificate:
    if not isinstance(mechanism, Mechanism):
        return _certify_rows(exact_rows(mechanism), claim.epsilon, claim.delta)
    if isinstance(mechanism.form, NoiseThenMap):
        return _certify_noise(mechanism.form, claim.epsilon, claim.delta)
    if isinstance(mechanism.form, Exponents) and not claim.delta:
        return _certify_powers(mechanism.form, claim.epsilon)
    return _certify_rows(_rows_of(mechanism.weights), claim.epsilon, claim.delta)


def smallest_odds(mechanism: Mechanism) -> Fraction | None:
    """The smallest r with T[i, j] <= r T[k, j] for all neighbouring i, k."""
    form = mechanism.form
    if isinstance(form, (Weights, EdgeThenNoise)):
        worst = _worst_ratio(_rows_of(mechanism.weights))
        return None if worst.ratio is None else max(worst.ratio, Fraction(1))
    if isinstance(form, Exponents):
        return form.odds ** _largest_step(form)
    rows = _small_rows(form)
    if rows is not None:
        return _worst_ratio(rows).ratio
    return form.noise.worst_odds


def privacy_profile(mechanism: Mechanism, epsilon: Epsilon) -> Fraction:
    """delta(epsilon), exact or rounded up by less than 2^-64; for wide noise before its map, which may lower it."""
    form = mechanism.form
    rows = _small_rows(form) if isinstance(form, NoiseThenMap) else _rows_of(mechanism.weights)
    if rows is not None:
        return max((_excess(pair, epsilon) for pair in _pairs(rows)), default=Fraction(0))
    assert isinstance(form, NoiseThenMap)
    return form.noise.delta(epsilon)


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
            this, that = _factors(rows.sums[other], rows.sums[one])
            for j, (a, b) in enumerate(zip(rows.rows[one], rows.rows[other])):
                if b == 0 < a:
                    return Witness(one, other, j, None, Fraction(1))
                numerator, denominator = a * this, b * that
                if numerator * best[1] > best[0] * denominator:
                    best, place = (numerator, denominator), (one, other, j)
    return Witness(*place, Fraction(*best), Fraction(1))


def _factors(first: int, second: int) -> tuple[int, int]:
    """In the ratio of two sums, but none where they are equal: products of long numbers take most of the time."""
    return (1, 1) if first == second else (first, second)


@dataclass(frozen=True)
class _Pair:
    """The rows of two neighbouring inputs over one common denominator."""

    input: int
    neighbour: int
    one: tuple[int, ...]
    other: tuple[int, ...]
    total: int


def _pairs(rows: ExactRows) -> Iterator[_Pair]:
    """Neighbouring rows, in both directions."""
    for i in range(len(rows.rows) - 1):
        first, second = _factors(rows.sums[i], rows.sums[i + 1])
        one = tuple(entry * second for entry in rows.rows[i])
        other = tuple(entry * first for entry in rows.rows[i + 1])
        yield _Pair(i, i + 1, one, other, rows.sums[i] * second)
        yield _Pair(i + 1, i, other, one, rows.sums[i] * second)


def _excess(pair: _Pair, epsilon: Epsilon) -> Fraction:
    """sum_j max(0, one_j - e^epsilon other_j), rounded up by less than 2^-64."""
    low = epsilon.bounds(128)[0]
    p, q = low.numerator, low.denominator
    above = sum(max(0, q * a - p * b) for a, b in zip(pair.one, pair.other))
    return Fraction(above, q * pair.total)


def _certify_delta(rows: ExactRows, epsilon: Epsilon, delta: Fraction) -> Certificate:
    odds: Fraction | None = Fraction(1)
    worst: tuple[Fraction, _Pair] | None = None
    for pair in _pairs(rows):
        needed = _odds_for(pair, delta)
        odds = None if odds is None or needed is None else max(odds, needed)
        if needed is None or not epsilon.allows(needed):
            excess = _excess(pair, epsilon)
            worst = (excess, pair) if worst is None or excess > worst[0] else worst
    if worst is None:
        return Certificate(True, epsilon, delta, odds, None, "exact")
    return Certificate(False, epsilon, delta, odds, _delta_witness(worst[1], epsilon, worst[0]), "refuted")


def _delta_witness(pair: _Pair, epsilon: Epsilon, excess: Fraction) -> Witness:
    allowed = epsilon.bounds()[0]
    output = max(range(len(pair.one)), key=lambda j: pair.one[j] - allowed * pair.other[j])
    ratio = Fraction(pair.one[output], pair.other[output]) if pair.other[output] else None
    return Witness(pair.input, pair.neighbour, output, ratio, allowed, excess)


def _odds_for(pair: _Pair, delta: Fraction) -> Fraction | None:
    """The smallest r >= 1 with sum_j max(0, one_j - r other_j) <= delta: a convex, piecewise linear function of r."""
    never = sum(a for a, b in zip(pair.one, pair.other) if b == 0)
    if Fraction(never, pair.total) > delta:
        return None
    falling = _by_falling_ratio([(a, b) for a, b in zip(pair.one, pair.other) if a > b > 0])
    a_sum, b_sum, free = never, 0, delta * pair.total
    for k, (a, b) in enumerate(falling):
        a_sum, b_sum = a_sum + a, b_sum + b
        p, q = falling[k + 1] if k + 1 < len(falling) else (1, 1)
        if (a_sum - free) * q > p * b_sum:
            return (a_sum - free) / b_sum
    return Fraction(1)


def _by_falling_ratio(terms: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sorted by a/b: by the float nearest to it, which never reverses an order, and exactly where floats are equal."""
    nearest = {term: _nearest(*term) for term in terms}
    terms = sorted(terms, key=nearest.__getitem__, reverse=True)
    if len(set(nearest.values())) < len(nearest):
        bits = 2 * max(b.bit_length() for _, b in terms)  # different ratios are further apart than 2^-bits
        terms.sort(key=lambda term: (term[0] << bits) // term[1], reverse=True)
    return terms


def _nearest(a: int, b: int) -> float:
    try:
        return a / b
    except OverflowError:
        return float("inf")


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


def _small_rows(form: NoiseThenMap) -> ExactRows | None:
    """The rows after clamping and mapping, where they have an exact form of moderate size."""
    if not form.noise.rational or form.range is None or form.shape[0] > SMALL:
        return None
    return _rows_of(exact_weights(form))


def _certify_noise(form: NoiseThenMap, epsilon: Epsilon, delta: Fraction) -> Certificate:
    """By the noise alone; where that does not do, what clamping and mapping leave of it may."""
    noise = form.noise
    worst = noise.worst_odds
    if worst is not None and epsilon.allows(worst):
        return Certificate(True, epsilon, delta, worst, None, "exact")
    rows = _small_rows(form)
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
    """Odds at which the noise is private: its worst ones, or where there are none those at which this delta will do."""
    if noise.worst_odds is not None:
        return noise.worst_odds
    largest = Epsilon(value=Fraction(LARGEST_EPSILON))
    if not SMALLEST_DELTA <= delta < 1 or noise.delta(largest) > delta:
        return None
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


def proof_of(mechanism: Mechanism, claim: Pure | Approximate) -> Proof:
    """That the mechanism loses no more than this when one count changes by one; or an error with a witness."""
    found = _certified(mechanism, claim)
    if not found.holds:
        needed = found.smallest_epsilon or "without bound"
        raise NotProven(
            f"{claim} was asked for", f"the mechanism does not meet it: it would need epsilon {needed}",
            witness=found.witness,
        )  # fmt: skip
    return Proof(str(found.epsilon), text(found.delta), found.smallest_epsilon, found.grade)
