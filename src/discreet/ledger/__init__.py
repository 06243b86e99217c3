"""The ledger: an append-only record of what was spent on a data set, written before any noise is drawn."""

from __future__ import annotations

from discreet.ledger.accounts import Entry, Statement
from discreet.ledger.book import Ledger, ledger
from discreet.ledger.spending import Amount, PublicTable, Spending

__all__ = ["Amount", "Entry", "Ledger", "PublicTable", "Spending", "Statement", "ledger"]
