"""Who the neighbours are where sums are kept: the smallest change that survives, and what must be said about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from discreet.errors import Infeasible
from discreet.lattice.basis import exchange, shortest
from discreet.lattice.conditioning import Bound, bound_for
from discreet.lattice.gaps import has_swap
from discreet.lattice.inequalities import Inequalities
from discreet.lattice.invariants import Invariants
from discreet.lattice.laws import LatticeLaw, Terms
from discreet.lattice.structure import Part, Structure
from discreet.privacy.values import ONE_PERSON, Approximate, Change, Grade, Loss, Neighbours, Remark

SHOWN = 5  # names that fit into a sentence; the record holds all of them
CONDITIONED: dict[Bound, Remark] = {
    "stepwise": Remark("conditioned-stepwise"),
    "shifted": Remark("conditioned-shifted"),
    "doubled": Remark("conditioned-doubled"),
}
FREE_ROW = Change("free-row")
MOVED = Change("moved", distance=2, square=2, more=1, fewer=1, rows=2)
REARRANGED = Change("rearranged", distance=2, square=2, more=1, fewer=1, rows=2)
SWAPPED = Change("swapped", distance=4, square=4, more=2, fewer=2, rows=4)
# a slice that changes is a two-way table, so at least a swap; and what it gains the others lose
CORNERS = Change("smallest", distance=8, square=8, more=4, fewer=4, rows=8)


# of sums that all cells are in equally many of: no change is odd, and one of two would need equal columns
EXCHANGED = Change("smallest", distance=4, square=4, more=2, fewer=2, rows=4)


def protected_change(structure: Structure, contributions: int = 1) -> Change:
    """The largest change that one person can make and that survives what is kept: moved inside a sum, or more or less
    in a row of none. Where no such change survives, the smallest that does. Refused when nothing can change at all.

    One who is counted several times may exchange places with oneself: a change of two units for every count.
    """
    if structure.nothing_free:
        raise Infeasible(
            "sums were to be kept",
            "they determine every single cell: the whole table would be published exactly",
            "Keep less",
            determined=structure.determined.tolist(),
        )
    if any(np.any(part.sizes > 1) for part in structure.alike):
        return MOVED
    if not structure.alike:
        return ONE_PERSON
    if len(structure.untouched):
        return REARRANGED if contributions > 1 and any(part.shape.free for part in structure.alike) else FREE_ROW
    return min((_smallest(part) for part in structure.alike if part.shape.free), key=lambda change: change.distance)


def _smallest(part: Part) -> Change:
    if part.shape.grid is not None:
        return SWAPPED
    if part.shape.box is not None:
        return CORNERS
    if has_swap(part.shape.places) if part.shape.places is not None else exchange(part.shape.full) is not None:
        return EXCHANGED
    vector, proved = shortest(part.shape.kernel, part.shape.dense)
    return Change(
        "smallest",
        distance=int(np.abs(vector).sum()),
        square=int(vector @ vector),
        more=int(vector[vector > 0].sum()),
        fewer=int(-vector[vector < 0].sum()),
        rows=int(np.count_nonzero(vector)),
        proved=proved,
    )


def terms_of(
    structure: Structure, law: str, people: int, per_unit: bool, nonnegative: bool, limits: Inequalities | None = None
) -> Terms:
    """What the noise must pay for, and by which proof, where it is conditioned on inequalities."""
    change = protected_change(structure, people)
    if not nonnegative and limits is None:
        return Terms(change, people, per_unit)
    bound = bound_for(structure, limits, change.distance, people, per_unit) if law == "l1" else "doubled"
    return Terms(change, people, per_unit, bound)


def neighbours(law: LatticeLaw, terms: Terms) -> Neighbours:
    """The unit of the promise, with the price of one unit of distance."""
    return Neighbours(terms.change, law.price(terms), terms.contributions, law.norm, terms.per_unit)


def grade_of(law: LatticeLaw, loss: Loss) -> Grade:
    """A conversion from rho to epsilon and delta rests on enclosures of logarithms; all else is exact."""
    return "enclosed" if law.variance is not None and isinstance(loss, Approximate) else "exact"


def remarks(
    law: LatticeLaw, terms: Terms, structure: Structure, invariants: Invariants, projected: bool = False
) -> tuple[Remark, ...]:
    """What the promise does not say by itself."""
    said = kept_remarks(law.name, terms, structure, invariants)
    if terms.bound is not None:
        return (*said, CONDITIONED[terms.bound])
    return (*said, Remark("no-negative-counts" if projected else "counts-may-be-negative"))


def kept_remarks(law: str, terms: Terms, structure: Structure, invariants: Invariants) -> tuple[Remark, ...]:
    """The same of what is kept alone, whatever becomes of negative counts."""
    kept = (_kept(invariants),) if invariants.kept else ()
    said = (*_scaling(law, terms, structure), *kept, *_given_away(structure))
    return (*said, Remark("neighbourhood-destroyed")) if _destroyed(terms) else said


def _scaling(law: str, terms: Terms, structure: Structure) -> Iterator[Remark]:
    """What other changes cost than the one that the promise is about."""
    if terms.per_unit:
        yield Remark.of("whole-change-costs", law=law)
    elif terms.bound == "shifted":
        yield Remark("larger-changes-cost-by-the-unit")
    else:
        yield Remark.of("larger-changes-cost-more", law=law)
    if terms.change.distance == 2 and len(structure.untouched) and not terms.per_unit:
        yield Remark.of("a-free-row-costs-less", law=law)
    if terms.change is FREE_ROW and len(structure.untouched) > 1:
        yield Remark.of("a-move-costs-more", law=law)
    if terms.change.one_person and terms.contributions == 1 and (rows := _exchanged(structure)):
        yield Remark.of("only-exchanges", rows=rows)


def _destroyed(terms: Terms) -> bool:
    """Whether no change of one person survives: a change of length d needs a person who is counted d/2 times."""
    change = terms.change
    if change.one_person:
        return False
    return terms.contributions == 1 or (change.proved and 2 * terms.contributions < change.distance)


def _exchanged(structure: Structure) -> int:
    """How many rows can change, though not by one person alone."""
    joint = [part for part in structure.alike if part.shape.free and not np.any(part.sizes > 1)]
    return sum(len(part.classes) - len(part.determined) for part in joint)


def _given_away(structure: Structure) -> Iterator[Remark]:
    """Rows, counted from 1, that what is kept determines, or determines up to a multiple."""
    determined, residues = structure.determined, structure.residues
    if len(determined):
        shown = determined[: 2 * SHOWN] + 1
        more = len(determined) - len(shown)
        yield Remark.of("determined", rows=len(determined), first=_listed(shown), more=more)
    if residues:
        first = _listed([f"{cell + 1} modulo {modulus}" for cell, modulus in residues[:SHOWN]])
        yield Remark.of("residues", rows=len(residues), first=first, more=max(0, len(residues) - SHOWN))


def _kept(invariants: Invariants) -> Remark:
    shown = invariants.kept[:SHOWN]
    more = len(invariants.kept) - len(shown)
    return Remark.of("sums-are-kept", sums=len(invariants.labels), first=_listed(shown), more=more)


def _listed(items: Sequence[object] | np.ndarray) -> str:
    return ", ".join(str(item) for item in items)
