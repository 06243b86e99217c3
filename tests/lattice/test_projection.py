"""The nearest table without negative counts: against every table there is, and replayed from what is published."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput, Infeasible
from discreet.lattice import transport
from discreet.lattice.basis import kernel_basis
from discreet.lattice.blocks import nearest_in_blocks
from discreet.lattice.invariants import invariant_matrix
from discreet.lattice.projection import gap_of, programmed, project, require_counts, require_projectable
from discreet.lattice.shape import independent_rows
from discreet.lattice.structure import Structure, structure_of
from discreet.lattice.transport import nearest_two_way
from tests.lattice.fibres import margins, nonnegative_tables
from tests.lattice.test_kept_releases import reseal

ONE_WAY_CUBE = np.vstack([np.kron(np.kron(a, b), c) for a, b, c in (
    (np.eye(2, dtype=int), np.ones((1, 2), int), np.ones((1, 2), int)),
    (np.ones((1, 2), int), np.eye(2, dtype=int), np.ones((1, 2), int)),
    (np.ones((1, 2), int), np.ones((1, 2), int), np.eye(2, dtype=int)),
)])  # fmt: skip
SUMS = {
    "total": np.ones((1, 4), dtype=int),
    "blocks": np.array([[1, 1, 1, 0, 0], [0, 0, 0, 1, 1]]),
    "nested": np.array([[1, 1, 1, 1], [1, 1, 0, 0]]),
    "2 x 3": margins(2, 3),
    "3 x 3": margins(3, 3),
    "places of two cells": np.repeat(margins(2, 2), 2, axis=1),
    "places of one or two": np.repeat(margins(3, 2), [2, 1, 1, 2, 1, 1], axis=1),
    "parity": np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 1]]),
    "cube": ONE_WAY_CUBE,
}
HARD = ("parity", "cube")


def structure(matrix: np.ndarray) -> Structure:
    return structure_of(invariant_matrix([dc.sums(matrix)], {}, matrix.shape[1]))


def signed_table(matrix: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A table of counts, and the same with noise that changes no sum."""
    counts = rng.poisson(0.7, matrix.shape[1])
    directions = kernel_basis(matrix[independent_rows(matrix)])
    return counts, counts + rng.integers(-2, 3, len(directions)) @ directions


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("seed", range(8))
def test_nothing_is_nearer(name: str, seed: int) -> None:
    matrix, kept = SUMS[name], structure(SUMS[name])
    counts, signed = signed_table(matrix, np.random.default_rng(seed))
    found = project(kept, signed)
    assert found.counts.min() >= 0 and np.array_equal(matrix @ found.counts, matrix @ signed)
    assert bool(programmed(kept)) == (name in HARD) and (name in HARD or (found.gap, len(found.multipliers)) == (0, 0))
    least = int(((nonnegative_tables(matrix, counts) - signed) ** 2).sum(axis=1).min())
    assert int(((found.counts - signed) ** 2).sum()) == least
    assert gap_of(kept, signed, found.counts, found.multipliers) == found.gap >= 0


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_blocks_of_any_size_at_once(data: Any) -> None:
    sizes = np.array(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=6)))
    values = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=int(sizes.sum()), max_size=int(sizes.sum()))))
    sums = np.array([data.draw(st.integers(0, 12)) for _ in sizes])
    words = np.random.default_rng(0).integers(0, 1 << 63, len(values)).astype(np.uint64)
    counts = nearest_in_blocks(values, sizes, sums, words)
    for counted, wanted, total in zip(*(np.split(one, np.cumsum(sizes)[:-1]) for one in (counts, values)), sums):
        assert counted.min() >= 0 and counted.sum() == total
        for give in np.flatnonzero(counted > 0):  # no unit would be nearer in another cell
            gain = 2 * (counted[give] - wanted[give]) - 1
            assert np.all(np.delete(2 * (counted - wanted) + 1, give) >= gain)


