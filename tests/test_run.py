"""A release as a file: read, written, run; all problems at once, and nothing behind."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.cli import main

TABLE = "county,sex,n\n" + "".join(f"c{i:02d},{sex},{(i * 7) % 5}\n" for i in range(20) for sex in "fm")
WAY = """[keep-sums]
keep = ["margin:county", "total"]
nonnegative = true
"""
SPEC = f"""
[table]
file = "t.csv"
count = "n"
keys = ["county", "sex"]

[privacy]
epsilon = 0.5

{WAY}
[output]
folder = "out"

[about]
title = "Cases <b>by</b> county"
contact = "me"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "t.csv").write_text(TABLE)
    (tmp_path / "place" / "s.toml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "place"


def run(*words: str) -> int:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as leave:
        patch.setattr(sys, "argv", ["discreet", *words])
        main()
    return int(leave.value.code or 0)


def test_a_file_is_a_release(folder: Path) -> None:
    spec = dc.read_spec(folder / "s.toml")
    assert spec.privacy == dc.Pure("1/2") and spec.way == dc.KeepSums(keep=["margin:county", "total"], nonnegative=True)
    made, digest = dc.run(folder / "s.toml")
    assert dc.verify(folder / "out", digest).valid, "paths are relative to the file, not to where one stands"
    assert made.record.about.title == "Cases <b>by</b> county"
    page = (folder / "out" / "report.html").read_text()
    assert "Cases &lt;b&gt;by&lt;/b&gt; county" in page and "<b>by" not in page and "<dd>me</dd>" in page
    assert json.loads((folder / "out" / "release.json").read_text())["about"]["contact"] == "me"


def test_twice_is_two_releases(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dc.ledger(folder / "l.db").create("d", epsilon=1, relation="moved")
    (folder / "s.toml").write_text(SPEC + '\n[ledger]\nurl = "l.db"\ndataset = "d"\naccept_disclosure = true\n')
    assert run("run", str(folder / "s.toml")) == 0
    assert run("run", str(folder / "s.toml")) == 2, "the folder is there already"
    assert dc.ledger(folder / "l.db").status("d").spent.epsilon == Fraction(1, 2), "and nothing was charged for it"
    assert run("run", str(folder / "s.toml"), "--out", "other") == 0
    assert "charged again" in capsys.readouterr().err
    assert dc.ledger(folder / "l.db").status("d").spent.epsilon == 1
    first, second = (json.loads((path / "release.json").read_text()) for path in (folder / "out", Path("other")))
    entries = [("d", entry.number, entry.hash) for entry in dc.ledger(folder / "l.db").history("d")]
    assert [tuple(place["ledger"].values())[:3] for place in (first, second)] == entries and len(entries) == 2
    assert first["ledger"]["token"] != second["ledger"]["token"]
    assert run("run", str(folder / "s.toml"), "--out", "third") == 1 and not Path("third").exists()


SPECS: list[Any] = [
    dc.KeepDistribution(max_count=20, split="1/4"), dc.KeepDistribution(max_count="auto", refine=False),
    dc.KeepDistribution(max_count=9, consistent=True, privatizer="sorted"), dc.KeepDistribution(base="staircase"),
    dc.RowByRow(mechanism="geometric", max_count=9), dc.KeepSums(keep="total", per_unit=True, law="l2"),
    dc.KeepSums(keep=[dc.margin("county"), dc.sum_where(sex="f"), dc.sums([[1] * 40], "all of it")]),
    dc.KeepSums(keep="total", inequalities=([[1] + [0] * 39], [0])), dc.BySize(max_count="size"),
    dc.Measure(measure=["margin:county@1/3", "cells"]),
    dc.Measure(measure=[dc.margin("a@b"), dc.margin("a,b", " c"), dc.cells()], keep=dc.margin("d@e")),
    dc.Measure(measure=[dc.margin("a@b"), dc.total()], shares={"total": "1/7"}),
]  # fmt: skip
LOSSES = [dc.Pure("1/3"), dc.Pure.of_alpha("1/3"), dc.Approximate(1, "1e-6"), dc.Concentrated("0.1")]


@pytest.mark.parametrize("way", SPECS, ids=range(len(SPECS)))
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_what_is_written_is_read_again(folder: Path, way: Any, loss: Any) -> None:
    spec = dc.ReleaseSpec(
        dc.TableSpec(str(folder / "t.csv"), count="n", keys="all", contributions=2, keep_order=True),
        loss,
        way,
        dc.LedgerSpec(dataset="d", variable="LEDGER"),
        dc.Output(str(folder / "made"), format="parquet", measurements=False),
        dc.About(title="T", note='with "marks" and \\ and ü'),
    )
    spec.write(folder / "w.toml")
    again = dc.read_spec(folder / "w.toml")
    assert again.privacy == loss and again.table == spec.table and again.output == spec.output
    assert again.ledger == spec.ledger and again.about == spec.about
    assert repr(again.way) == repr(way)
    assert str(folder) not in (folder / "w.toml").read_text(), "paths in it are relative"


def test_a_mechanism_in_a_file(folder: Path) -> None:
    (folder / "m.json").write_text(json.dumps([[0.6, 0.4], [0.4, 0.6]]))
    text = SPEC[: SPEC.index("[keep-sums]")] + '[row-by-row]\nmechanism = "m.json"\n'
    (folder / "s.toml").write_text(text)
    made, _ = dc.run(folder / "s.toml", "mine")
    assert made.mechanism.name == "own" and dc.verify("mine").valid
    dc.read_spec(folder / "s.toml").write(folder / "again.toml")
    assert 'mechanism = "m.json"' in (folder / "again.toml").read_text()


def test_sums_in_a_file(folder: Path) -> None:
    rows = ["1," * 39 + "1", "1," * 20 + "0," * 19 + "0"]
    (folder / "sums.csv").write_text("\n".join(rows) + "\n")
    (folder / "s.toml").write_text(SPEC.replace('keep = ["margin:county", "total"]', 'keep = "sums.csv"'))
    made, _ = dc.run(folder / "s.toml")
    assert made.record.facts.invariants.labels == ("sums.csv row 1", "sums.csv row 2")


def test_how_negative_counts_are_avoided_is_written_and_read_back(folder: Path) -> None:
    for by in ("project", "condition"):
        (folder / "s.toml").write_text(
            SPEC.replace("nonnegative = true", f'nonnegative = true\nnonnegative_by = "{by}"')
        )
        spec = dc.read_spec(folder / "s.toml")
        spec.write(folder / "w.toml")
        assert dc.read_spec(folder / "w.toml").way == spec.way == dc.KeepSums(spec.way.keep, nonnegative=by)  # type: ignore
    assert dc.run(folder / "w.toml")[0].mechanism.bound == "stepwise"


def test_a_mechanism_of_ones_own_cannot_be_written(folder: Path) -> None:
    spec = dc.ReleaseSpec(dc.TableSpec("t.csv", count="n"), dc.Pure(1), dc.RowByRow(mechanism=[[1, 0], [0, 1]]))
    with pytest.raises(dc.BadInput, match="Save it to a file, and name that file"):
        spec.write(folder / "w.toml")
    assert not (folder / "w.toml").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("[table]", "[tabel]"), ["there is no section [tabel]. Did you mean 'table'?", "[table] lacks 'file'"]),
        (("count =", "cuont ="), ["[table] has no key 'cuont'. Did you mean 'count'?", "[table] lacks 'count'"]),
        (("epsilon =", "epsilom ="), ["[privacy] has no key 'epsilom'. Did you mean 'epsilon'?", "none was given"]),
        (("epsilon = 0.5", "epsilon = 0.5\nrho = 1"), ["epsilon and rho were given together"]),
        (("epsilon = 0.5", "epsilon = true"), ["a bool is not a number"]),
        (("epsilon = 0.5", 'epsilon = "1e-99999999"'), ["its exponent is beyond"]),
        (("nonnegative = true", "nonnegative = 1"), ["nonnegative: 1 is not true or false"]),
        (("nonnegative = true", "nonegative = true"), ["has no key 'nonegative'. Did you mean 'nonnegative'?"]),
        (("nonnegative = true", 'nonnegative = true\nnonnegative_by = "projekt"'), ["nonnegative_by"]),
        (("nonnegative = true", 'nonnegative_by = "condition"'), ["negative counts are allowed. Add nonnegative"]),
        (("nonnegative = true", 'law = "l3"'), ["there is no law of that name. Did you mean"]),
        (("[output]", "[row-by-row]\n[output]"), ["only one way can be gone"]),
        (("folder =", "seed = 1\nfolder ="), ["[output] has no key 'seed'"]),
        (("[about]", '[ledger]\ndataset = "d"\nurl = "postgresql://me:hush@host/db"\n[about]'), ["holds a password"]),
        (("[about]", '[ledger]\ndataset = "d"\nurl = "postgresql://h/d?password=hush"\n[about]'), ["holds a password"]),
        (("[about]", '[ledger]\ndataset = "d"\n[about]'), ["[ledger] needs 'url', or 'variable'"]),
        (("[about]", '[ledger]\nurl = "l.db"\n[about]'), ["[ledger] lacks 'dataset'"]),
        (("title =", "titel ="), ["[about] has no key 'titel'. Did you mean 'title'?"]),
        (('title = "Cases <b>by</b> county"', "title = 3"), ["title: 3 is not text"]),
        (('keep = ["margin:county", "total"]', "keep = []"), ["none is named"]),
        (('keep = ["margin:county", "total"]', "keep = 3"), ["keep was given as 3: it is neither a word"]),
        (("[about]", '[ledger]\ndataset = "d"\nurl = "l.db"\nvariable = "V"\n[about]'), ["both 'url' and 'variable'"]),
        (("[table]", 'table = 3\n[more]'), ["'table' is not a section"]),
        (("[table]", "rho = 3\n[table]"), ["'rho' stands in no section. It belongs into [privacy]"]),
        (("epsilon = 0.5", f"epsilon = 1{'0' * 5000}"), ["was to be read as TOML"]),
        ((WAY, "[measure]\nmeasure = [{what = 'total', sahre = '1/4'}]\n"), ["it is no question"]),
        *(
            (('keep = ["margin:county", "total"]', f"keep = [{{{one}}}]"), ["it names no sum"])
            for one in (
                "summ = {sex = 'f'}", "sum = {}", "sum = {sex = 1}", "sum = 3", "margin = 'county'", "margin = [1]",
                "margin = ['county'], more = 1", "matrix = [[1, 0]]",
            )
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(folder: Path, change: tuple[str, str], said: list[str]) -> None:
    assert change[0] in SPEC
    (folder / "s.toml").write_text(SPEC.replace(*change))
    with pytest.raises(dc.BadInput) as error:
        dc.run(folder / "s.toml")
    for words in said:
        assert words in str(error.value)
    assert "hush" not in str(error.value)
    assert sorted(path.name for path in folder.iterdir()) == ["s.toml", "t.csv"]


def test_all_problems_at_once(folder: Path) -> None:
    wrong = SPEC.replace("count =", "cuont =").replace("epsilon = 0.5", "").replace("nonnegative", "negative")
    (folder / "s.toml").write_text(wrong)
    with pytest.raises(dc.BadInput) as error:
        dc.read_spec(folder / "s.toml")
    assert len(error.value.values["problems"]) == 4  # type: ignore[arg-type]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_file_of_another_editor(folder: Path, mark: str) -> None:
    (folder / "s.toml").write_bytes((mark + SPEC).replace("\n", "\r\n").encode())
    assert dc.read_spec(folder / "s.toml").privacy == dc.Pure("1/2")


@pytest.mark.parametrize("content", [b"", b"[table", b"\xff\xfe", b"a = " + b"[" * 5000])
def test_what_is_no_file_of_ours(folder: Path, content: bytes) -> None:
    (folder / "s.toml").write_bytes(content)
    with pytest.raises(dc.BadInput):
        dc.read_spec(folder / "s.toml")
    with pytest.raises(dc.BadInput):
        dc.read_spec(folder / "nothing.toml")


def test_the_url_of_a_ledger_from_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "s.toml").write_text(SPEC + '\n[ledger]\nvariable = "WHERE"\ndataset = "d"\naccept_disclosure = true\n')
    with pytest.raises(dc.BadInput, match="WHERE is not set"):
        dc.run(folder / "s.toml")
    dc.ledger(folder / "l.db").create("d", epsilon=1)
    monkeypatch.setenv("WHERE", str(folder / "l.db"))
    dc.run(folder / "s.toml")
    assert dc.ledger(folder / "l.db").status("d").releases == 1


def test_the_command_line_writes_what_it_was_asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = str(folder / "t.csv")
    words = ["release", table, "--count", "n", "--keys", "county,sex", "--alpha", "1/2", "--keep", "total"]
    assert run(*words, "--per-unit", "--write-spec", str(folder / "w.toml")) == 0
    spec = dc.read_spec(folder / "w.toml")
    assert spec.way == dc.KeepSums(keep="total", per_unit=True) and spec.privacy == dc.Pure.of_alpha("1/2")
    assert not (folder / "out").exists(), "without --out it only writes"
    assert run(*words, "--out", str(folder / "o"), "--write-spec", str(folder / "x.toml"), "--json") == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["out"] == str(folder / "o")
    assert dc.read_spec(folder / "x.toml").output.folder == str(folder / "o") and dc.verify(folder / "o").valid
    assert run(*words) == 2, "neither --out nor --write-spec"


def test_a_seed_is_for_tests_only(folder: Path) -> None:
    first, _ = dc.run(folder / "s.toml", "one", seed=3)
    second, _ = dc.run(folder / "s.toml", "two", seed=3)
    assert np.array_equal(first.counts, second.counts) and not first.private


@pytest.mark.parametrize("prefix", ["", "sqlite:///"])
def test_a_file_that_is_written_charges_the_same_ledger(folder: Path, prefix: str) -> None:
    """However it was named, and wherever the file is put."""
    dc.ledger("here.db").create("d", epsilon=2)
    dc.ledger(folder / "here.db").create("d", epsilon=2)  # another one, of the same name, beside the file
    words = ["release", str(folder / "t.csv"), "--count", "n", "--keys", "county,sex", "--epsilon", "1"]
    ledger = ["--ledger", f"{prefix}here.db", "--dataset", "d"]
    assert run(*words, *ledger, "--out", str(folder / "o"), "--write-spec", str(folder / "w.toml")) == 0
    dc.run(folder / "w.toml", folder / "again")
    assert dc.ledger("here.db").status("d").releases == 2
    assert dc.ledger(folder / "here.db").status("d").releases == 0


def test_one_word_will_do_for_what_is_measured(folder: Path) -> None:
    measured = SPEC.replace("[keep-sums]", "[measure]").replace(
        "nonnegative = true", 'levels = "county"\nmeasure = "cells"'
    )
    (folder / "s.toml").write_text(measured.replace('keep = ["margin:county", "total"]', ""))
    assert dc.read_spec(folder / "s.toml").way == dc.Measure(measure=["cells"], levels=["county"])


def test_privacy_is_a_value_however_it_is_given() -> None:
    spec = dc.ReleaseSpec(dc.TableSpec("t.csv", count="n"), 1, dc.KeepDistribution())  # type: ignore[arg-type]
    assert spec.privacy == dc.Pure(1)
