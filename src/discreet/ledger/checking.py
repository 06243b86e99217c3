"""Whether a release folder is sound and was paid for: its entry is there, names its digest, and costs what it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.io import RECORD
from discreet.ledger.documents import written_sums
from discreet.ledger.exactly import LAWS, laws_of_mechanism
from discreet.ledger.reading import digest_of_token
from discreet.record.codec import form_json

if TYPE_CHECKING:
    from discreet.ledger.accounts import Entry
    from discreet.ledger.book import Ledger
    from discreet.record.release import ReleaseRecord


@dataclass(frozen=True, eq=False)
class PaidRelease:
    """A folder and its entry: what does not fit, and whether the entry holds the digest of the folder."""

    problems: tuple[str, ...]
    told: bool = True
    dataset: str = ""
    number: int = 0
    digest: str = ""
    drawn: str = ""
    token: str = ""


def paid_release(book: Ledger, folder: str | Path) -> PaidRelease:
    from discreet.errors import Damaged
    from discreet.io.folder import folder_of, read_contents
    from discreet.record.release import drawn_of, read_record
    from discreet.verify import verify_contents

    try:
        contents = read_contents(folder)
        record = read_record(contents.document)
    except Damaged as error:
        found = f"it is damaged ({error})"
        raise BadInput(f"the release in {folder} was to be checked", found, "Run discreet verify") from error
    wrong = verify_contents(contents).problems
    place, digest = record.ledger, contents.digests[RECORD]
    if place is None:
        return PaidRelease((*wrong, "The release names no ledger: it was not paid for, or not here."))
    which = f"#{place.number} of {place.dataset!r}"
    entries = {entry.number: entry for entry in book.history() if entry.dataset == place.dataset}
    if place.number not in entries:
        return PaidRelease((*wrong, f"The ledger has no entry {which}: its end was cut off, or it is another ledger."))
    entry = entries[place.number]
    if entry.hash != place.hash:
        return PaidRelease((*wrong, f"The entry {which} is not the one that the release names."))
    problems = (*wrong, *_differences(entry, record))
    if problems:
        return PaidRelease(problems)
    drawn = drawn_of(folder_of(contents).publication)
    if any(one.drawn != drawn for one in entry.outcomes if one.digest != digest):
        held = ", ".join(entry.digests)
        another = f"The entry {which} paid for another release, with the digest {held}; this one has {digest}."
        return PaidRelease((another,))  # there is nothing to tell: one charge pays for one draw
    told = digest in entry.digests
    return PaidRelease((), told, place.dataset, place.number, digest, drawn, place.token)


def _differences(entry: Entry, record: ReleaseRecord[Any]) -> Iterator[str]:
    """The price follows from the promise and its unit, so these must be what was charged for; and so must the rest."""
    spending = entry.spending
    promise, schema, table = record.guarantee, record.schema, spending.table
    invariants = getattr(record.facts, "invariants", None)
    kept = () if invariants is None else invariants.kept
    if spending.loss != promise.loss:
        yield f"The entry was charged for {spending.loss}, and the release promises {promise.loss}."
    if spending.neighbours != promise.unit:
        yield "The entry was charged for other neighbours than the release names."
    if table is not None and (table.keys, table.count, table.rows) != (schema.keys, schema.count, schema.rows):
        yield "The entry was charged for another table than the one that is released."
    if spending.discloses != tuple(map(str, kept)):
        yield "The entry was charged for other kept sums than those of the release."
    elif entry.sums is not None and not (invariants and _is_written_as(entry.sums, invariants.sums)):
        yield "When it was charged, the kept sums came to something else than the release says."
    laws = spending.spec.get(LAWS)
    if laws is not None and laws != [form_json(law) for law in laws_of_mechanism(record.facts.mechanism)]:
        yield "The entry was charged for other noise than that of the release."
    if record.ledger is not None and digest_of_token(record.ledger.token) != spending.token_digest:
        yield "The release does not show the token of what was charged: it is another one, and was not paid for."


def _is_written_as(digest: str, sums: Integers) -> bool:
    document = written_sums(sums)
    return document is not None and document[0] == digest
