"""Two-way tables that lack cells, of any size: against what the kernel of their sums says, and drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput, DiscreetError
from discreet.lattice import simulated as simulating
from discreet.lattice.basis import exchange, kernel_basis
from discreet.lattice.gaps import has_swap
from discreet.lattice.invariants import invariant_matrix
from discreet.lattice.plan import plan_lattice
from discreet.lattice.sampler import RepeatedPiece
from discreet.lattice.simulated import simulated
from discreet.lattice.structure import structure_of
from discreet.lattice.transport import nearest_two_way
from discreet.sample.bits import seeded
from tests.clock import within

BOTH = ["margin:a", "margin:b"]
ALL_PAIRS = ["margin:a,b", "margin:a,c", "margin:b,c"]


def cells_of(there: np.ndarray) -> dict[str, list[str]]:
    return dict(zip("abc", (axis.astype(str).tolist() for axis in np.nonzero(there))))


def lacking(shape: tuple[int, ...], holes: int) -> dict[str, list[str]]:
    there = np.ones(shape, dtype=bool)
    there.flat[np.random.default_rng(1).choice(there.size, holes, replace=False)] = False
    return cells_of(there)


@given(st.integers(2, 5), st.integers(2, 6), st.data())
@settings(max_examples=80, deadline=None)
def test_what_can_change_is_what_the_kernel_says(rows: int, columns: int, data: st.DataObject) -> None:
    flags = data.draw(st.lists(st.booleans(), min_size=rows * columns, max_size=rows * columns))
    there = np.array(flags).reshape(rows, columns)
    there[0, 0] = True
    structure = structure_of(invariant_matrix(BOTH, cells_of(there)))
    matrix = np.array([[i == r for i in np.nonzero(there)[0]] for r in range(rows)]
                      + [[j == c for j in np.nonzero(there)[1]] for c in range(columns)]).astype(np.int64)  # fmt: skip
    kernel = kernel_basis(matrix)
    assert structure.dimensions == len(kernel)
    assert structure.determined.tolist() == np.flatnonzero(~kernel.any(axis=0)).tolist()
    for part in structure.parts:
        if part.shape.places is not None:
            assert has_swap(part.shape.places) == (exchange(part.shape.full) is not None)


@pytest.mark.parametrize(("shape", "holes"), [((40, 40), 1), (((600, 4)), 3)])
def test_a_large_table_that_lacks_cells_is_drawn(shape: tuple[int, ...], holes: int) -> None:
    plan = plan_lattice(lacking(shape, holes), BOTH, 1)
    assert plan.change.distance == 4 and plan.grade == "exact"
    noise = plan.draw(seeded(1))
    assert noise.any() and not plan.invariants.sums(noise).any()


@pytest.mark.parametrize("law", [{"epsilon": 1}, {"epsilon": 1, "law": "l2"}, {"rho": 1}])
def test_three_ways_with_a_gap_are_refused_at_once(law: dict[str, Any]) -> None:
    """A basis of a thousand vectors would be reduced for many minutes."""
    with within(10), pytest.raises(BadInput, match="two margins at most, or sums that are nested or disjoint"):
        plan_lattice(lacking((11, 11, 11), 1), ALL_PAIRS, **law)


def test_who_keeps_two_margins_is_not_advised_to_keep_two():
    keys = lacking((20, 20), 190)
    with pytest.raises(DiscreetError) as refused:
        plan_lattice(keys, BOTH, 1)
    assert "two margins" not in str(refused.value) and "one margin alone" in str(refused.value)
    assert plan_lattice(keys, BOTH[:1], 1).draw(seeded(1)).any()


@pytest.mark.parametrize(
    ("shape", "keep", "options"),
    [
        ((5, 6), BOTH, {}),
        ((5, 5), BOTH, {"nonnegative": True}),
        ((3, 3), BOTH, {}),
        ((9, 1), ["total"], {}),
        ((9, 1), ["total"], {"nonnegative": True}),
        ((3, 4), ["sum:a=0", "sum:b=1"], {"nonnegative": True}),
        ((2, 4, 4), ALL_PAIRS, {}),
        ((3, 3, 3), ALL_PAIRS, {}),
        ((4, 4, 2), BOTH, {}),
    ],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_an_absurd_epsilon_is_drawn_with_hardly_any_noise(
    shape: tuple[int, ...], keep: list[str], options: dict[str, Any]
) -> None:
    for asked in ({"epsilon": 1000}, {"epsilon": 100, "per_unit": True}):
        plan = plan_lattice(lacking(shape, 0), keep, **asked, **options)
        counts = np.arange(plan.invariants.cells)
        assert not plan.draw(seeded(1), counts).any()
        assert plan.law.pays(plan.guarantee.loss, plan_terms(plan, bool(asked.get("per_unit")), options))


def plan_terms(plan: Any, per_unit: bool, options: dict[str, Any]) -> Any:
    from discreet.lattice.neighbours import terms_of

    return terms_of(plan.structure, "l1", 1, per_unit, bool(options.get("nonnegative")))


def test_an_inequality_about_nothing_is_named():
    with pytest.raises(BadInput, match="number 2 of them is about no row"):
        plan_lattice({"a": list("xyz")}, ["total"], 1, inequalities=([[1, 0, 0], [0, 0, 0]], [0, 0]))


def test_counts_without_a_negative_one_are_their_own_projection_however_large():
    counts = np.array([10**15, 3, 0, 10**15])
    words = np.arange(4).astype(np.uint64)
    assert np.array_equal(nearest_two_way(counts[None], np.ones((2, 2), dtype=np.int64), words[None]), counts[None])


def test_slow_noise_is_simulated_by_turning_few_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is one that was drawn, its rows, columns and layers in another order."""
    monkeypatch.setattr(simulating, "TURNED", 0)
    plan = plan_lattice(lacking((4, 3, 4), 0), ALL_PAIRS, epsilon=2)
    (piece,) = plan.pieces
    drawn, found = piece.draw(4, seeded(1), None), simulated([piece], plan.invariants.cells, 40, seeded(1))
    assert not any(plan.invariants.sums(noise).any() for noise in found)
    assert {tuple(np.sort(noise)) for noise in found.tolist()} == {tuple(np.sort(noise)) for noise in drawn.tolist()}
    assert len({tuple(noise) for noise in found.tolist()}) > 10


