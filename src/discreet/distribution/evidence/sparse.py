"""Counts at few places: all rows at one of a handful of counts, or at every so many-th, as what comes in packs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence.climb import ROUGHLY
from discreet.distribution.evidence.fit import EQUAL, WORTHLESS, Fit, fit, likeliest
from discreet.distribution.evidence.prior import FREE
from discreet.distribution.evidence.seen import Seen

MOST_ALONE = 4  # that hold all counts between them; where there are more, spikes on a curve say it as well
HALVINGS = 12  # of the share that a further place might hold: known to a row in 4,000, enough to compare places
ALIKE = 2.5  # nats: in one table in 12 all counts are alike, or
NEARLY_ALL = 0.95  # of them; a narrow bell looks the same in wide noise, and is commoner
PACKS = range(2, 13)  # how many things may come together: pairs to dozens
PACKED = 3.0 + math.log(2 * len(PACKS))  # nats: one table in 20 counts things in packs, every other without a rest
ADAPTED = 2  # steps of expectation and maximisation from the smooth law: packs have to divide what was between them
MOST_PACKS = 3  # that are tried: of dozens also the half and the third
SOFTLY = 3.0  # nats: packs that noisy values make no more than 20 times unlikelier than a smooth law are tried


def few(seen: Seen, goal: float) -> Iterator[Fit]:
    """If all counts were in very few cells: one after the other where it helps most, as long as that comes near."""
    likely = np.log(seen.blur) @ seen.rows
    best = _alone(seen, np.flatnonzero(likely >= likely.max() - EQUAL)[:1])
    worth = max(goal, best.evidence) - best.evidence + likely.max() - WORTHLESS
    yield from (_alone(seen, np.array([cell])) for cell in np.flatnonzero(likely > worth))
    for number in range(2, min(MOST_ALONE, len(seen.widths)) + 1):
        gains = _gains(seen, best)
        one = _alone(seen, np.sort(np.append(best.cells, np.flatnonzero(gains >= gains.max() - EQUAL)[:1])))
        if hopeless(best, one, MOST_ALONE + 1 - number, goal):
            return
        moved = [one := _near(seen, one), *_moved(seen, one)]
        yield from moved
        one = likeliest(moved)
        if one.evidence <= best.evidence or hopeless(best, one, MOST_ALONE - number, goal):
            return
        best = one


def hopeless(best: Fit, one: Fit, further: int, goal: float) -> bool:
    """Whether so many further steps, each as good as the last, would not come near the goal."""
    return one.evidence + further * (one.evidence - best.evidence) < goal - WORTHLESS


def _gains(seen: Seen, best: Fit) -> Floats:
    """By how much the noisy values would be likelier with a share of the rows in each further cell, whatever helps."""
    ratio = seen.blur / seen.within(best.cells).expectation(best.log_density)[1] - 1
    low, high = np.zeros((len(ratio), 1)), np.ones((len(ratio), 1))
    for _ in range(HALVINGS):
        share = (low + high) / 2
        more = (ratio / (1 + share * ratio)) @ seen.rows[:, None] > 0
        low, high = np.where(more, share, low), np.where(more, high, share)
    gains: Floats = np.log1p(low * ratio) @ seen.rows
    gains[best.cells] = -math.inf
    return gains


def _near(seen: Seen, one: Fit) -> Fit:
    """Beside a stage one, where every fit takes longer: the cells to which noisy values alone would move."""
    if seen.measured is None:
        return one
    told = replace(seen, measured=None)
    alone = _alone(told, one.cells)
    found = _alone(seen, likeliest([alone, *_moved(told, alone)]).cells)
    return likeliest([one, found])


def _moved(seen: Seen, one: Fit) -> Iterator[Fit]:
    """With each of few cells, in turn, moved as long as that is better; until none is."""
    before = None
    while before is not one:
        before = one
        for place, way in product(range(len(one.cells)), (-1, 1)):
            while 0 <= (cell := one.cells[place] + way) < len(seen.widths) and cell not in one.cells:
                other = _alone(seen, np.insert(np.delete(one.cells, place), place, cell), one.weights)
                yield other
                if other.evidence <= one.evidence + EQUAL:
                    break
                one = other


def _alone(seen: Seen, cells: Integers, weights: Floats | None = None) -> Fit:
    start = np.zeros(len(cells)) if weights is None else weights
    found = fit(seen, cells, FREE * np.eye(len(cells)), start, ROUGHLY)
    alike = found.inside.expectation(found.log_density)[0].max() > NEARLY_ALL
    price = math.log(math.comb(len(seen.widths), len(cells))) + (ALIKE if alike else 0.0)
    return replace(found, price=price)


@dataclass(frozen=True)
class Pack:
    """Counts leave a certain rest when divided by how many come together."""

    step: int
    rest: int

    @property
    def price(self) -> float:
        return PACKED + (math.log(self.step - 1) if self.rest else 0.0)

    def cells(self, size: int) -> Integers:
        return np.arange(self.rest, size, self.step)


def packs_of(seen: Seen, log_density: Floats) -> tuple[Pack, ...]:
    """What the noisy values speak for, if counts had about that law but for packs; none where they speak too softly."""
    law, noisy, _ = seen.expectation(log_density)
    every = [Pack(step, rest) for step in PACKS for rest in range(step) if rest + step < len(law)]
    if seen.widths.max() > 1 or not every:  # in cells of several counts packs are not seen
        return ()
    laws = law * [np.arange(len(law)) % one.step == one.rest for one in every]
    laws /= laws.sum(axis=1, keepdims=True)
    for _ in range(ADAPTED):
        laws *= (seen.rows / (laws @ seen.blur)) @ seen.blur.T / seen.total
    gains = np.log(laws @ seen.blur / noisy) @ seen.rows - [one.price for one in every]
    likely = np.argsort(-gains, kind="stable")[:MOST_PACKS]
    return tuple(every[k] for k in likely if gains[k] > max(-SOFTLY, gains.max() - WORTHLESS))
