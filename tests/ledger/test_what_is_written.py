"""Whatever a ledger is asked to write, it can read again; and a charge is claimed only by the release it was for."""

from __future__ import annotations

import base64
import hashlib
import json
import sqlite3
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import BadInput
from discreet.ledger import Spending, ledger
from discreet.ledger.documents import read_kept
from discreet.ledger.spending import RULES

from .test_forged_lines import append, charge_line
from .test_one_charge import drawn, resealed, shell

TABLE = dc.table(pa.table({"town": list("abcd"), "n": [3, 1, 4, 1]}), "n", ["town"])
DIGEST = "d" * 64


@pytest.fixture
def book(sqlite_url: str) -> dc.Ledger:
    made = ledger(sqlite_url)
    made.create("d", epsilon=9)
    made.spend("d", Spending(dc.Pure(1)))
    return made


def readable(book: dc.Ledger, releases: int = 1) -> None:
    assert book.status("d").releases == releases and len(book.history()) == releases
    assert book.statement("d") and book.export()


@pytest.mark.parametrize("number", ["1", True, 1.0, 0, -1, 2, None])
def test_a_number_that_is_none_is_refused_and_nothing_is_written(book: dc.Ledger, number: Any) -> None:
    with pytest.raises(BadInput, match="was to be recorded as published"):
        book.released("d", number, DIGEST)
    readable(book)


@pytest.mark.parametrize("digest", [None, 5, "", "x", b"x", "\ud800", "a\nb", "D" * 64, ["d"]])
def test_a_digest_that_is_none_is_refused_and_nothing_is_written(book: dc.Ledger, digest: Any) -> None:
    with pytest.raises(BadInput, match="was to be recorded as published"):
        book.released("d", 1, digest)
    readable(book)


