"""The kept sums of a release and their structure: half of what a million rows take, so they are worked out once."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from discreet.io.coded import key_columns
from discreet.lattice.invariants import Invariants, invariant_matrix, two_rows_each
from discreet.lattice.structure import Structure, structure_of
from discreet.record.release import Publication
from discreet.ways.keep_sums.facts import InvariantFacts, KeptSums

WorkedOut = tuple[Invariants, Structure]
# by what is told of them, with which they are forgotten; and of which key columns they are
_WORKED_OUT: WeakKeyDictionary[InvariantFacts, tuple[Any, WorkedOut]] = WeakKeyDictionary()


def remember(facts: InvariantFacts, categories: Any, found: WorkedOut) -> None:
    """For whoever asks what is kept in a table with these key columns (Arrow, or none where they are in parts)."""
    _WORKED_OUT[facts] = categories, found


def kept_of(publication: Publication[KeptSums]) -> WorkedOut:
    """Of a publication, from its own record and key columns."""
    facts, categories = publication.record.facts.invariants, publication.categories
    known = _WORKED_OUT.get(facts)
    if known is not None and known[0] is categories:
        return known[1]
    invariants = _invariants(publication) if publication.in_parts is None else _in_parts(publication)
    found = invariants, structure_of(invariants)
    remember(facts, categories, found)
    return found


def _in_parts(publication: Publication[KeptSums]) -> Invariants:
    """That each of the blocks has two rows or more is seen where the parts are read."""
    kept = publication.record.facts.invariants
    return two_rows_each(kept.kept, kept.labels)


def _invariants(publication: Publication[KeptSums]) -> Invariants:
    keys = key_columns(publication.categories, publication.record.schema.keys)
    facts = publication.record.facts
    some = facts.mechanism.inequalities is None
    return invariant_matrix(facts.invariants.kept, keys, len(publication.counts), some=some)
