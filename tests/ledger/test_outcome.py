"""Nothing is charged for nothing; what became of a charge is recorded; an entry can be found again."""

from __future__ import annotations

import csv
import errno
import hashlib
import json
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import LedgerWarning
from discreet.io import folder as folders
from discreet.ledger import ledger
from discreet.run import run
from discreet.spec.values import LedgerSpec, Output, ReleaseSpec, TableSpec
from discreet.ways.row_by_row.spec import RowByRow
from tests.shell import Done, shell

TABLE = dc.table(pa.table({"town": list("abc"), "n": [3, 1, 4]}), "n", ["town"])


@pytest.fixture
def book(sqlite_url: str) -> dc.Ledger:
    made = ledger(sqlite_url)
    made.create("d", epsilon=9)
    return made


@pytest.fixture
def csv_file(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("town,n\na,3\nb,1\nc,4\n")
    return tmp_path / "t.csv"


def paid(book: dc.Ledger, **options: Any) -> dc.Release:
    return dc.release(TABLE, epsilon=1, max_count=9, ledger=book, dataset="d", **options)


def test_an_entry_says_who_what_for_and_what_it_paid_for(book: dc.Ledger, tmp_path: Path) -> None:
    made = paid(book, note="the yearly report", who="statistics office")
    assert book.history("d")[0].state == "charged, not released"
    assert "charged, not released" in book.statement("d")
    assert book.status("d").unreleased == 1
    digest = made.save(tmp_path / "out")
    (entry,) = book.history("d")
    assert (entry.state, entry.digests) == ("released", (digest,))
    assert digest == hashlib.sha256((tmp_path / "out" / "release.json").read_bytes()).hexdigest()
    assert (entry.spending.note, entry.spending.who) == ("the yearly report", "statistics office")
    assert entry.spending.spec["table"] == {"keys": ["town"], "count": "n", "contributions": 1}
    assert entry.spending.spec["privacy"] == {"epsilon": "1"}
    assert entry.spending.spec["keep-distribution"] == {"max_count": 9}
    assert entry.spending.table is not None and entry.spending.table.rows == 3
    assert entry.spending.neighbours == made.guarantee.unit
    record = json.loads((tmp_path / "out" / "release.json").read_text())["ledger"]
    assert record == {"dataset": "d", "number": 1, "hash": entry.hash, "token": made.record.ledger.token}
    page = book.statement("d")
    for words in (digest, entry.hash, "the yearly report", "statistics office", book.status("d").head, "epsilon = 8"):
        assert words in page


def test_saving_again_is_recorded_once_for_every_folder_that_differs(book: dc.Ledger, tmp_path: Path) -> None:
    made = paid(book)
    first = made.save(tmp_path / "one")
    assert made.save(tmp_path / "two") == first
    other = made.save(tmp_path / "three", "parquet")
    assert book.history("d")[0].digests == (first, other)
    assert book.status("d").spent.epsilon == 1


def test_a_release_is_picklable_and_carries_no_password(postgresql_url: str, tmp_path: Path) -> None:
    book = ledger(postgresql_url)
    book.create("d", epsilon=9)
    made = paid(book)
    content = pickle.dumps(made)
    assert b"geheim" not in content and "geheim" not in repr(made)
    again = pickle.loads(content)
    with pytest.warns(LedgerWarning, match="#1 of 'd' still reads 'charged, not released'.*not open in this process"):
        again.save(tmp_path / "out")
    assert book.history("d")[0].state == "charged, not released"
    assert book.check(tmp_path / "out") != ()
    assert book.check(tmp_path / "out", record=True) == ()
    assert book.history("d")[0].state == "released"
    assert "geheim" not in json.dumps(book.export()) + book.statement("d")


def test_a_ledger_that_is_gone_when_the_release_is_saved(book: dc.Ledger, sqlite_url: str, tmp_path: Path) -> None:
    made = paid(book)
    Path(sqlite_url).rename(tmp_path / "elsewhere.db")
    with pytest.warns(LedgerWarning, match="What was released is out.*there is no ledger"):
        made.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid
    Path(tmp_path / "elsewhere.db").rename(sqlite_url)
    assert book.history("d")[0].state == "charged, not released"


def test_from_the_shell_a_ledger_that_cannot_be_told_is_a_message(
    csv_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from discreet.cli import main
    from discreet.errors import BadInput

    ledger(tmp_path / "l.db").create("d", epsilon=9)

    def gone(*_: Any, **__: Any) -> None:
        raise BadInput("a release was to be recorded", "the cable is cut")

    monkeypatch.setattr(dc.Ledger, "released", gone)
    words = [
        "discreet",
        "release",
        str(csv_file),
        "--count",
        "n",
        "--keys",
        "town",
        "--epsilon",
        "1",
        "--max-count",
        "9",
    ]
    words += ["--ledger", str(tmp_path / "l.db"), "--dataset", "d", "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as left:
        main()
    told = capsys.readouterr().err
    assert left.value.code == 0 and "discreet: What was released is out" in told and "the cable is cut" in told
    assert "LedgerWarning" not in told


def spec(csv_file: Path, url: str, out: Path) -> ReleaseSpec:
    return ReleaseSpec(
        TableSpec(str(csv_file), "n", ("town",)), dc.Pure(1), RowByRow(mechanism="geometric", max_count=9),
        LedgerSpec("d", url, note="n", who="w"), Output(str(out)),
    )  # fmt: skip


def test_the_folder_is_made_before_anything_is_charged(
    book: dc.Ledger, sqlite_url: str, csv_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    spend_all = dc.Ledger.spend_all

    def watched(self: dc.Ledger, *arguments: Any) -> Any:
        seen.append([path.name for path in tmp_path.glob(".out.*.secret/*.part")])
        return spend_all(self, *arguments)

    monkeypatch.setattr(dc.Ledger, "spend_all", watched)
    run(spec(csv_file, sqlite_url, tmp_path / "out"))
    assert len(seen) == 1 and len(seen[0]) == 1 and seen[0][0].startswith(".out.")
    assert not list(tmp_path.glob(".*"))
    (entry,) = book.history("d")
    assert (entry.spending.who, entry.spending.note, entry.state) == ("w", "n", "released")


@pytest.mark.parametrize("trouble", ["exists", "no parent", "no space for a folder"])
def test_a_folder_that_cannot_be_made_costs_nothing(
    trouble: str, book: dc.Ledger, sqlite_url: str, csv_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    if trouble == "exists":
        out.mkdir()
        (out / "something").write_text("x")
    elif trouble == "no parent":
        out = tmp_path / "nowhere" / "out"
    else:

        def full(*_: Any, **__: Any) -> str:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("tempfile.mkdtemp", full)
    with pytest.raises(dc.BadInput, match="was to be saved in"):
        run(spec(csv_file, sqlite_url, out))
    assert book.status("d").releases == 0


@pytest.mark.parametrize("fatal", [1, 2, 3, 4])
def test_a_disk_that_fills_up_after_the_charge(
    fatal: int, book: dc.Ledger, sqlite_url: str, csv_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file in turn: the entry stays, as charged and not released, and no folder is left."""
    left = [fatal]

    def filling(function: Callable[..., Any]) -> Callable[..., Any]:
        def write(*arguments: Any, **options: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return function(*arguments, **options)

        return write

    for name in ("write_frame", "pages", "write_record"):
        monkeypatch.setattr(folders, name, filling(getattr(folders, name)))
    with pytest.raises(dc.BadInput, match="No space left on device"):
        run(spec(csv_file, sqlite_url, tmp_path / "out"))
    (entry,) = book.history("d")
    assert entry.state == "charged, not released" and book.status("d").spent.epsilon == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger.db", "t.csv"]


def test_a_seeded_release_is_worth_no_budget(book: dc.Ledger, sqlite_url: str, csv_file: Path, tmp_path: Path) -> None:
    with pytest.raises(dc.BadInput, match="together with a seed"):
        paid(book, seed=1)
    options = ["--count", "n", "--keys", "town", "--epsilon", "1", "--max-count", "9", "--seed", "1"]
    charge = ["--ledger", sqlite_url, "--dataset", "d"]
    done = shell("release", str(csv_file), *options, *charge, "--out", str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (2, "") and not (tmp_path / "out").exists()
    done = shell("distribution", str(csv_file), *options, *charge)
    assert (done.returncode, done.stdout) == (2, "")
    spec(csv_file, sqlite_url, tmp_path / "out").write(tmp_path / "s.toml")
    assert shell("run", str(tmp_path / "s.toml"), "--seed", "1").returncode == 2
    assert book.status("d").releases == 0


@pytest.mark.parametrize("given", [{"note": "x"}, {"who": "x"}, {"accept_disclosure": True}, {"dataset": "d"}])
def test_what_belongs_to_a_ledger_needs_one(given: dict[str, Any]) -> None:
    with pytest.raises(dc.BadInput, match="no ledger was given"):
        dc.release(TABLE, epsilon=1, max_count=9, **given)


@pytest.mark.parametrize("wrong", [{"note": 3}, {"who": None}, {"ledger": 3}])
def test_what_cannot_be_recorded_is_refused(book: dc.Ledger, wrong: dict[str, Any]) -> None:
    with pytest.raises(dc.BadInput):
        dc.release(TABLE, epsilon=1, max_count=9, **{"ledger": book, "dataset": "d", **wrong})
    assert book.status("d").releases == 0


def test_a_folder_is_checked_against_its_ledger(book: dc.Ledger, sqlite_url: str, tmp_path: Path) -> None:
    made = paid(book)
    made.save(tmp_path / "out")
    assert book.check(tmp_path / "out") == ()
    assert shell("ledger", "check", sqlite_url, str(tmp_path / "out")).returncode == 0
    dc.release(TABLE, epsilon=1, max_count=9).save(tmp_path / "free")
    assert "names no ledger" in book.check(tmp_path / "free")[0]
    other = ledger(tmp_path / "other.db")
    other.create("e", epsilon=9)
    assert "has no entry #1 of 'd'" in other.check(tmp_path / "out")[0]
    other.create("d", epsilon=9)
    paid(other)
    assert "is not the one that the release names" in other.check(tmp_path / "out")[0]
    done = shell("ledger", "check", str(tmp_path / "other.db"), str(tmp_path / "out"), "--json")
    assert done.returncode == 1 and json.loads(done.stdout)["valid"] is False


def test_a_folder_that_promises_something_else_was_not_paid_for(book: dc.Ledger, tmp_path: Path) -> None:
    from discreet.record.release import seal_of

    paid(book).save(tmp_path / "out")
    path = tmp_path / "out" / "release.json"
    document = json.loads(path.read_text())
    document["guarantee"]["epsilon"] = "0.5"
    del document["seal"]
    path.write_text(json.dumps({**document, "seal": seal_of(document)}, indent=1) + "\n")
    problems = " ".join(book.check(tmp_path / "out", record=True))
    assert "charged for epsilon = 1, and the release promises epsilon = 0.5" in problems
    assert len(book.history("d")[0].digests) == 1, "nothing was recorded for it"
    path.write_text(json.dumps({**document, "seal": "0" * 64}))
    assert "seal" in book.check(tmp_path / "out", record=True)[0]


def test_heads_from_the_shell(book: dc.Ledger, sqlite_url: str) -> None:
    status = json.loads(shell("ledger", "status", sqlite_url, "--dataset", "d", "--json").stdout)
    assert status["relation"] == "added-or-removed" and len(status["head"]) == 64
    paid(book)
    assert shell("ledger", "check", sqlite_url, "--head", status["head"]).returncode == 0
    assert shell("ledger", "check", sqlite_url, "--head", "0" * 64).returncode == 1
    assert shell("ledger", "check", sqlite_url).returncode == 2


def test_the_pages_from_the_shell(csv_file: Path, sqlite_url: str, tmp_path: Path) -> None:
    made = shell("ledger", "create", sqlite_url, "--dataset", "d", "--epsilon", "4", "--relation", "moved", "--json")
    assert json.loads(made.stdout)["relation"] == "moved"
    assert shell("ledger", "create", sqlite_url, "--dataset", "e", "--epsilon", "4", "--relation", "x").returncode == 2
    common = ["--count", "n", "--keys", "town", "--epsilon", "1", "--ledger", sqlite_url, "--dataset", "d"]
    first = ["--keep", "sum:town=a", "--out", str(tmp_path / "one"), "--note", "=1+1, first", "--accept-disclosure"]
    assert shell("release", str(csv_file), *common, *first).returncode == 0
    assert shell("distribution", str(csv_file), *common, "--max-count", "9", "--note", "second").returncode == 0
    page = shell("ledger", "statement", sqlite_url, "--dataset", "d").stdout
    assert "Statement of the data set d" in page and "Published exactly: sum:town=a" in page
    value = json.loads(shell("ledger", "statement", sqlite_url, "--dataset", "d", "--json").stdout)
    assert value["statement"] == page and value["spent"] == {"epsilon": "4", "delta": "0"}
    done = shell("ledger", "history", sqlite_url, "--csv", str(tmp_path / "h.csv"), "--json")
    assert len(json.loads(done.stdout)["history"]) == 2
    with (tmp_path / "h.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["note"] for row in rows] == ["'=1+1, first", "second"]
    assert [row["state"] for row in rows] == ["released", "released"] and rows[0]["discloses"] == "sum:town=a"
    refused = shell("release", str(csv_file), *common, "--max-count", "9", "--out", str(tmp_path / "two"))
    assert refused.returncode == 1 and "epsilon = 0 is left" in refused.stderr
    assert not (tmp_path / "two").exists()


def test_accepting_a_disclosure_from_the_shell_and_from_a_file(csv_file: Path, sqlite_url: str, tmp_path: Path) -> None:
    ledger(sqlite_url).create("d", epsilon=9)
    for name, row in (("one", "1,1,0"), ("two", "1,1,1")):
        (tmp_path / f"{name}.csv").write_text(row + "\n")
    common = ["--count", "n", "--keys", "town", "--epsilon", "1", "--ledger", sqlite_url, "--dataset", "d"]

    def keep(name: str, *more: str) -> Done:
        out = str(tmp_path / f"out-{name}")
        return shell("release", str(csv_file), *common, "--keep", str(tmp_path / f"{name}.csv"), "--out", out, *more)

    assert keep("one").returncode == 0
    refused = keep("two")
    assert refused.returncode == 1 and "town = c" in refused.stderr and not (tmp_path / "out-two").exists()
    written = keep("two", "--accept-disclosure", "--write-spec", str(tmp_path / "s.toml"))
    assert written.returncode == 0, written.stderr
    assert "accept_disclosure = true" in (tmp_path / "s.toml").read_text()
    assert ledger(sqlite_url).history("d")[1].disclosure.exact == 1