SPENDINGS: dict[str, Any] = {
    "no spending": "1",
    "no loss": Spending(None),  # type: ignore[arg-type]
    "a loss of text": Spending("1"),  # type: ignore[arg-type]
    "apart": Spending(dc.Pure(1), apart="no"),  # type: ignore[arg-type]
    "mechanism": Spending(dc.Pure(1), mechanism=5),  # type: ignore[arg-type]
    "discloses": Spending(dc.Pure(1), discloses="total"),  # type: ignore[arg-type]
    "unit": Spending(dc.Pure(1), unit="x"),  # type: ignore[arg-type]
    "table": Spending(dc.Pure(1), table="x"),  # type: ignore[arg-type]
    "kept": Spending(dc.Pure(1), kept="x"),  # type: ignore[arg-type]
    "spec": Spending(dc.Pure(1), spec=None),  # type: ignore[arg-type]
    "a set in spec": Spending(dc.Pure(1), spec={"a": {1}}),
    "not a number in spec": Spending(dc.Pure(1), spec={"a": float("nan")}),
    "token": Spending(dc.Pure(1), token_digest=5),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", SPENDINGS)
def test_a_spending_that_cannot_be_written_is_refused(book: dc.Ledger, name: str) -> None:
    """Alone, or after one that could be."""
    for together in ([SPENDINGS[name]], [Spending(dc.Pure(1)), SPENDINGS[name]]):
        with pytest.raises(BadInput, match="was to be recorded"):
            book.spend_all("d", together)
    readable(book)


def test_what_is_published_exactly_without_saying_of_what_rows_is_not_examined(book: dc.Ledger) -> None:
    unknown = Spending(dc.Pure(1), discloses=("some sums",))
    with pytest.raises(dc.Discloses, match="could not be found out"):
        book.spend("d", unknown)
    book.spend("d", replace(unknown, accept_disclosure=True))
    with pytest.raises(dc.Discloses, match="could not be found out"):
        dc.release(TABLE, epsilon=1, keep=["total"], ledger=book, dataset="d")
    readable(book, 2)


def test_kept_sums_count_whether_or_not_they_are_announced(sqlite_url: str) -> None:
    from discreet.ledger.documents import kept_table

    book = ledger(sqlite_url)
    book.create("d", epsilon=9)
    keys = {"town": list("abcd")}
    for row, refused in (([1, 1, 0, 0], False), ([1, 1, 1, 0], True)):
        quiet = Spending(dc.Pure(1), kept=kept_table("n", keys, (dc.sums([row]),), 4))
        if refused:
            with pytest.raises(dc.Discloses, match="town = c"):
                book.spend("d", quiet)
        else:
            book.spend("d", quiet)


def packed(value: object) -> tuple[str, str]:
    text = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(text).hexdigest(), base64.b64encode(zlib.compress(text)).decode()


NO_SUMS = [{"sums": "x"}, {"sums": [1.5]}, {"sums": [10**30]}, {"sums": [[1]]}, {"sums": [1, 2, 3]}, {"x": 1}, [1], 7]
GOOD = {"count": "n", "columns": {"town": ["a", "b"]}, "kept": ["total"], "rows": 2, "limits": None}
LIMITS = {"rows": 2, "terms": [[[0, 1]]], "least": [0]}
NO_KEPT = [{}, [], {**GOOD, "kept": 3}, {**GOOD, "kept": []}, {**GOOD, "kept": ["margin:x"]}, {**GOOD, "rows": 9},
           {**GOOD, "columns": {"town": "ab"}}, {**GOOD, "columns": {"town": [1, 2]}}, {**GOOD, "more": 1},
           {**GOOD, "limits": []}, {**GOOD, "limits": 7}, {**GOOD, "limits": {**LIMITS, "rows": 3}},
           {**GOOD, "limits": {**LIMITS, "terms": [[["a", 1]]]}},
           {**GOOD, "limits": {**LIMITS, "least": [10**400]}}]  # fmt: skip


@pytest.mark.parametrize("value", NO_SUMS)
def test_forged_documents_of_sums_are_no_tracebacks(book: dc.Ledger, sqlite_url: str, value: Any) -> None:
    dc.release(TABLE, epsilon=1, keep=["total"], ledger=book, dataset="d")
    digest, content = packed(value)
    with sqlite3.connect(sqlite_url) as connection:
        connection.execute("INSERT INTO discreet_documents VALUES (?, ?)", (digest, content))
        (line,) = connection.execute("SELECT content FROM discreet_chain ORDER BY number DESC LIMIT 1").fetchone()
    append(sqlite_url, {**json.loads(line), "sums": digest, "number": 3})
    with pytest.raises(BadInput, match="the kept sums of its entry #3 cannot be read"):
        book.statement("d")


@pytest.mark.parametrize("value", NO_KEPT)
def test_forged_documents_of_kept_sums_are_no_tracebacks(book: dc.Ledger, sqlite_url: str, value: Any) -> None:
    digest, content = packed(value)
    with sqlite3.connect(sqlite_url) as connection:
        connection.execute("INSERT INTO discreet_documents VALUES (?, ?)", (digest, content))
    append(sqlite_url, charge_line(2, kept=digest))
    for call in (lambda: book.statement("d"), lambda: dc.release(TABLE, 1, keep=["total"], ledger=book, dataset="d")):
        with pytest.raises(BadInput, match="the kept sums of its entry #2 cannot be read"):
            call()


@pytest.mark.parametrize("value", [GOOD, {**GOOD, "limits": LIMITS}, {**GOOD, "kept": [], "limits": LIMITS}])
def test_a_document_as_we_write_it_is_read(value: Any) -> None:
    """What is refused above is refused for what is wrong with it."""
    digest, content = packed(value)
    assert read_kept(content, digest).rows == 2


def test_other_rules_of_pricing_are_named(book: dc.Ledger, sqlite_url: str) -> None:
    append(sqlite_url, charge_line(2, rules=RULES + 1))
    with pytest.raises(BadInput, match=rf"line 3 .* was priced by rules {RULES + 1}, .*Use the discreet that"):
        book.status("d")


def test_a_draw_that_was_not_charged_cannot_claim_a_charge_that_was_not_released(
    book: dc.Ledger, sqlite_url: str, tmp_path: Path
) -> None:
    """A process was killed after it was charged; somebody draws again, for nothing, and names the entry."""
    charged = drawn(ledger=book, dataset="d").record.ledger
    assert charged is not None
    drawn().save(tmp_path / "free")
    for token in ("", "0" * 32, book.history("d")[1].spending.token_digest):
        resealed(tmp_path / "free", ledger={**vars(charged), "token": token})
        assert dc.verify(tmp_path / "free").valid, "a forger who rewrites everything"
        (problem,) = book.check(tmp_path / "free", record=True)
        assert "does not show the token" in problem
    with pytest.raises(BadInput, match="token"):
        book.released("d", 2, DIGEST)
    assert shell("ledger", "check", sqlite_url, str(tmp_path / "free"), "--record").returncode == 1
    assert book.history("d")[1].state == "charged, not released"


def test_a_token_pays_for_one_draw_in_all_its_forms(book: dc.Ledger, tmp_path: Path) -> None:
    made = drawn(ledger=book, dataset="d")
    entry = made.record.ledger
    assert entry is not None
    first = made.save(tmp_path / "csv")
    second = replace(made, paid_from=None)
    with pytest.warns(dc.LedgerWarning):
        digest = second.save(tmp_path / "parquet", "parquet")
    assert book.check(tmp_path / "parquet") != () and book.check(tmp_path / "parquet", record=True) == ()
    assert book.history("d")[1].digests == (first, digest)
    drawn().save(tmp_path / "again")
    resealed(tmp_path / "again", ledger=vars(entry))
    (problem,) = book.check(tmp_path / "again", record=True)
    assert "paid for another release" in problem
    with pytest.raises(BadInput, match="one charge pays for one draw"):
        book.released("d", entry.number, DIGEST, token=entry.token)
    with pytest.raises(BadInput, match="one charge pays for one draw"):
        book.released("d", entry.number, DIGEST, drawn="e" * 64, token=entry.token)


def test_another_table_or_other_sums_were_not_paid_for(book: dc.Ledger, tmp_path: Path) -> None:
    entry = drawn(ledger=book, dataset="d").record.ledger
    assert entry is not None
    more = dc.table(pa.table({"town": list("abcde"), "n": [3, 1, 4, 1, 5]}), "n", ["town"])
    dc.release(more, epsilon=1, max_count=9, mechanism="geometric").save(tmp_path / "more")
    dc.release(TABLE, epsilon=1, keep=["total"]).save(tmp_path / "kept")
    for name, words in (("more", "another table"), ("kept", "other kept sums")):
        resealed(tmp_path / name, ledger=vars(entry))
        assert any(words in problem for problem in book.check(tmp_path / name, record=True))
    assert book.history("d")[1].state == "charged, not released"


def test_other_data_than_those_charged_for_do_not_pass_for_them(book: dc.Ledger, tmp_path: Path) -> None:
    """The same table and the same names of sums, by somebody who has the token; but the sums come to something else."""
    entry = dc.release(TABLE, epsilon=1, keep=["total"], ledger=book, dataset="d").record.ledger
    assert entry is not None
    later = dc.table(pa.table({"town": TABLE.schema.column("town"), "n": TABLE.counts + 1}), "n", ["town"])
    dc.release(later, epsilon=1, keep=["total"]).save(tmp_path / "later")
    resealed(tmp_path / "later", ledger=vars(entry))
    assert dc.verify(tmp_path / "later").valid, "a forger who rewrites everything"
    assert "came to something else" in " ".join(book.check(tmp_path / "later", record=True))
    assert book.history("d")[1].state == "charged, not released"
