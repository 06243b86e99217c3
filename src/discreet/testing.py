"""For the tests of those who write mechanisms, tables or samplers of their own: strategies, and contracts to run.

Needs hypothesis for the strategies and scipy for the test of a sampler's law.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.build.explicit import explicit, pure_names
from discreet.certify import Certificate, certify
from discreet.errors import MissingExtra
from discreet.mechanism import Mechanism, Weights, of_weights
from discreet.numbers import Epsilon, Number, epsilon_of
from discreet.table import Table

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

FALSE_ALARM = 1e-6  # a right sampler fails so rarely
LEAST_EXPECTED = 10.0  # draws expected in each cell of the chi-square test


def epsilons(least: Number = "1/100", most: Number = 5) -> SearchStrategy[Epsilon]:
    """Privacy parameters, some given as epsilon and some as alpha."""
    st = _strategies()
    low, high = Fraction(least), Fraction(most)
    values = st.fractions(low, high, max_denominator=1000).map(lambda value: Epsilon(value=value))
    ratios = st.fractions(1 + low, 1 + high, max_denominator=1000).map(lambda ratio: Epsilon(ratio=ratio))
    return st.one_of(values, ratios)


def mechanisms(most: int = 12) -> SearchStrategy[tuple[Mechanism, Epsilon]]:
    """An explicit mechanism with a max_count up to `most`, and the epsilon it was made for."""
    st = _strategies()
    parts = st.tuples(st.sampled_from(sorted(pure_names())), st.integers(1, most), epsilons())
    return parts.map(lambda part: (explicit(part[0], part[1], part[2]), part[2]))


def weight_matrices(most: int = 5, largest: int = 30) -> SearchStrategy[Mechanism]:
    """Any small matrix of integer weights with a common row sum, zeros included; seldom very private."""
    st = _strategies()

    def rows(shape: tuple[int, int]) -> SearchStrategy[list[list[int]]]:
        row = st.lists(st.integers(0, largest), min_size=shape[1], max_size=shape[1])
        return st.lists(row, min_size=shape[0], max_size=shape[0])

    shapes = st.tuples(st.integers(2, most), st.integers(2, most))
    return shapes.flatmap(rows).map(_levelled)


def _levelled(rows: list[list[int]]) -> Mechanism:
    """Rows brought to one sum by raising their first weight."""
    total = max(1, *(sum(row) for row in rows))
    return of_weights("weights", [[row[0] + total - sum(row), *row[1:]] for row in rows])


def tables(most_rows: int = 40, most: int = 30) -> SearchStrategy[Table]:
    """Tables of counts with one key column."""
    st = _strategies()
    counts = st.lists(st.integers(0, most), min_size=1, max_size=most_rows)

    def build(values: list[int]) -> Table:
        import pyarrow as pa

        from discreet.io.tables import table

        names = [f"row {i:04d}" for i in range(len(values))]
        return table(pa.table({"name": names, "count": values}), count="count")

    return counts.map(build)


def assert_private(
    mechanism: Mechanism | Any, epsilon: Number | Epsilon, delta: Number = 0, alpha: Number | None = None
) -> Certificate:
    """The contract of every mechanism: certified at what it claims, refused at anything below its smallest epsilon."""
    certificate = certify(mechanism, epsilon, delta, alpha)
    assert certificate.holds, f"not private: {certificate.witness}; it needs epsilon {certificate.smallest_epsilon}"
    assert certificate.witness is None and certificate.smallest_odds is not None
    assert epsilon_of(epsilon, alpha).allows(certificate.smallest_odds)
    if isinstance(mechanism, Mechanism) and isinstance(mechanism.form, Weights) and certificate.smallest_odds > 1:
        tighter = Epsilon(ratio=1 + (certificate.smallest_odds - 1) * Fraction(999_999, 1_000_000))
        refused = certify(mechanism, tighter, delta)
        assert not refused.holds and refused.witness is not None
    return certificate


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


def _strategies() -> Any:
    try:
        from hypothesis import strategies
    except ImportError as error:
        found, do = "hypothesis is not installed", "pip install hypothesis"
        raise MissingExtra("a strategy was asked for", found, do) from error
    return strategies
