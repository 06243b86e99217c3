"""The Mechanism: a frozen value that says, for every true count, with which probability each count is published.

It *is* one of five things, and its privacy can be read off each of them exactly: integer weights with one common row
sum; such weights for small counts, and the noise of the last row for larger ones; powers of one number in equal rows;
exact noise followed by a public map; or weights for the smallest counts, and the same bounded noise for all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.costs import cost_matrix, prior_of
from discreet.errors import BadInput, called
from discreet.laws import NoiseLaw, law_parameters
from discreet.laws.law import LARGEST_ODDS
from discreet.numbers import Epsilon, Number
from discreet.options import spelt
from discreet.privacy import loss_of, pure_only
from discreet.public_map import PublicMap
from discreet.shown import Shown

if TYPE_CHECKING:
    from discreet.requirements import Breach

LARGEST_MATRIX = 2001  # rows; as floats such a matrix takes 32 MB
LARGEST_WRITTEN = 32 << 20  # bytes of all weights in a record: to read and prove them takes some ten seconds
LONGEST_WEIGHT = 4_300  # digits: Python reads and writes no longer ones
WRITTEN_APART = 8  # bytes between two of them
LARGEST_EXACT_BITS = 1 << 31  # of all weights together
LARGEST_POWER_BITS = 1 << 22  # of one power of the odds: 2,000 counts at an epsilon of 340 take a million


@dataclass(frozen=True)
class Weights:
    """T[i, j] = rows[i][j] / total; every row sums to `total`."""

    rows: tuple[tuple[int, ...], ...]
    total: int

    def __post_init__(self) -> None:
        for i, row in enumerate(self.rows):
            if len(row) != len(self.rows[0]) or min(row) < 0 or sum(row) != self.total:
                raise BadInput(
                    "integer weights were given", f"row {i} is not {len(self.rows[0])} weights with sum {self.total}"
                )

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0])

    @property
    def can_be_written(self) -> bool:
        """Whether a record can hold it, and `verify` reads it."""
        return self.total.bit_length() // 3 < LONGEST_WEIGHT and self.written <= LARGEST_WRITTEN

    @property
    def written(self) -> int:
        """Bytes that it takes in a record; from the bits of each weight, so not quite as many."""
        return sum(weight.bit_length() // 3 + 1 + WRITTEN_APART for row in self.rows for weight in row)

    def matrix(self) -> Floats:
        return np.array([[weight / self.total for weight in row] for row in self.rows])


@dataclass(frozen=True)
class Continued:
    """Rows for the smallest counts; every larger count gets the noise of the last row, T[i, j] = T[last, j - i + last].

    So neighbours above the last row differ as its noise does from the same noise one step further: they are all alike.
    """

    start: Weights

    @property
    def last(self) -> int:
        return len(self.start.rows) - 1

    @property
    def shape(self) -> tuple[int, int]:
        return self.start.shape

    @property
    def reach(self) -> tuple[int, int]:
        """How far the noise of the last row goes down and up."""
        possible = [output for output, weight in enumerate(self.start.rows[-1]) if weight]
        return self.last - possible[0], possible[-1] - self.last

    def upto(self, top: int) -> Weights:
        """The rows of 0..top."""
        more = max(0, top - self.last)
        rows = [row + (0,) * more for row in self.start.rows]
        rows += [(0,) * k + self.start.rows[-1] + (0,) * (more - k) for k in range(1, more + 1)]
        return Weights(tuple(rows), self.start.total)

    def judged(self) -> Weights:
        """The rows whose neighbours stand for all there are."""
        return self.upto(self.last + 1)

    def matrix(self) -> Floats:
        return self.start.matrix()


@dataclass(frozen=True, eq=False)
class Exponents:
    """T[i, j] = odds^-powers[i, j] / s, where every row holds the same powers in another order, so s is common."""

    odds: Fraction
    powers: Integers

    def __post_init__(self) -> None:
        if not 1 <= self.odds < LARGEST_ODDS or self.powers.min() < 0:
            raise BadInput(
                "a mechanism of equal rows was given", "its odds are below 1 or above e^340, or a power is below 0"
            )
        if int(self.powers.max()) * self.odds.numerator.bit_length() > LARGEST_POWER_BITS:
            raise BadInput("a mechanism of equal rows was given", "a power of its odds would fill the memory")
        ordered = np.sort(self.powers, axis=1)
        if (ordered != ordered[0]).any():
            raise BadInput("a mechanism of equal rows was given", "its rows do not hold the same powers")
        self.powers.flags.writeable = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.powers.shape[0], self.powers.shape[1]

    def matrix(self) -> Floats:
        raw = np.exp(-np.log(float(self.odds)) * self.powers)
        shares: Floats = raw / raw.sum(axis=1, keepdims=True)
        return shares


@dataclass(frozen=True, eq=False)
class NoiseThenMap:
    """Exact integer noise, then clamping, then a public map. Privacy rests on the noise alone."""

    noise: NoiseLaw
    clamp: tuple[int, int | None] | None = None  # None: at neither end; (0, None): not at the upper one
    map: PublicMap | None = None

    @property
    def range(self) -> tuple[int, int] | None:
        """All that can come out, where it is clamped at both ends."""
        return None if self.clamp is None or self.clamp[1] is None else (self.clamp[0], self.clamp[1])

    @property
    def shape(self) -> tuple[int, int]:
        if self.range is None:
            raise BadInput(
                "the matrix of an unbounded mechanism was asked for", "it has none", f"Give a {called('max_count')}"
            )
        size = self.range[1] - self.range[0] + 1
        return size, size

    def noise_matrix(self) -> Floats:
        size, _ = self.shape
        i = np.arange(size)
        matrix: Floats = self.noise.masses(size)[np.abs(i[:, None] - i[None, :])]
        tails = self.noise.tails(size)
        matrix[:, 0], matrix[:, -1] = tails[i], tails[size - 1 - i]
        return matrix

    def matrix(self) -> Floats:
        noisy = self.noise_matrix()
        return noisy if self.map is None else noisy @ self.map.matrix(*self.shape)


@dataclass(frozen=True)
class EdgeThenNoise:
    """Rows of their own for the smallest counts, from `first` on, so that nothing is published below 0; every larger
    count gets the same noise, which has a largest value. So there is no largest count, unless there is a `top`."""

    first: int  # smaller counts are treated as it
    edge: Weights  # its k-th row is for the count first + k, its columns for the published counts 0, 1, ...
    noise: NoiseLaw
    top: int | None = None  # larger counts are treated as it

    def __post_init__(self) -> None:
        reach = self.noise.centre[1]
        if not np.isneginf(self.noise.log_mass(np.array([reach + 1.0])))[0] or self.beyond < reach or self.first < 0:
            raise BadInput("rows before bounded noise were given", "what the noise leads to could be below 0")
        if self.edge.shape[1] != self.beyond + reach or (self.top is not None and self.top < self.beyond):
            raise BadInput("rows before bounded noise were given", "they do not fit the noise, or the largest count")

    @property
    def beyond(self) -> int:
        """The first count that has no row of its own."""
        return self.first + len(self.edge.rows)

    @property
    def shape(self) -> tuple[int, int]:
        if self.top is None:
            raise BadInput(
                "the matrix of an unbounded mechanism was asked for", "it has none", f"Give a {called('max_count')}"
            )
        return self.top + 1, self.top + self.noise.centre[1] + 1

    def proved_rows(self) -> Weights:
        """From the first count to the second that gets the noise: all pairs of neighbours beyond are like the last."""
        reach = self.noise.centre[1]
        below = [self.noise.chance_below(k) for k in range(-reach - 1, reach + 1)]
        chances = [high - low for low, high in pairwise(below)]
        total = lcm(self.edge.total, *(chance.denominator for chance in chances))
        noise, times = [int(chance * total) for chance in chances], total // self.edge.total
        start = self.beyond - reach
        edge = [(*(weight * times for weight in row), 0, 0) for row in self.edge.rows]
        return Weights((*edge, (*[0] * start, *noise, 0), (*[0] * (start + 1), *noise)), total)

    def transition(self, size: int) -> Floats:
        """T[true count, published count] for the counts 0..size-1, in floats."""
        reach = self.noise.centre[1]
        matrix = np.zeros((size, size + reach))
        half = self.noise.masses(reach)
        both, edge = np.concatenate([half[:0:-1], half]), self.edge.matrix()
        for count in range(size):
            used = max(count, self.first)
            if used < self.beyond:
                row = edge[used - self.first][: size + reach]
                matrix[count, : len(row)] = row
            else:
                matrix[count, used - reach : used + reach + 1] = both
        return matrix

    def matrix(self) -> Floats:
        return self.transition(self.shape[0])


Form = Weights | Continued | Exponents | NoiseThenMap | EdgeThenNoise


def can_come_out(form: Form, counts: Integers) -> bool:
    """Whether all of these counts, which are in its range, can."""
    if isinstance(form, Continued):  # its noise leads to every count from there on
        start = possible_outputs(form.start)
        return start is None or bool((np.isin(counts, start) | (counts > form.last - form.reach[0])).all())
    possible = possible_outputs(form)
    return possible is None or bool(np.isin(counts, possible).all())


def possible_outputs(form: Form) -> Integers | None:
    """The counts that can come out at all, in order; None: all there are in the range."""
    if isinstance(form, Weights):
        return np.flatnonzero([any(column) for column in zip(*form.rows)])
    return np.unique(form.map.outputs) if isinstance(form, NoiseThenMap) and form.map is not None else None


def form_parameters(form: Form) -> dict[str, str]:
    """The exact numbers of a mechanism's noise, by name; a matrix has none."""
    return law_parameters(form.noise) if isinstance(form, (NoiseThenMap, EdgeThenNoise)) else {}


