"""Levels and margins: one table, answers with error bars, and a promise that holds for every neighbour."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import BadInput, Infeasible
from discreet.record.release import AnswerTable
from discreet.sample.bits import seeded
from discreet.ways import way_named
from discreet.ways.measure.follow import Heard, answer, apart
from discreet.ways.measure.plan import MeasurePlan

STATES, COUNTIES, SEXES, AGES = 3, 4, ["f", "m"], ["0-17", "18-64", "65+"]


def tree(seed: int = 1, mean: float = 6.0) -> dc.Table:
    """Counties in states, nothing else."""
    rows = [(f"s{s}", f"c{s}{c}") for s in range(STATES) for c in range(COUNTIES + s)]
    return _table(rows, ["state", "county"], seed, mean)


def crossed(seed: int = 1, mean: float = 6.0) -> dc.Table:
    """Counties in states, by sex and age."""
    rows = [(f"s{s}", f"c{s}{c}", sex, age) for s in range(2) for c in range(3) for sex in SEXES for age in AGES]
    return _table(rows, ["state", "county", "sex", "age"], seed, mean)


def flat(seed: int = 1, mean: float = 6.0) -> dc.Table:
    rows = list(itertools.product(SEXES, AGES, ["no", "yes"]))
    return _table(rows, ["sex", "age", "ill"], seed, mean)


def ragged(seed: int = 1, mean: float = 6.0) -> dc.Table:
    """Counties in states by sex, some without men."""
    rows = [
        (f"s{s}", f"c{s}{c}", sex) for s in range(2) for c in range(4) for sex in SEXES if (s + c) % 3 or sex == "f"
    ]
    return _table(rows, ["state", "county", "sex"], seed, mean)


def ragged_flat(seed: int = 1, mean: float = 6.0) -> dc.Table:
    rows = [row for row in itertools.product(SEXES, AGES, ["no", "yes"]) if row[1:] != ("0-17", "yes")]
    return _table(rows[::-1], ["sex", "age", "ill"], seed, mean)


def _table(rows: list[tuple[str, ...]], keys: list[str], seed: int, mean: float) -> dc.Table:
    counts = np.random.default_rng(seed).poisson(mean, len(rows))
    columns = {name: [row[i] for row in rows] for i, name in enumerate(keys)}
    return dc.table(pa.table({**columns, "n": counts}), "n", keys=keys)


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "tree": (tree, {"epsilon": 1, "measure": "auto", "levels": ["state", "county"]}),
    "tree, levels found": (tree, {"epsilon": 1, "measure": "auto"}),
    "tree, own shares": (tree, {"epsilon": 1, "measure": ["total@1/5", "margin:state@3/10", "cells@1/2"]}),
    "tree, kept": (tree, {"epsilon": 1, "measure": ["cells", "margin:state"], "keep": "total"}),
    "tree, states kept": (tree, {"rho": "1/2", "measure": "auto", "keep": "margin:state"}),
    "crossed": (crossed, {"epsilon": 1, "measure": "auto", "levels": ["state", "county"]}),
    "crossed, rho": (crossed, {"rho": "1/4", "measure": "auto", "levels": ["state", "county"]}),
    "crossed, delta": (crossed, {"epsilon": 1, "delta": "1e-6", "measure": "auto", "levels": "state,county"}),
    "crossed, kept": (
        crossed,
        {"epsilon": 2, "measure": "auto", "levels": ["state", "county"], "keep": ["margin:state", "margin:sex"]},
    ),
    "crossed, kept finely": (
        crossed,
        {"epsilon": 2, "measure": "auto", "levels": ["state", "county"], "keep": ["margin:state,sex"]},
    ),
    "flat": (flat, {"epsilon": 1, "measure": "auto"}),
    "flat without cells": (flat, {"epsilon": 1, "measure": ["margin:sex,age", "margin:ill", "margin:age,ill"]}),
    "flat, kept": (flat, {"epsilon": 1, "measure": "auto", "keep": ["margin:sex"]}),
    "ragged": (ragged, {"epsilon": 1, "measure": "auto", "levels": ["state", "county"]}),
    "ragged, levels found": (ragged, {"rho": "1/2", "measure": "auto"}),
    "ragged, total kept": (ragged, {"epsilon": 1, "measure": ["margin:county"], "keep": "total"}),
    "ragged, states kept": (ragged, {"epsilon": 1, "measure": "auto", "keep": "margin:state"}),
    "ragged, kept by sex": (ragged, {"epsilon": 1, "measure": "auto", "keep": ["margin:state,sex", "total"]}),
    "ragged flat": (ragged_flat, {"epsilon": 1, "measure": "auto"}),
    "ragged flat, delta": (ragged_flat, {"epsilon": 1, "delta": "1e-6", "measure": ["margin:sex,age", "margin:ill"]}),
    "alpha": (tree, {"alpha": "1/3", "measure": "auto"}),
}


@pytest.fixture(params=CASES)
def case(request: Any) -> tuple[dc.Table, dict[str, Any]]:
    make, options = CASES[request.param]
    return make(), options


def test_goes_all_the_way(case: tuple[dc.Table, dict[str, Any]], tmp_path: Path) -> None:
    """Released, saved as CSV and Parquet, verified, estimated; the table adds up, and keeps what it should."""
    table, options = case
    made = dc.release(table, **options)
    assert made.counts.min() >= 0
    for format in ("csv", "parquet"):
        made.save(tmp_path / format, format)
        found = dc.verify(tmp_path / format)
        assert found.valid, found.problems
        again = dc.estimate(tmp_path / format)
        assert again.total().as_json() == dc.estimate(made).total().as_json()
    for frame in made.answers.values():
        keys = [name for name in frame.column_names if name in table.schema.keys]
        whole = (
            made.table.group_by(keys).aggregate([("n", "sum")]).sort_by([(name, "ascending") for name in keys])
            if keys
            else None
        )
        sums = [made.counts.sum()] if whole is None else whole.column("n_sum").to_pylist()
        shown = frame if not keys else frame.sort_by([(name, "ascending") for name in keys])
        assert shown.column("n").to_pylist() == sums
        assert all(
            low <= middle <= high
            for low, middle, high in zip(*(frame.column(c).to_pylist() for c in ("low", "estimate", "high")))
        )
    kept = made.record.facts.invariants
    if kept is not None:
        from discreet.lattice.invariants import invariant_matrix

        keys = {name: table.schema.column(name) for name in table.schema.keys}
        invariants = invariant_matrix(kept.kept, keys, len(table))
        assert np.array_equal(invariants.sums(made.counts), invariants.sums(table.counts))


def test_nothing_secret_is_carried(case: tuple[dc.Table, dict[str, Any]]) -> None:
    table, options = case
    made = pickle.loads(pickle.dumps(dc.release(table, **options)))
    assert table.counts.tobytes() not in pickle.dumps(made)


def planned(table: dc.Table, **options: Any) -> MeasurePlan:
    from discreet.release import asked

    privacy = {name: options.pop(name, usual) for name, usual in (("alpha", None), ("rho", None), ("delta", 0))}
    loss, spec = asked(options.pop("epsilon", None), None, options, (), **privacy)
    plan: MeasurePlan = way_named("measure").plan(table.schema, loss, spec)
    return plan


@pytest.mark.parametrize("contributions", [1, 3])
@pytest.mark.parametrize("keep", [(), ("total",), ("margin:state",), ("margin:sex", "margin:state")])
def test_no_neighbour_costs_more_than_is_promised(contributions: int, keep: tuple[str, ...]) -> None:
    """Every change of a small table by one unit, or by one person moved or swapped, that keeps what is kept: the noise
    of all questions together pays for it, contributions times."""
    table = dc.table(
        pa.table({
            "state": ["s", "s", "s", "s", "t", "t", "t", "t"], "county": list("aabbccdd"),
            "sex": list("fmfmfmfm"), "n": [3, 1, 0, 5, 2, 2, 7, 1],
        }),
        "n", keys=["state", "county", "sex"], contributions=contributions,
    )  # fmt: skip
    changes = [np.eye(8, dtype=int)[i] for i in range(8)]
    changes += [np.eye(8, dtype=int)[i] - np.eye(8, dtype=int)[j] for i, j in itertools.permutations(range(8), 2)]
    pure = planned(table, epsilon=1, measure="auto", levels=["state", "county"], keep=keep)
    gaussian = planned(table, rho=1, measure="auto", levels=["state", "county"], keep=keep)
    design, survived, worst = pure.layout.design, 0, [0.0, 0.0]
    steps = changes if len(keep) < 2 else [a + b for a, b in itertools.combinations(changes, 2)]
    for change in steps:
        cells = design.in_cells(change * contributions)
        if any(design.answer(cells, question).any() for question in pure.kept) or not change.any():
            continue
        survived += 1
        if np.abs(change).sum() > pure.guarantee.unit.change.distance:
            continue
        cost = sum(
            float(np.abs(design.answer(cells, q)).sum()) * math.log(law.worst_odds or 0)
            for q, law in pure.noise.items()
        )
        square = sum(
            float((design.answer(cells, q) ** 2).sum()) / (2 * law.spread) for q, law in gaussian.noise.items()
        )
        worst = [max(worst[0], cost), max(worst[1], square)]
    assert survived
    assert worst[0] <= 1 + 1e-12 and worst[1] <= 1 + 1e-6
    if not keep:
        assert worst[0] > 0.999 and worst[1] > 0.99  # and nothing is spent in vain


def answered(plan: MeasurePlan, drawn: Any, with_table: bool) -> list[AnswerTable]:
    """All answers, without the table, whose making takes long; once with it, to see that they are the same."""
    heard = Heard(plan.layout, plan.noise, apart(plan.layout.design, list(plan.noise), drawn.noisy), drawn.kept)
    combined = heard.combined()
    answers = [answer(heard, combined, question) for question in plan.answered]
    published = way_named("measure").publish(plan, drawn).answers if with_table else None
    assert all(
        np.array_equal(getattr(one, name), getattr(shown, name))
        for one, shown in zip(answers, published or answers, strict=True)
        for name in ("estimates", "deviations", "low", "high")
    )
    return answers


@pytest.mark.parametrize("options", [{"epsilon": "1/2"}, {"epsilon": 3}, {"rho": "1/8"}])
@pytest.mark.parametrize("make", [tree, crossed])
def test_intervals_cover_and_estimates_are_unbiased(make: Any, options: dict[str, Any]) -> None:
    """Of every question, over many draws: standard deviations are true, and 95% intervals hold the truth as often."""
    table = make(mean=9)
    plan, way, draws = planned(table, **options, measure="auto", levels=["state", "county"]), way_named("measure"), 300
    design = plan.layout.design
    off: dict[Any, list[Any]] = {question: [] for question in plan.answered}
    inside: dict[Any, list[Any]] = {question: [] for question in plan.answered}
    said: dict[Any, Any] = {}
    for seed in range(draws):
        drawn = way.draw(plan, table.counts, seeded(seed))
        answers = answered(plan, drawn, with_table=not seed)
        for question, one in zip(plan.answered, answers):
            true = 10_000 * design.answer(design.in_cells(table.counts), question).ravel()
            off[question].append((one.estimates - true) / 10_000)
            inside[question].append((one.low <= true) & (true <= one.high))
            said[question] = one.deviations / 10_000
    for question in plan.answered:
        errors = np.array(off[question])
        deviation = np.sqrt((errors**2).mean() / (said[question] ** 2).mean())
        assert abs(deviation - 1) < 0.12 if errors.shape[1] < 4 else abs(deviation - 1) < 0.06
        assert np.abs(errors.mean(axis=0) / (said[question] / np.sqrt(draws))).max() < 4.5
        cover = float(np.mean(inside[question]))
        error = math.sqrt(0.05 / draws / min(errors.shape[1], 4))
        assert 0.94 - 2 * error < cover < 0.97 + 2 * error


def test_floats_of_another_machine_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimates that differ in their last digits, on the machine that verifies, lead to the same table."""
    from discreet.levels import combine as module
    from discreet.levels import either

    made = dc.release(crossed(mean=3), epsilon=1, measure="auto", levels=["state", "county"])
    made.save(tmp_path / "out")
    plain = module.Combined.estimate

    def shaken(self: Any, question: Any) -> Any:
        found = plain(self, question)
        return found * (1 + 1e-11 * np.random.default_rng(7).standard_normal(found.shape))

    monkeypatch.setattr(module.Combined, "estimate", shaken)
    assert either.combine is module.combine
    found = dc.verify(tmp_path / "out")
    assert found.valid, found.problems


