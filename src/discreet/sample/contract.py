"""The contract of every sampler: it follows its law, and the test would notice if it followed a nearby one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

FALSE_ALARM = 1e-6  # a right sampler fails so rarely
LEAST_EXPECTED = 10.0  # draws expected in each cell of the chi-square test


def assert_sampler_law(
    draw: Callable[[int], Any],
    masses: Callable[[int], float] | Sequence[float],
    *,
    size: int = 200_000,
    first: int = 0,
    wrong: Callable[[int], float] | Sequence[float] | None = None,
) -> None:
    """The contract of every sampler: `draw(size)` follows the law, and would not pass for the nearby law `wrong`.

    `masses` is P(value) as a function, or a list for first, first + 1, ...
    """
    values = np.asarray(draw(size))
    assert len(values) == size
    chance = law_p_value(values, masses, first)
    assert chance > FALSE_ALARM, f"the draws do not follow the law (p = {chance:.3g})"
    if wrong is not None:
        near = law_p_value(values, wrong, first)
        assert near < FALSE_ALARM, f"so few draws cannot tell the law from a wrong one (p = {near:.3g})"


def law_p_value(values: Any, masses: Callable[[int], float] | Sequence[float], first: int = 0) -> float:
    """Pearson's chi-square test; cells with few expected draws are joined with their neighbours."""
    from scipy.stats import chi2

    seen = np.asarray(values)
    low, high = int(seen.min()), int(seen.max())
    counts = np.bincount(seen - low, minlength=high - low + 1).astype(float)
    expected = len(seen) * np.array([_mass(masses, value, first) for value in range(low, high + 1)])
    if (counts[expected == 0] > 0).any():
        return 0.0
    observed, wanted = _joined(counts, expected, len(seen))
    if len(wanted) < 2:
        return 1.0
    return float(chi2.sf(((observed - wanted) ** 2 / wanted).sum(), len(wanted) - 1))


def _mass(masses: Callable[[int], float] | Sequence[float], value: int, first: int) -> float:
    if callable(masses):
        return float(masses(value))
    return float(masses[value - first]) if 0 <= value - first < len(masses) else 0.0


def _joined(counts: Any, expected: Any, size: int) -> tuple[Any, Any]:
    """Runs of cells, each with enough expected draws; what was expected outside the cells seen is a cell of its own."""
    observed, wanted = [0.0], [0.0]
    for count, share in zip(counts, expected):
        observed[-1], wanted[-1] = observed[-1] + count, wanted[-1] + share
        if wanted[-1] >= LEAST_EXPECTED:
            observed.append(0.0)
            wanted.append(0.0)
    outside = max(0.0, size - float(np.sum(expected)))
    wanted[-1] += outside
    if wanted[-1] < LEAST_EXPECTED and len(wanted) > 1:
        last_observed, last_wanted = observed.pop(), wanted.pop()
        observed[-1], wanted[-1] = observed[-1] + last_observed, wanted[-1] + last_wanted
    return np.array(observed), np.array(wanted)
