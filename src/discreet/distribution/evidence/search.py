"""Which priors to try, and what each of them makes of what was seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence.fit import Fit, Seen, fit, regressed
from discreet.distribution.evidence.prior import FREE, Prior

ROUGHNESS = 10.0 ** np.arange(0, 3.6, 0.5)  # of the smooth curve: from a trend to the noise's own width
SPIKES = (0.15, 0.5, 1.5)  # standard deviation of a logarithm at every count: 15%, half, or four times
LONE_SPIKE = 3.0  # the same of a single spike, which is tried only where there seems to be one
MOST_LONE = 16  # spikes; where there are more, a spike at every count says it better
MOST_ALONE = 4  # that hold all counts between them; where there are more, spikes on a curve say it as well
RARE = 5.0  # nats: one table in 150 has no more different counts than that; many are merely narrow
WORTHLESS = 12.0  # nats below the best: a weight of one in 160,000, so it matters nowhere that one falls out
MINOR = 5.0  # nats below the best: a weight of one in 150, so that a rough fit will do
WORTHWHILE = 1.0  # nats by which a further spike must seem to gain, beyond its price, to be tried
TAIL = 0.25  # of the rows: neither end of the range is looked for beyond
COARSE = 8  # places where an end is looked for at first
ALMOST = 1.0  # nats: a fit with more columns is to be better by that for others to start from it
EQUAL = 1e-3  # nats: of two fits that are no further apart the one tried first is taken
ROUNDING = 1e-9  # of a number of rows: one that is no more than that below another is as large
ROUGHLY = 1e-2  # nats still to be gained where fits are only compared; those that count are gone over again


def explanations(seen: Seen, prior: Prior, histogram: Floats, cut: bool) -> list[Fit]:
    """Fits of all kinds that are worth something, each with the price of choosing among as many."""
    smooth = [*_smooth(seen, prior, histogram)]
    best = _best([one for _, _, one in smooth])
    curve = next(curve for curve, _, one in smooth if one is best)
    chain = [one for of, _, one in smooth if of == curve]
    rough = next(k for k, one in enumerate(chain) if one is best)
    heaped = [best, *_heaped(seen, prior, best)]
    heap = _best(heaped).basis[:, best.basis.shape[1] :]
    spiky = [*_spiky(seen, prior, _best(heaped), heap, curve, rough)]
    bases = [chain[0], chain[rough // 2], _with(seen, chain[rough // 2], heap), _with(seen, chain[rough], heap)]
    lone = [one for base in bases for one in _lone(seen, prior, base)]
    found = [one for _, _, one in smooth] + heaped[1:] + spiky + lone
    found += _ended(seen, _simplest(found), cut)
    found += _few(seen, _best(found).evidence)
    highest = _best(found).evidence
    worth = [one for one in found if one.evidence > highest - WORTHLESS]
    return [_polished(seen, one) if one.evidence > highest - MINOR else one for one in worth]


def _best(fits: list[Fit]) -> Fit:
    """The first of the best."""
    best = fits[0]
    for one in fits[1:]:
        if one.evidence > best.evidence + EQUAL:
            best = one
    return best


def _simplest(fits: list[Fit]) -> Fit:
    """Of those nearly as good as the best, the first with the fewest columns."""
    highest = max(one.evidence for one in fits)
    return min((one for one in fits if one.evidence > highest - ALMOST), key=lambda one: one.basis.shape[1])


def _near(seen: Seen, basis: Floats, near: Fit) -> Fit:
    expected = seen.expectation(near.log_density)[2]
    found = fit(seen, near.cells, basis, regressed(basis, near.log_density, expected), ROUGHLY)
    return replace(found, price=near.price)


def _with(seen: Seen, one: Fit, columns: Floats) -> Fit:
    return _near(seen, np.column_stack([one.basis, columns]), one)


def _polished(seen: Seen, one: Fit) -> Fit:
    return replace(fit(seen, one.cells, one.basis, one.weights), price=one.price)


def _smooth(seen: Seen, prior: Prior, histogram: Floats) -> Iterator[tuple[int, int, Fit]]:
    raw = np.log((histogram + 0.5) / seen.widths)
    raw -= math.log((histogram.sum() + 0.5 * len(histogram)) / seen.widths.sum())
    every = np.arange(len(histogram))
    for curve in range(len(prior.curves)):
        before, highest = None, -math.inf
        for rough, roughness in enumerate(ROUGHNESS):
            basis = prior.smooth(curve, float(roughness))
            if before is None:
                before = fit(seen, every, basis, regressed(basis, raw, histogram), ROUGHLY)
            else:
                before = _near(seen, basis, before)
            yield curve, rough, before
            highest = max(highest, before.evidence)
            if before.evidence < highest - WORTHLESS:
                break


def _heaped(seen: Seen, prior: Prior, smooth: Fit) -> Iterator[Fit]:
    """With factors at round numbers; then with one of its own at each of them."""
    found = []
    for heap in prior.heaps:
        found.append(_with(seen, smooth, heap))
        yield found[-1]
    if found:
        best = _best(found)
        for strength in SPIKES[1:]:
            yield _with(seen, best, strength * prior.rounds)


def _spiky(seen: Seen, prior: Prior, near: Fit, heap: Floats, curve: int, rough: int) -> Iterator[Fit]:
    """With a spike at every count; then with a smoother curve under the spikes, as long as that is better."""
    found = []
    for strength in SPIKES:
        found.append(_with(seen, near, strength * prior.spikes))
        yield found[-1]
    best = _best(found)
    strength = SPIKES[next(k for k, one in enumerate(found) if one is best)]
    for lower in range(rough - 1, -1, -1):
        basis = np.column_stack([prior.smooth(curve, float(ROUGHNESS[lower])), heap, strength * prior.spikes])
        smoother = _near(seen, basis, best)
        yield smoother
        if smoother.evidence <= best.evidence:
            break
        best = smoother


def _lone(seen: Seen, prior: Prior, best: Fit) -> Iterator[Fit]:
    """With a few spikes, one after the other where it promises most."""
    price = math.log(len(seen.widths))
    for _ in range(MOST_LONE):
        gain = _promise(seen, best)
        cell = int(np.flatnonzero(gain > gain.max() - EQUAL)[0])
        if gain[cell] < price + WORTHWHILE:
            return
        found = _with(seen, best, LONE_SPIKE * prior.spikes[:, cell : cell + 1])
        found = replace(found, price=best.price + price)
        yield found
        if found.evidence <= best.evidence:
            return
        best = found


def _promise(seen: Seen, one: Fit) -> Floats:
    """What a spike at each cell would add to the evidence, if the likelihood were normal."""
    shares, noisy, _ = seen.expectation(one.log_density)
    whole = shares[:, None] * (seen.blur - noisy) * np.sqrt(seen.total / noisy)
    cross = whole @ one.root[:, : whole.shape[1]].T
    left = np.maximum((whole**2).sum(axis=1) - (np.linalg.solve(one.precision, cross.T).T * cross).sum(axis=1), 0)
    sure = 1 + LONE_SPIKE**2 * left
    gain: Floats = 0.5 * (LONE_SPIKE**2 * one.gradient**2 / sure - np.log(sure))
    return gain


def _few(seen: Seen, goal: float) -> Iterator[Fit]:
    """If all counts were in very few cells: one after the other where it is missed most, as long as that comes near."""
    likely = np.log(seen.blur) @ seen.rows
    best = _alone(seen, np.flatnonzero(likely > likely.max() - EQUAL)[:1])
    worth = max(goal, best.evidence) - best.evidence + likely.max() - WORTHLESS
    yield from (_alone(seen, np.array([cell])) for cell in np.flatnonzero(likely > worth))
    for number in range(2, min(MOST_ALONE, len(seen.widths)) + 1):
        noisy = seen.within(best.cells).expectation(best.log_density)[1]
        missed = seen.blur @ (seen.rows / noisy)
        missed[best.cells] = -math.inf
        most = np.flatnonzero(missed >= (1 - ROUNDING) * missed.max())[:1]
        one = _alone(seen, np.sort(np.append(best.cells, most)))
        gain = one.evidence - best.evidence
        if one.evidence + (MOST_ALONE + 1 - number) * gain < goal - WORTHLESS:
            return
        moved = [one, *_moved(seen, one)]
        yield from moved
        one = _best(moved)
        if one.evidence <= best.evidence:
            return
        best = one


def _moved(seen: Seen, one: Fit) -> Iterator[Fit]:
    """With each of few cells, in turn, moved as long as that is better."""
    for place in range(len(one.cells)):
        for way in (-1, 1):
            while 0 <= (cell := one.cells[place] + way) < len(seen.widths) and cell not in one.cells:
                other = _alone(seen, np.sort(np.append(np.delete(one.cells, place), cell)))
                yield other
                if other.evidence <= one.evidence + EQUAL:
                    break
                one = other


def _alone(seen: Seen, cells: Integers) -> Fit:
    price = RARE + len(cells) * math.log(len(seen.widths))
    return replace(fit(seen, cells, FREE * np.eye(len(cells)), np.zeros(len(cells)), ROUGHLY), price=price)


def _ended(seen: Seen, best: Fit, cut: bool) -> list[Fit]:
    """If the counts end before the largest that is looked for, or begin after 0."""
    size, upto = len(seen.widths), np.cumsum(seen.expectation(best.log_density)[0])
    found = [best]
    low = min(int(np.searchsorted(upto, 1 - TAIL)) + 1, size)
    if not cut:
        found += _searched(lambda end: _limited(seen, best, 0, end), low, size)
    end = int(_best(found).cells[-1]) + 1
    high = min(int(np.searchsorted(upto, TAIL)), end - 1)
    found += _searched(lambda start: _limited(seen, best, start, end), 0, high)
    start = int(_best(found).cells[0])
    if not cut and start > 0:
        found += _searched(lambda end: _limited(seen, best, start, end), max(low, start + 1), size)
    return found[1:]


def _limited(seen: Seen, best: Fit, start: int, end: int) -> Fit:
    cells = np.arange(start, end)
    return replace(fit(seen, cells, best.basis[start:end], best.weights, ROUGHLY), price=best.price)


def _searched(at: Callable[[int], Fit], low: int, high: int) -> list[Fit]:
    """Fits for borders from low to high, closer and closer to the best; each counts for the places around it."""
    step = 1 << max(0, (max(high - low, 1) // COARSE).bit_length() - 1)
    tried = {place: at(place) for place in range(low, high + 1, step)}
    while step > 1:
        step //= 2
        highest = max(one.evidence for one in tried.values())
        best = min(place for place, one in tried.items() if one.evidence > highest - EQUAL)
        for place in (best - step, best + step):
            if low <= place <= high and place not in tried:
                tried[place] = at(place)
    places = np.array(sorted(tried))
    middles = np.concatenate([[low - 0.5], (places[1:] + places[:-1]) / 2, [high + 0.5]])
    prices = math.log(high - low + 1) - np.log(np.diff(middles))
    return [replace(tried[place], price=tried[place].price + price) for place, price in zip(places, prices)]
