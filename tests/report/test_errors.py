"""The expected error of a count: of wide noise, by fewer values than it has; and only of counts that there are."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import discreet as dc
from discreet.laws import Gaussian, Geometric
from discreet.mechanism import Mechanism, NoiseThenMap
from discreet.numbers import Epsilon, few_digits
from discreet.public_map import SeenValues
from discreet.report import render
from discreet.report.errors import Errors, errors_of, noise_size, seen_through, where_rows_are
from discreet.report.prepared import prepared


@pytest.mark.parametrize("scale", [10, 10**4, 10**9, 10**12])
def test_the_error_of_geometric_noise_is_its_mean_distance(scale: int) -> None:
    odds = 1 + Fraction(1, scale)
    found = errors_of(Mechanism("geometric", NoiseThenMap(Geometric(odds)))).typical
    assert found == pytest.approx(float(2 * odds / (odds**2 - 1)), rel=2e-3)


@pytest.mark.parametrize("deviation", [10, 10**4, 10**9])
def test_the_error_of_gaussian_noise_is_its_mean_distance(deviation: int) -> None:
    found = errors_of(Mechanism("discrete-gaussian", NoiseThenMap(Gaussian(Fraction(deviation) ** 2)))).typical
    assert found == pytest.approx(deviation * (2 / 3.141592653589793) ** 0.5, rel=2e-3)


@pytest.mark.parametrize("law", [Geometric(Fraction(3)), Gaussian(Fraction(4))])
@pytest.mark.parametrize("far", [-60, -(10**6)])
def test_noisy_values_that_no_count_explains_are_taken_for_the_nearest(law: Any, far: int) -> None:
    """Nobody draws such noise, but a folder that somebody made can hold it."""
    shares, published = np.array([0.5, 0.3, 0.2]), np.array([0, 1])
    found, near = (seen_through(np.array([one, 1]), published, law, shares) for one in (far, -1))
    assert found is not None and near is not None and 0 < found.typical < near.typical


def test_errors_are_drawn_where_rows_are_and_the_caption_says_what_is_drawn() -> None:
    """Far from all rows the map sends any count to where rows are, which says nothing of this table."""
    counts = [0, 1, 2, 3] * 40 + [1234] * 40
    frame = pa.table({"place": [f"{i:03d}" for i in range(len(counts))], "n": counts})
    out = dc.release(dc.table(frame, count="n", keys=["place"]), epsilon=1, seed=1)
    page = render(out.publication)
    told = re.search(r"Expected error by true count, from 0 to ([\d,]+): between [\d.]+ and ([\d.,]+)", page)
    assert told is not None and 1230 <= float(told[1].replace(",", "")) <= 1240
    assert page.count("How many rows have at most each count") == 1 and "How many rows have each count" not in page
    small = render(dc.release(dc.example(), epsilon=1, max_count=20, seed=1).publication)
    assert small.count("How many rows have each count") == 1 and "at most each count" not in small


def test_of_few_rows_it_is_told_what_a_count_is_off_by_at_most() -> None:
    """Counts that are left as they are err as the noise does, also between those that were there."""
    counts = [0, 1, 5, 9, 14, 20, 33, 47] * 3
    frame = pa.table({"place": [f"{i:03d}" for i in range(len(counts))], "n": counts})
    out = dc.release(dc.table(frame, count="n", keys=["place"]), epsilon="1/2", seed=1)
    noise = 2 * np.exp(0.5) / (np.exp(1.0) - 1)
    page = render(out.publication)
    assert f"off by no more than <strong>{few_digits(noise, 2)}</strong>" in page and "off by about" not in page
    found = prepared(out.publication).errors
    assert found is not None and found.most == pytest.approx(noise, rel=1e-3)
    inside = found.absolute[(found.counts > 12) & (found.counts < 30)]
    assert len(inside) > 3 and inside == pytest.approx(noise, rel=1e-2)
    large = render(dc.release(dc.example(), epsilon=1, max_count=20, seed=1).publication)
    assert "no more than <strong>" not in large and "off by about <strong>" in large


def test_only_counts_near_published_ones_are_told() -> None:
    found = Errors(np.arange(101.0), np.ones(101), 0.86)
    published = SeenValues(np.array([0, 3, 90]), np.array([1, 1, 2]))
    near = where_rows_are(found, published)
    assert near.counts.tolist() == [0, 1, 2, 3, 4, 89, 90, 91] and len(near.absolute) == 8


@pytest.mark.parametrize(
    "options",
    [
        {"keep": "total"},
        {"keep": "margin:g"},
        {"keep": "margin:g", "nonnegative": True},
        {"keep": "margin:g", "nonnegative": True, "measurements": False},
        {"keep": "margin:g", "nonnegative": "condition"},
        {"measure": ["margin:g", "cells"]},
        {"measure": ["total", "margin:g", "cells"], "keep": "total"},
    ],
)
def test_the_error_of_a_count_beside_sums_is_what_it_is(options: dict[str, Any]) -> None:
    truth = np.random.default_rng(3).poisson(1, 120)
    rows = pa.table({"g": [f"g{i // 20}" for i in range(120)], "p": [f"p{i:03d}" for i in range(120)], "n": truth})
    table = dc.table(rows, "n", ["g", "p"])
    off, said = [], []
    for seed in range(8 if "measure" in options else 30):
        out = dc.release(table, 1, seed=seed, **options)
        off.append(np.abs(out.publication.counts - table.counts).mean())
        found = prepared(out.publication).errors
        assert found is not None and found.typical is not None
        said.append(found.typical)
        if seed == 0:
            assert f"off by about <strong>{few_digits(found.typical, 2)}</strong>" in render(out.publication)
    assert np.mean(said) == pytest.approx(np.mean(off), rel=0.12)


def test_without_measured_cells_no_error_of_a_count_is_told() -> None:
    rows = pa.table({"g": [f"g{i // 20}" for i in range(120)], "p": [f"p{i:03d}" for i in range(120)], "n": [1] * 120})
    for options in ({"measure": "margin:g"}, {"measure": ["margin:g", "cells"], "measurements": False}):
        out = dc.release(dc.table(rows, "n", ["g", "p"]), 1, seed=1, **options)  # type: ignore[arg-type]
        assert prepared(out.publication).errors is None and "off by about" not in render(out.publication)
    wide = dc.release(dc.table(rows, "n", ["g", "p"]), "1e-5", measure=["margin:g", "cells"], seed=1)
    assert prepared(wide.publication).errors is None


@pytest.mark.parametrize("options", [{}, {"nonnegative": True}])
def test_noise_beside_kept_sums_is_drawn_again_once(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """For intervals; the error of a count is taken from the same draws."""
    from discreet.lattice import simulated as module

    drawn: list[int] = []
    simulated = module.simulated
    monkeypatch.setattr(module, "simulated", lambda *given: drawn.append(given[1]) or simulated(*given))
    rows = pa.table({"p": [f"p{i:03d}" for i in range(120)], "n": np.arange(120) % 7})
    out = dc.release(dc.table(rows, "n", ["p"]), 1, keep="total", seed=1, **options)
    found = prepared(out.publication)
    assert found.errors is not None and len(drawn) == 1


def test_beside_sums_of_few_rows_it_is_told_what_a_count_is_off_by_at_most(tmp_path: Path) -> None:
    """In blocks that do not meet, where rows err by less than their own noise; and in parts."""
    frame = pa.table({"g": [f"g{i % 3}" for i in range(24)], "h": [f"h{i // 3}" for i in range(24)], "n": [2] * 24})
    table, noise = dc.table(frame, "n", ["g", "h"]), noise_size(Geometric(Epsilon(Fraction(1, 2)).odds()))
    said = f"off by no more than <strong>{few_digits(noise, 2)}</strong>"
    off = [np.abs(dc.release(table, 1, keep="margin:g", seed=seed).publication.counts - 2).mean() for seed in range(40)]
    assert 0.8 * noise < np.mean(off) < noise
    for keep, told in (("total", True), ("margin:g", True), (["margin:g", "margin:h"], False)):
        assert (said in render(dc.release(table, 1, keep=keep, seed=1).publication)) == told
    assert "no more than <strong>" not in render(dc.release(table, 1, keep="total", nonnegative=True).publication)
    frame = frame.sort_by([("g", "ascending"), ("h", "ascending")])
    parquet.write_table(frame, tmp_path / "part.parquet")
    dc.release_parts([tmp_path / "part.parquet"], "n", ["g", "h"], epsilon=1, keep="total", out=tmp_path / "out")
    assert said in (tmp_path / "out" / "report.html").read_text()
