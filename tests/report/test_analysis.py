"""analysis.R in real R: its numbers are those of `estimate`, for every way; and no key breaks it."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from tests.report.questions import by_every_set, by_row, can_be_asked
from tests.report.test_explore import FOLDERS, HOSTILE, two_keys

R = shutil.which("Rscript")
pytestmark = pytest.mark.skipif(
    R is None, reason="there is no R: install it, on Debian with: apt-get install r-base-core"
)
Rows = list[dict[str, str]]


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
    found = as_answers(ran(folder, out)[0], keys)
    expected = {}
    for columns, answers in by_every_set(view, keys).items():
        if len(columns) < 2:
            name = f"by {columns[0]}" if columns else "total"
            where = keys.index(columns[0]) if columns else 0
            expected[name] = {
                tuple(key[0] if columns and k == where else "" for k in range(len(keys))): numbers
                for key, numbers in answers.items()
            }
    if rows := by_row(view, keys):
        expected["rows"] = rows
    assert expected.keys() == found.keys()
    for question, answers in expected.items():
        assert answers.keys() == found[question].keys()
        for name, numbers in answers.items():
            assert np.allclose(numbers[:3], found[question][name][:3], atol=2e-4), (question, name)
            assert numbers[3] == found[question][name][3]


def test_no_key_breaks_it(tmp_path: Path) -> None:
    keys = [key for key in HOSTILE if not key.startswith("=")]
    out = dc.release(two_keys([*keys, "=1+1"], ["x", "é"]), 1, mechanism="geometric", seed=1)
    out.save(tmp_path / "out")
    for locale in ("C.UTF-8", "C"):
        rows, _ = ran(tmp_path / "out", tmp_path / "found.csv", LC_ALL=locale)
        named = {row["one"] for row in rows if row["question"] == "by one"}
        assert named == {*(("'" + key if key[0] in "=+-@" else key) for key in keys), "'=1+1"}


def test_it_writes_nothing_into_the_folder(tmp_path: Path) -> None:
    dc.release(dc.example(), 1, max_count=20).save(tmp_path / "out")
    subprocess.run([str(R), "--vanilla", "analysis.R"], cwd=tmp_path / "out", check=True, capture_output=True)
    assert dc.verify(tmp_path / "out").valid and (tmp_path / "intervals.csv").is_file()
