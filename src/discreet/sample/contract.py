"""The contract of every sampler: it follows its law, and the test would notice if it followed a nearby one.

Both ways of failing by bad luck are bounded beforehand, for any number of draws, and not by a limit theorem: a right
sampler is condemned, or a wrong law let pass, with a chance below `RARE`. A test with too few draws to tell the laws
apart fails always, before anything is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers

RARE = 1e-12  # the chance of either mistake: a test may make hundreds of such checks, a project may run them for years
LEAST_EXPECTED = 10.0  # draws expected in a cell: fewer would not tell much
MOST_CELLS = 256  # more tell wide laws apart no better, and allow more for chance
WIDEST = 1 << 20  # how far from its middle the masses of a law are asked for

Masses = Callable[[int], float] | Sequence[float]


def assert_sampler_law(
    draw: Callable[[int], Any], masses: Masses, *, size: int = 200_000, first: int = 0, wrong: Masses | None = None
) -> None:
    """The contract of every sampler: `draw(size)` follows the law, and would not pass for the nearby law `wrong`.

    `masses` is P(value) as a function, with most of it around `first`, or a list for first, first + 1, ...
    """
    start, window = _window(masses, first, size)
    cells = _cells(window, size)
    right = _shares(window, cells)
    other = None if wrong is None else _shares(_over(wrong, first, start, len(window)), cells)
    if other is not None:
        assert_tells_apart(right, other, size)
    values = np.asarray(draw(size))
    assert len(values) == size
    assert _possible(values, masses, first), "the draws do not follow the law: it never has some of them"
    assert_shares(_seen(values, start, cells), right, other)


def assert_shares(seen: Any, right: Any, wrong: Any = None) -> None:
    """The same for how often each of a few cells was seen: independent draws, of the right shares, not of the wrong."""
    counts = np.asarray(seen)
    if wrong is not None:
        assert_tells_apart(right, wrong, int(counts.sum()))
    chance = p_value(counts, right)
    assert chance > RARE, f"the draws do not follow the law (p < {chance:.3g})"
    near = 0.0 if wrong is None else p_value(counts, wrong)
    assert near < RARE, f"the draws may as well follow the wrong law (p < {near:.3g})"


def assert_tells_apart(right: Any, wrong: Any, size: int) -> None:
    """So many draws of the right shares are enough to reject the wrong ones."""
    missed = chance_missed(right, wrong, size)
    assert missed < RARE, f"{size} draws may not tell the law from a wrong one (missed with a chance of {missed:.3g})"


def law_p_value(values: Any, masses: Masses, first: int = 0) -> float:
    """How likely draws of the law are so far from it, at most; neighbouring values that are rare share a cell."""
    drawn = np.asarray(values)
    start, window = _window(masses, first, len(drawn))
    cells = _cells(window, len(drawn))
    return p_value(_seen(drawn, start, cells), _shares(window, cells)) if _possible(drawn, masses, first) else 0.0


def p_value(seen: Any, shares: Any) -> float:
    """An upper bound on the chance that independent draws are as far from these shares as those seen, in relative
    entropy: that of the empirical distribution has the moments of a gamma law at most (R. Agrawal, 2020)."""
    counts, chances = np.asarray(seen, dtype=float), np.asarray(shares, dtype=float)
    if (counts[chances <= 0] > 0).any():
        return 0.0
    size = float(counts.sum())
    return _beyond(size * _entropy(counts / size, chances / chances.sum()), int((chances > 0).sum()) - 1)


def chance_missed(right: Any, wrong: Any, size: int) -> float:
    """An upper bound on the chance that so many draws of the right shares do not reject the wrong ones at `RARE`.

    What is not rejected is a ball around the wrong shares, and convex; so the chance is exp(-size d) at most, where d
    is the relative entropy of the point of the ball nearest to the right shares, which lies on the geometric path from
    the ones to the others (Sanov's bound, as sharpened by I. Csiszar in 1984).
    """
    right, wrong = (np.asarray(shares, dtype=float) / np.sum(shares) for shares in (right, wrong))
    both = (right > 0) & (wrong > 0)
    if not both.any():
        return 0.0
    radius = _limit(int((wrong > 0).sum()) - 1) / size

    def on_path(way: float) -> Floats:
        logs = np.full(len(right), -math.inf)
        logs[both] = (1 - way) * np.log(right[both]) + way * np.log(wrong[both])
        weights = np.exp(logs - logs.max())
        shares: Floats = weights / weights.sum()
        return shares

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _entropy(on_path(middle), wrong) > radius else (low, middle)
    return math.exp(-size * _entropy(on_path(low), right))


def _entropy(of: Floats, to: Floats) -> float:
    """The entropy of one distribution relative to another, in nats."""
    there = of > 0
    return float(np.sum(of[there] * np.log(of[there] / to[there])))


def _beyond(entropy: float, free: int) -> float:
    """Chernoff's bound on the chance that a gamma variable with this shape exceeds `entropy`."""
    if entropy <= free or free == 0:
        return 1.0
    return math.exp(free - entropy + free * math.log(entropy / free))


def _limit(free: int) -> float:
    """The entropy from which draws are called wrong."""
    low, high = float(free), 2.0 * free - 4 * math.log(RARE)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _beyond(middle, free) > RARE else (low, middle)
    return high


def _window(masses: Masses, first: int, size: int) -> tuple[int, Floats]:
    """Where the law has nearly all of its mass: a first value, and the masses from there on."""
    if not callable(masses):
        return first, np.asarray(masses, dtype=float)
    reach, found = 32, np.zeros(0)
    while reach < WIDEST and 1 - found.sum() > LEAST_EXPECTED / size / 10:
        reach *= 2
        found = _over(masses, first, first - reach, 2 * reach + 1)
    return first - reach, found


def _over(masses: Masses, first: int, start: int, number: int) -> Floats:
    return np.array([_mass(masses, value, first) for value in range(start, start + number)])


def _mass(masses: Masses, value: int, first: int) -> float:
    if callable(masses):
        return float(masses(value))
    return float(masses[value - first]) if 0 <= value - first < len(masses) else 0.0


def _possible(values: Integers, masses: Masses, first: int) -> bool:
    return all(_mass(masses, value, first) > 0 for value in np.unique(values).tolist())


def _cells(window: Floats, size: int) -> Integers:
    """The cell of each value of the window: runs of neighbours with enough expected draws."""
    least = LEAST_EXPECTED / size
    while True:
        cells, held = [0], 0.0
        for mass in window.tolist():
            held += mass
            cells.append(cells[-1] + (held >= least))
            held = 0.0 if held >= least else held
        if cells[-1] <= MOST_CELLS:
            return np.minimum(cells[:-1], max(0, cells[-1] - 1))
        least *= 2


def _shares(window: Floats, cells: Integers) -> Floats:
    """Of every cell; the last has all that is in no other, outside of the window, too."""
    inside = np.bincount(cells, window)[:-1]
    return np.append(inside, max(0.0, 1 - float(inside.sum())))


def _seen(values: Integers, start: int, cells: Integers) -> Integers:
    places = np.where(values < start, len(cells) - 1, np.minimum(values - start, len(cells) - 1))
    return np.bincount(cells[places], minlength=cells[-1] + 1)
