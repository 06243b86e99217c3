"""Which priors to try, and what each of them makes of what was seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence.cells import spread_out
from discreet.distribution.evidence.climb import CERTAIN, ROUGHLY
from discreet.distribution.evidence.fit import (
    EQUAL,
    WORTHLESS,
    Fit,
    fit,
    likeliest,
    narrowed,
    polished,
    regressed,
)  # fmt: skip
from discreet.distribution.evidence.heaps import MOVES, PRICE, STEPS, Rounding
from discreet.distribution.evidence.prior import Prior
from discreet.distribution.evidence.seen import Seen
from discreet.distribution.evidence.sparse import few, hopeless, packs_of

ROUGHNESS = 10.0 ** np.arange(0, 3.6, 0.5)  # of the smooth curve: from a trend to the noise's own width
SPIKES = (0.15, 0.5, 1.5)  # standard deviation of a logarithm at every count: 15%, half, or four times
LONE_SPIKE = 3.0  # the same of a single spike, which is tried only where there seems to be one
MOST_LONE = 16  # spikes; where there are more, a spike at every count says it better
MINOR = 5.0  # nats below the best: a weight of one in 150, so that a rough fit will do
WORTHWHILE = 1.0  # nats by which a further spike must seem to gain, beyond its price, to be tried
AS_CERTAIN = 0.9  # of the logarithm of the precision is the same where counts are from one cell to another only
LEFT_OUT = 5 * WORTHLESS  # nats below the best, where too many rows were left out: with fewer counts there are more
TAIL = 0.25  # of the rows: neither end of the range is looked for beyond
COARSE = 8  # places where an end is looked for at first
ALMOST = 1.0  # nats: a fit with more columns is to be better by that for others to start from it

Told = Callable[[Floats], tuple[Rounding, ...]]  # from a smooth law of counts to the roundings worth trying
Curved = tuple[int, int, Fit]  # which curve, which roughness, and the fit
Limited = tuple[float, Fit | None]  # the evidence, and the fit; or no more than the evidence, where it is worthless


def explanations(seen: Seen, prior: Prior, histogram: Floats, cut: bool, told: Told) -> list[Fit]:
    """Fits of all kinds that are worth something, each with the price of choosing among as many."""
    smooth = [*_smooth(seen, prior, histogram)]
    _, chain, rough = _chain(smooth)
    # a curve as rough as the noise is wide would follow heaps itself: a smoother one is asked, too
    bases = [chain[base] for base in sorted({rough // 2, rough})]
    kinds = [*_fits(smooth), *_kinds(smooth, prior, cut, -math.inf)]
    found = [*kinds, *few(seen, likeliest(kinds).evidence)]
    heaped = _heaped(bases, likeliest(kinds), prior, told, likeliest(found).evidence)
    if (rounded := likeliest([chain[rough], *heaped])) in heaped:
        smooth = [*_smooth(rounded.seen, prior, histogram, rounded.price)]
        found += [*_fits(smooth), *_kinds(smooth, prior, cut, likeliest([*found, *heaped]).evidence)]
    found += [*heaped, *_packed(seen, prior, histogram, bases)]
    highest = likeliest(found).evidence
    worth = [one for one in found if one.evidence > highest - WORTHLESS]
    return [polished(one) if one.evidence > highest - MINOR else one for one in worth]


def _kinds(smooth: list[Curved], prior: Prior, cut: bool, goal: float) -> list[Fit]:
    """With spikes at every count, or a few; with an end."""
    curve, chain, rough = _chain(smooth)
    found = _spiky(prior, chain[rough])
    goal = max([goal, *(one.evidence for one in found)])
    for base in sorted({0, rough // 2, rough}):
        found += _lone(prior, chain[base], goal)
        goal = max([goal, *(one.evidence for one in found)])
    found += _smoother(prior, found[: len(SPIKES)], curve, rough, goal)
    return [*found, *_ended(_simplest([*_fits(smooth), *found]), cut)]


def _fits(smooth: list[Curved]) -> list[Fit]:
    return [one for _, _, one in smooth]


def _chain(smooth: list[Curved]) -> tuple[int, list[Fit], int]:
    """The curve of the best, all fits of that curve, and the place of the best among them."""
    best = likeliest(_fits(smooth))
    curve = next(curve for curve, _, one in smooth if one is best)
    chain = [one for of, _, one in smooth if of == curve]
    return curve, chain, next(k for k, one in enumerate(chain) if one is best)


def _simplest(fits: list[Fit]) -> Fit:
    """Of those nearly as good as the best, the first with the fewest columns."""
    highest = max(one.evidence for one in fits)
    return min((one for one in fits if one.evidence >= highest - ALMOST), key=lambda one: one.basis.shape[1])


def _near(columns: Floats, near: Fit, goal: float = -math.inf, price: float = 0.0) -> Fit:
    """From there, at a further price; given up where it would be worthless beside the goal."""
    basis, expected, price = narrowed(columns), near.inside.expectation(near.log_density)[2], near.price + price
    start = regressed(basis, near.log_density, expected)
    return replace(fit(near.seen, near.cells, basis, start, ROUGHLY, goal + price), price=price)


def _with(one: Fit, columns: Floats, goal: float = -math.inf, price: float = 0.0) -> Fit:
    return _near(np.column_stack([one.basis, columns]), one, goal, price)


def _smooth(
    seen: Seen, prior: Prior, histogram: Floats, price: float = 0.0, only: Integers | None = None
) -> Iterator[Curved]:
    """With a curve of each kind and roughness; counts are in all cells, or in some only."""
    cells = np.arange(len(histogram)) if only is None else only
    raw = np.log((histogram + 0.5) / seen.widths)
    raw -= math.log((histogram.sum() + 0.5 * len(histogram)) / seen.widths.sum())
    for curve in range(len(prior.curves)):
        before, highest = None, -math.inf
        for rough, roughness in enumerate(ROUGHNESS):
            basis = prior.smooth(curve, float(roughness))[cells]
            if before is None:
                start = regressed(basis, raw[cells], histogram[cells])
                before = replace(fit(seen, cells, basis, start, ROUGHLY), price=price)
            else:
                before = _near(basis, before, highest)
            yield curve, rough, before
            highest = max(highest, before.evidence)
            if before.evidence < highest - WORTHLESS:
                break


def _heaped(bases: list[Fit], kind: Fit, prior: Prior, told: Told, goal: float) -> list[Fit]:
    """With a share of the rows rounded as told; if that is better, then as it is best. Where they are worthless beside
    the goal, and no gain to the best kind without them, they are left at that."""
    tried: dict[tuple[int, Rounding], Fit] = {}

    def at(base: int, rounding: Rounding, near: Fit) -> Fit:
        if (base, rounding) not in tried:
            smooth, goal = bases[base], likeliest([bases[base], *tried.values()]).evidence
            moved = replace(near, seen=smooth.seen.heaped(rounding.heaps(prior.edges)), price=smooth.price)
            tried[base, rounding] = _near(smooth.basis, moved, goal, PRICE)
        return tried[base, rounding]

    for base, smooth in enumerate(bases):
        law = smooth.seen.expectation(smooth.log_density)[0]
        for guess in _heard(smooth, prior, told(spread_out(smooth.log_density, law, smooth.cells, prior.edges))):
            at(base, guess, smooth)
    best = likeliest([*reversed(bases), *tried.values()])
    for base, rounding in [which for which, one in tried.items() if one is best]:
        beside = replace(kind, seen=kind.seen.heaped(rounding.heaps(prior.edges)))
        least = max(goal - WORTHLESS, kind.evidence)
        if best.evidence < goal - WORTHLESS and _near(kind.basis, beside, price=PRICE).evidence < least:
            return []
        for step, move in product(STEPS, MOVES):
            while (one := at(base, move(rounding, step), best)).evidence > best.evidence + EQUAL:
                rounding, best = move(rounding, step), one
    return [*tried.values()]


def _heard(smooth: Fit, prior: Prior, guesses: tuple[Rounding, ...]) -> tuple[Rounding, ...]:
    """Beside a stage one: that by which what was seen is likeliest, under the same smooth law, if it is likelier."""
    seen = smooth.seen.held(smooth.seen.expectation(smooth.log_density))
    if seen.measured is None or not guesses:
        return guesses
    gains = [seen.heaped(guess.heaps(prior.edges)).log_likelihood(smooth.log_density) for guess in guesses]
    best = int(np.argmax(gains))
    return guesses[best : best + 1] if gains[best] > seen.log_likelihood(smooth.log_density) else ()


def _packed(seen: Seen, prior: Prior, histogram: Floats, smooth: list[Fit]) -> Iterator[Fit]:
    """If only every so many-th count occurs, where noisy values tell that."""
    for pack in dict.fromkeys(pack for one in smooth for pack in packs_of(seen, one.log_density)):
        yield from _fits([*_smooth(seen, prior, histogram, pack.price, pack.cells(len(seen.widths)))])


def _spiky(prior: Prior, near: Fit) -> list[Fit]:
    """With a spike at every count."""
    found: list[Fit] = []
    for strength in SPIKES:
        found.append(_with(near, strength * prior.spikes, max(one.evidence for one in [near, *found])))
    return found


def _smoother(prior: Prior, spiky: list[Fit], curve: int, rough: int, goal: float) -> Iterator[Fit]:
    """With a smoother curve under the spikes, as long as that is better and may come near the goal."""
    best = likeliest(spiky)
    strength = SPIKES[next(k for k, one in enumerate(spiky) if one is best)]
    for lower in range(rough - 1, -1, -1):
        basis = np.column_stack([prior.smooth(curve, float(ROUGHNESS[lower])), strength * prior.spikes])
        smoother = _near(basis, best, best.evidence)
        yield smoother
        if smoother.evidence <= best.evidence or hopeless(best, smoother, lower, goal):
            break
        best = smoother


def _lone(prior: Prior, best: Fit, goal: float) -> Iterator[Fit]:
    """With a few spikes, one after the other where it promises most, as long as that may come near the goal."""
    price = math.log(len(best.seen.widths))
    for left in reversed(range(MOST_LONE)):
        gain = _promise(best)
        cell = int(np.flatnonzero(gain >= gain.max() - EQUAL)[0])
        if gain[cell] < price + WORTHWHILE:
            return
        found = _with(best, LONE_SPIKE * prior.spikes[:, cell : cell + 1], price=price)
        yield found
        if found.evidence <= best.evidence or hopeless(best, found, left, goal):
            return
        best = found


def _promise(one: Fit) -> Floats:
    """What a spike at each cell would add to the evidence, if the likelihood were normal."""
    seen = one.seen
    shares, noisy, _ = seen.expectation(one.log_density)
    whole = shares[:, None] * (seen.blur - noisy) * np.sqrt(seen.total / noisy)
    cross = whole @ one.precision.root.T
    left = np.maximum((whole**2).sum(axis=1) - (one.precision.factor.forward(cross.T) ** 2).sum(axis=0), 0)
    sure = 1 + LONE_SPIKE**2 * left
    gain: Floats = 0.5 * (LONE_SPIKE**2 * one.top.gradient**2 / sure - np.log(sure))
    return gain


def _ended(best: Fit, cut: bool) -> list[Fit]:
    """If the counts end before the largest that is looked for, or begin after 0."""
    size, upto = len(best.seen.widths), np.cumsum(best.seen.expectation(best.log_density)[0])
    found = [best]
    low = min(int(np.searchsorted(upto, 1 - TAIL)) + 1, size)
    if not cut:
        found += _searched(lambda end, near: _limited(best, 0, end, near), best, size, low)
    end = int(likeliest(found).cells[-1]) + 1
    high = min(int(np.searchsorted(upto, TAIL)), end - 1)
    found += _searched(lambda start, near: _limited(best, start, end, near), best, 0, high)
    start = int(likeliest(found).cells[0])
    if not cut and start > 0:
        found += _searched(lambda end, near: _limited(best, start, end, near), best, size, max(low, start + 1))
    return found[1:]


def _limited(best: Fit, start: int, end: int, near: Fit) -> Limited:
    """If counts were from one cell to another only; `near`: a fit of about as many cells, whose precision may do."""
    cells = np.arange(start, end)
    doubt = 0.5 * best.precision.factor.log_determinant
    most = best.seen.within(cells).most_likely(best.log_density[start:end]) - AS_CERTAIN * doubt - best.price
    if most < best.evidence - WORTHLESS:
        return most, None
    goal = best.evidence + best.price + (AS_CERTAIN - CERTAIN) * doubt
    found = fit(best.seen, cells, best.basis[start:end], near.weights, ROUGHLY, goal, near.precision.factor)
    return found.evidence - best.price, replace(found, price=best.price)


def _searched(at: Callable[[int, Fit], Limited], best: Fit, widest: int, narrowest: int) -> list[Fit]:
    """Fits for borders from the widest to the narrowest, unless one before it leaves out too much, then closer and
    closer to the best; each counts for the places around it."""
    low, high = min(widest, narrowest), max(widest, narrowest)
    step = 1 << max(0, (max(high - low, 1) // COARSE).bit_length() - 1)
    tried: dict[int, Limited] = {}

    def look(place: int) -> None:
        fits = [(abs(place - other), one) for other, (_, one) in tried.items() if one is not None]
        tried[place] = at(place, min(fits, key=lambda fit: fit[0])[1] if fits else best)

    upwards = range(low, high + 1, step)
    for place in upwards if widest == low else reversed(upwards):
        look(place)
        if tried[place][0] < best.evidence - LEFT_OUT:
            break
    while step > 1:
        step //= 2
        highest = max(evidence for evidence, _ in tried.values())
        middle = min(place for place, (evidence, _) in tried.items() if evidence >= highest - EQUAL)
        for place in (middle - step, middle + step):
            if low <= place <= high and place not in tried:
                look(place)
    places = np.array(sorted(tried))
    middles = np.concatenate([[low - 0.5], (places[1:] + places[:-1]) / 2, [high + 0.5]])
    prices = math.log(high - low + 1) - np.log(np.diff(middles))
    found = [(tried[place][1], price) for place, price in zip(places, prices)]
    return [replace(one, price=one.price + price) for one, price in found if one is not None]
