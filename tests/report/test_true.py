"""What a report, a plan and a guarantee say is so of the very release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import BadInput
from discreet.record.words import promises
from discreet.record.words.pages import ADVICE
from discreet.report import pages, render
from tests.tampering.folders import KINDS, SLOW, Honest, honest, made

MORE: dict[str, dict[str, Any]] = {
    **SLOW,
    "unmeasured-measure": {"epsilon": 1, "measure": "auto", "measurements": False},
    "unmeasured-constructed": {"epsilon": 1, "max_count": 6, "mechanism": "unfixed", "measurements": False},
    "unmeasured-signed": {"epsilon": 1, "signed": True, "measurements": False},
    "unmeasured-rows": {"epsilon": 1, "mechanism": "geometric", "measurements": False},
    "conditioned": {"epsilon": 1, "keep": "total", "nonnegative": "condition"},
    "bounded-sums": {"epsilon": 4, "keep": "total", "inequalities": ([[1] + [0] * 29], [0])},
}


def folder(kind: str, place: Path) -> tuple[Path, Honest]:
    found = honest(kind) if kind in KINDS else made(kind, **MORE[kind])
    for name, content in found.contents.files.items():
        (place / name).write_bytes(content)
    return place, found


def can_be_estimated(place: Path) -> bool:
    try:
        dc.estimate(place).total()
    except BadInput:
        return False
    return True


@pytest.mark.parametrize("kind", [*KINDS, *MORE])
def test_the_report_offers_estimates_only_where_there_are_any(kind: str, tmp_path: Path) -> None:
    place, _ = folder(kind, tmp_path)
    assert (ADVICE["estimate"] in (place / "report.html").read_text()) == can_be_estimated(place)


@pytest.mark.parametrize("kind", [*KINDS, *MORE])
def test_the_report_speaks_of_a_file_of_measurements_only_where_there_is_one(kind: str, tmp_path: Path) -> None:
    place, found = folder(kind, tmp_path)
    there = any(name.startswith("measurements.") for name in found.contents.files)
    assert there or "file of measurements" not in (place / "report.html").read_text()


def rows(number: int) -> dc.Table:
    names = [f"place {i:03d}" for i in range(number)]
    return dc.table(pa.table({"place": names, "n": [i % 7 for i in range(number)]}), "n")


def codes(remarks: Any) -> set[str]:
    return {remark.code for remark in remarks}


PLAIN = "The noisy counts were left as they are"


@pytest.mark.parametrize(
    ("favor", "number"),
    [(None, number) for number in (1, 5, 29, 30, 31, 200)]
    + [("balance", 29), ("balance", 30), ("counts", 5), ("counts", 200), ("distribution", 5), ("distribution", 200)],
)
def test_few_rows_are_neither_planned_nor_said_to_be_mapped(number: int, favor: str | None, tmp_path: Path) -> None:
    """With fewer than thirty, balance leaves them as they are; that is known beforehand."""
    options: dict[str, Any] = {} if favor is None else {"favor": favor}
    out = dc.release(rows(number), 1, **options)
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid
    few = number < 30 and favor in (None, "balance")
    planned, said = codes(dc.plan(rows(number), 1, **options).done), codes(out.guarantee.remarks)
    assert ("map-plain" in planned) == few
    assert ("map-balance" in planned) == (favor in (None, "balance") and not few)
    assert bool(said & {"mapped-together", "decided-together"}) != few
    plain = PLAIN in render(out.publication)
    assert ("mapped-together" in said) != plain and (plain or not few)


def test_noise_that_drowns_all_is_not_said_to_be_mapped() -> None:
    for options in ({}, {"consistent": True}, {"favor": "distribution"}):
        out = dc.release(rows(50), "1e-9", **options)  # type: ignore[arg-type]
        assert "map-plain" in codes(dc.plan(rows(50), "1e-9", **options).done)  # type: ignore[arg-type]
        assert not codes(out.guarantee.remarks) & {"mapped-together", "decided-together"}
        assert PLAIN in render(out.publication)


def test_what_is_signed_and_cut_says_so(tmp_path: Path) -> None:
    for cut in (False, True):
        out = dc.release(rows(40), 1, signed=True, max_count=5, top_code=cut)
        said = out.guarantee.sentence
        assert "Counts may be negative" in said and ("nothing was cut off, so" in said) != cut
        out.save(tmp_path / str(cut))
        found = dc.verify(tmp_path / str(cut))
        assert found.valid and not any("mapped" in reason for reason in found.not_applicable)


def test_an_estimate_without_measurements_says_that_it_is_wide() -> None:
    assert dc.estimate(dc.release(rows(10), 1, measurements=False)).total().conservative


@pytest.mark.parametrize(("by", "step"), [("condition", "condition"), ("project", "project"), (False, None)])
def test_a_plan_says_how_counts_stay_above_zero(by: Any, step: str | None) -> None:
    planned = dc.plan(rows(10), 1, keep="total", nonnegative=by)
    assert codes(planned.done) & {"condition", "project"} == ({step} if step else set())
    assert step != "condition" or "an empty row will be published" in " ".join(planned.steps)


def test_a_release_from_a_seed_is_said_to_protect_nobody_and_to_prove_nothing() -> None:
    seeded, private = (render(dc.release(rows(40), 1, seed=seed).publication) for seed in (1, None))
    for claim in ("nobody who reads them can tell it", promises.GRADES["exact"], "how firm"):
        assert claim in private and claim not in seeded
    assert "Nobody, in this release" in seeded and "Nobody, in this release" not in private


@pytest.mark.parametrize(
    ("options", "each"),
    [({}, False), ({"mechanism": "geometric"}, False), ({"signed": True}, False), ({"keep": "total"}, True),
     ({"measure": "auto"}, True), ({"keep": "total", "nonnegative": True}, True)],
)  # fmt: skip
def test_of_whom_an_interval_is_true_is_said(options: dict[str, Any], each: bool) -> None:
    """A posterior covers on average over the rows; where rows say nothing of each other, every one does."""
    publication = dc.release(rows(140), 1, **options).publication
    page, explore = pages(publication)["report.html"], pages(publication)["explore.html"]
    assert ("The interval of every row covers" in page) == each
    assert all(("one and the same count" in one) != each for one in (page, explore))


@pytest.mark.parametrize(
    "options",
    [{}, {"max_count": 5, "top_code": True}, {"signed": True}, {"signed": True, "max_count": 5, "top_code": True},
     {"max_count": 5, "mechanism": "unfixed"}, {"favor": "distribution"}, {"consistent": True}, {"keep": "total"},
     {"mechanism": "geometric", "max_count": 5}, {"measure": "auto"}],
)  # fmt: skip
def test_a_plan_promises_what_the_release_does(options: dict[str, Any]) -> None:
    """All that is known beforehand; whether rows were mapped depends on what comes out."""
    planned, made = dc.plan(rows(40), 1, **options).promise, dc.release(rows(40), 1, **options).guarantee
    later = {"mapped-together", "decided-together"}
    assert planned.remarks == tuple(one for one in made.remarks if one.code not in later)