def test_any_region(tmp_path: Path) -> None:
    """A sum over some rows, a difference, a group by two columns: as the answers where these are the same."""
    table = crossed()
    made = dc.release(table, epsilon=1, measure="auto", levels=["state", "county"])
    estimate = dc.estimate(made)
    states = np.array(table.schema.column("state"))
    answers = made.answers["margin:state"]
    for place, state in enumerate(answers.column("state").to_pylist()):
        region = estimate.region(states == state)
        assert region.estimate == pytest.approx(answers.column("estimate")[place].as_py(), abs=1e-3)
        assert estimate.deviation(states == state) == pytest.approx(answers.column("sd")[place].as_py(), abs=1e-3)
    difference = estimate.region((states == "s0").astype(int) - (states == "s1").astype(int))
    assert difference.estimate == pytest.approx(
        estimate.by("state")["s0"].estimate - estimate.by("state")["s1"].estimate
    )
    assert set(estimate.by("state", "sex")) == set(itertools.product(["s0", "s1"], SEXES))
    assert estimate.rows().table().num_rows == len(table)
    kept = dc.estimate(dc.release(table, epsilon=1, measure="auto", levels=["state", "county"], keep="margin:state"))
    exact = kept.by("state")["s0"]
    assert exact.interval == (exact.estimate, exact.estimate) == (table.counts[states == "s0"].sum(),) * 2