@pytest.mark.parametrize("shape", [(7, 6), (7, 6, 2)])
def test_two_margins_are_simulated_by_turning_few_tables(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is one that was drawn, its rows and columns in another order: the kept sums are zero, and sorted rows are
    rows of a table that was drawn."""
    monkeypatch.setattr(simulating, "TURNED_WIDE", 0)
    plan = plan_lattice(lacking(shape, 0), BOTH, epsilon=1)
    (piece,) = plan.pieces
    drawn, found = np.zeros((4, len(piece.cells)), dtype=np.int64), simulated([piece], len(piece.cells), 40, seeded(1))
    drawn[:, piece.cells] = piece.draw(4, seeded(1), None)
    assert not any(plan.invariants.sums(noise).any() for noise in found)
    rows = [{tuple(np.sort(row)) for noise in some for row in noise.reshape(7, -1)} for some in (found, drawn)]
    assert rows[0] == rows[1] and len({tuple(noise) for noise in found.tolist()}) > 30


def test_tables_whose_rows_differ_are_drawn_one_by_one() -> None:
    """Where a cell is lacking, or noise is conditioned on counts, another order is another law."""
    for lacks, options in ((3, {}), (0, {"nonnegative": True})):
        plan = plan_lattice(lacking((7, 6), lacks), BOTH, epsilon=1, **options)
        assert all(getattr(piece, "box", None) is None for piece in plan.pieces)


BOTH_OF_EACH = ["margin:table,a", "margin:table,b"]


def beside(tables: list[dict[str, list[str]]]) -> dict[str, list[str]]:
    """Tables in one, told apart by another key."""
    numbers = [str(number) for number, one in enumerate(tables) for _ in one["a"]]
    return {"table": numbers, **{name: [value for one in tables for value in one[name]] for name in ("a", "b")}}


def test_tables_beside_each_other_are_simulated_by_turning_few() -> None:
    """Each alone has the law of all, and none tells of another."""
    plan = plan_lattice(beside([lacking((7, 6), 0)] * 30), BOTH_OF_EACH, epsilon=1)
    (piece,) = plan.pieces
    assert isinstance(piece, RepeatedPiece)
    found = simulated([piece], plan.invariants.cells, 2000, seeded(1))
    assert not any(plan.invariants.sums(noise).any() for noise in found[:50])
    whole = piece.draw(200, seeded(2), None)
    assert found.var() == pytest.approx(whole.var(), rel=0.05)
    each = found.reshape(2000, 30, 42)
    assert each.var(axis=(0, 2)) == pytest.approx(found.var(), rel=0.1)
    together = np.corrcoef(np.abs(each).sum(axis=2).T)
    assert np.abs(together - np.eye(30)).max() < 0.15


def test_of_many_tables_that_lack_cells_each_is_drawn_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """And used in another order than those beside it."""
    monkeypatch.setattr(simulating, "FEWEST_SLOWLY", 20)
    monkeypatch.setattr(simulating, "MOST_SLOWLY", 0)
    plan = plan_lattice(beside([lacking((7, 6), 3), lacking((7, 6), 2)]), BOTH_OF_EACH, epsilon=1)
    assert len(plan.pieces) == 2
    found = simulated(plan.pieces, plan.invariants.cells, 400, seeded(1))
    assert not any(plan.invariants.sums(noise).any() for noise in found)
    numbers = [len({tuple(noise) for noise in found[:, piece.cells].tolist()}) for piece in plan.pieces]
    assert max(numbers) <= 20 and len({tuple(noise) for noise in found.tolist()}) > 200
