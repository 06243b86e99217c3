"""Releases in parts, verified: whole, part by part, tampered with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import discreet as dc
from tests.parts.tables import (
    changed,
    release,
    usual,
    with_column,
)


def test_a_tampered_part_is_found_and_the_others_still_verify(tmp_path: Path) -> None:
    made = release(usual(tmp_path / "in"), tmp_path / "out")
    part = pq.read_table(made.parts[1])
    changed(made.parts[1].parent, made.parts[1].name, with_column(part, "n", part["n"].to_numpy() + 1))
    whole = dc.verify(tmp_path / "out")
    assert not whole.valid and "part-00001.parquet: it was changed" in whole.problems[0]
    assert not dc.verify(made.parts[1]).valid and dc.verify(made.parts[0]).valid and dc.verify(made.parts[2]).valid


@pytest.mark.parametrize("name", ["default", "margin"])
def test_parts_verified_several_at_a_time_are_found_the_same(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    golden = Path(__file__).parents[1] / "golden" / "in-parts" / name
    shutil.copytree(golden, tmp_path / "out")
    before = dc.verify(tmp_path / "out")
    monkeypatch.setattr("discreet.parts.verify._workers", lambda rows: 2)
    assert dc.verify(tmp_path / "out") == before and before.valid
    for number in (1, 2):
        (tmp_path / "out" / "table" / f"part-0000{number}.parquet").write_bytes(b"PAR1")
    problems = dc.verify(tmp_path / "out").problems
    assert ["part-00001" in problems[0], "part-00002" in problems[1]] == [True, True]


def test_a_stray_or_missing_file_is_found(tmp_path: Path) -> None:
    made = release(usual(tmp_path / "in"), tmp_path / "out")
    (tmp_path / "out" / "table" / "part-00003.parquet").write_bytes(b"")
    assert dc.verify(tmp_path / "out").problems == ("The file table/part-00003.parquet is not part of the release.",)
    (tmp_path / "out" / "table" / "part-00003.parquet").unlink()
    made.parts[2].unlink()
    assert "The file table/part-00002.parquet is missing." in dc.verify(tmp_path / "out").problems


@pytest.mark.parametrize("what", ["swapped", "histogram", "grade", "randomness"])
def test_edits_of_the_head_are_found(what: str, tmp_path: Path) -> None:
    """Also where every digest and the seal are made anew."""
    import hashlib

    from discreet.record.release import indented, mark_of, seal_of

    release(usual(tmp_path / "in"), tmp_path / "out")
    out = tmp_path / "out"
    manifest, record = (json.loads((out / name).read_text()) for name in ("manifest.json", "release.json"))
    if what == "swapped":
        manifest["parts"][0], manifest["parts"][1] = manifest["parts"][1], manifest["parts"][0]
    elif what == "histogram":
        numbers = manifest["parts"][0]["measured"]["numbers"]
        most = int(np.argmax(numbers))
        numbers[0], numbers[most] = numbers[most], numbers[0]
        assert most
    elif what == "grade":
        record["guarantee"]["grade"] = "exact"
    else:
        record["parts"]["randomness"] = "os"
    lines = ",\n".join("  " + json.dumps(part) for part in manifest["parts"])
    written = f'{{\n "parts": [\n{lines}\n ]\n}}\n'.encode()
    (out / "manifest.json").write_bytes(written)
    record["digests"]["manifest.json"] = hashlib.sha256(written).hexdigest()
    record["mark"] = mark_of(True, record["digests"]["manifest.json"])
    record["seal"] = seal_of(record)
    (out / "release.json").write_text(indented(record) + "\n")
    assert not dc.verify(out).valid
