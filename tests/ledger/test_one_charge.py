"""One charge pays for one release, as it was made; and what people write into an entry stays in its place."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import BadInput
from discreet.ledger import Spending, ledger
from discreet.ledger.words import as_csv, history_line
from discreet.record.release import seal_of
from discreet.sample.bits import seeded
from tests.shell import shell

from .test_forged_lines import append, charge_line

TOWNS = "abcdefghijklmnopqrstuvwxyz"  # so many that no two draws are equal
TABLE = dc.table(pa.table({"town": list(TOWNS), "n": [3, 1] * 13}), "n", ["town"])


@pytest.fixture
def book(sqlite_url: str) -> dc.Ledger:
    made = ledger(sqlite_url)
    made.create("d", epsilon=9)
    return made


def drawn(**options: Any) -> dc.Release:
    return dc.release(TABLE, epsilon=1, max_count=9, mechanism="geometric", **options)


def resealed(folder: Path, **changes: Any) -> None:
    document = {**json.loads((folder / "release.json").read_text()), **changes}
    del document["seal"]
    (folder / "release.json").write_text(json.dumps({**document, "seal": seal_of(document)}, indent=1) + "\n")


def test_a_second_draw_that_names_the_entry_of_the_first_was_not_paid_for(
    book: dc.Ledger, sqlite_url: str, tmp_path: Path
) -> None:
    digest = drawn(ledger=book, dataset="d").save(tmp_path / "paid")
    drawn().save(tmp_path / "free")
    resealed(tmp_path / "free", ledger=json.loads((tmp_path / "paid" / "release.json").read_text())["ledger"])
    assert dc.verify(tmp_path / "free").valid, "a forger who rewrites everything"
    for record in (False, True):
        (problem,) = book.check(tmp_path / "free", record=record)
        assert "paid for another release" in problem and digest in problem
    assert shell("ledger", "check", sqlite_url, str(tmp_path / "free"), "--record").returncode == 1
    assert book.history("d")[0].digests == (digest,)
    assert book.check(tmp_path / "paid") == ()


def test_a_table_that_was_exchanged_is_found(book: dc.Ledger, sqlite_url: str, tmp_path: Path) -> None:
    drawn(ledger=book, dataset="d").save(tmp_path / "paid")
    shutil.copytree(tmp_path / "paid", tmp_path / "copy")
    (tmp_path / "copy" / "table.csv").write_text("town,n\na,3000\nb,1000\nc,4000\n")
    assert any("table.csv" in problem for problem in book.check(tmp_path / "copy"))
    assert shell("ledger", "check", sqlite_url, str(tmp_path / "copy")).returncode == 1
    assert shell("ledger", "check", sqlite_url, str(tmp_path / "paid")).returncode == 0


def test_a_release_saved_in_two_forms_is_shown_as_released_twice(book: dc.Ledger, tmp_path: Path) -> None:
    made = drawn(ledger=book, dataset="d")
    made.save(tmp_path / "one")
    assert "times" not in book.statement("d").partition("Releases")[2]
    made.save(tmp_path / "two", "parquet")
    assert "released 2 times" in book.statement("d") and "(2 times)" in history_line(book.history("d")[0])
    assert book.check(tmp_path / "one") == () and book.check(tmp_path / "two") == ()


UNSHOWN = ["x\n#2  2026-01-01  epsilon = 0", "\x1b[31m", "a\0", "a\udcff", "a\u202eb", "a\u2028b", "x" * 501, "a\tb"]


@pytest.mark.parametrize("text", UNSHOWN)
@pytest.mark.parametrize("name", ["note", "who"])
def test_a_note_that_a_page_cannot_show_is_refused(book: dc.Ledger, name: str, text: str) -> None:
    with pytest.raises(BadInput, match=name):
        drawn(ledger=book, dataset="d", **{name: text})
    with pytest.raises(BadInput, match=name):
        dc.private_distribution(TABLE, 1, max_count=9, ledger=book, dataset="d", **{name: text})  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=name):
        book.spend("d", Spending(dc.Pure(1), **{name: text}))  # type: ignore[arg-type]
    assert book.status("d").releases == 0
    drawn(ledger=book, dataset="d", **{name: "für das Jahr 2026: 'Fälle', 日本"})


@pytest.mark.parametrize("text", UNSHOWN)
def test_a_note_that_got_in_otherwise_stays_in_its_line(book: dc.Ledger, sqlite_url: str, text: str) -> None:
    append(sqlite_url, charge_line(1, Spending(dc.Pure(1), note=text, who=text)))
    pages = book.statement("d").splitlines(), [history_line(book.history("d")[0])]
    assert all(line.isprintable() for page in pages for line in page)
    as_csv(book.history("d")).encode()
    assert len(as_csv(book.history("d")).splitlines()) == 2


@pytest.mark.parametrize("note", ["=1+1", "+1", "-1", "@x", "'=1"])
def test_a_note_is_no_formula_in_a_spreadsheet(book: dc.Ledger, note: str) -> None:
    drawn(ledger=book, dataset="d", note=note, who="=me")
    (row,) = csv.DictReader(as_csv(book.history("d")).splitlines())
    assert (row["note"], row["who"], row["dataset"]) == (f"'{note}", "'=me", "d")


def test_the_name_of_a_data_set_is_no_formula_either(book: dc.Ledger) -> None:
    """In a spreadsheet; what programs read has it as it is."""
    name = '=HYPERLINK("x")'
    book.create(name, epsilon=5)
    drawn(ledger=book, dataset=name)
    (row,) = csv.DictReader(as_csv(book.history(name)).splitlines())
    assert row["dataset"] == f"'{name}"
    assert all(not cell.startswith(tuple("=+-@")) for cell in row.values())
    assert [one["dataset"] for one in book.export()["history"]] == [name]


def test_who_can_be_said_in_the_shell(book: dc.Ledger, sqlite_url: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("town,n\na,3\nb,1\nc,4\n")
    common = [str(tmp_path / "t.csv"), "--count", "n", "--keys", "town", "--epsilon", "1", "--max-count", "9",
              "--ledger", sqlite_url, "--dataset", "d", "--who", "the office"]  # fmt: skip
    assert shell("release", *common, "--out", str(tmp_path / "out")).returncode == 0
    assert shell("distribution", *common).returncode == 0
    assert [entry.spending.who for entry in book.history("d")] == ["the office"] * 2


def test_a_distribution_that_nobody_got_is_not_released(book: dc.Ledger, sqlite_url: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("town,n\na,3000\nb,1000\nc,4000\n")
    words = [str(tmp_path / "t.csv"), "--count", "n", "--keys", "town", "--epsilon", "1", "--max-count", "9"]
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "discreet", "distribution", *words, "--ledger", sqlite_url, "--dataset", "d"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode != 0
    assert [entry.state for entry in book.history("d")] == ["charged, not released"]


def test_a_seed_by_any_door_is_worth_no_budget(book: dc.Ledger) -> None:
    with pytest.raises(BadInput, match="a seeded release is not private"):
        dc.private_distribution(TABLE, 1, max_count=9, ledger=book, dataset="d", bits=seeded(1))
    assert book.status("d").releases == 0


@pytest.mark.parametrize("wrong", ["no", 1, 0, None, ""])
@pytest.mark.parametrize("with_ledger", [True, False])
def test_acceptance_is_true_or_false(book: dc.Ledger, wrong: Any, with_ledger: bool) -> None:
    paid: dict[str, Any] = {"ledger": book, "dataset": "d"} if with_ledger else {}
    with pytest.raises(BadInput, match="neither true nor false"):
        dc.release(TABLE, epsilon=1, keep=["total"], accept_disclosure=wrong, **paid)
    with pytest.raises(BadInput, match="neither true nor false"):
        book.spend("d", Spending(dc.Pure(1), accept_disclosure=wrong))
    assert book.status("d").releases == 0


def test_triggers_that_do_nothing_are_no_guards(book: dc.Ledger, sqlite_url: str) -> None:
    with sqlite3.connect(sqlite_url) as connection:
        for name, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
            table = sql.split(" ON ")[1].split()[0]
            connection.execute(f"CREATE TRIGGER {name} BEFORE DELETE ON {table} WHEN 0 BEGIN SELECT 1; END")
    with pytest.raises(BadInput, match="triggers"):
        book.status("d")


def test_a_trigger_more_is_noticed(book: dc.Ledger, sqlite_url: str) -> None:
    with sqlite3.connect(sqlite_url) as connection:
        connection.execute("CREATE TRIGGER more AFTER INSERT ON discreet_chain BEGIN SELECT 1; END")
    with pytest.raises(BadInput, match="triggers"):
        book.status("d")


BODY = "RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$"


@pytest.mark.parametrize(
    "change",
    [
        f"CREATE OR REPLACE FUNCTION discreet_refuse() {BODY}",
        f"CREATE OR REPLACE FUNCTION discreet_chain_fits() {BODY}",
        "CREATE TRIGGER more BEFORE INSERT ON discreet_chain FOR EACH ROW EXECUTE FUNCTION discreet_refuse()",
    ],
)
def test_guards_of_a_server_that_do_something_else_are_noticed(postgresql_url: str, change: str) -> None:
    made = ledger(postgresql_url)
    made.create("d", epsilon=9)
    with made._engine.begin() as connection:
        connection.exec_driver_sql(change)
    with pytest.raises(BadInput, match="triggers"):
        made.status("d")


def test_the_page_says_that_a_kept_sum_shows_who_is_there(book: dc.Ledger) -> None:
    drawn(ledger=book, dataset="d")
    assert "is not protected where they are counted in a sum" not in book.statement("d")
    dc.release(TABLE, epsilon=1, keep=["total"], ledger=book, dataset="d")
    page = book.statement("d")
    assert "That a person is in the data at all is not protected where they are counted in a sum" in page
    assert "and the other way round" in page


def test_amounts_on_the_page_are_short_and_rounded_against_the_account(book: dc.Ledger) -> None:
    from fractions import Fraction

    from discreet.ledger.words import rounded_up

    book.spend("d", Spending(dc.Pure("1/3")))
    assert "e^(1/3) times" in book.statement("d")
    book.spend("d", Spending(dc.Pure("1234567890123/1000000000039")))
    page = book.statement("d")
    assert "rounded up" in page and "rounded down" in page and "1000000000039" not in page
    exact = Fraction("1234567890123/1000000000039")
    assert Fraction(rounded_up(str(exact))) > exact > Fraction(rounded_up(str(exact), up=False))
    assert 0 < Fraction(rounded_up(str(exact))) - exact < Fraction(2, 10**5)