@dataclass(frozen=True, eq=False, repr=False)
class Mechanism(Shown):
    """A count mechanism by name, its form, and the public parameters it was made from."""

    name: str
    form: Form
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def max_count(self) -> int | None:
        if isinstance(self.form, Continued) or (isinstance(self.form, NoiseThenMap) and self.form.range is None):
            return None
        if isinstance(self.form, EdgeThenNoise):
            return self.form.top
        return self.form.shape[0] - 1

    @cached_property
    def _matrix(self) -> Floats:
        if max(self.form.shape) > LARGEST_MATRIX:
            raise BadInput(
                f"the matrix of a mechanism with {called('max_count')} {self.max_count} was asked for",
                f"it is formed up to {called('max_count')} {LARGEST_MATRIX - 1} only",
            )
        matrix = self.form.matrix()
        matrix.flags.writeable = False
        return matrix

    def matrix(self) -> Floats:
        """T[i, j] in floats, for costs and pictures."""
        return self._matrix

    @cached_property
    def weights(self) -> Weights:
        """The same mechanism as integer weights; refused where they would be huge."""
        return exact_weights(self.form)

    def cost(self, cost: Any = "absolute", prior: Any = None) -> float:
        """Expected cost when true counts follow `prior` (uniform if not given)."""
        matrix = self.matrix()
        return float(prior_of(prior, len(matrix)) @ (cost_matrix(cost, *matrix.shape) * matrix).sum(axis=1))

    def worst_cost(self, cost: Any = "absolute") -> float:
        """The largest expected cost over true counts."""
        matrix = self.matrix()
        return float((cost_matrix(cost, *matrix.shape) * matrix).sum(axis=1).max())

    def bias(self) -> Floats:
        """Expected published count minus the true one, for every true count."""
        matrix = self.matrix()
        return matrix @ np.arange(matrix.shape[1]) - np.arange(len(matrix))

    def variance(self) -> Floats:
        """Variance of the published count, for every true count."""
        matrix, values = self.matrix(), np.arange(self.form.shape[1])
        found: Floats = matrix @ values.astype(float) ** 2 - (matrix @ values) ** 2
        return found

    def fixed_point(self) -> Floats:
        """A distribution z with z T = z (the only one, if T has no zero)."""
        matrix = self.matrix()
        size = len(matrix)
        system = np.vstack([matrix.T - np.eye(size), np.ones(size)])
        solution = np.linalg.lstsq(system, np.append(np.zeros(size), 1.0), rcond=None)[0]
        positive = np.clip(solution, 0, None)
        shares: Floats = positive / positive.sum()
        return shares

    def fixed_point_residual(self, distribution: Any) -> float:
        """The largest entry of `|z T - z|`."""
        z = prior_of(distribution, len(self.matrix()), "the distribution")
        return float(np.abs(z @ self.matrix() - z).max())

    def odds(self) -> Fraction | None:
        """The smallest r such that neighbouring rows differ by a factor r at most; None if there is none."""
        from discreet.certify.prove import smallest_odds

        return smallest_odds(self)

    @spelt
    def delta(self, epsilon: Number | Epsilon | None = None, alpha: Number | None = None) -> Fraction:
        """The exact privacy profile: the least delta at this epsilon, rounded up by less than 2^-64."""
        from discreet.certify.profile import least_delta

        return least_delta(self.form, pure_only(loss_of(epsilon, alpha=alpha), "a privacy profile").epsilon)

    def properties(self) -> dict[str, Breach | None]:
        """The seven structural properties: None where one holds, a witness where it fails."""
        from discreet.requirements import properties

        weights = self.weights
        return properties(weights.rows, weights.total)

    @spelt
    def derivable_from_geometric(self, epsilon: Number | Epsilon | None = None, alpha: Number | None = None) -> Any:
        """None if the mechanism is the geometric one followed by a map; otherwise a witness."""
        from discreet.certify.prove import underivable

        asked = pure_only(loss_of(epsilon, alpha=alpha), "the test for the geometric mechanism")
        return underivable(self.weights.rows, asked.epsilon.odds())


