"""delta as a function of epsilon: how far the rows of neighbouring counts are apart, in exact arithmetic.

For two rows P and Q the least delta at epsilon is the sum of max(0, P_j - e^epsilon Q_j): convex and piecewise linear
in e^epsilon. What P can give and Q cannot is in it at every epsilon.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.certify.rows import ExactRows
from discreet.laws import NoiseLaw, ending_epsilon
from discreet.mechanism import Continued, EdgeThenNoise, Form, NoiseThenMap, Weights, exact_weights
from discreet.numbers import Epsilon, digits_above, log_bounds, text

SMALL = 201  # rows up to which noise is also judged by its matrix
MOST_POINTS = 40  # of a curve, beside the first: enough for a picture and a page
STEPS = (1, 2, 5)  # between points: numbers that people read easily, times powers of ten
END = Fraction(1, 10**12)  # where the curve of noise without a largest ratio ends: a delta that nobody fears
DIGITS = 12  # of a delta that is shown, rounded up


@dataclass(frozen=True)
class RowPair:
    """The rows of two neighbouring inputs over one common denominator."""

    input: int
    neighbour: int
    one: tuple[int, ...]
    other: tuple[int, ...]
    total: int

    def excess(self, epsilon: Epsilon) -> Fraction:
        """sum_j max(0, one_j - e^epsilon other_j), rounded up by less than 2^-64."""
        low = epsilon.bounds(128)[0]
        p, q = low.numerator, low.denominator
        above = sum(max(0, q * a - p * b) for a, b in zip(self.one, self.other))
        return Fraction(above, q * self.total)

    @property
    def never(self) -> int:
        """The weight of what the neighbour cannot give at all: it is in delta at any epsilon."""
        return sum(a for a, b in zip(self.one, self.other) if b == 0)

    @property
    def falling(self) -> list[tuple[int, int]]:
        """Both weights of the outputs that are likelier here, but possible there: the one that tells most first."""
        return by_falling_ratio([(a, b) for a, b in zip(self.one, self.other) if a > b > 0])

    def odds_for(self, delta: Fraction) -> Fraction | None:
        """The smallest r >= 1 with sum_j max(0, one_j - r other_j) <= delta; None: there is none."""
        never = self.never
        if Fraction(never, self.total) > delta:
            return None
        falling = self.falling
        a_sum, b_sum, free = never, 0, delta * self.total
        for k, (a, b) in enumerate(falling):
            a_sum, b_sum = a_sum + a, b_sum + b
            p, q = falling[k + 1] if k + 1 < len(falling) else (1, 1)
            if (a_sum - free) * q > p * b_sum:
                return (a_sum - free) / b_sum
        return Fraction(1)

    def excesses(self, odds: Sequence[Fraction]) -> list[Fraction]:
        """sum_j max(0, one_j - r other_j) for every r of a rising list."""
        falling, found = self.falling[::-1], []
        a_sum, b_sum = self.never + sum(a for a, _ in falling), sum(b for _, b in falling)
        place = 0
        for r in odds:
            while place < len(falling) and falling[place][0] * r.denominator <= r.numerator * falling[place][1]:
                a_sum, b_sum = a_sum - falling[place][0], b_sum - falling[place][1]
                place += 1
            found.append((a_sum - r * b_sum) / self.total)
        return found


def factors(first: int, second: int) -> tuple[int, int]:
    """In the ratio of two sums, but none where they are equal: products of long numbers take most of the time."""
    return (1, 1) if first == second else (first, second)


def pairs_of(rows: ExactRows) -> Iterator[RowPair]:
    """Neighbouring rows, in both directions."""
    for i in range(len(rows.rows) - 1):
        first, second = factors(rows.sums[i], rows.sums[i + 1])
        one = tuple(entry * second for entry in rows.rows[i])
        other = tuple(entry * first for entry in rows.rows[i + 1])
        yield RowPair(i, i + 1, one, other, rows.sums[i] * second)
        yield RowPair(i + 1, i, other, one, rows.sums[i] * second)


def by_falling_ratio(terms: list[tuple[int, int]]) -> list[tuple[int, int]]:
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


def rows_of(form: Weights) -> ExactRows:
    return ExactRows(form.rows, (form.total,) * len(form.rows))


def judged_rows(form: Form) -> ExactRows | None:
    """The rows that a form is judged by; None for noise that has none, or too many: there the noise is judged alone."""
    if isinstance(form, Continued):
        return rows_of(form.judged())
    if isinstance(form, NoiseThenMap) and (
        not form.noise.rational or form.range is None or form.shape[0] > SMALL
    ):  # fmt: skip
        return None
    return rows_of(exact_weights(form))


def least_delta(form: Form | ExactRows, epsilon: Epsilon) -> Fraction:
    """delta(epsilon), exact or rounded up by less than 2^-64; for wide noise before its map, which may lower it."""
    rows = form if isinstance(form, ExactRows) else judged_rows(form)
    if rows is not None:
        return max((pair.excess(epsilon) for pair in pairs_of(rows)), default=Fraction(0))
    assert isinstance(form, NoiseThenMap)
    return form.noise.delta(epsilon)


@dataclass(frozen=True)
class Moments:
    """What the noise of one true count does: how far it is off on average, and its variance."""

    bias: Fraction
    variance: Fraction


def moments_of(given: Form | ExactRows) -> tuple[Moments, ...]:
    """By true count, as far as there are rows; none for noise that has none."""
    start = rows_of(given.start) if isinstance(given, Continued) else given
    rows = start if isinstance(start, ExactRows) else judged_rows(start)
    first = given.first if isinstance(given, EdgeThenNoise) else 0
    return () if rows is None else tuple(_moments(i, *pair) for i, pair in enumerate(zip(rows.rows, rows.sums), first))


def _moments(count: int, row: tuple[int, ...], total: int) -> Moments:
    first = Fraction(sum(weight * (output - count) for output, weight in enumerate(row)), total)
    second = Fraction(sum(weight * (output - count) ** 2 for output, weight in enumerate(row)), total)
    return Moments(first, second - first**2)


@dataclass(frozen=True)
class Floor:
    """What delta is at any epsilon: the chance of outputs that cannot come from the neighbour at all."""

    delta: Fraction
    input: int
    neighbour: int
    zero_stays: bool = False  # whether a count of 0 leads to 0 alone


@dataclass(frozen=True)
class PrivacyCurve:
    """delta(epsilon) at some epsilons, rounded up; `floor`: below which delta stays at any epsilon, if at all."""

    points: tuple[tuple[Fraction, Fraction], ...]
    floor: Floor | None = None

    def as_json(self) -> list[list[str]]:
        return [[text(epsilon), delta_text(delta)] for epsilon, delta in self.points]


def delta_text(delta: Fraction) -> str:
    """Exact where that is short, otherwise rounded up."""
    short = text(delta)
    return short if "/" not in short else digits_above(delta, DIGITS)


def curve_of(form: Form | ExactRows) -> PrivacyCurve:
    """From 0 to where it does not fall any more, or to a delta that nobody fears."""
    rows = form if isinstance(form, ExactRows) else judged_rows(form)
    if rows is None:
        assert isinstance(form, NoiseThenMap)
        grid = _grid(_end_of(form.noise))
        return PrivacyCurve(tuple((epsilon, form.noise.delta(Epsilon(value=epsilon))) for epsilon in grid))
    largest, floor = Fraction(1), None
    for pair in pairs_of(rows):
        first = pair.falling[:1]
        largest = max(largest, Fraction(*first[0])) if first else largest
        never = Fraction(pair.never, pair.total)
        if never and (floor is None or never > floor.delta):
            floor = Floor(never, pair.input, pair.neighbour, not any(rows.rows[0][1:]))
    grid = _grid(log_bounds(largest)[1] if largest > 1 else Fraction(0))
    odds = [Epsilon(value=epsilon).bounds(128)[0] if epsilon else Fraction(1) for epsilon in grid]
    worst = [Fraction(0)] * len(grid)
    for pair in pairs_of(rows):
        worst = [max(one, other) for one, other in zip(worst, pair.excesses(odds))]
    return PrivacyCurve(tuple(zip(grid, worst)), floor)


def _end_of(noise: NoiseLaw) -> Fraction:
    return ending_epsilon(noise, END) if noise.worst_odds is None else log_bounds(noise.worst_odds)[1]


def _grid(end: Fraction) -> list[Fraction]:
    """Equal steps from 0 to `end` or just beyond it."""
    if end <= 0:
        return [Fraction(0)]
    power = Fraction(1, 10**9)
    while True:
        for step in STEPS:
            number = -(-end // (step * power))
            if number <= MOST_POINTS:
                return [k * step * power for k in range(int(number) + 1)]
        power *= 10
