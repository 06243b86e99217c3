"""The ledger: an append-only record of what was spent on a data set, written before any noise is drawn."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.options import spelt

if TYPE_CHECKING:
    from discreet.ledger.accounts import Entry, Statement
    from discreet.ledger.book import Ledger
    from discreet.ledger.spending import Amount, PublicTable, Spending

# loaded when first asked for: most of those who import the package keep no ledger
LATER = {
    "Amount": "spending", "Entry": "accounts", "Ledger": "book", "PublicTable": "spending", "Spending": "spending",
    "Statement": "accounts",
}  # fmt: skip

__all__ = ["Amount", "Entry", "Ledger", "PublicTable", "Spending", "Statement", "ledger"]


@spelt
def ledger(url: str | Path, *, wait: float = 30.0) -> Ledger:
    """The ledger in an SQLite file (a path) or on a PostgreSQL server (a URL).

    `wait` is how many seconds to wait for another process that is writing.
    """
    from discreet.ledger.address import address_of
    from discreet.ledger.book import Ledger

    return Ledger(address_of(url), wait)


def __getattr__(name: str) -> object:
    if name in LATER:
        return getattr(import_module(f"discreet.ledger.{LATER[name]}"), name)
    raise AttributeError(f"discreet.ledger has no {name!r}")