def of_weights(name: str, rows: Sequence[Sequence[int]], **parameters: Any) -> Mechanism:
    """A mechanism from rows of integer weights with a common sum."""
    weights = tuple(tuple(int(weight) for weight in row) for row in rows)
    return Mechanism(name, Weights(weights, sum(weights[0])), parameters)


def exact_weights(form: Form) -> Weights:
    if isinstance(form, Weights):
        return form
    if isinstance(form, EdgeThenNoise):
        return form.proved_rows()
    if isinstance(form, Continued):
        found = "it goes on for counts of any size"
        raise BadInput("integer weights of a whole mechanism were asked for", found, "Its `form` has the first rows")
    rows, _ = form.shape
    if rows > LARGEST_MATRIX or rows * rows * _bits_of_a_weight(form) > LARGEST_EXACT_BITS:
        raise BadInput(
            f"integer weights of a mechanism with {called('max_count')} {rows - 1} were asked for",
            "they would fill the memory",
            "Its structured form (odds and map, or exponents) is exact as well",
        )
    if isinstance(form, Exponents):
        return _weights_of_powers(form)
    if not form.noise.rational:
        asked = f"integer weights of {form.noise.name} noise were asked for"
        raise BadInput(asked, "its probabilities are irrational", "Use `matrix`")
    return _weights_of_noise(form)


