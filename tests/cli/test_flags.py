"""A flag that takes one value stands once; lists may be added to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from tests.cli.test_commands import run  # noqa: F401

RELEASE = ("release", "table.csv", "--count", "n", "--max-count", "6", "--out", "out")


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        ((*RELEASE, "--epsilon", "1", "--epsilon", "2"), "--epsilon"),
        ((*RELEASE, "--epsilon", "1", "--epsilon", "1"), "--epsilon"),
        ((*RELEASE, "--epsilon=1", "--epsilon", "2"), "--epsilon"),
        ((*RELEASE, "--epsilon", "1", "--max-count", "9"), "--max-count"),
        (("design", "--max-count", "3", "--epsilon", "1", "-o", "a.json", "-o", "b.json"), "-o"),
        (("ledger", "create", "l.db", "--dataset", "a", "--epsilon", "1", "--dataset", "b"), "--dataset"),
        (("verify", "out", "--digest", "a", "--digest", "b"), "--digest"),
    ],
)
def test_given_twice_is_refused(run: Any, words: tuple[str, ...], flag: str, tmp_path: Path) -> None:  # noqa: F811
    before = sorted(tmp_path.iterdir())
    done = run(*words)
    assert done.status == 2 and "more than once" in done.err and flag in done.err and done.out == ""
    assert sorted(tmp_path.iterdir()) == before


def test_lists_may_be_added_to_and_a_value_may_look_like_a_flag(run: Any) -> None:  # noqa: F811
    done = run("release", "table.csv", "--count", "n", "--epsilon", "1", "--keep", "total", "--keep", "sum:place=p000",
               "--out", "--epsilon")  # fmt: skip
    assert done.status == 0, done.err
    assert run("verify", "--", "--epsilon").status == 0


def test_the_published_columns_are_said_on_stderr(run: Any, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "t.csv").write_text("place,secret,n\nTotal,1,3\na,2,1\nb,3,2\n")
    done = run("release", "t.csv", "--count", "n", "--keys", "place", "--drop-totals", "--epsilon", "1", "--out", "out",
               "--json")  # fmt: skip
    assert done.status == 0
    assert done.err == (
        "Columns that will be published: 'place' as they are, and 'n' with noise.\n"
        "Rows left out because their keys mean a total: 1.\n"
    )
    assert "Published columns: place," in (tmp_path / "out" / "report.html").read_text()


def test_who_publishes_can_be_said_on_the_command_line(run: Any, tmp_path: Path) -> None:  # noqa: F811
    words = (
        "--title",
        "Cases",
        "--source",
        "registry",
        "--contact",
        "a@b.c",
        "--licence",
        "CC0",
        "--report-note",
        "odd",
    )
    done = run(*RELEASE, "--epsilon", "1", *words, "--write-spec", "again.toml")
    assert done.status == 0, done.err
    about = json.loads((tmp_path / "out" / "release.json").read_text())["about"]
    assert about == {"title": "Cases", "source": "registry", "contact": "a@b.c", "licence": "CC0", "note": "odd"}
    assert dc.read_spec(tmp_path / "again.toml").about == dc.About(**about)
    assert run(*RELEASE[:-1], "silent", "--epsilon", "1").status == 0
    assert set(json.loads((tmp_path / "silent" / "release.json").read_text())["about"].values()) == {None}
