"""How many rows one person may have, once it is known, is never forgotten: every command counts with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.io.counted import write_counted
from discreet.io.folder import read_folder
from discreet.io.tables import read_schema
from tests.cli.test_commands import run  # noqa: F401

PEOPLE = {"id": [i // 3 for i in range(90)], "place": [f"p{i % 10}" for i in range(90)]}


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    """A file of counts in which one person may have three."""
    import pyarrow as pa

    table = dc.count(pa.table(PEOPLE), "place", {"place": [f"p{i}" for i in range(10)]}, "id", 3)
    write_counted(table, tmp_path / "counted.csv")
    return tmp_path / "counted.csv"


ASKED = ("--count", "count", "--epsilon", "6", "--max-count", "20", "--json")


@pytest.mark.parametrize(("given", "bound"), [((), 3), (("--contributions", "3"), 3), (("--contributions", "5"), 5)])
def test_the_distribution_counts_with_it(run: Any, counted: Path, given: tuple[str, ...], bound: int) -> None:  # noqa: F811
    assert run("distribution", str(counted), *ASKED, *given).json["contributions"] == bound


def test_the_plan_counts_with_it(run: Any, counted: Path) -> None:  # noqa: F811
    steps = " ".join(run("plan", str(counted), *ASKED).json["steps"])
    assert "counted up to 3 times" in steps
    assert read_schema(counted, "count")[0].contributions == 3


def test_the_release_counts_with_it(run: Any, counted: Path, tmp_path: Path) -> None:  # noqa: F811
    run("release", str(counted), *ASKED, "--out", "out")
    document = json.loads((tmp_path / "out" / "release.json").read_text())
    assert document["schema"]["contributions"] == document["guarantee"]["unit"]["contributions"] == 3
    assert "up to 3 times" in str(read_folder(tmp_path / "out").record.guarantee.unit)


def test_what_a_table_says_cannot_be_lowered(counted: Path) -> None:
    table = dc.read_table(counted, "count")
    assert dc.private_distribution(table, 6, max_count=20, contributions=1).contributions == 3
    assert dc.private_distribution(table, 6, max_count=20, contributions=4).contributions == 4
    assert "up to 3 times" in dc.plan(table.schema, 6, max_count=20, contributions=1).guarantee
