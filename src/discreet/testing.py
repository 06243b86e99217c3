"""For the tests of those who write laws, privatizers, mechanisms or samplers of their own: strategies, and contracts.

Needs hypothesis for the strategies and scipy for the test of a sampler's law.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.build.explicit import explicit, pure_names
from discreet.certify import Certificate, certify
from discreet.distribution.contract import assert_privatizer, neighbours
from discreet.errors import MissingExtra
from discreet.laws.contract import assert_noise_law
from discreet.mechanism import Mechanism, Weights, of_weights
from discreet.numbers import Epsilon, Number
from discreet.privacy.audit import Audit, audit
from discreet.sample.contract import assert_sampler_law, law_p_value
from discreet.table import Table

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = [
    "Audit", "assert_noise_law", "assert_private", "assert_privatizer", "assert_sampler_law", "audit", "epsilons",
    "law_p_value", "mechanisms", "neighbours", "tables", "weight_matrices",
]  # fmt: skip


def epsilons(least: Number = "1/100", most: Number = 5) -> SearchStrategy[Epsilon]:
    """Privacy parameters, some given as epsilon and some as alpha."""
    st = _strategies()
    low, high = Fraction(least), Fraction(most)
    values = st.fractions(low, high, max_denominator=1000).map(lambda value: Epsilon(value=value))
    ratios = st.fractions(1 + low, 1 + high, max_denominator=1000).map(lambda ratio: Epsilon(ratio=ratio))
    found: SearchStrategy[Epsilon] = st.one_of(values, ratios)
    return found


def mechanisms(most: int = 12) -> SearchStrategy[tuple[Mechanism, Epsilon]]:
    """An explicit mechanism with a max_count up to `most`, and the epsilon it was made for."""
    st = _strategies()
    parts = st.tuples(st.sampled_from(sorted(pure_names())), st.integers(1, most), epsilons())
    found: SearchStrategy[tuple[Mechanism, Epsilon]] = parts.map(lambda part: (explicit(*part), part[2]))
    return found


def weight_matrices(most: int = 5, largest: int = 30) -> SearchStrategy[Mechanism]:
    """Any small matrix of integer weights with a common row sum, zeros included; seldom very private."""
    st = _strategies()

    def rows(shape: tuple[int, int]) -> SearchStrategy[list[list[int]]]:
        row = st.lists(st.integers(0, largest), min_size=shape[1], max_size=shape[1])
        found: SearchStrategy[list[list[int]]] = st.lists(row, min_size=shape[0], max_size=shape[0])
        return found

    shapes = st.tuples(st.integers(2, most), st.integers(2, most))
    matrices: SearchStrategy[Mechanism] = shapes.flatmap(rows).map(_levelled)
    return matrices


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

    found: SearchStrategy[Table] = counts.map(build)
    return found


def assert_private(
    mechanism: Mechanism | Any, epsilon: Number | Epsilon, delta: Number = 0, alpha: Number | None = None
) -> Certificate:
    """The contract of every mechanism: certified at what it claims, refused at anything below its smallest epsilon."""
    certificate = certify(mechanism, epsilon, delta, alpha)
    assert certificate.holds, f"not private: {certificate.witness}; it needs epsilon {certificate.smallest_epsilon}"
    assert certificate.witness is None and certificate.smallest_odds is not None
    assert certificate.epsilon is not None and certificate.epsilon.allows(certificate.smallest_odds)
    if isinstance(mechanism, Mechanism) and isinstance(mechanism.form, Weights) and certificate.smallest_odds > 1:
        tighter = Epsilon(ratio=1 + (certificate.smallest_odds - 1) * Fraction(999_999, 1_000_000))
        refused = certify(mechanism, tighter, delta)
        assert not refused.holds and refused.witness is not None
    return certificate


def _strategies() -> Any:
    try:
        from hypothesis import strategies
    except ImportError as error:
        found, do = "hypothesis is not installed", "pip install hypothesis"
        raise MissingExtra("a strategy was asked for", found, do) from error
    return strategies