def test_numbers_as_keys_come_back_in_any_format(tmp_path: Path) -> None:
    """Keys that sort differently as numbers and as text, and keys that look like formulas."""
    rows = [(s, 100 * s + c) for s in (2, 10, 1) for c in (5, 11, 100)]
    frame = pa.table({"state": [r[0] for r in rows], "county": [r[1] for r in rows], "n": np.arange(9)})
    made = dc.release(dc.table(frame, "n", keys=["state", "county"]), epsilon=1, measure="auto")
    for format in ("csv", "parquet"):
        made.save(tmp_path / format, format)
        assert dc.verify(tmp_path / format).valid
    odd = pa.table(
        {"state": ["=a", "=a", "-b", "-b", "c"], "county": ["+1", "2", "@3", 'z,"q"', "5"], "n": [1, 2, 3, 4, 5]}
    )
    table = dc.table(odd, "n", keys=["state", "county"])
    made = dc.release(table, epsilon=1, measure="auto", levels=["state", "county"])
    made.save(tmp_path / "safe", excel_safe=True)
    made.save(tmp_path / "plain")
    assert dc.verify(tmp_path / "safe").valid and dc.verify(tmp_path / "plain").valid
    made = dc.release(table, epsilon="1/50", measure="auto", levels=["state", "county"])
    made.save(tmp_path / "negative", excel_safe=True)
    found = dc.verify(tmp_path / "negative")
    assert found.valid, found.problems


