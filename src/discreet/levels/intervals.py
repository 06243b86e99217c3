"""Intervals of estimates, by the law of the noise that is in them.

An estimate is a sum of very many noises with weights. Where it is wide, those of other entries make up a sum that is
nearly normal, and only the entry's own noise, which is one and often the largest, goes in by its law. Where it is
narrow, a few whole numbers make up most of it, and its law has steps: there the weights of all noises are worked out
for one node of every kind, and their characteristic functions multiplied; so it is where a table is small, too, since
few noises are not nearly normal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.laws import Gaussian, Geometric, NoiseLaw
from discreet.levels.design import Question

if TYPE_CHECKING:
    from discreet.levels.combine import Spread
    from discreet.levels.regress import RaggedSpread

NARROW = 3.0  # standard deviations below it are those of few whole numbers
STEPS = 45  # of halving: a width is then known to a part in 10^12
POINTS = 1000  # of an own law: a wider one is looked at in steps of several units
WIDE = 1e5  # deviations of a law that is as good as continuous
SAME = 1e-6  # relative: weights, and parts of a variance, that differ less are the same
GRID = 17  # of these parts: between them widths are interpolated
EXACT = 1e-9  # of the variance: so small a rest is none
MOSTLY = 0.9  # of the variance: so much of an entry's own noise settles its law
SMOOTH = 0.005  # deviations by which steps are rounded off, so that an integral over them ends
BEYOND = 2.5  # times as far an interval goes on: a step that it ends at is then inside, all but 0.6% of it
RARE = 1.0  # counts: of a smaller deviation noise is rare, and an interval may be of a few thousandths,
FINER = 5  # so that its steps are rounded off by so many times less, nearly as little as what is published
FREQUENCIES = 12000  # at which an integral is summed, and FINER times as many
HARDLY = 3e-3  # of the variance: a noise whose own law is not seen,
HARDLY_RARE = 3e-5  # but where noise is rare even such a one has steps
MOST_SEEN = 30  # of such weights that differ: the sum of more is smooth, and would take minutes
SUMMED = 4.0  # from this variance on, three waves of Poisson's sum are all of it, to the last digit of a float
TURNS = (-2 * np.pi, 0.0, 2 * np.pi)  # those three: noise on whole numbers has a wave that comes back every turn
NO_CHANCE = 1e-18  # beside one
STEP = 0.5  # to either side, where a sum is nearly a whole number: half of the way to the next one
FARTHEST = 4.0  # times as wide as usual an interval may be, where noise is rare
FEW_CELLS = 20_000  # of a table for which a law is worked out for every kind of node,
MOST_KINDS, FEWER_KINDS = 24, 6  # up to so many kinds


def half_widths(
    spread: Spread | RaggedSpread, noise: Mapping[Question, NoiseLaw], question: Question, level: float
) -> Floats:
    """For every node, or every entry where rows are missing: the true value of an entry is farther than that from its
    estimate with a chance of 1 - level."""
    if (question, level) not in spread.widths:
        spread.widths[question, level] = _half_widths(spread, noise, question, level)
    return spread.widths[question, level]


def _half_widths(
    spread: Spread | RaggedSpread, noise: Mapping[Question, NoiseLaw], question: Question, level: float
) -> Floats:
    """Node by node; where it takes too long to look at every kind of node, between two the wider one counts."""
    variance, own, law = spread.variance(question), spread.own_weight(question), noise.get(question)
    found = _by_own(level, variance, own, law, any(one.pure for one in noise.values()))
    others = variance - (0.0 if law is None else own**2 * law.spread)
    narrow = np.sqrt(variance) < NARROW
    few = spread.design.entries(spread.design.cells) <= FEW_CELLS
    places = np.flatnonzero((others > np.where(narrow, EXACT, 1 - MOSTLY) * variance) & (narrow | few))
    if len(places):
        order = places[np.lexsort((own[places], variance[places]))]
        kinds = np.flatnonzero(np.diff(_kind(variance[order]), prepend=-1.0) != 0)
        looked_at = kinds[np.unique(np.linspace(0, len(kinds) - 1, MOST_KINDS if few else FEWER_KINDS).astype(int))]
        factors = np.array([_by_all(spread, noise, question, int(order[k]), level) for k in looked_at])
        after = np.append(factors[1:], factors[-1])
        exactly = len(looked_at) == len(kinds)
        at = np.searchsorted(looked_at, np.arange(len(order)), side="right") - 1
        found[order] = (factors if exactly else np.maximum(factors, after))[at] * np.sqrt(variance[order])
    return found


def half_width_of_sum(
    spread: Spread | RaggedSpread, noise: Mapping[Question, NoiseLaw], weights: Floats, level: float
) -> float:
    """Of any weighted sum of cells: by the law of all noises in it, where they may be few and the cells were measured.
    Elsewhere wide enough for either law, and for half of a step where it is narrow."""
    variance, largest = spread.of_sum(weights), float(np.abs(weights).max(initial=0.0))
    if variance == 0:
        return 0.0
    deviation, design = math.sqrt(variance), spread.design
    narrow = deviation < NARROW * largest
    if noise.get(design.cells) is not None and (narrow or design.entries(design.cells) <= FEW_CELLS):
        shares = {q: one / deviation for q, one in spread.noise_in_sum(weights).items()}
        return deviation * _reach(shares, noise, level, rare=deviation < RARE * largest)
    step = STEP * largest if narrow else 0.0
    return factor(level, any(one.pure for one in noise.values())) * deviation + step


def _kind(variance: Floats) -> Floats:
    """A number for each variance; those that differ by less than a part in a thousand have the same."""
    kinds: Floats = np.rint(np.log(variance) * 1000)
    return kinds


def factor(level: float, pure: bool) -> float:
    """Deviations that an interval has to either side, whatever few or many noises are in it: the wider of the two."""
    from scipy.special import ndtri

    return max(float(ndtri((1 + level) / 2)), -math.log(1 - level) / math.sqrt(2) if pure else 0.0)


def _by_own(level: float, variance: Floats, own: Floats, law: NoiseLaw | None, pure: bool) -> Floats:
    """The entry's own noise by its law, the rest as normal: a width in deviations, by the part of the variance that is
    an entry's own."""
    if law is None or not own.any():
        return factor(level, pure) * np.sqrt(variance)
    deviation = np.sqrt(variance)
    part = np.divide(own**2 * law.spread, variance, out=np.zeros_like(variance), where=variance > 0)
    parts = np.unique(np.rint(part / SAME)) * SAME
    if len(parts) > GRID:
        parts = parts[-1] - (parts[-1] - parts[0]) * np.linspace(1, 0, GRID) ** 2  # closer where steps begin to show
    widths = [_half_width(level, min(one, 1.0), law) for one in parts]
    return np.interp(part, parts, widths) * deviation