def _bits_of_a_weight(form: Exponents | NoiseThenMap) -> int:
    if isinstance(form, Exponents):
        return int(form.powers.max() + 1) * form.odds.numerator.bit_length()
    return form.noise.chance_below(-form.shape[0]).denominator.bit_length() if form.noise.rational else 0


def _weights_of_powers(form: Exponents) -> Weights:
    p, q, top = form.odds.numerator, form.odds.denominator, int(form.powers.max())
    powers = [q**k * p ** (top - k) for k in range(top + 1)]
    rows = tuple(tuple(powers[k] for k in row) for row in form.powers.tolist())
    return Weights(rows, sum(rows[0]))


def _weights_of_noise(form: NoiseThenMap) -> Weights:
    size, _ = form.shape
    below = [form.noise.chance_below(k) for k in range(-size, size + 1)]
    common = lcm(*(chance.denominator for chance in below))
    upto = [int(chance * common) for chance in below]
    rows = []
    for i in range(size):
        steps = [upto[j - i + size] for j in range(size - 1)] + [common]
        rows.append([high - low for low, high in zip([0, *steps], steps)])
    if form.map is None:
        return Weights(tuple(map(tuple, rows)), common)
    return _mapped(rows, common, form.map)


def _mapped(rows: list[list[int]], total: int, public_map: PublicMap) -> Weights:
    """The weights after the map, whose words are uniform below 2^bits."""
    size = len(rows)
    ends = [0, *(int(key) for key in public_map.keys), size << public_map.bits]
    pieces: list[tuple[int, int, int]] = []  # value, output, weight
    for output, start, end in zip(public_map.outputs.tolist(), ends[:-1], ends[1:]):
        value = start >> public_map.bits
        while start < end:
            stop = min(end, (value + 1) << public_map.bits)
            pieces.append((value, output, stop - start))
            start, value = stop, value + 1
    mapped = [[0] * size for _ in rows]
    for source, target in zip(rows, mapped):
        for value, output, weight in pieces:
            target[output] += source[value] * weight
    return Weights(tuple(map(tuple, mapped)), total << public_map.bits)
