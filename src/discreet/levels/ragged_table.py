"""One table of non-negative whole numbers where rows are missing: totals of the nodes from the top down, then rows.

Every row is in one leaf, so that totals of nodes can always be met; where sums by attributes are kept, every row is in
one of these, and they are met in place of the leaves' totals. The rows are first as spread out as the
published margins allow (proportional fitting), then drawn towards their own estimates as far as these are to be heard,
fitted to the margins again, and rounded with an eye on them. As everywhere, only whole numbers are added up (`fixed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers, Words
from discreet.errors import BadInput
from discreet.lattice.blocks import nearest_in_blocks
from discreet.levels.design import Question
from discreet.levels.feedback import whole_watching
from discreet.levels.fixed import FINE, LARGEST_TOTAL, counts_of, in_fine
from discreet.levels.ragged import RaggedDesign
from discreet.levels.rounding import largest_remainders, whole_in_blocks
from discreet.levels.shrink import posterior
from discreet.public_map import public_words

SHARP = np.float64(1 << 20)  # tables are fitted to margins in multiples of 1/SHARP
FARTHEST = np.float64(1 << 42)  # rows together, to begin with: sums of their multiples of 1/SHARP stay in range
SWEEPS = 50  # of proportional fitting, at most
CLOSE = SHARP / 64  # what the margins may be off
SLOWEST = 0.9  # margins that do not fit together stay off: another sweep must gain a tenth


@dataclass(frozen=True, eq=False)
class RaggedTold:
    """What is public when the table is made."""

    design: RaggedDesign
    estimates: Mapping[Question, Integers]
    deviations: Mapping[Question, Integers]
    kept: Mapping[Question, Integers]
    seed: str

    def words(self, purpose: str, size: int) -> Words:
        return public_words(self.seed, purpose, size)

    def summed(self, question: Question, among: Mapping[Question, Integers]) -> Integers | None:
        """The answers to a question, from those to the coarsest one that gives them."""
        giving = [one for one in among if one.gives(question)]
        if not giving:
            return None
        source = min(giving, key=lambda one: (self.design.entries(one), one))
        groups = self.design.groups(source)
        each = np.zeros(len(groups.of), dtype=np.int64)
        each[groups.order[groups.starts]] = among[source].reshape(-1)
        sums: Integers = self.design.answer(each, question)
        return sums

    def estimate(self, question: Question) -> Integers:
        found = self.summed(question, self.estimates)
        if found is None:
            raise BadInput("a table was to be made of estimates", f"nothing that was measured gives {question}")
        return found


def require_one_kept(kept: Sequence[Question], missing: str) -> None:
    """Refuse kept sums that cross each other: whole numbers may not be able to have them all. Nothing is spent yet."""
    if kept and _finest(kept) is None:
        raise BadInput(
            "sums that cross each other were to be kept beside measured margins",
            f"{missing}, and then only one margin can be kept, and what follows from it",
            "Keep one that gives the others, give a universe with all rows (missing ones are zero), or measure them",
        )


def _finest(kept: Iterable[Question]) -> Question | None:
    """The question that gives all."""
    every = tuple(kept)
    return next((one for one in every if all(one.gives(other) for other in every)), None)


def whole_rows(published: RaggedTold) -> Integers:
    """The rows: non-negative, with every kept sum, near to the estimates at every level."""
    design, totals = published.design, _totals(published)
    known = {Question(level): one * FINE for level, one in enumerate(totals)}
    kept = _finest(published.kept)
    held = kept if kept is not None and kept.attributes else Question(design.last)
    sums = known[held] if held in known else published.kept[held].reshape(-1) * FINE
    known[held] = sums
    for question in sorted(published.estimates, key=lambda one: (one.level + len(one.attributes), one)):
        if question != design.cells and not any(one.gives(question) for one in (held, Question(question.level))):
            rows = _fitted(published, question, known)
            sizes, words = _children(design.groups(question).node), published.words(f"{question}", len(rows))
            known[question] = nearest_in_blocks(rows, sizes, known[Question(question.level)], words)
    return _rounded(published, _fitted(published, design.cells, known), held, known)


def _rounded(published: RaggedTold, fine: Integers, held: Question, known: Mapping[Question, Integers]) -> Integers:
    """Whole rows with the sums that are held, with an eye on all others."""
    design, words = published.design, published.words("rows", len(fine))
    order, sizes, sums = design.groups(held).order, design.groups(held).sizes, known[held]
    fine[order] = nearest_in_blocks(fine[order], sizes, sums, words)
    whole, watched = np.empty_like(fine), {q: one for q, one in known.items() if not held.gives(q)}
    if watched:
        entries, off = _watched(design, fine, watched)
        whole[order] = whole_watching(fine[order], sizes, entries[order], off)
    else:
        whole[order] = largest_remainders(fine[order], sizes, sums // FINE, words)
    return whole


def _children(parents: Integers) -> Integers:
    """How many stand below each node, where all of one node stand next to each other."""
    return np.diff(np.append(np.flatnonzero(np.diff(parents, prepend=-1)), len(parents)))


def _totals(published: RaggedTold) -> list[Integers]:
    """Of the nodes, level by level: as kept, or near to the estimates, adding up to the level above."""
    design, found = published.design, []
    for level in range(design.last + 1):
        kept = published.summed(Question(level), published.kept)
        fine = in_fine(counts_of(published.estimate(Question(level))))
        if kept is not None:
            found.append(kept)
        elif not level:
            found.append(np.maximum((2 * fine + FINE) // (2 * FINE), 0))
        else:
            sizes = _children(design.parents[level])
            found.append(whole_in_blocks(fine, sizes, found[-1], published.words(f"nodes {level}", len(fine))))
        if int(found[-1].sum()) > LARGEST_TOTAL:
            raise BadInput("a table was to be made of estimates", f"it counts more than {LARGEST_TOTAL:,}")
    return found


def _fitted(published: RaggedTold, question: Question, known: Mapping[Question, Integers]) -> Integers:
    """A question's entries in multiples of 1/FINE, near to their estimates, and to the sums of coarser ones.

    They are first as spread out as these sums allow, then drawn towards what was estimated, and fitted again.
    """
    design = published.design
    groups, sums = design.groups(question), []
    first = groups.order[groups.starts]
    for one, wanted in reversed(tuple(known.items())):
        if one.gives(question) or not question.gives(one):
            continue
        sums.append((design.groups(one).of[first], wanted))
    prior = raked(groups.sizes.astype(np.float64), sums)
    estimate, noise = (counts_of(one[question].reshape(-1)) for one in (published.estimates, published.deviations))
    near, _ = posterior(estimate, noise * noise, prior)
    return in_fine(raked(np.maximum(near, 0.0), sums))


def raked(start: Floats, sums: Sequence[tuple[Integers, Integers]]) -> Floats:
    """The start times a factor for every sum, so that it has these sums, or nearly, where they do not fit together.

    A sum is told as the place that each entry counts for, and the multiples of 1/FINE that each place should have.
    """
    sharp, before = np.rint(np.minimum(start, FARTHEST / len(start)) * SHARP), np.float64(np.inf)
    for _ in range(SWEEPS):
        worst = np.float64(0.0)
        for place, wanted in sums:
            aim, found = wanted * (SHARP / FINE), np.zeros(len(wanted), dtype=np.int64)
            np.add.at(found, place, sharp.astype(np.int64))
            worst = np.maximum(worst, np.abs(found - aim).max())
            factor = np.divide(aim, found, out=np.zeros_like(aim), where=found > 0)
            sharp = np.rint(sharp * factor[place])
        if worst < CLOSE or worst > SLOWEST * before:
            break
        before = worst
    rows: Floats = sharp / SHARP
    return rows


def _watched(design: RaggedDesign, fine: Integers, margins: Mapping[Question, Integers]) -> tuple[Integers, Integers]:
    """For each row the margins that it counts for, and how far these are from what they should be."""
    entries, off, before = [], [], 0
    for question, wanted in margins.items():
        entries.append(design.groups(question).of + before)
        off.append(design.answer(fine, question) - wanted)
        before += len(wanted)
    return np.stack(entries, axis=1), np.concatenate(off)