def test_without_measurements(tmp_path: Path) -> None:
    made = dc.release(crossed(), epsilon=1, measure="auto", levels=["state", "county"], measurements=False)
    assert made.measurements is None
    made.save(tmp_path / "out")
    assert not (tmp_path / "out" / "measurements.csv").exists()
    found = dc.verify(tmp_path / "out")
    assert found.valid, found.problems
    by_answers, answered = dc.estimate(tmp_path / "out").by("state"), made.answers["margin:state"]
    assert by_answers.estimate.tolist() == pytest.approx(answered.column("estimate").to_pylist())
    beyond = answered.column("high").to_numpy() - by_answers.high  # a sum of counts is a whole number
    assert (np.abs(beyond - 0.5) < 0.5 + 2e-4).all() and (by_answers.high == np.rint(by_answers.high)).all()


@pytest.mark.parametrize("keep", [(), ("total",)])
@pytest.mark.parametrize("epsilon", ["1/5", 2])
def test_the_kit_and_the_file_of_answers_give_one_interval(epsilon: Any, keep: tuple[str, ...]) -> None:
    """The kit leaves out what no count can be: fractions, and numbers below 0 or above what is kept."""
    made = dc.release(crossed(), epsilon=epsilon, measure=["cells", "margin:sex"], keep=list(keep), seed=3)
    view = dc.estimate(made)
    for name, found in (("cells", view.by("state", "county", "sex", "age")), ("margin:sex", view.by("sex"))):
        file = {one: made.answers[name].column(one).to_numpy() for one in ("low", "high")}
        most = view.total().estimate if keep else np.inf
        low, high = np.clip(np.ceil(file["low"] - 2e-4), 0, most), np.clip(np.floor(file["high"] + 2e-4), 0, most)
        some = (low <= high) & (file["high"] >= 0)
        assert some.any() and (found.low[some] <= low[some]).all() and (found.high[some] >= high[some]).all()
        inside = np.clip(found.estimate, found.low, found.high)
        assert (np.minimum(low, inside)[some] == found.low[some]).all()
        assert (np.maximum(high, inside)[some] == found.high[some]).all()


