"""How far off a sum of known noises can be."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.laws import Gaussian, NoiseLaw

WIDEST = 1e8  # variance of noise whose law is written out: wider noise is as good as continuous, and takes memory
NEGLIGIBLE = 1e-10  # mass of a law that is left out: far below what any level leaves out


def half_width(level: float, law: NoiseLaw | None, weight: float, variance: float) -> float:
    """The least x with P(|weight * L + G| <= x) >= level, L of the given law and G normal with that variance."""
    from scipy.optimize import brentq
    from scipy.special import ndtr, ndtri

    spread = max(np.sqrt(variance), 1e-9)
    if law is None or abs(weight) < 1e-9:
        return float(ndtri((1 + level) / 2) * spread)
    half = _masses(law)
    masses, steps = np.concatenate([half[:0:-1], half]), weight * np.arange(1 - len(half), len(half))

    def excess(width: float) -> float:
        inside = ndtr((width - steps) / spread) - ndtr((-width - steps) / spread)
        return float(masses @ inside) - level

    far = abs(weight) * len(half) + 10 * spread
    if excess(0.0) >= 0:
        return 0.0
    width = brentq(excess, 0.0, far, xtol=1e-6)
    return float(width if excess(width) >= 0 else width + 2e-6)


@lru_cache(maxsize=1024)
def sum_half_width(level: float, law: NoiseLaw, terms: int) -> float:
    """The least x with P(|sum of `terms` independent noises| <= x) >= level, exact where it has steps, else normal; of
    noise too wide to be written out, that of continuous noise, and one more."""
    if not has_steps(terms, law.spread):
        return half_width(level, None, 0.0, terms * law.spread)
    if law.spread > WIDEST:
        from discreet.levels.intervals import factor

        return float(np.ceil(np.sqrt(terms * law.spread) * factor(level, law.pure))) + 1
    summed = masses_of_sum(law, terms)
    inside = summed[0] + 2 * np.cumsum(summed[1:])
    return 0.0 if summed[0] >= level else float(np.searchsorted(inside, level) + 1)


@lru_cache(maxsize=64)
def one_sided(level: float, law: NoiseLaw) -> float:
    """The least x with P(noise > x) <= (1 - level) / 2; of noise too wide to be written out, about that."""
    if law.spread > WIDEST:
        return sum_half_width(level, law, 1)
    tails = _masses(law)[::-1].cumsum()[::-1]  # P(0 or more), P(1 or more), ...
    return float(np.searchsorted(-tails[1:], -(1 - level) / 2))


def has_steps(terms: Any, spread: float) -> Any:
    """Whether a sum of so many noises is far from normal: they are few, or so small that few whole numbers are all."""
    return (terms <= MANY_TERMS) | (terms * spread < NARROW**2)


def masses_of_sum(law: NoiseLaw, terms: int) -> Floats:
    """P(0), P(1), ... of a sum of so many independent noises, as far as it matters."""
    half = _masses(law)
    deviations = np.sqrt(terms * law.spread)
    size = 1 << int(np.ceil(np.log2(2 * len(half) + 2 * (min(terms, MANY_TERMS) + ENOUGH) * deviations + 64)))
    ring = np.zeros(size)
    ring[: len(half)] = half
    ring[1 - len(half) :] += half[:0:-1]
    summed: Floats = np.maximum(np.fft.irfft(np.fft.rfft(ring) ** terms, size)[: size // 2], 0.0)
    return summed


MANY_TERMS = 40  # noises whose sum is as good as normal,
NARROW = 3.0  # if its deviation is larger: below it a few whole numbers are all that there is
ENOUGH = 12  # deviations: a sum of noises is hardly ever farther out


@lru_cache(maxsize=64)
def _masses(law: NoiseLaw) -> Floats:
    """P(0), P(1), ... as far as it matters."""
    reach = 16
    while law.tails(reach)[-1] > NEGLIGIBLE:
        reach *= 2
    return law.masses(reach)


def draw_sums(law: NoiseLaw, terms: Integers, draws: int, rng: np.random.Generator) -> Floats:
    """Sums of so many independent noises each, a draw a row: by the law of each number of terms."""
    out = np.empty((draws, len(terms)))
    for number in np.unique(terms):
        places = np.flatnonzero(terms == number)
        shape = (draws, len(places))
        if number == 0:
            out[:, places] = 0.0
        elif law.decay is not None:
            rise, fall = (rng.negative_binomial(number, 1 - law.decay, shape) for _ in range(2))
            out[:, places] = rise - fall
        elif number > MANY_TERMS or (isinstance(law, Gaussian) and law.spread > WIDEST):
            out[:, places] = np.rint(rng.normal(0, np.sqrt(number * law.spread), shape))
        else:
            half = masses_of_sum(law, int(number))
            both = np.cumsum(np.concatenate([half[:0:-1], half]))
            out[:, places] = np.searchsorted(both / both[-1], rng.random(shape)) - (len(half) - 1)
    return out