def test_no_row_is_preferred_for_its_place() -> None:
    """Ten equal cells must give three units between them: public words of each table choose."""
    kept, given = structure(np.ones((1, 11), dtype=int)), np.zeros(11)
    rng = np.random.default_rng(1)
    for _ in range(400):
        signed = np.append(np.full(10, 5), -3)
        signed[:10] += rng.integers(0, 2) * 100
        signed[rng.integers(0, 10)] += rng.integers(0, 50) * 7
        given += signed - project(kept, signed).counts
    assert given[:10].min() > 0.6 * given[:10].mean()


def test_multipliers_prove_a_bound_whatever_they_are() -> None:
    matrix, kept = SUMS["cube"], structure(SUMS["cube"])
    counts, signed = signed_table(matrix, np.random.default_rng(3))
    found = project(kept, signed)
    rows = len(found.multipliers)
    worse = gap_of(kept, signed, found.counts, np.zeros(rows, dtype=np.int64))
    absurd = gap_of(kept, signed, found.counts, np.full(rows, 1 << 62))
    assert worse is not None and absurd is not None and found.gap <= worse and absurd > 10**30
    assert gap_of(kept, signed, found.counts, found.multipliers[1:]) is None
    far = nonnegative_tables(matrix, counts)[0]
    gap = gap_of(kept, signed, far, found.multipliers)
    further = ((far - signed) ** 2).sum() - ((found.counts - signed) ** 2).sum()
    assert gap is not None and gap - found.gap == int(further)


@pytest.mark.parametrize("width", [2, 6, 3000])
def test_wide_two_way_tables(width: int) -> None:
    rng = np.random.default_rng(5)
    kept = structure(margins(30, 30))
    counts = rng.poisson(1.0, (30, 30)) * (rng.random((30, 30)) < 0.5)
    noise = rng.integers(-width, width + 1, (30, 30))
    noise[:, -1] -= noise.sum(axis=1)
    noise[-1] -= noise.sum(axis=0)
    signed = (counts + noise).ravel()
    found = project(kept, signed).counts.reshape(30, 30)
    assert found.min() >= 0
    assert all(np.array_equal(found.sum(axis=axis), counts.sum(axis=axis)) for axis in (0, 1))
    assert _no_cheaper_cycle(found, signed.reshape(30, 30))