def test_plan_reads_no_count_and_tells_every_deviation() -> None:
    table = crossed()
    made = dc.plan(table.schema, epsilon=1, measure="auto", levels=["state", "county"])
    names = [one.name for one in made.questions]
    assert "total" in names and "cells" in names and "margin:state,sex" in names
    released = dc.release(table, epsilon=1, measure="auto", levels=["state", "county"])
    for one in made.questions:
        deviations = np.array(released.answers[one.name].column("sd").to_pylist())
        assert one.sd == pytest.approx(math.sqrt((deviations**2).mean()), rel=1e-3)
    assert sum(Fraction(one.share) for one in made.questions) == 1


@pytest.mark.parametrize("make", [tree, crossed, flat])
@pytest.mark.parametrize("options", [{"epsilon": 1}, {"epsilon": "1/10"}, {"rho": "1/20"}])
def test_small_tables_are_told_what_margins_cost(make: Any, options: dict[str, Any]) -> None:
    """By how much the sum of all squared errors would be smaller, from the variances of either plan, entry by entry."""
    made, alone = (planned(make(), measure=measure, **options) for measure in ("auto", "cells"))
    losses = [
        sum(plan.layout.design.by_entry(plan.spread.variance(q), q).sum() for q in made.asked) for plan in (made, alone)
    ]
    percent = round(100 * (1 - losses[1] / losses[0]))
    told = [dict(step.numbers)["percent"] for step in made.steps if step.code == "cells-alone-are-better"]
    assert told == ([percent] if percent > 0 else [])
    assert not any(step.code == "cells-alone-are-better" for step in alone.steps)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "unknown column": ({"measure": ["margin:contry"]}, "county"),
    "unknown level": ({"measure": "auto", "levels": ["state", "conty"]}, "county"),
    "several unknown": (
        {"measure": ["margin:stat", "margin:conty"], "levels": ["stte", "county"], "keep": "margin:zz"},
        r"columns 'stte', 'stat', 'conty', 'zz' .* Did you mean 'state'\? Did you mean 'county'\? There is",
    ),
    "a value that no row has": ({"measure": ["cells", "sum:state=s9"]}, r"no row has state = 's9'"),
    "values that no row has together": ({"measure": ["cells", "sum:state=s0,county=c10"]}, "sum of no cell"),
    "level twice": ({"measure": "auto", "levels": ["state", "state"]}, "twice"),
    "levels without measure": ({"levels": ["state", "county"]}, "without measure"),
    "not a question": ({"measure": ["median"]}, "neither total"),
    "a matrix": ({"measure": [dc.sums([[1] * 15])]}, "several of its sums"),
    "shares too large": ({"measure": ["total@1/2", "cells@3/4"]}, "add up"),
    "shares too small": ({"measure": ["total@1/4", "cells@1/4"]}, "add up"),
    "share of zero": ({"measure": ["total@0", "cells"]}, "share"),
    "share negative": ({"measure": ["total@-1/2", "cells"]}, "share"),
    "share of nothing asked": ({"measure": ["cells"], "shares": {"total": "1/2"}}, "not among"),
    "share twice": ({"measure": ["cells@1/2", "total"], "shares": {"cells": "1/2"}}, "already"),
    "share of what is kept": ({"measure": ["total@1/2", "cells"], "keep": "total"}, "kept exactly"),
    "all kept": ({"measure": ["total", "margin:state"], "keep": "margin:state"}, "all of them exactly"),
    "auto and more": ({"measure": ["auto", "cells"]}, "stands alone"),
    "with a mechanism": ({"measure": "auto", "mechanism": "geometric"}, "together with measure"),
    "with max_count": ({"measure": "auto", "max_count": 5}, "together with measure"),
    "keep one sum": ({"measure": "auto", "keep": "sum:state=s0"}, "only total and margins"),
    "a number": ({"measure": 5}, "no question"),
    "levels in the wrong order": ({"measure": "auto", "levels": ["county", "state"]}, "Name state before county"),
    "levels that are no names": ({"measure": "auto", "levels": 5}, "not names of columns"),
    "shares beside auto": ({"measure": "auto", "shares": {"total": "1/2"}}, "beside measure = 'auto'"),
    "one question by two names": ({"measure": ["margin:state,county@1/2", "cells@1/2"]}, "the same question, cells"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_refused_and_charges_nothing(name: str, tmp_path: Path) -> None:
    options, words = WRONG[name]
    book = dc.ledger(f"sqlite:///{tmp_path / 'book.db'}")
    book.create("people", epsilon=2)
    with pytest.raises(BadInput, match=words):
        dc.release(tree(), epsilon=1, ledger=book, dataset="people", **options)
    assert book.status("people").spent.epsilon == 0


def test_levels_that_are_no_tree() -> None:
    frame = pa.table({"state": ["a", "a", "b"], "county": ["17", "18", "17"], "n": [1, 2, 3]})
    with pytest.raises(BadInput, match="county '17' is in 2 values of state"):
        dc.release(
            dc.table(frame, "n", keys=["state", "county"]), epsilon=1, measure="auto", levels=["state", "county"]
        )


def test_missing_rows_are_named() -> None:
    frame = pa.table({"sex": ["f", "m", "f"], "age": ["old", "old", "young"], "n": [1, 2, 3]})
    table = dc.table(frame, "n", keys=["sex", "age"])
    with pytest.raises(BadInput, match="1 of 2 sex x 2 age rows are missing"):
        dc.release(table, epsilon=1, measure=["cells"], keep=["margin:sex", "margin:age"])


def test_everything_kept_is_refused() -> None:
    with pytest.raises((BadInput, Infeasible)):
        dc.release(tree(), epsilon=1, measure=["cells"], keep="margin:county")


def test_several_sums_of_one_margin_are_one_question_with_one_share(tmp_path: Path) -> None:
    """They are measured together, by whichever name they are asked for; and a file says what was asked, and what is
    wrong with it."""
    table = tree()
    sums = ["sum:state=s0", "sum:state=s1", "cells"]
    made = dc.release(table, 1, measure=sums, shares={"margin:state": "1/4", "cells": "3/4"})
    assert [one.share for one in made.record.facts.mechanism.questions] == [Fraction(1, 4), Fraction(3, 4)]
    spec = dc.Measure(measure=sums)
    assert [str(one) for one in spec.measure] == sums
    with pytest.raises(dc.BadInput, match="they are the same question, margin:state"):
        dc.release(table, 1, measure=["sum:state=s0@1/4", "sum:state=s1@1/4", "cells@1/2"])
    file = tmp_path / "release.toml"
    for measured, told in (("3", "no question"), ('["margin:state@0", "cells@1"]', "a share is above 0")):
        file.write_text(f'[table]\nfile = "t.csv"\n[privacy]\nepsilon = "1"\n[measure]\nmeasure = {measured}\n')
        with pytest.raises(dc.BadInput, match=told):
            dc.read_spec(file)
