"""Sums kept where the rows are in parts: what a block's noise gives to each part is drawn first, then within the part.

The total, or one margin: blocks that do not meet, each of two rows at least. All but the rows is public and small: how
many rows of each block are in each part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput, Infeasible
from discreet.io.coded import key_columns
from discreet.lattice.invariants import Kept, Margin, Total, invariant_matrix, two_rows_each
from discreet.lattice.laws import LatticeLaw
from discreet.lattice.plan import lattice_sampler
from discreet.lattice.shares import Dealt, deal, noise_of
from discreet.privacy.values import ROWS_ARE_PUBLIC, Guarantee, Loss, Remark
from discreet.public_map import SeenValues
from discreet.record.release import Publication, ReleaseRecord
from discreet.sample.bits import Bits
from discreet.table import Schema, Table
from discreet.ways import DrawnInParts, InParts, PartBlocks, Published
from discreet.ways.keep_sums.facts import InvariantFacts, KeptSums, described
from discreet.ways.keep_sums.spec import KeepSums

NO_ROWS = np.zeros(0, dtype=np.int64)  # they are in the parts
WHAT_GOES = "Keep total, or one margin, or nested ones (margin:A and margin:A,B), with law l1"
NAMED = 3  # blocks that an error names


@dataclass(frozen=True, eq=False)
class BlocksPlan:
    """Noise for blocks of rows, wherever these are."""

    spec: KeepSums
    rows: int
    guarantee: Guarantee
    noise: LatticeLaw
    sampler: str
    labels: tuple[str, ...]
    blocks: PartBlocks = field(repr=False)
    steps: tuple[Remark, ...] = ()
    apart: ClassVar[bool] = True

    @property
    def law(self) -> str:
        return f"lattice-{self.noise.name}"

    @property
    def discloses(self) -> tuple[str, ...]:
        return tuple(map(str, self.spec.keep))


@dataclass(frozen=True)
class OfBlocks:
    """What a task has to know of it."""

    kept: Kept
    odds: Fraction


def narrowed(spec: KeepSums) -> KeepSums:
    """Of nested sums the finest alone: it has the others in it, so that these are kept exactly, too."""
    if not spec.keep or not all(isinstance(one, (Total, Margin)) for one in spec.keep):
        return spec
    sets = sorted(((_columns(one), one) for one in spec.keep), key=lambda both: len(both[0]))
    nested = all(one <= other for (one, _), (other, _) in pairwise(sets))
    return replace(spec, keep=(sets[-1][1],)) if nested else spec


def _columns(kept: Kept) -> frozenset[str]:
    return frozenset(kept.columns if isinstance(kept, Margin) else ())


def by(spec: KeepSums) -> Kept:
    """What is kept, if it can be in parts."""
    asked = "sums were to be kept in parts"
    if len(spec.keep) != 1 or not isinstance(spec.keep[0], (Total, Margin)):
        raise BadInput(asked, "these sums may overlap in rows of different parts", WHAT_GOES)
    if spec.law not in (None, "l1"):
        raise BadInput(f"{asked} with the law {spec.law}", "only l1 noise is dealt out to parts", WHAT_GOES)
    if spec.nonnegative or spec.inequalities:
        found = "counts without negative ones, or within inequalities, need all rows of a block at once"
        raise BadInput(asked, found, "Allow negative counts, or release in one piece")
    return spec.keep[0]


WIDEST = 100_000  # noise that is dealt out to parts in some seconds, a unit at a time


def numbered(kept: Kept, categories: Any, rows: int) -> tuple[Integers, tuple[str, ...]]:
    """Of each row the number of its block, and the names of the blocks."""
    columns = kept.columns if isinstance(kept, Margin) else ()
    found = invariant_matrix([kept], key_columns(categories, columns), rows)
    return found.matrix.tocsc().indices.astype(np.int64), found.labels


def plan(schema: Schema, loss: Loss, spec: KeepSums, blocks: PartBlocks) -> BlocksPlan:
    """As for one table, which needs to know of the rows only that every block has two or more."""
    kept, sizes = by(spec), blocks.whole
    number = len(sizes)
    alone = np.flatnonzero(sizes == 1)
    labels = blocks.labels
    if len(alone) == number:
        raise Infeasible("sums were to be kept", "they determine every single cell", "Keep less")
    if len(alone):
        some = ", ".join(labels[place] for place in alone[:NAMED].tolist())
        found = f"{len(alone)} of them are sums of a single row ({some}), which would be published exactly"
        raise BadInput("sums were to be kept in parts", found, "Keep a coarser margin")
    lattice = lattice_sampler(
        two_rows_each((kept,), labels), loss, law=spec.law, per_unit=spec.per_unit, contributions=schema.contributions
    )
    if lattice.law.odds is None:
        raise BadInput("sums were to be kept in parts", f"{lattice.law.name} noise was asked for", WHAT_GOES)
    if lattice.law.odds - 1 < Fraction(1, WIDEST):
        found = f"noise wider than {WIDEST:,} cannot be dealt out to them"
        raise BadInput("sums were to be kept in parts", found, "Spend more, or release in one piece")
    promise = replace(lattice.guarantee, remarks=(ROWS_ARE_PUBLIC, *lattice.guarantee.remarks))
    return BlocksPlan(spec, schema.rows, promise, lattice.law, lattice.sampler, labels, blocks)


def dealt(plan: BlocksPlan, bits: Bits) -> list[bytes]:
    """For each part, what its pieces of blocks get."""
    assert plan.noise.odds is not None
    pieces = np.concatenate(plan.blocks.pieces)
    order = np.argsort(pieces, kind="stable")
    found = deal(plan.noise.odds, pieces[order], np.concatenate(plan.blocks.sizes)[order], bits)
    plus, minus = np.empty_like(found.plus), np.empty_like(found.minus)
    plus[order], minus[order] = found.plus, found.minus
    ends = np.cumsum([len(one) for one in plan.blocks.pieces])[:-1]
    both = zip(np.split(plus, ends), np.split(minus, ends))
    return [np.concatenate([more, less]).astype("<i8").tobytes() for more, less in both]


def for_tasks(plan: BlocksPlan) -> OfBlocks:
    assert plan.noise.odds is not None
    return OfBlocks(plan.spec.keep[0], plan.noise.odds)


def draw(plan: OfBlocks, table: Table[Any], bits: Bits, given: bytes) -> Integers:
    """Noise that adds up, in every block of this part, to what was dealt to it."""
    block = numbered(plan.kept, table.schema.categories, len(table.counts))[0]
    sizes = np.bincount(block)
    plus, minus = np.frombuffer(given, dtype="<i8").astype(np.int64).reshape(2, -1)
    noise = np.empty(len(table.counts), dtype=np.int64)
    noise[np.argsort(block, kind="stable")] = noise_of(Dealt(plus, minus), sizes, bits)
    return table.counts + noise


def publish(plan: BlocksPlan, drawn: DrawnInParts) -> Published[KeptSums]:
    assert drawn.sums is not None and drawn.rows_of is not None
    fixed = drawn.rows_of(np.flatnonzero(drawn.sums == 0)) + 1  # no count is negative: a sum of zero fixes its rows
    free = plan.rows - len(plan.labels)
    kept = InvariantFacts(plan.spec.keep, plan.labels, drawn.sums, NO_ROWS, fixed, free)
    return Published(NO_ROWS, None, plan.guarantee, KeptSums(described(plan.noise, plan.sampler), kept))


def counts(facts: KeptSums, rows: Integers, seen: SeenValues, before: Integers) -> Integers:
    return rows


def replay(publication: Publication[KeptSums]) -> list[str]:
    """What can be told without the rows."""
    record = publication.record
    found, mechanism = record.facts.invariants, record.facts.mechanism
    single = len(found.kept) == 1 and isinstance(found.kept[0], (Total, Margin))
    if not single or mechanism.nonnegative or mechanism.inequalities is not None or mechanism.law != "l1":
        return ["What is kept cannot be kept in parts."]
    if len(found.sums) != len(found.labels) or len(set(found.labels)) != len(found.labels):
        return ["There are not as many kept sums as names."]
    if len(found.determined) or found.dimensions != record.schema.rows - len(found.labels):
        return ["What is kept leaves another number of directions free than is said."]
    if publication.measured is not None:
        return ["The release has measurements, but its counts are all there is to measure."]
    total = sum(int(v) * int(n) for v, n in zip(publication.counted.values, publication.counted.numbers))
    return [] if total == sum(found.sums.tolist()) else ["The table does not have the kept sums."]


def replay_part(part: Publication[KeptSums], whole: Publication[KeptSums], before: Integers) -> list[str]:
    return []


class GatheredSums:
    """The sums of all parts, added up while they are read."""

    def __init__(self, record: ReleaseRecord[KeptSums]) -> None:
        self.facts = record.facts.invariants
        self.place = {label: number for number, label in enumerate(self.facts.labels)}
        self.sums, self.sizes = (np.zeros(len(self.place), dtype=np.int64) for _ in range(2))
        self.fixed: list[Integers] = []
        self.rows, self.unknown = 0, False

    def add(self, part: Publication[KeptSums]) -> None:
        block, labels = numbered(self.facts.kept[0], part.categories, len(part.counts))
        if not all(label in self.place for label in labels):
            self.unknown = True
            return
        own = np.array([self.place[label] for label in labels], dtype=np.int64)
        np.add.at(self.sums, own[block], part.counts)
        self.sizes += np.bincount(own[block], minlength=len(self.sizes))
        self.fixed.append(np.flatnonzero(self.facts.sums[own[block]] == 0) + self.rows + 1)
        self.rows += len(part.counts)

    def problems(self) -> list[str]:
        if self.unknown or (self.sizes < 2).any():
            return ["The names of the kept sums do not follow from what is kept, or one is of a single row."]
        wrong = np.flatnonzero(self.sums != self.facts.sums)
        if len(wrong):
            return [f"The table does not have the kept sum {self.facts.labels[int(wrong[0])]}."]
        fixed: Sequence[Integers] = self.fixed or [NO_ROWS]
        same = np.array_equal(np.concatenate(fixed), self.facts.fixed)
        return [] if same else ["The rows that kept sums fix, with no negative count, are not those listed."]


IN_PARTS: InParts[Any, KeptSums] = InParts(
    lambda plan: None, lambda plan: None, lambda plan: False, draw, publish, counts, replay, replay_part,
    narrowed=narrowed, by=by, numbered=numbered, plan=plan, dealt=dealt, for_tasks=for_tasks, gathered=GatheredSums,
)  # fmt: skip
