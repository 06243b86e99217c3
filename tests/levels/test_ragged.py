"""Tables that lack rows: as matrices of rows by rows say, with whole numbers that add up, the same for everybody."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.levels import regress
from discreet.levels.design import LevelDesign, Question
from discreet.levels.layout import layout_of
from discreet.levels.ragged import RaggedDesign
from discreet.levels.ragged_table import RaggedTold, whole_rows
from discreet.levels.regress import combine_ragged, ragged_spread
from discreet.levels.table import UNIT
from discreet.sample.bits import seeded
from discreet.ways import way_named
from tests.levels.dense import dense, matrix_of, random_ragged
from tests.levels.test_replay import Guarded
from tests.ways.test_measure import answered, planned

CLOSE = 1e-8


@pytest.mark.parametrize("seed", range(60))
def test_as_dense_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    design = random_ragged(rng)
    everything = [q for q in design.questions() if q != design.cells]
    asked = [everything[i] for i in rng.permutation(len(everything))[: rng.integers(0, 7)]]
    rows = rng.integers(0, 50, len(design.place))
    variances = {q: float(rng.choice([0.0, 0.3, 2.0, 40.0], p=[0.3, 0.2, 0.3, 0.2])) for q in asked}
    variances[design.cells] = float(rng.choice([0.5, 30.0]))
    measured = {
        q: design.answer(rows, q) + (rng.normal(0, 3, design.table_shape(q)) if v else 0) for q, v in variances.items()
    }
    found, (estimate, covariance) = combine_ragged(design, measured, variances), dense(design, measured, variances)
    scale = max(1.0, float(np.abs(estimate).max()))
    for question in design.questions():
        sums = matrix_of(design, question)
        assert np.abs(found.estimate(question) - sums @ estimate).max() < CLOSE * scale
        wanted = np.einsum("ij,jk,ik->i", sums, covariance, sums)
        assert np.abs(found.variance(question) - wanted).max() < CLOSE * max(1.0, wanted.max())
        if not variances.get(question, 1.0):
            assert np.array_equal(found.estimate(question), design.answer(rows, question))
            assert not found.variance(question).any()
    weights = rng.normal(size=len(rows))
    assert found.of_sum(weights) == pytest.approx(weights @ covariance @ weights, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_weights_of_all_noises(seed: int) -> None:
    """What one unit of noise in a measurement changes."""
    rng = np.random.default_rng(1000 + seed)
    design = random_ragged(rng)
    asked = {q: float(rng.uniform(0.5, 9)) for q in design.questions() if rng.random() < 0.5} | {design.cells: 2.0}
    spread, question = ragged_spread(design, asked), list(design.questions())[rng.integers(2)]
    place = int(rng.integers(design.entries(question)))
    weights = spread.noise_weights(question, place)
    zero = {q: np.zeros(design.table_shape(q)) for q in asked}
    for one in asked:
        at = int(rng.integers(design.entries(one)))
        told = {q: table.copy() for q, table in zero.items()}
        told[one][at] = 1.0
        found = combine_ragged(design, told, asked)
        assert weights[one][at] == pytest.approx(found.estimate(question)[place], abs=1e-9)
        assert spread.own_weight(one)[at] == pytest.approx(found.estimate(one)[at], abs=1e-9)


def published(design: RaggedDesign, rows: Integers, kept: list[Question], rng: np.random.Generator) -> RaggedTold:
    """Every question measured, and combined."""
    variances = {q: 0.0 if q in kept else 16.0 for q in design.questions()}
    measured = {
        q: design.answer(rows, q) + (0 if q in kept else np.rint(rng.normal(0, 4, design.table_shape(q))))
        for q in variances
    }
    found = combine_ragged(design, measured, variances)
    estimates = {q: np.rint(found.estimate(q) * UNIT).astype(np.int64) for q in variances}
    deviations = {q: np.rint(np.sqrt(found.variance(q)) * UNIT).astype(np.int64) for q in variances}
    return RaggedTold(design, estimates, deviations, {q: design.answer(rows, q) for q in kept}, "5eed")


@pytest.mark.parametrize("seed", range(80))
def test_whole_and_kept(seed: int) -> None:
    rng = np.random.default_rng(seed)
    design = random_ragged(rng)
    rows = rng.poisson(rng.choice([0.2, 3.0, 100.0]), len(design.place))
    everything = [q for q in design.questions() if q != design.cells]
    finest = everything[rng.integers(len(everything))]
    kept = [q for q in everything if finest.gives(q) and rng.random() < 0.5] + [finest]
    told = published(design, rows, kept[: rng.choice([0, len(kept)])], rng)
    table = whole_rows(told)
    assert table.dtype == np.int64 and table.shape == rows.shape and table.min() >= 0
    for question, sums in told.kept.items():
        assert np.array_equal(design.answer(table, question), sums)
    assert np.array_equal(table, whole_rows(told))


@pytest.mark.parametrize("seed", range(20))
def test_exact_estimates_come_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    design = random_ragged(rng)
    rows = rng.poisson(2.0, len(design.place))
    estimates = {q: design.answer(rows, q) * UNIT for q in design.questions()}
    none = {q: np.zeros_like(one) for q, one in estimates.items()}
    assert np.array_equal(whole_rows(RaggedTold(design, estimates, none, {}, "5eed")), rows)


@pytest.mark.parametrize("value", [0, -70 * UNIT, 3333, 5000, 123456, UNIT << 34])
def test_any_estimates_will_do(value: int) -> None:
    """Ties everywhere, nothing at all, negative or huge estimates everywhere, estimates that do not add up."""
    for seed in range(5):
        design = random_ragged(np.random.default_rng(seed))
        estimates = {q: np.full(design.entries(q), value) for q in design.questions()}
        wide = {q: np.full(design.entries(q), 7 * UNIT) for q in estimates}
        table = whole_rows(RaggedTold(design, estimates, wide, {}, "5eed"))
        assert table.min() >= 0 and table.sum() == max(0, (value + UNIT // 2) // UNIT)


@pytest.mark.parametrize("seed", range(6))
def test_no_float_is_added_up_in_an_order_of_the_machine(seed: int) -> None:
    rng = np.random.default_rng(seed)
    design = random_ragged(rng)
    kept = [Question(0, (0,))] if seed % 2 else []
    told = published(design, rng.poisson(3.0, len(design.place)), kept, rng)
    estimates, deviations = (
        {q: one.view(Guarded) for q, one in some.items()} for some in (told.estimates, told.deviations)
    )
    guarded = RaggedTold(design, estimates, deviations, told.kept, told.seed)
    assert np.array_equal(whole_rows(guarded), whole_rows(told))


def sparse_people(seed: int = 1, mean: float = 9.0) -> dc.Table:
    """Counties in states, by sex and age; a third of the rows is missing, and they are in no order."""
    rng = np.random.default_rng(7)
    every = itertools.product([("s", "a"), ("s", "b"), ("t", "c"), ("t", "d"), ("t", "e")], "fm", ["0", "18", "65"])
    rows = [(*place, sex, age) for place, sex, age in every if rng.random() < 0.66]
    rows = [rows[i] for i in rng.permutation(len(rows))]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(["state", "county", "sex", "age"])}
    counts = np.random.default_rng(seed).poisson(mean, len(rows))
    return dc.table(pa.table({**columns, "n": counts}), "n", keys=list(columns))


@pytest.mark.parametrize("options", [{"epsilon": "1/2"}, {"epsilon": 3}, {"rho": "1/8"}])
def test_intervals_cover_and_estimates_are_unbiased(options: dict[str, Any]) -> None:
    table, way, draws = sparse_people(), way_named("measure"), 300
    plan = planned(table, **options, measure="auto", levels=["state", "county"])
    design = plan.layout.design
    off: dict[Question, list[Any]] = {question: [] for question in plan.answered}
    inside: dict[Question, list[Any]] = {question: [] for question in plan.answered}
    said: dict[Question, Any] = {}
    for seed in range(draws):
        answers = answered(plan, way.draw(plan, table.counts, seeded(seed)), with_table=not seed)
        for question, one in zip(plan.answered, answers, strict=True):
            true = UNIT * design.answer(design.in_cells(table.counts), question)
            off[question].append((one.estimates - true) / UNIT)
            inside[question].append((one.low <= true) & (true <= one.high))
            said[question] = one.deviations / UNIT
    for question in plan.answered:
        errors = np.array(off[question])
        deviation = np.sqrt((errors**2).mean() / (said[question] ** 2).mean())
        assert abs(deviation - 1) < (0.12 if errors.shape[1] < 4 else 0.06)
        assert np.abs(errors.mean(axis=0) / (said[question] / np.sqrt(draws))).max() < 4.5
        error = math.sqrt(0.05 / draws / min(errors.shape[1], 4))
        assert 0.94 - 2 * error < float(np.mean(inside[question])) < 0.97 + 2 * error


def test_plan_tells_the_true_deviations() -> None:
    table, options = (
        sparse_people(),
        {"epsilon": 1, "measure": ["margin:state", "margin:sex"], "levels": "state,county"},
    )
    made, released = dc.plan(table.schema, **options), dc.release(table, **options)
    names = [one.name for one in made.questions]
    assert "cells" in names  # measured though nobody asked, so that every row is known
    assert [one.asked for one in released.record.facts.mechanism.questions if str(one.question) == "cells"] == [False]
    for one in made.questions:
        deviations = np.array(released.answers[one.name].column("sd").to_pylist())
        assert one.sd == pytest.approx(math.sqrt((deviations**2).mean()), rel=1e-3)


def test_any_region() -> None:
    table = sparse_people()
    made = dc.release(table, epsilon=1, measure="auto", levels=["state", "county"], keep="margin:state")
    estimate = dc.estimate(made)
    sex = np.array(table.schema.column("sex"))
    answers = made.answers["margin:sex"].to_pylist()
    for one in answers:
        assert estimate.region(sex == one["sex"]).estimate == pytest.approx(one["estimate"], abs=1e-3)
        assert estimate.deviation(sex == one["sex"]) == pytest.approx(one["sd"], abs=1e-3)
    exact = estimate.by("state")["s"]
    true = table.counts[np.array(table.schema.column("state")) == "s"].sum()
    assert exact.interval == (true, true)
    assert estimate.rows().table().num_rows == len(table)
    there = set(zip(table.schema.column("county"), table.schema.column("sex")))
    assert set(estimate.by("county", "sex")) == there


def test_floats_of_another_machine_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = dc.release(sparse_people(mean=3), epsilon=1, measure="auto", levels=["state", "county"])
    made.save(tmp_path / "out")
    plain = regress.RaggedCombined.estimate

    def shaken(self: Any, question: Any) -> Any:
        found = plain(self, question)
        return found * (1 + 1e-11 * np.random.default_rng(7).standard_normal(found.shape))

    monkeypatch.setattr(regress.RaggedCombined, "estimate", shaken)
    found = dc.verify(tmp_path / "out")
    assert found.valid, found.problems


def test_all_rows_have_the_closed_form() -> None:
    frame = pa.table({"sex": ["f", "m", "f", "m"], "age": ["0", "0", "1", "1"], "n": [1, 2, 3, 4]})
    assert isinstance(layout_of(dc.table(frame, "n", keys=["sex", "age"]).schema, ()).design, LevelDesign)
    assert isinstance(layout_of(dc.table(frame[:3], "n", keys=["sex", "age"]).schema, ()).design, RaggedDesign)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "crossing sums kept": ({"measure": "auto", "keep": ["margin:sex", "margin:state"]}, "rows are missing"),
    "hardly anything for the cells": ({"measure": ["total@999/1000", "cells@1/1000"]}, "better than the cells"),
    "nothing for the cells": ({"measure": ["total@1/2", "margin:sex@1/2"]}, "cells must be measured"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_charges_nothing(name: str, tmp_path: Path) -> None:
    options, words = WRONG[name]
    book = dc.ledger(f"sqlite:///{tmp_path / 'book.db'}")
    book.create("people", epsilon=2)
    with pytest.raises(BadInput, match=words):
        dc.release(sparse_people(), epsilon=1, levels="state,county", ledger=book, dataset="people", **options)
    assert book.status("people").spent.epsilon == 0


def test_too_many_entries_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regress, "MOST_AT_A_NODE", 3)
    with pytest.raises(BadInput, match=r"of 5 county x 2 sex x 3 age rows are missing.*too many to combine"):
        dc.release(sparse_people(), epsilon=1, levels="state,county", measure="auto")
