"""What a hostile reader found in releases of measured margins, each as it was tried."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import BadInput
from discreet.levels.intervals import half_widths
from discreet.released import Release
from discreet.sample.bits import seeded
from discreet.ways import way_named
from discreet.ways.measure.follow import Heard, apart
from tests.ways.test_measure import crossed, flat, planned, tree


def uneven(sizes: list[int], count: int = 5) -> dc.Table:
    """States of so many counties."""
    states = [f"s{i:02d}" for i, size in enumerate(sizes) for _ in range(size)]
    frame = pa.table({"state": states, "county": [f"c{i:03d}" for i in range(len(states))], "n": [count] * len(states)})
    return dc.table(frame, "n", keys=["state", "county"])


@pytest.mark.parametrize("options", [{"epsilon": 4}, {"rho": 5}, {"epsilon": "1/2"}])
@pytest.mark.parametrize("sizes", [[1, 1, 1, 1, 1, 40], [2, 30]])
def test_intervals_of_every_node_of_an_uneven_tree(sizes: list[int], options: dict[str, Any]) -> None:
    table, draws = uneven(sizes), 300
    plan, way = planned(table, measure="auto", levels=["state", "county"], **options), way_named("measure")
    design, spread, nothing = plan.layout.design, plan.spread, np.zeros(len(table), dtype=np.int64)
    inside = {question: np.zeros(design.nodes(question.level)) for question in plan.answered}
    for seed in range(draws):
        noisy = apart(design, list(plan.noise), way.draw(plan, nothing, seeded(seed)).noisy)
        combined = Heard(plan.layout, plan.noise, noisy, {}).combined()
        for question in plan.answered:
            off = np.abs(combined.estimate(question).ravel())
            inside[question] += off <= half_widths(spread, plan.noise, question, 0.95)
    for shares in inside.values():
        assert shares.min() / draws > 0.90  # the least of up to forty-five, four standard errors below 0.95
        assert 0.92 < shares.mean() / draws < 0.985


def test_rows_that_kept_sums_fix_have_no_interval(tmp_path: Path) -> None:
    for options in (
        {"epsilon": 1, "measure": ["cells"]},
        {"epsilon": 4, "measure": "auto"},
        {"rho": 5, "measure": "auto"},
    ):
        made = dc.release(uneven([1] * 8 + [5]), levels=["state", "county"], keep="margin:state", **options)
        sizes = (
            np.array(made.answers["cells"].column("high").to_pylist()) - made.answers["cells"].column("low").to_pylist()
        )
        assert (sizes[:8] == 0).all() and (sizes[8:] > 0).all()


def forged(made: Release, **changes: Any) -> Release:
    return replace(made, publication=replace(made.publication, **changes))


def told_otherwise(made: Release, **changes: Any) -> Release:
    """Another record, sealed like any other."""
    facts = made.record.facts
    mechanism = replace(facts.mechanism, **changes)
    record = replace(made.record, facts=replace(facts, mechanism=mechanism))
    return forged(made, record=record)


@pytest.mark.parametrize("make", [tree, crossed])
@pytest.mark.parametrize("measurements", [True, False])
def test_forged_answers_are_found(make: Any, measurements: bool, tmp_path: Path) -> None:
    made = dc.release(make(), epsilon=1, measure="auto", levels=["state", "county"], measurements=measurements)
    answers, names = list(made.publication.answers or ()), made.record.facts.mechanism.answers

    def with_first(**changes: Any) -> Release:
        return forged(made, answers=(replace(answers[0], **changes), *answers[1:]))

    first, last = answers[0], replace(answers[-1], counts=1000 * answers[-1].counts)
    forgeries = {
        "narrow": with_first(low=first.estimates, high=first.estimates),
        "exchanged": with_first(low=first.high, high=first.low),
        "negative sd": with_first(deviations=-first.deviations),
        "shifted": with_first(estimates=first.estimates + 10**6, low=first.low + 10**6, high=first.high + 10**6),
        "inwards": with_first(low=first.low + 100, high=first.high - 100),
        "larger": forged(made, counts=1000 * made.counts, answers=(*answers[:-1], last)),
        "reversed": told_otherwise(forged(made, answers=tuple(reversed(answers))), answers=tuple(reversed(names))),
        "dropped": told_otherwise(forged(made, answers=tuple(answers[:-1])), answers=names[:-1]),
        "histogram": told_otherwise(made, histogram=np.array([1], dtype=np.int64)),
    }
    for name, release in forgeries.items():
        release.save(tmp_path / name)
        assert not dc.verify(tmp_path / name).valid, name


def test_a_question_has_one_name(tmp_path: Path) -> None:
    made = dc.release(tree(), epsilon=1, measure="auto", levels=["state", "county"])
    names = [
        one if str(one) != "cells" else dc.margin("state", "county") for one in made.record.facts.mechanism.answers
    ]
    told_otherwise(made, answers=tuple(names)).save(tmp_path / "out")
    assert not dc.verify(tmp_path / "out").valid


def test_large_counts_come_back(tmp_path: Path) -> None:
    made = dc.release(uneven([3, 4], 10**9), epsilon=1, measure="auto")
    for format in ("csv", "parquet"):
        made.save(tmp_path / format, format)
        found = dc.verify(tmp_path / format)
        assert found.valid, found.problems


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        (uneven([5], 10**12), {"epsilon": 1}, "add up to more than"),
        (uneven([5]), {"epsilon": "1e-9"}, "standard deviation above"),
        (
            dc.table(
                pa.table({"a": ["x", "y"], "b": ["p", "p"], "a,b": ["u", "u"], "n": [1, 2]}),
                "n",
                keys=["a", "b", "a,b"],
            ),
            {"epsilon": 1},
            "comma in its name",
        ),
    ],
)
def test_refused_before_anything_is_charged(
    table: dc.Table, options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    book = dc.ledger(f"sqlite:///{tmp_path / 'book.db'}")
    book.create("people", epsilon=2)
    with pytest.raises(BadInput, match=words):
        dc.release(table, measure="auto", ledger=book, dataset="people", **options)
    assert book.status("people").spent.epsilon == 0


def test_regions_whatever_the_scale_of_their_weights() -> None:
    made = dc.release(tree(), rho=2, measure="auto", levels=["state", "county"])
    view, one = dc.estimate(made), np.eye(15)[3]
    plain, scaled = view.region(one), view.region(1000 * one)  # type: ignore[union-attr]
    assert scaled.interval[1] - scaled.estimate == pytest.approx(1000 * (plain.interval[1] - plain.estimate))
    assert np.isfinite(view.region(1e60 * one).interval).all()  # type: ignore[union-attr]
    with pytest.raises(BadInput, match="one number for each"):
        view.region(["a"] * 15)  # type: ignore[union-attr]


@pytest.mark.parametrize("scale", [1e-10, 1.0, 1 / 3, 1e9, 1e12])
def test_what_is_told_of_a_region_does_not_depend_on_its_scale(scale: float) -> None:
    """A margin is known, and a single cell is not, in whatever unit."""
    made = dc.release(flat(), rho=2, measure=["margin:sex", "margin:age,ill"], seed=1)
    view, women = dc.estimate(made), np.array(flat().schema.column("sex")) == "f"
    wanted = float(made.answers["margin:sex"].column("sd")[0].as_py())
    assert view.deviation(scale * women) / scale == pytest.approx(wanted, abs=1e-4)  # type: ignore[union-attr]
    with pytest.raises(BadInput, match="does not tell it"):
        view.region(scale * np.eye(12)[3])  # type: ignore[union-attr]


def test_the_report_tells_how_far_the_distribution_is_from_the_estimated_one(tmp_path: Path) -> None:
    """Sums are kept, the distribution of counts is not: by how much is said, and it is so."""
    counts = np.random.default_rng(2).negative_binomial(0.5, 0.05, 60).tolist()
    keys = {"state": [f"s{i // 10}" for i in range(60)], "county": [f"c{i}" for i in range(60)], "n": counts}
    made = dc.table(pa.table(keys), "n", keys=["state", "county"])
    out = dc.release(made, epsilon=1, measure="auto", levels=["state", "county"], seed=3)
    out.save(tmp_path / "out")
    estimated = sorted(value for value, many in enumerate(out.record.facts.mechanism.histogram) for _ in range(many))
    published = sorted(out.table["n"].to_pylist())
    apart = sum(abs(one - other) for one, other in zip(estimated, published, strict=True)) / 60
    assert apart > 0
    assert f"differ by {apart:.2g} on average" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
