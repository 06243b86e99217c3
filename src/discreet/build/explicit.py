"""The explicit mechanisms, by name. Each is exactly private at the odds asked for, with no program solved."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.errors import BadInput, choose
from discreet.guarantee import gaussian_variance
from discreet.mechanism import LARGEST_MATRIX, Exponents, Mechanism, NoiseThenMap, of_weights
from discreet.numbers import Epsilon, Number, epsilon_of, positive, probability, text, whole
from discreet.sample.laws import Gaussian, Geometric, Staircase


def uniform(max_count: int) -> Mechanism:
    """Ignores its input: every count is equally likely."""
    size = max_count + 1
    return of_weights("uniform", [[1] * size] * size)


def randomized_response(max_count: int, epsilon: Epsilon) -> Mechanism:
    """The truth with one probability, every other count with one smaller probability."""
    odds, size = epsilon.odds(), max_count + 1
    rows = np.full((size, size), odds.denominator, dtype=object)
    np.fill_diagonal(rows, odds.numerator)
    return of_weights("randomized-response", rows.tolist(), odds=text(odds))


def geometric(max_count: int, epsilon: Epsilon) -> Mechanism:
    """Two-sided geometric noise, clamped to 0..max_count."""
    return _clamped("geometric", Geometric(epsilon.odds()), max_count)


def signed_geometric(epsilon: Epsilon) -> Mechanism:
    """Two-sided geometric noise and nothing else: unbiased, for counts of any size; negative counts are possible."""
    return Mechanism("signed-geometric", NoiseThenMap(Geometric(epsilon.odds())))


def explicit_fair(max_count: int, epsilon: Epsilon) -> Mechanism:
    """Cormode, Kulkarni and Srivastava's fair mechanism: all seven structural properties at least cost."""
    i = np.arange(max_count + 1)
    distance = np.abs(i[:, None] - i[None, :])
    edge = np.minimum(i, max_count - i)[:, None]
    powers = np.where(distance < edge, distance, -(-(distance + edge) // 2))
    return Mechanism("explicit-fair", Exponents(epsilon.odds(), powers.astype(np.int64)))


def exponential(max_count: int, epsilon: Epsilon) -> Mechanism:
    """The exponential mechanism with quality -|error|: masses fall by e^(epsilon/2) a step."""
    size, base = max_count + 1, epsilon.times(Fraction(1, 2)).odds()
    smallest = math.ceil(size * math.log2(base))
    bits = smallest + size.bit_length() + 48 + max(0, math.ceil(-2 * math.log2(float(epsilon))))
    fall = [(base.denominator**k << bits) // base.numerator**k for k in range(size)]
    rows = []
    for i in range(size):
        raw = [fall[abs(i - j)] for j in range(size)]
        whole_row = sum(raw)
        row = [(weight << bits) // whole_row for weight in raw]
        row[i] += (1 << bits) - sum(row)
        rows.append(row)
    return of_weights("exponential", rows)


def staircase(max_count: int, epsilon: Epsilon) -> Mechanism:
    """Staircase noise with the step share 1/(1+e^(epsilon/2)), rounded and clamped."""
    half = epsilon.times(Fraction(1, 2)).odds()
    return _clamped("staircase", Staircase(epsilon.odds(), 1 / (1 + half)), max_count)


def discrete_gaussian(max_count: int, variance: Fraction) -> Mechanism:
    """Discrete Gaussian noise, clamped."""
    return _clamped("discrete-gaussian", Gaussian(variance), max_count)


def _clamped(name: str, noise: Geometric | Gaussian | Staircase, max_count: int) -> Mechanism:
    return Mechanism(name, NoiseThenMap(noise, clamp=(0, max_count)))


PURE: dict[str, Callable[[int, Epsilon], Mechanism]] = {
    "uniform": lambda max_count, _: uniform(max_count),
    "randomized-response": randomized_response,
    "geometric": geometric,
    "explicit-fair": explicit_fair,
    "exponential": exponential,
    "staircase": staircase,
}
MATRICES = ("uniform", "randomized-response", "explicit-fair", "exponential")
NAMES = (*PURE, "discrete-gaussian", "signed-geometric")


def explicit(
    name: str,
    max_count: int | None,
    epsilon: Number | Epsilon | None = None,
    *,
    alpha: Number | None = None,
    delta: Number = 0,
    rho: Number | None = None,
) -> Mechanism:
    """The mechanism of that name. discrete-gaussian takes epsilon with delta, or rho; signed-geometric no max_count."""
    choose(name, NAMES, "mechanism")
    if name == "signed-geometric":
        return signed_geometric(epsilon_of(epsilon, alpha))
    if max_count is None:
        raise BadInput(f"the mechanism {name!r} was asked for", "it needs a max_count", "Or use signed-geometric")
    size = whole(max_count, "max_count", 1)
    if name in MATRICES and size >= LARGEST_MATRIX:
        raise BadInput(
            f"the mechanism {name!r} was asked for with max_count {size}",
            f"it is a matrix, and formed up to max_count {LARGEST_MATRIX - 1} only",
            "Use geometric, or a smaller max_count",
        )
    if name == "discrete-gaussian":
        return discrete_gaussian(size, noise_variance(epsilon, alpha=alpha, delta=delta, rho=rho))
    return PURE[name](size, epsilon_of(epsilon, alpha))


def noise_variance(
    epsilon: Number | Epsilon | None, *, alpha: Number | None = None, delta: Number = 0, rho: Number | None = None
) -> Fraction:
    """The variance of the discrete Gaussian noise that rho, or epsilon with delta, asks for (sensitivity 1)."""
    if rho is not None:
        return 1 / (2 * positive(rho, "rho"))
    return gaussian_variance(epsilon_of(epsilon, alpha), probability(delta, "delta"))