@lru_cache(maxsize=4096)
def _half_width(level: float, part: float, law: NoiseLaw) -> float:
    """Of a sum of variance one, of which this part is from one noise of the law."""
    from scipy.special import ndtr

    noise, chances = _points(law)
    weight = math.sqrt(part / law.spread)
    if part >= 1 - EXACT:
        reach = np.cumsum(np.where(noise[noise >= 0] == 0, 1.0, 2.0) * chances[noise >= 0])
        return weight * float(noise[noise >= 0][np.searchsorted(reach, level - 1e-12)])
    deviation = math.sqrt(1 - part)

    def inside(x: float) -> float:
        return float(chances @ (ndtr((x - weight * noise) / deviation) - ndtr((-x - weight * noise) / deviation)))

    return _least(inside, level, 40.0)


def _least(inside: Callable[[float], float], level: float, high: float) -> float:
    """The smallest reach that holds so much of the probability."""
    low = 0.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if inside(middle) >= level else (middle, high)
    return float(high)


@lru_cache(maxsize=256)
def _points(law: NoiseLaw) -> tuple[Floats, Floats]:
    """Values of the noise and their chances; several units together where the law is wide."""
    if law.spread > WIDE**2:  # so wide a law differs from one half as wide by its scale alone
        like = Geometric(Fraction(1001, 1000)) if law.pure else Gaussian(Fraction(10**6))
        places, chances = _points(like)
        return places * math.sqrt(law.spread / like.spread), chances
    reach = int(max(law.centre[1], 12 * np.sqrt(law.spread))) + 1
    half = law.masses(reach)
    step = (2 * reach // POINTS + 1) | 1  # odd, so that units gather symmetrically about zero
    bins = -(-(2 * reach + 1) // step) | 1
    both = np.pad(np.concatenate([half[:0:-1], half]), (bins * step - 2 * reach - 1) // 2)
    chances = both.reshape(bins, step).sum(axis=1)
    places = np.arange(-(bins // 2), bins // 2 + 1, dtype=float) * step
    return places, chances / chances.sum()


def _by_all(
    spread: Spread | RaggedSpread, noise: Mapping[Question, NoiseLaw], question: Question, place: int, level: float
) -> float:
    """Of one node's entry, by the law of all noises in it: in deviations."""
    deviation = math.sqrt(float(spread.variance(question)[place]))
    weights = {q: one / deviation for q, one in spread.noise_weights(question, place).items()}
    return _reach(weights, noise, level, rare=deviation < RARE)


def _reach(
    weights: Mapping[Question, Floats], noise: Mapping[Question, NoiseLaw], level: float, rare: bool = False
) -> float:
    """Of a sum of noises with these weights, whose variance is one: of those that hardly count, as normal.

    What has the largest part comes first: where the product of all so far is nothing, the others are not looked at."""
    smooth, hardly = (SMOOTH / FINER, _hardly(weights, noise)) if rare else (SMOOTH, HARDLY)
    alike = [one for q, some in weights.items() for one in _alike(noise[q], some)]
    seen = sorted((one for one in alike if one.part > hardly), key=lambda one: -one.times * one.part)
    small = sum(one.times * one.part for one in alike if one.part <= hardly)
    steps, width = np.linspace(0, 6 / smooth, FREQUENCIES * (FINER if rare else 1) + 1, retstep=True)
    steps = steps[1:]
    waves = np.exp(-(smooth**2 + small) * steps**2 / 2)
    for one in seen:
        heard = np.abs(waves) > NO_CHANCE
        steps, waves = steps[heard], waves[heard]
        waves = waves * _wave(one.law, one.weight * steps) ** one.times
    heights = waves / steps * (2 / math.pi) * width

    def inside(x: float) -> float:
        return float(heights @ np.sin(x * steps)) + x * width / math.pi

    smoother = math.hypot(smooth, math.sqrt(small)) - math.sqrt(small)  # than the law is where it has a step
    return _least(inside, level, FARTHEST * factor(level, True)) + BEYOND * smoother


class EqualNoises(NamedTuple):
    """Noises of one law that have the same weight."""

    law: NoiseLaw
    weight: float
    times: int

    @property
    def part(self) -> float:
        """Of the variance of the whole, which is one, what each of them has."""
        return self.weight**2 * self.law.spread


def _alike(law: NoiseLaw, weights: Floats) -> list[EqualNoises]:
    flat = np.abs(weights.ravel())
    unit = max(float(flat.max()), 1e-300) * SAME
    values, times = np.unique(np.rint(flat / unit), return_counts=True)
    return [EqualNoises(law, value * unit, number) for value, number in zip(values.tolist(), times.tolist())]


def _hardly(weights: Mapping[Question, Floats], noise: Mapping[Question, NoiseLaw]) -> float:
    """Of rare noise, the part of the variance up to which its own law is not seen: the sum of many that differ is
    smooth."""
    roots = np.concatenate([np.abs(one.ravel()) * math.sqrt(noise[q].spread) for q, one in weights.items()])
    differ = np.unique(np.rint(roots[roots**2 > HARDLY_RARE] / SAME))
    return HARDLY_RARE if len(differ) <= MOST_SEEN else HARDLY


def _wave(law: NoiseLaw, steps: Floats) -> Floats:
    """The characteristic function of one noise; in closed form for the usual laws."""
    wave: Floats
    if law.decay is not None and law.worst_odds is not None:
        rate = float((law.worst_odds - 1) ** 2 / law.worst_odds)
        wave = 1 / (1 + 4 / rate * np.sin(steps / 2) ** 2)
    elif not law.pure and law.spread >= SUMMED:  # Gaussian: by Poisson's sum
        near = np.remainder(steps + np.pi, 2 * np.pi) - np.pi
        wave = sum((np.exp(-((near + turn) ** 2) * law.spread / 2) for turn in TURNS), np.zeros_like(steps))
    else:
        places, chances = _points(law)
        middle, unit = len(places) // 2, places[1] - places[0]
        wave = cosines(np.append(chances[middle], 2 * chances[middle + 1 :]), unit * steps)
    return wave


def cosines(heights: Floats, steps: Floats) -> Floats:
    """The sum over k of heights[k] cos(k steps), by Clenshaw's recursion: one cosine for all k."""
    twice = 2 * np.cos(steps)
    one, two, new = np.zeros((3, len(steps)))
    for height in heights[: np.flatnonzero(heights > NO_CHANCE)[-1] + 1][:0:-1]:
        np.multiply(twice, one, out=new)
        new -= two
        new += height
        one, two, new = new, one, two
    sums: Floats = heights[0] + twice / 2 * one - two
    return sums