@pytest.mark.parametrize("sizes", [np.ones((4, 5), dtype=np.int64), np.arange(20).reshape(4, 5) % 3 + 1])
def test_tables_of_one_shape_take_their_steps_together(sizes: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each becomes what it would alone, however many walk with it: some are done at once, others walk far."""
    rng, cells = np.random.default_rng(8), int(sizes.sum())
    rows, columns = (np.repeat(place.ravel(), sizes.ravel()) for place in np.indices(sizes.shape))
    signed = rng.poisson(1.0, (60, cells))
    for table in range(60):
        for _ in range(table):
            one, other = rng.integers(cells, size=2)
            corners = [
                np.flatnonzero((rows == rows[i]) & (columns == columns[j]))[0] for i, j in ((one, other), (other, one))
            ]
            np.add.at(signed[table], [one, other, *corners], [-1, -1, 1, 1])
    words = rng.integers(0, 1 << 62, signed.shape).astype(np.uint64)
    alone = [nearest_two_way(one[None], sizes, word[None])[0] for one, word in zip(signed, words)]
    assert (signed.min(axis=1) < 0).any() and (signed.min(axis=1) >= 0).any()
    for together in (1, 7 * cells, 1 << 20):
        monkeypatch.setattr(transport, "TOGETHER", together)
        assert np.array_equal(nearest_two_way(signed, sizes, words), alone)
    if cells == sizes.size:
        assert all(_no_cheaper_cycle(*(table.reshape(sizes.shape) for table in both)) for both in zip(alone, signed))


def _no_cheaper_cycle(counts: np.ndarray, signed: np.ndarray) -> bool:
    """Optimal: no way of moving units around rows and columns costs less than nothing (Bellman and Ford)."""
    more, less = 2 * (counts - signed) + 1, np.where(counts > 0, 2 * (counts - signed) - 1, -(1 << 40))
    row, column = np.zeros(len(counts), dtype=np.int64), np.zeros(counts.shape[1], dtype=np.int64)
    for _ in range(sum(counts.shape) + 1):
        before = row.copy(), column.copy()
        column = np.minimum(column, (row[:, None] + more).min(axis=0))
        row = np.minimum(row, (column[None, :] - less).min(axis=1))
    return np.array_equal(before[0], row) and np.array_equal(before[1], column)


def test_what_cannot_be_projected_is_refused_beforehand() -> None:
    with pytest.raises(BadInput, match="up to 5,000 such rows, or use nonnegative_by = condition"):
        require_projectable(structure(np.repeat(SUMS["parity"], 1500, axis=1)))
    with pytest.raises(Infeasible, match="a kept sum is negative"):
        require_counts(np.array([3, -1]), np.array([4, -2]))
    with pytest.raises(BadInput, match="the table itself has one"):
        require_counts(np.array([2]), np.array([4, -2]))


# releases

COUNTS = np.array([4, 0, 7, 0, 3, 0, 1, 30, 0, 2, 8, 0])


def table() -> dc.Table:
    keys = [(county, sex, age) for county in "abc" for sex in "fm" for age in ("old", "young")]
    names = {name: [key[i] for key in keys] for i, name in enumerate(("county", "sex", "age"))}
    return dc.table(pa.table({**names, "n": COUNTS}), "n", keys="all")


KEPT: dict[str, dict[str, Any]] = {
    "total": {"epsilon": "1/2", "keep": "total"},
    "nested": {"epsilon": "1/2", "keep": ["total", "margin:county"]},
    "two-way": {"epsilon": 1, "keep": ["margin:county", "margin:sex,age"]},
    "gaussian": {"rho": "1/8", "law": "gaussian", "keep": ["margin:county", "margin:sex"]},
    "l2": {"epsilon": 1, "law": "l2", "keep": "total"},
    "three-way": {"epsilon": 1, "keep": ["margin:county", "margin:sex", "margin:age"]},
    "beside free rows": {"epsilon": "1/2", "keep": "sum:sex=f"},
}


@pytest.mark.parametrize("kind", KEPT)
def test_the_promise_is_that_of_the_signed_release(kind: str) -> None:
    signed, projected = dc.release(table(), **KEPT[kind]), dc.release(table(), **KEPT[kind], nonnegative=True)
    assert signed.mechanism.parameters == projected.mechanism.parameters
    one, other = signed.guarantee, projected.guarantee
    assert (one.loss, one.unit, one.grade) == (other.loss, other.unit, other.grade)
    assert [r.code for r in other.remarks][-1] == "no-negative-counts" and one.remarks[:-1] == other.remarks[:-1]
    assert projected.mechanism.bound is None and projected.mechanism.nonnegative_by == "project"


@pytest.mark.parametrize("kind", [kind for kind in KEPT if kind != "l2"])
def test_a_projected_release_verifies_and_is_estimated_from_its_measurements(kind: str, tmp_path: Path) -> None:
    out = dc.release(table(), **KEPT[kind], nonnegative=True, seed=2)
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out", allow_seeded=True).problems == ()
    measured = np.asarray(out.measurements["n"])
    assert out.counts.min() >= 0 and (measured < 0).any()
    by = dc.estimate(tmp_path / "out").by("sex")  # type: ignore[union-attr]
    for value, rows in (("f", [0, 1, 4, 5, 8, 9]), ("m", [2, 3, 6, 7, 10, 11])):
        assert by[value].estimate == measured[rows].sum()


def edit_rows(path: Path, change: Any) -> None:
    head, *lines = path.read_text().splitlines()
    rows = [line.rsplit(",", 1) for line in lines]
    counts = np.array([int(count) for _, count in rows])
    written = [f"{keys},{count}" for (keys, _), count in zip(rows, change(counts).tolist())]
    path.write_text("\n".join([head, *written]) + "\n")


def moved(counts: np.ndarray) -> np.ndarray:
    """One person moved inside the first county, without a negative count."""
    give = int(np.flatnonzero(counts[:4] > 0)[-1])
    out = counts.copy()
    out[[give, 0 if give else 1]] += [-1, 1]
    return out


@pytest.mark.parametrize("kind", ["total", "nested"])
@pytest.mark.parametrize("file", ["table.csv", "measurements.csv"])
def test_a_table_that_does_not_follow_is_found(kind: str, file: str, tmp_path: Path) -> None:
    dc.release(table(), **KEPT[kind], nonnegative=True, seed=2).save(tmp_path / "out")
    edit_rows(tmp_path / "out" / file, moved)
    reseal(tmp_path / "out", json.loads((tmp_path / "out" / "release.json").read_text()))
    assert any("not the nearest one" in problem for problem in dc.verify(tmp_path / "out").problems)


@pytest.mark.parametrize("far", [10**6, 1 << 61])
def test_measurements_that_are_absurd_are_refused_soon(far: int, tmp_path: Path) -> None:
    """The margins are the same, and the nearest table is far away; numbers this large do not even add up."""
    dc.release(table(), 1, keep=["margin:county", "margin:sex,age"], nonnegative=True).save(tmp_path / "out")
    swap = np.array([1, -1, 0, 0, -1, 1, 0, 0, 0, 0, 0, 0])
    edit_rows(tmp_path / "out" / "measurements.csv", lambda counts: counts + far * swap)
    reseal(tmp_path / "out", json.loads((tmp_path / "out" / "release.json").read_text()))
    assert dc.verify(tmp_path / "out").problems


def test_measurements_with_other_sums_are_found(tmp_path: Path) -> None:
    dc.release(table(), **KEPT["nested"], nonnegative=True).save(tmp_path / "out")
    edit_rows(tmp_path / "out" / "measurements.csv", lambda counts: counts + 1)
    reseal(tmp_path / "out", json.loads((tmp_path / "out" / "release.json").read_text()))
    assert "The measurements do not have the kept sums." in dc.verify(tmp_path / "out").problems


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("projection", None, "not what its name says"),
        ("nonnegative_by", None, "not what its name says"),
        ("nonnegative", False, "not what its name says"),
        ("bound", "stepwise", "bounded in another way"),
        ("projection", {"gap": "0", "multipliers": []}, "do not prove"),
        ("projection", {"gap": "1000", "multipliers": [0] * 7}, "do not prove"),
    ],
)
def test_a_false_record_of_a_projection_is_found(field: str, value: Any, said: str, tmp_path: Path) -> None:
    """Some of what the seed draws is negative: where nothing is, nothing is projected, and a gap of 0 is proven."""
    out = dc.release(table(), **KEPT["three-way"], nonnegative=True, seed=2)
    assert np.asarray(out.measurements["n"]).min() < 0
    out.save(tmp_path / "out")
    document = json.loads((tmp_path / "out" / "release.json").read_text())
    document["mechanism"][field] = value
    reseal(tmp_path / "out", document)
    assert any(said in problem for problem in dc.verify(tmp_path / "out").problems)


def test_a_condition_cannot_pass_for_a_projection(tmp_path: Path) -> None:
    """The odds of a projection would be too large for noise that was conditioned."""
    for by in ("project", "condition"):
        dc.release(table(), **KEPT["total"], nonnegative=by).save(tmp_path / by)
    projected, document = (json.loads((tmp_path / by / "release.json").read_text()) for by in ("project", "condition"))
    document["mechanism"]["parameters"] = projected["mechanism"]["parameters"]
    reseal(tmp_path / "condition", document)
    assert "The noise is smaller than what is claimed needs." in dc.verify(tmp_path / "condition").problems


def test_without_measurements_nothing_is_replayed_and_intervals_are_conservative(tmp_path: Path) -> None:
    dc.release(table(), **KEPT["nested"], nonnegative=True, measurements=False).save(tmp_path / "out")
    assert not (tmp_path / "out" / "measurements.csv").exists()
    found = dc.verify(tmp_path / "out")
    assert found.valid and any("measurements" in what for what in found.not_applicable)
    view = dc.estimate(tmp_path / "out")
    assert view.total().exact
    by_sex = view.by("sex")
    low, high = by_sex["f"].interval
    assert by_sex["f"].conservative and not by_sex["f"].exact
    assert low < high and low <= by_sex["f"].estimate <= high  # a published zero is the end of what can be


def test_options_that_say_how() -> None:
    keep = {"keep": "total"}
    assert dc.KeepSums(**keep, nonnegative=True).nonnegative_by == "project"  # type: ignore[arg-type]
    assert dc.KeepSums(**keep).nonnegative_by is None  # type: ignore[arg-type]
    word = dc.KeepSums(**keep, nonnegative="condition")  # type: ignore[arg-type]
    assert word == dc.KeepSums(**keep, nonnegative=True, nonnegative_by="condition")  # type: ignore[arg-type]
    limits = dc.KeepSums(**keep, nonnegative=True, inequalities=([[1, 0]], [0]))  # type: ignore[arg-type]
    assert limits.conditioned and not limits.projected


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"nonnegative_by": "condition"}, "negative counts are allowed"),
        ({"nonnegative": True, "nonnegative_by": "projekt"}, "Did you mean 'project'"),
        ({"nonnegative": "project", "nonnegative_by": "condition"}, "Say it once"),
        ({"nonnegative": "perhaps"}, "neither true nor false"),
        ({"nonnegative": "project", "inequalities": ([[1] * 12], [0])}, "could break them"),
    ],
)
def test_options_that_contradict_each_other(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("d", epsilon=5)
    with pytest.raises(BadInput, match=said):
        dc.release(table(), 1, keep="total", ledger=book, dataset="d", **options)
    assert book.status("d").spent.epsilon == 0


def test_inequalities_that_the_table_contradicts_are_named_and_nothing_is_charged(tmp_path: Path) -> None:
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("d", epsilon=5)
    limits = np.eye(12, dtype=int)[[0, 1]], [4, 1]  # row 1 has 4, row 2 none
    with pytest.raises(BadInput, match=r"1 <= \(county=a, sex=f, age=young\) does not hold"):
        dc.release(table(), 1, keep="margin:county", inequalities=limits, ledger=book, dataset="d")
    sums = np.repeat(np.eye(3, dtype=int), 4, axis=1), [12, 0, 0]  # the kept total of county a is 11
    with pytest.raises(BadInput, match="no table with these kept sums meets them"):
        dc.release(table(), 1, keep="margin:county", inequalities=sums, ledger=book, dataset="d")
    assert book.status("d").spent.epsilon == 0


def test_a_plan_simulates_the_very_release() -> None:
    errors = {}
    for by in (False, "project", "condition"):
        found = dc.plan(table(), 1, keep="margin:county", nonnegative=by)
        errors[by] = np.mean([row.count_error for row in found.expected])
        assert any("nearest" in step for step in found.steps) == (by == "project")
    assert errors["project"] < min(errors[False], errors["condition"])


def test_the_gap_is_said(tmp_path: Path) -> None:
    out = dc.release(table(), **KEPT["three-way"], nonnegative=True)
    gap: Fraction = out.mechanism.projection.gap
    out.save(tmp_path / "out")
    assert ("exceeds the least by" in (tmp_path / "out" / "report.html").read_text()) == (gap > 0)
