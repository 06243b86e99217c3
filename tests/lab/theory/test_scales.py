from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.build.heuristic import heuristic
from discreet.errors import BadInput
from discreet_lab.theory.scales import (
    decompose,
    mechanism_of,
    pattern_of,
    patterns,
    representation,
    scale,
    single_peaked,
)
from discreet_lab.theory.vertices import (
    is_extreme_representation,
    is_extreme_unfixed,
    mechanism_vertices,
    rank,
    representation_vertices,
    scales_allowed,
)

TWO = Fraction(2)
THIRD = [Fraction(1, 3)] * 3


def columns_of(rows: list[list[Fraction]], size: int) -> list[dict[tuple[int, ...], Fraction]]:
    """A representation matrix as the weights of scales, column by column."""
    return [{p: row[j] for p, row in zip(patterns(size), rows) if row[j] > 0} for j in range(size)]


def test_the_four_scales_of_the_published_example() -> None:
    """Three counts, odds 2: (4,2,1)/7, (2,1,2)/5, (1,2,1)/4, (1,2,4)/7."""
    found = {scale(pattern, TWO) for pattern in patterns(3)}
    printed = {(4, 2, 1), (2, 1, 2), (1, 2, 1), (1, 2, 4)}
    assert found == {tuple(Fraction(entry, sum(vector)) for entry in vector) for vector in printed}
    assert single_peaked(4, 2) == (1, 1, -1)
    assert pattern_of([Fraction(3), Fraction(6), Fraction(3)], TWO) == (1, -1)
    assert pattern_of([Fraction(3), Fraction(5), Fraction(3)], TWO) is None
    assert pattern_of([Fraction(0), Fraction(0)], TWO) is None


@pytest.mark.parametrize(
    ("enumerate_vertices", "z", "printed"),
    [
        (mechanism_vertices, THIRD, 36),
        (representation_vertices, THIRD, 78),
        (mechanism_vertices, None, 27),
        (representation_vertices, None, 36),
    ],
)
def test_published_numbers_of_extreme_points(enumerate_vertices, z, printed) -> None:  # type: ignore[no-untyped-def]
    """Three counts, epsilon = ln 2, z uniform: examples 1 and 2 of the paper on target distributions."""
    assert len(enumerate_vertices(3, TWO, z)) == printed


def test_published_representations_of_one_mechanism() -> None:
    """Two extreme representations of one extreme mechanism (example 1), and what a third one gives is not extreme."""
    falls, valley, peak, rises = (-1, -1), (-1, 1), (1, -1), (1, 1)
    first = [{valley: Fraction(1)}, {peak: Fraction(1)}, {valley: Fraction(2, 3), peak: Fraction(1, 3)}]
    second = [
        {valley: Fraction(1)},
        {peak: Fraction(1)},
        {falls: Fraction(14, 30), peak: Fraction(2, 30), rises: Fraction(14, 30)},
    ]
    third = [
        {falls: Fraction(5, 6), rises: Fraction(1, 6)},
        {rises: Fraction(1)},
        {falls: Fraction(1, 3), peak: Fraction(2, 3)},
    ]
    twentieths = [[8, 5, 7], [4, 10, 6], [8, 5, 7]]
    extreme = mechanism_vertices(3, TWO, THIRD)
    for columns in (first, second):
        matrix = mechanism_of(columns, TWO)
        assert [[entry * 20 for entry in row] for row in matrix] == twentieths
        assert is_extreme_representation(columns, TWO, THIRD) and matrix in extreme
    assert is_extreme_representation(third, TWO, THIRD) and mechanism_of(third, TWO) not in extreme


@pytest.mark.parametrize("z", [THIRD, [Fraction(1, 2), Fraction(0), Fraction(1, 2)], None])
def test_representation_vertices_pass_the_test_and_mixtures_fail(z: list[Fraction] | None) -> None:
    found = [columns_of(rows, 3) for rows in representation_vertices(3, TWO, z)]
    assert all(is_extreme_representation(columns, TWO, z) for columns in found)
    half = [{p: (a.get(p, 0) + b.get(p, 0)) / Fraction(2) for p in {**a, **b}} for a, b in zip(found[0], found[1])]
    assert not is_extreme_representation(half, TWO, z)
    if z is not None:
        least, most = scales_allowed(z)
        assert {sum(map(len, columns)) for columns in found} <= set(range(least, most + 1))


def test_positive_extreme_mechanisms_have_independent_scales_for_columns() -> None:
    positive = [matrix for matrix in mechanism_vertices(3, TWO) if all(entry > 0 for row in matrix for entry in row)]
    assert positive and all(is_extreme_unfixed(matrix, TWO) for matrix in positive)
    mixed = [[(a + b) / 2 for a, b in zip(one, other)] for one, other in zip(positive[0], positive[1])]
    assert not is_extreme_unfixed(mixed, TWO)
    with pytest.raises(BadInput, match="without zeros"):
        is_extreme_unfixed([[Fraction(1), Fraction(0)], [Fraction(1), Fraction(0)]], TWO)


@given(
    st.lists(st.integers(0, 2**16 - 1), min_size=1, max_size=6), st.sampled_from([Fraction(9, 8), TWO, Fraction(20)])
)
@settings(max_examples=60, deadline=None)
def test_every_private_column_is_a_sum_of_few_scales(words: list[int], odds: Fraction) -> None:
    column = [Fraction(1)]
    for word in words:
        column.append(column[-1] * (1 / odds + (odds - 1 / odds) * Fraction(word, 2**16 - 1)))
    weights = decompose(column, odds)
    assert all(weight > 0 for weight in weights.values()) and len(weights) <= len(column)
    assert [row[0] for row in mechanism_of([weights], odds)] == column


def test_a_column_that_is_not_private_is_refused() -> None:
    with pytest.raises(BadInput, match="entries 1 and 2 differ by more than the factor 2"):
        decompose([1, 1, 3], TWO)
    with pytest.raises(BadInput, match=r"\+1 \(rises\) or -1 \(falls\)"):
        scale((1, 0), TWO)
    assert decompose([0, 0], TWO) == {}


def test_a_mechanism_and_its_representation() -> None:
    matrix = [[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 3), Fraction(2, 3)]]
    assert mechanism_of(representation(matrix, TWO), TWO) == matrix


def test_the_greedy_constructor_ends_in_an_extreme_point() -> None:
    """Theorem 6 of the paper: among the enumerated vertices."""
    for selector in ("max", "min", "sandwich"):
        found = heuristic(np.array([0.25, 0.25, 0.5]), TWO, selector).matrix
        vertices = mechanism_vertices(3, TWO, [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)])
        assert min(np.abs(np.array(vertex, dtype=float) - found).max() for vertex in vertices) < 1e-12


def test_large_enumerations_are_refused_and_rank_is_exact() -> None:
    with pytest.raises(BadInput, match="candidates"):
        mechanism_vertices(5, TWO)
    tiny = Fraction(1, 10**40)
    assert rank([[Fraction(1), Fraction(1)], [Fraction(1), 1 + tiny]]) == 2 and rank([]) == 0
