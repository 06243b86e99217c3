"""The explicit mechanisms, by name. Each is exactly private at the odds asked for, with no program solved."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.errors import BadInput, called, choose, short
from discreet.laws import Geometric, NoiseLaw, calibrated_laws, law_named, laws
from discreet.mechanism import LARGEST_MATRIX, Exponents, Mechanism, NoiseThenMap, of_weights
from discreet.numbers import Epsilon, Number, text, whole
from discreet.options import spelt
from discreet.privacy import Loss, loss_of, pure_only


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


def clamped(noise: NoiseLaw, max_count: int) -> Mechanism:
    """Noise of any law, clamped to 0..max_count."""
    return Mechanism(noise.name, NoiseThenMap(noise, clamp=(0, max_count)))


def signed_geometric(loss: Loss) -> Mechanism:
    """Two-sided geometric noise and nothing else: unbiased, for counts of any size; negative counts are possible."""
    return Mechanism(SIGNED, NoiseThenMap(Geometric.calibrated(loss)))


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


MATRICES: dict[str, Callable[[int, Epsilon], Mechanism]] = {
    "uniform": lambda max_count, _: uniform(max_count),
    "randomized-response": randomized_response,
    "explicit-fair": explicit_fair,
    "exponential": exponential,
}
SIGNED = "signed-geometric"


def names() -> tuple[str, ...]:
    """Every mechanism there is: the matrices, the registered laws of noise, and noise without a largest count."""
    return (*MATRICES, *calibrated_laws(), SIGNED)


def pure_names() -> tuple[str, ...]:
    """Those with a matrix that an epsilon alone asks for."""
    return (*MATRICES, *(name for name, law in laws().items() if law.pure))


@spelt
def explicit(
    name: str,
    max_count: int | None,
    epsilon: Number | Epsilon | Loss | None = None,
    *,
    alpha: Number | None = None,
    delta: Number = 0,
    rho: Number | None = None,
) -> Mechanism:
    """The mechanism of that name. discrete-gaussian takes epsilon with delta, or rho; signed-geometric no max_count."""
    choose(name, names(), "mechanism")
    if name == SIGNED:
        return signed_geometric(loss_of(epsilon, alpha=alpha, delta=delta, rho=rho))
    if max_count is None:
        raise BadInput(
            f"the mechanism {name!r} was asked for", f"it needs a {called('max_count')}", "Or use signed-geometric"
        )
    size = whole(max_count, "max_count", 1)
    if name in MATRICES and size >= LARGEST_MATRIX:
        raise BadInput(
            f"the mechanism {name!r} was asked for with {called('max_count')} {short(size)}",
            f"it is a matrix, and formed up to {called('max_count')} {LARGEST_MATRIX - 1} only",
            f"Use geometric, or a smaller {called('max_count')}",
        )
    loss = loss_of(epsilon, alpha=alpha, delta=delta, rho=rho)
    if name in MATRICES:
        return MATRICES[name](size, pure_only(loss, f"the mechanism {name!r}").epsilon)
    return clamped(law_named(name).calibrated(loss), size)
