"""Odd designs: attributes of one value, levels that are one another, a single row; each as it was tried."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import BadInput
from discreet.levels.design import LevelDesign, Question, tree_of
from tests.ways.test_measure import crossed, planned

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")  # no number is ever infinity times nothing


def yearly(counts: list[int]) -> dc.Table:
    """Two counties in each of three states, whose names and numbers are two columns; all of one year."""
    rows = [(f"s{s}", f"S{s}", f"c{s}{c}", "2020") for s in range(3) for c in range(2)]
    names = ["state", "name", "county", "year"]
    return dc.table(pa.table({**dict(zip(names, zip(*rows))), "n": counts}), "n", keys=names)


LEVELS = ["state", "name", "county"]
COUNTS = [3, 0, 12, 5, 0, 41]


def test_what_has_the_same_entries_is_measured_once_and_answered_alike(tmp_path: Path) -> None:
    asked = ["total", "margin:year", "margin:state", "margin:name,year", "margin:county", "cells"]
    out = dc.release(yearly(COUNTS), epsilon=1, measure=asked, levels=LEVELS)
    measured = [str(one.question) for one in out.record.facts.mechanism.questions]
    assert measured == ["margin:year", "margin:name,year", "cells"]
    assert set(out.answers) == set(asked)
    for one, other in (("total", "margin:year"), ("margin:state", "margin:name,year"), ("margin:county", "cells")):
        for column in ("estimate", "sd", "low", "high", "n"):
            assert out.answers[one].column(column).equals(out.answers[other].column(column))
    assert out.record.facts.mechanism.histogram is not None  # leaves of one year are leaves without attributes
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid


def test_own_shares_of_what_is_the_same_are_as_they_were_given() -> None:
    shares = {"margin:state": "1/2", "margin:name": "1/4", "cells": "1/4"}
    measure = [f"{name}@{share}" for name, share in shares.items()]
    made = planned(yearly(COUNTS), epsilon=1, measure=measure, levels=LEVELS)
    assert {one.name: one.share for one in made.questions} == shares
    made = planned(yearly(COUNTS), epsilon=1, measure=["margin:state@1/2", "margin:name", "cells"], levels=LEVELS)
    shares = {"margin:state": "1/2", "margin:name": "0", "cells": "1/2"}
    assert {one.name: one.share for one in made.questions} == shares


def test_what_kept_sums_say_by_another_name_is_free() -> None:
    out = dc.release(
        yearly(COUNTS), epsilon=1, measure=["margin:name,year", "cells"], levels=LEVELS, keep="margin:state"
    )
    assert [str(one.question) for one in out.record.facts.mechanism.questions] == ["cells"]
    assert out.answers["margin:name,year"].column("estimate").to_pylist() == [3, 17, 41]
    with pytest.raises(BadInput, match="all of them exactly"):
        dc.release(yearly(COUNTS), epsilon=1, measure="margin:name,year", levels=LEVELS, keep="margin:state")
    with pytest.raises(BadInput, match="kept exactly"):
        measure = ["margin:name,year@1/2", "cells"]
        dc.release(yearly(COUNTS), epsilon=1, measure=measure, levels=LEVELS, keep="margin:state")


def test_cells_that_a_margin_tells_are_answered(tmp_path: Path) -> None:
    """Not measured themselves, but known: by only children, and by columns of one value."""
    out = dc.release(yearly(COUNTS), epsilon=8, measure=["margin:name", "margin:county"], levels=LEVELS)
    assert out.answers["cells"].column("estimate").equals(out.answers["margin:county"].column("estimate"))
    out.save(tmp_path / "out")
    assert "as alike as can be" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    one = dc.estimate(out).by("county", "year")[("c00", "2020")]
    assert one.estimate == pytest.approx(out.answers["margin:county"].column("estimate")[0].as_py(), abs=1e-3)


@pytest.mark.parametrize("count", [0, 1, 10**9])
def test_one_row(count: int, tmp_path: Path) -> None:
    table = dc.table(pa.table({"state": ["s"], "sex": ["f"], "n": [count]}), "n", keys=["state", "sex"])
    out = dc.release(table, rho="1/20", measure="auto", levels="state")
    assert [one.share for one in out.record.facts.mechanism.questions] == [Fraction(1)]
    assert len({frame.column("sd")[0].as_py() for frame in out.answers.values()}) == 1
    assert out.counts.min() >= 0
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid


@pytest.mark.parametrize("seed", range(8))
def test_questions_with_the_same_entries_have_the_same_plain_one(seed: int) -> None:
    """By the groups of rows, looked at one by one."""
    rng = np.random.default_rng(seed)
    families = [rng.integers(1, 3, size=2 if seed % 2 else 1)]
    families.append(np.ones(families[0].sum(), dtype=int) if seed % 3 else rng.integers(1, 3, families[0].sum()))
    codes = [np.arange(len(families[0])).repeat(families[0]).repeat(families[1])]
    codes.append(np.arange(len(families[1])).repeat(families[1]))
    codes.append(np.arange(families[1].sum()))
    shape = tuple(int(n) for n in rng.integers(1, 3, 2))
    design = LevelDesign(tree_of(codes)[0], shape)
    cells = np.arange(design.entries(design.cells)).reshape(design.table_shape(design.cells))

    def groups(question: Question) -> set[tuple[int, ...]]:
        places = np.arange(design.entries(question)).reshape(design.table_shape(question))
        of = design.spread_out(places, question, design.cells).ravel()
        return {tuple(cells.ravel()[of == entry]) for entry in range(design.entries(question))}

    for one, other in itertools.product(design.questions(), repeat=2):
        assert (groups(one) == groups(other)) == (design.plain(one) == design.plain(other))


def test_the_report_tells_how_far_the_distribution_is_with_attributes(tmp_path: Path) -> None:
    """The slow version: sorted counts beside those of a distribution that was estimated from the noisy cells."""
    from discreet.public_map import seen_of
    from discreet.ways.keep_distribution.follow import Noisy, least_error

    def report(name: str, **options: Any) -> str:
        out = dc.release(crossed(mean=4), epsilon=1, levels=["state", "county"], seed=5, **options)
        out.save(tmp_path / name)
        return (tmp_path / name / "report.html").read_text(encoding="utf-8")

    out = dc.release(crossed(mean=4), epsilon=1, measure="auto", levels=["state", "county"], seed=5)
    law = planned(crossed(mean=4), epsilon=1, measure="auto", levels=["state", "county"]).noise[Question(2, (0, 1))]
    noisy = out.measurements["cells"].column("n").to_numpy()
    estimated = least_error(Noisy(seen_of(noisy), law, None), None, None).histogram
    suggested = sorted(value for value, many in enumerate(estimated) for _ in range(many))
    apart = sum(abs(one - other) for one, other in zip(suggested, sorted(out.counts), strict=True)) / len(out.counts)
    assert apart > 0
    assert f"differ by {apart:.2g} on average" in report("cells", measure="auto")
    assert "on average from the distribution" not in report("margins", measure=["margin:county", "margin:sex"])
    assert "on average from the distribution" not in report("kept back", measure="auto", measurements=False)
