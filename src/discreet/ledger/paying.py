"""What a release does with its ledger: find it before anything is drawn, and tell it what became of the charge."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import BadInput, DiscreetError, LedgerWarning, called
from discreet.ledger import ledger as open_ledger
from discreet.ledger.book import Ledger
from discreet.ledger.spending import check_text
from discreet.ledger.words import NOT_OPEN, UNTOLD

if TYPE_CHECKING:
    from discreet.record.release import LedgerEntry
    from discreet.sample.bits import Bits


def open_book(ledger: Any, dataset: str | None, bits: Bits, **entry: Any) -> Ledger | None:
    """The ledger that will be charged, if any; whatever could not be recorded is refused now."""
    if ledger is None:
        given = {"dataset": dataset, **entry}
        for name, value in given.items():
            if value:
                found = "no ledger was given"
                raise BadInput(f"{called(name)} was given as {value!r}", found, f"Give {called('ledger', like='URL')}")
        return None
    if dataset is None:
        raise BadInput("a ledger was given", "no data set was named", f"Give {called('dataset', like='NAME')}")
    if not bits.private:
        found = "a seeded release is not private, and is worth no budget"
        raise BadInput("a ledger was given together with a seed", found, "Leave out the seed, or the ledger")
    for name in ("note", "who"):
        check_text(name, entry.get(name, ""), "a release was to be recorded")
    if isinstance(ledger, Ledger):
        return ledger
    if not isinstance(ledger, (str, Path)):
        raise BadInput(
            f"a ledger was given as a {type(ledger).__name__}", "that is none", "Give a path, a URL or a Ledger"
        )
    return open_ledger(ledger)


def tell(book: Ledger | None, entry: LedgerEntry, digest: str, drawn: str | None = None) -> None:
    """What was published is out, whatever happens here: a ledger that cannot be told is a warning, not a failure."""
    why = NOT_OPEN
    if book is not None:
        try:
            book.released(entry.dataset, entry.number, digest, drawn=drawn, token=entry.token)
            return
        except DiscreetError as error:
            why = str(error)
    warnings.warn(UNTOLD.format(number=entry.number, dataset=entry.dataset, why=why), LedgerWarning, stacklevel=3)
