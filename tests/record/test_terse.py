"""What is printed of a record is short: no array, no long fraction."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.io.folder import read_contents
from discreet.record.release import read_record
from discreet.shown.terse import terse

FOLDERS = sorted((Path(__file__).parents[1] / "golden").glob("*/release.json"))
LONG = re.compile(r"(?<![0-9a-f])\d{10,}(?![0-9a-f])")


@pytest.mark.parametrize("place", FOLDERS, ids=lambda path: path.parent.name)
def test_a_record_is_printed_shortly(place: Path) -> None:
    record = read_record(read_contents(place.parent).document)
    for value in (record, record.facts, record.facts.mechanism, getattr(record.facts, "distribution", None)):
        said = repr(value)
        assert len(said) < 1000 and "array" not in said and not LONG.search(said) and "\n" not in said, said
    assert record.software in repr(record) and record.facts.mechanism.name in repr(record.facts.mechanism)


@pytest.mark.parametrize("options", [{"measure": ["total", "cells"]}, {}])
def test_steps_of_a_plan_have_no_long_fractions(options: dict[str, Any]) -> None:
    frame = pa.table({"k": ["a", "b"], "m": [1, 2], "n": [3, 4]})
    count = "n" if options else {"m": "1/3", "n": "2/3"}
    steps = dc.plan(dc.table(frame, count, keys=["k"]), alpha="1/2", **options).steps
    assert not any(LONG.search(step) for step in steps) and any("Spend epsilon = 0." in step for step in steps)


def test_numbers_are_rounded_only_where_they_are_long() -> None:
    assert terse(Fraction(3, 4)) == "3/4" and terse("3/4") == "'3/4'"
    assert terse(Fraction(10**20 + 1, 3 * 10**20)) == "~0.333333"
    assert terse(np.zeros((3, 1200))) == "<3 x 1,200 numbers>" and terse((1, 2)) == "(1, 2)"
    assert terse(list(range(9))) == "<9 of them>" and terse({"a": 0.1}) == "{'a': 0.1}" and len(terse("x" * 99)) < 45
