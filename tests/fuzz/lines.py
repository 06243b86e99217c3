"""A ledger to which somebody has appended a line as the database lets anybody do: numbered, chained and well hashed.

No hash can tell such a line from one of ours; what it says must. It may be refused, and it never gives budget back.
"""

from __future__ import annotations

import atexit
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

import discreet as dc
from discreet.errors import DiscreetError
from discreet.ledger import Spending
from discreet.ledger.chain import Line, compact, hash_of

from .folders import edit_fields

RAW, BLOB = 0, 1  # the first byte: the rest as the text of a line, or as bytes; otherwise a real line, edited
BUDGET = 50


def appended_line(data: bytes, folder: Path) -> None:
    """Every question that a ledger answers, about one with such a line at its end."""
    from discreet.ledger.words import as_csv, history_line

    file = folder / "ledger.db"
    shutil.copy(_ledger_file(), file)
    before = dc.ledger(file).status("people")
    _append(file, _content(data))
    book = dc.ledger(file, wait=0.01)
    asked: list[Callable[[], Any]] = [
        book.status,
        lambda: [history_line(entry) for entry in book.history()],
        lambda: as_csv(book.history("people")).encode(),
        lambda: book.statement("people").encode(),
        lambda: json.dumps(book.export()).encode(),
        lambda: book.holds(before.head),
        lambda: book.create("more", epsilon=1),
        lambda: book.spend("people", Spending(dc.Pure(1))),
    ]
    refusals = [_refusal(question) for question in asked]
    if refusals[0] is None:
        after = book.status("people")
        assert after.budget == before.budget, "a budget was changed"
        assert before.left.covers(after.left), "budget was given back"
    elif any(refusal is None for refusal in refusals):
        raise AssertionError(f"what cannot be read is read all the same: {refusals}")


def _refusal(question: Callable[[], Any]) -> str | None:
    try:
        question()
    except DiscreetError as error:
        assert str(error)
        return str(error)
    return None


def _append(file: Path, content: str | bytes) -> None:
    """With plain SQL and the triggers in place."""
    connection = sqlite3.connect(file)
    number, previous = connection.execute("SELECT number, hash FROM discreet_chain ORDER BY number DESC").fetchone()
    said = content if isinstance(content, str) else content.decode("utf-8", errors="replace")
    row = (number + 1, content, previous, hash_of(previous, number + 1, said))
    with connection:
        connection.execute("INSERT INTO discreet_chain VALUES (?, ?, ?, ?)", row)
    connection.close()


def _content(data: bytes) -> str | bytes:
    mode, rest = data[0] if data else RAW, data[1:]
    if mode == BLOB:
        return rest
    if mode == RAW:
        return rest.decode("utf-8", errors="replace")
    values = [line.value for line in _lines()]
    document = json.loads(json.dumps(values[mode % len(values)]))
    if document["kind"] == "charged":  # the next one of its data set
        document["number"] = 1 + sum(value["kind"] == "charged" for value in values)
    edit_fields(document, rest)
    try:
        return compact(document)
    except ValueError:  # NaN
        return json.dumps(document)


@cache
def _ledger_file() -> Path:
    """A ledger with a budget, a release that kept a sum, and one that was never saved; to be copied."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-lines-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    book = dc.ledger(folder / "ledger.db")
    book.create("people", epsilon=BUDGET)
    table = dc.table(pa.table({"k": ["a", "b", "c"], "n": [1, 2, 0]}), count="n", keys=["k"])
    dc.release(table, epsilon=1, keep="total", ledger=book, dataset="people", who="a clerk").save(folder / "out")
    dc.release(table, epsilon=1, mechanism="geometric", max_count=9, ledger=book, dataset="people", note="tried")
    return folder / "ledger.db"


@cache
def _lines() -> tuple[Line, ...]:
    with sqlite3.connect(_ledger_file()) as connection:
        rows = connection.execute("SELECT number, content, previous, hash FROM discreet_chain ORDER BY number")
        return tuple(Line(*row) for row in rows)


def line_seeds() -> list[bytes]:
    whole = [bytes([RAW]) + line.content.encode() for line in _lines()]
    edits = [bytes([mode, place, 0, choice]) for mode in range(2, 6) for place, choice in ((3, 5), (9, 0), (20, 18))]
    return [*whole, *edits, b"\x00{}", b"\x00[]", b"\x00" + b"[" * 3000, b"\x01{}", b"\x01\xff\x00"]
