"""A small release with a ledger, and what must be true of the two after anything has happened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import discreet as dc
from discreet.sample.bits import Bits

BUDGET = 100
FILES = {"release.json", "report.html", "explore.html", "analysis.R", "measurements", "table"}
MORE = {
    "answers",
    "table.csv-metadata.json",
}  # where questions were asked; which files there must be is for verify to say
ROWS = dc.RowByRow("geometric", 9)


def prepared(folder: Path, url: str | None = None, way: Any = ROWS) -> dc.ReleaseSpec:
    """A table and a ledger with a budget, and the release that is asked for."""
    folder.mkdir(exist_ok=True)
    (folder / "table.csv").write_text("place,people\na,1\nb,2\nc,0\n")
    address = url or str(folder / "ledger.db")
    dc.ledger(address).create("people", epsilon=BUDGET)
    return asked(folder, address, way)


def asked(folder: Path, address: str, way: Any = ROWS, **output: Any) -> dc.ReleaseSpec:
    table = dc.TableSpec(str(folder / "table.csv"), "people", ("place",))
    return dc.ReleaseSpec(
        table, dc.Pure(1), way, dc.LedgerSpec("people", address),
        dc.Output(str(folder / "out"), **output),
    )  # fmt: skip


def entries(address: str) -> int:
    """How many spendings are recorded; what was spent is what they say."""
    book = dc.ledger(address)
    history = book.history("people")
    assert [entry.number for entry in history] == list(range(1, len(history) + 1))
    assert book.status("people").spent.epsilon == len(history)
    return len(history)


def complete(folder: Path) -> bool:
    """Whether the release is there; it is there as a whole, or not at all."""
    out = folder / "out"
    if not out.exists():
        return False
    assert {path.name.removesuffix(".csv").removesuffix(".parquet") for path in out.iterdir()} - MORE == FILES
    assert dc.verify(out)
    return True


@contextmanager
def charged_before_drawn(address: str) -> Iterator[list[int]]:
    """Whenever random bits are asked for, the spending is on record already; the list says how often they were."""
    real, asked_for = Bits.bytes, []

    def counted(self: Bits, size: int) -> bytes:
        asked_for.append(size)
        with patch.object(Bits, "bytes", real):
            assert entries(address) >= 1, "drawn, and not charged"
        return real(self, size)

    with patch.object(Bits, "bytes", counted):
        yield asked_for
