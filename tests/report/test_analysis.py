"""analysis.R in real R: from table, measurements and record it works out what `estimate` does, for every way; and no
key breaks it."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from tests.report.questions import by_every_set, by_row, can_be_asked
from tests.report.test_explore import FOLDERS, HOSTILE, two_keys

R = shutil.which("Rscript")
pytestmark = pytest.mark.skipif(
    R is None, reason="there is no R: install it, on Debian with: apt-get install r-base-core"
)
Rows = list[dict[str, str]]
PREPARED = {  # what the script does not work out: noise in sums that overlap, and noise that was conditioned
    ("keep-sums-gaussian", "rows"), ("keep-sums-projected", "rows"), ("keep-sums-nonnegative", "rows"),
    ("keep-sums-nonnegative", "by county"), ("keep-sums-nonnegative", "by sex"),
}  # fmt: skip
SIMULATED = 0.08  # of a width: noise in kept sums is drawn again by `estimate`, and R has its law


def ran(folder: Path, out: Path, **environment: str) -> tuple[Rows, str]:
    command = [str(R), "--vanilla", str(folder / "analysis.R"), str(folder), str(out)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C.UTF-8", **environment}
    )
    with out.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)) if out.exists() else [], done.stdout


def as_answers(rows: Rows, keys: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in rows:
        named = tuple(row[name] for name in keys)
        numbers = (float(row["estimate"]), float(row["low"]), float(row["high"]), row["exact"] == "true")
        found.setdefault(row["question"], {})[named] = numbers
    return found


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_r_repeats_what_is_estimated(folder: Path, tmp_path: Path) -> None:
    out, view = tmp_path / "out.csv", can_be_asked(folder)
    if view is None:
        done = subprocess.run([str(R), "--vanilla", str(folder / "analysis.R"), str(folder), str(out)],
                              capture_output=True, text=True, check=True)  # fmt: skip
        assert "There are no intervals to repeat" in done.stdout and not out.exists()
        return
    keys = ["county", "sex", "size"][: 3 if folder.name.startswith("by-size") else 2]
    keys = ["county", "counted"] if folder.name.startswith("by-share") else keys
    rows = ran(folder, out)[0]
    sources = {(row["question"], row["source"]) for row in rows}
    assert {row["about"] for row in rows} == {str(view.cut)}
    prepared = {question for name, question in PREPARED if name == folder.name}
    assert {question for question, source in sources if source != "computed"} == prepared
    same_answers(as_answers(rows, keys), expected_of(view, keys), simulated=folder.name.startswith("keep-sums"))


def expected_of(view: Any, keys: list[str]) -> dict[str, Any]:
    """The total, the totals by each key column, and the rows."""
    expected = {}
    for columns, answers in by_every_set(view, keys).items():
        if len(columns) < 2:
            name = f"by {columns[0]}" if columns else "total"
            where = keys.index(columns[0]) if columns else 0
            expected[name] = {
                tuple(key[0] if columns and k == where else "" for k in range(len(keys))): numbers
                for key, numbers in answers.items()
            }
    return expected | ({"rows": rows} if (rows := by_row(view, keys)) else {})


def same_answers(found: dict[str, Any], expected: dict[str, Any], *, simulated: bool) -> None:
    assert expected.keys() == found.keys()
    for question, answers in expected.items():
        assert answers.keys() == found[question].keys()
        names = list(answers)
        ours, theirs = (np.array([of[name] for name in names], dtype=float) for of in (answers, found[question]))
        assert np.allclose(ours[:, 0], theirs[:, 0], atol=2e-4) and np.array_equal(ours[:, 3], theirs[:, 3]), question
        room = 1 + SIMULATED * (ours[:, 2] - ours[:, 1]) if simulated else np.full(len(ours), 2e-4)
        assert (np.abs(ours[:, 1:3] - theirs[:, 1:3]) <= room[:, None] + 1e-9).all(), question


LARGER: dict[str, dict[str, Any]] = {
    "distribution measured too": {"epsilon": 1, "max_count": 12, "split": "1/3", "privatizer": "cumulative"},
    "cut, and measured too": {
        "epsilon": 1, "max_count": 9, "top_code": True, "split": "1/3", "privatizer": "cumulative",
    },
    "a margin by two columns kept": {"epsilon": 1, "keep": "margin:a,b"},
    "a total kept, projected": {"epsilon": "1/2", "keep": "total", "nonnegative": True},
    "levels": {"epsilon": 1, "measure": ["total", "margin:a", "margin:a,b", "cells"]},
}  # fmt: skip


@pytest.mark.parametrize("options", LARGER.values(), ids=LARGER)
def test_r_repeats_more_rows_and_reads_no_prepared_answers(options: dict[str, Any], tmp_path: Path) -> None:
    """The prepared answers are emptied: all numbers come from table, measurements and record. Drawn from a seed: where
    an end is within rounding of a whole number, the two may choose different ones."""
    places = np.indices((20, 3, 4)).reshape(3, -1)
    frame = pa.table({name: [f"{name}{k}" for k in of] for name, of in zip("abc", places)})
    counts = np.random.default_rng(4).negative_binomial(1, 0.2, 240)
    table = dc.table(frame.append_column("n", [counts]), "n", keys=list("abc"))
    dc.release(table, seed=1, **options).save(tmp_path / "out")
    expected = expected_of(dc.estimate(tmp_path / "out"), list("abc"))
    page = tmp_path / "out" / "explore.html"
    text = page.read_text()
    page.write_text(re.sub(r'"asked":.*?,"prior"', '"asked":[],"rows":null,"prior"', text))
    assert page.read_text() != text
    rows, said = ran(tmp_path / "out", tmp_path / "found.csv")
    assert {row["source"] for row in rows} == {"computed"} and "Some numbers" not in said
    same_answers(as_answers(rows, list("abc")), expected, simulated="keep" in options)


def test_other_formats_have_the_prepared_numbers(tmp_path: Path) -> None:
    out = dc.release(two_keys(["a", "b"], ["x", "y"]), 1, mechanism="geometric", seed=1)
    out.save(tmp_path / "out", format="parquet")
    rows, said = ran(tmp_path / "out", tmp_path / "found.csv")
    assert {row["source"] for row in rows} == {"prepared"} and "base R reads no other" in said
    assert as_answers(rows, list(rows[0])[1:3])["total"][("", "")][0] == pytest.approx(
        dc.estimate(out).total().estimate, abs=1e-4
    )


def test_no_key_breaks_it(tmp_path: Path) -> None:
    ends = ["a\rb", "a\nb", "a\r\nb", "a~rb", "~", "~t"]  # R takes the first three for one
    keys = [*(key for key in HOSTILE if not key.startswith("=")), *ends]
    out = dc.release(two_keys([*keys, "=1+1"], ["x", "é"]), 1, mechanism="geometric", seed=1)
    out.save(tmp_path / "out")
    for locale in ("C.UTF-8", "C"):
        rows, _ = ran(tmp_path / "out", tmp_path / "found.csv", LC_ALL=locale)
        named = {row["one"] for row in rows if row["question"] == "by one"}
        assert named == {*(("'" + key if key[0] in "=+-@" else key) for key in keys), "'=1+1"}


def test_columns_of_its_own_are_beside_keys_of_the_same_names(tmp_path: Path) -> None:
    frame = pa.table({"question": ["a", "b"], "low": ["x", "y"], "low_": ["u", "u"], "n": [3, 4]})
    dc.release(dc.table(frame, "n", keys=["question", "low", "low_"]), 1, seed=1).save(tmp_path / "out")
    rows, _ = ran(tmp_path / "out", tmp_path / "found.csv")
    own = ["question_", "question", "low", "low_", "estimate", "low__", "high", "exact", "source", "about"]
    assert list(rows[0]) == own
    assert [row["low"] for row in rows if row["question_"] == "by low"] == ["x", "y"]


def test_it_writes_nothing_into_the_folder(tmp_path: Path) -> None:
    dc.release(dc.example(), 1, max_count=20).save(tmp_path / "out")
    subprocess.run([str(R), "--vanilla", "analysis.R"], cwd=tmp_path / "out", check=True, capture_output=True)
    assert dc.verify(tmp_path / "out").valid and (tmp_path / "intervals.csv").is_file()
