"""The ledger: an append-only record of what was spent on a data set, written before any noise is drawn."""

from __future__ import annotations

from discreet.ledger.book import Entry, Ledger, Statement, ledger
from discreet.ledger.spending import Amount, Spending, digest_of_arguments

__all__ = ["Amount", "Entry", "Ledger", "Spending", "Statement", "digest_of_arguments", "ledger"]
