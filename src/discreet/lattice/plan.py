"""A plan for noise that keeps sums: made from public values alone, then drawn as often as needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput, NotProven, called
from discreet.lattice.block_chain import have_met
from discreet.lattice.conditioning import Bound
from discreet.lattice.inequalities import Inequalities, inequalities_of
from discreet.lattice.invariants import Invariants, Kept, Keys, invariant_matrix
from discreet.lattice.laws import LatticeGaussian, LatticeLaw, Terms, calibrated, width_of
from discreet.lattice.neighbours import SHOWN, grade_of, neighbours, remarks, terms_of
from discreet.lattice.orders import limits_list, together
from discreet.lattice.redrawing import Redrawing
from discreet.lattice.sampler import LARGEST_BASIS, WIDEST_DRAWN, Piece, in_order, pieces_for, sampler_names
from discreet.lattice.structure import Part, Structure, structure_of
from discreet.laws.law import WIDEST, require_width
from discreet.numbers import Epsilon, Number, decimal_above, exact, positive, text, whole
from discreet.privacy import Approximate, Change, Concentrated, Guarantee, Loss, Remark, loss_of, whole_price
from discreet.privacy.values import noise_meant
from discreet.sample.bits import Bits, seeded

if TYPE_CHECKING:
    from discreet.lattice.room import Conflict

MOST_L2 = 8  # rows that one draw of l2 noise must leave without a negative count
MOST_MET = 8  # dimensions up to which coupled chains met in seconds, whatever is kept
RUNS = 1000  # couplings that a diagnosed grade rests on: they cannot show a distance below 1/1000


def by_number(row: int) -> str:
    return f"row {row + 1}"


@dataclass(frozen=True, eq=False)
class LatticePlan:
    """Everything public about the noise: what is kept, its law, the samplers, the promise."""

    invariants: Invariants
    structure: Structure
    law: LatticeLaw
    pieces: tuple[Piece, ...]
    guarantee: Guarantee
    nonnegative: bool = False
    inequalities: Inequalities | None = None
    bound: Bound | None = None  # of what conditioning costs
    named: Callable[[int], str] = by_number  # a row, in words

    @property
    def change(self) -> Change:
        """The smallest change that survives what is kept."""
        return self.guarantee.unit.change

    @property
    def restricted(self) -> bool:
        """Whether the noise is conditioned on inequalities."""
        return self.nonnegative or self.inequalities is not None

    @property
    def grade(self) -> str:
        return self.guarantee.grade

    @property
    def sampler(self) -> str:
        """The names of the samplers at work."""
        return sampler_names(self.pieces)

    @property
    def determined(self) -> Integers:
        """Rows that what is kept pins down."""
        return self.structure.determined

    @property
    def discloses(self) -> tuple[str, ...]:
        """What is published exactly, in words."""
        return tuple(str(item) for item in self.invariants.kept)

    def draw(self, bits: Bits, counts: Integers | None = None) -> Integers:
        """Noise of every cell. The counts are needed, and read, only under inequalities."""
        noise: Integers = self.draws(1, bits, counts)[0]
        return noise

    def draws(self, number: int, bits: Bits, counts: Integers | None = None) -> Integers:
        """Independent noise, a row per draw."""
        if not self.restricted:
            return self._draws(number, bits, None)
        table = self._checked(counts)
        if self.inequalities is None and self.law.odds is not None:
            return self._draws(number, bits, table)
        within = table if self.nonnegative and self.law.odds is not None else None
        return self._redrawing.draws(number, bits, table, within)

    def _draws(self, number: int, bits: Bits, counts: Integers | None) -> Integers:
        if len(self.pieces) == 1 and len(self.pieces[0].cells) == self.invariants.cells:
            cells = self.pieces[0].cells
            return in_order(self.pieces[0].draw(number, bits, None if counts is None else counts[cells]), cells)
        out = np.zeros((number, self.invariants.cells), dtype=np.int64)
        for piece in self.pieces:
            out[:, piece.cells] = piece.draw(number, bits, None if counts is None else counts[piece.cells])
        return out

    @cached_property
    def _redrawing(self) -> Redrawing:
        return Redrawing(self.structure, self.pieces, self.law, self.inequalities, self.nonnegative)

    def _allowed(self, table: Integers) -> bool:
        if self.nonnegative and np.any(table < 0):
            return False
        return self.inequalities is None or self.inequalities.hold(table)

    def check(self, counts: Integers) -> None:
        """Refuse a table that violates the inequalities it is to be conditioned on."""
        if self.restricted:
            self._checked(counts)

    def _checked(self, counts: Integers | None) -> Integers:
        if counts is None:
            raise BadInput(
                "noise under inequalities was asked for", "its law depends on the counts, which were not given"
            )
        table = np.asarray(counts, dtype=np.int64)
        if len(table) != self.invariants.cells:
            raise BadInput(
                "noise for a table was asked for", f"{len(table)} counts for {self.invariants.cells} rows were given"
            )
        if not self._allowed(table):
            found = self._contradiction(table) or self._violated(table)
            raise BadInput("noise under inequalities was asked for", found, "Drop the inequality, or mend the table")
        return table

    def _contradiction(self, table: Integers) -> str | None:
        """Inequalities that no table with the same kept sums meets, if there are such."""
        from discreet.lattice.room import conflict

        if self.inequalities is None or not len(self.invariants.labels):
            return None
        kept = self.invariants.matrix, self.invariants.sums(table)
        found = conflict(self.inequalities, self.nonnegative, kept)
        if found is None or not found.strict:
            return None
        return f"no table with these kept sums meets them: {told(self.inequalities, found, self.named)}"

    def _violated(self, table: Integers) -> str:
        """Which inequality the table does not meet."""
        if self.inequalities is None or self.inequalities.hold(table):
            first = self.named(int(np.flatnonzero(table < 0)[0]))
            return f"the table itself violates them: the count of {first} is negative"
        first = self.inequalities.told(int(self.inequalities.violated(table)[0]), self.named)
        return f"the table itself violates them: {first} does not hold"

    def release(self, counts: Integers, bits: Bits) -> Integers:
        """The table with noise: every kept sum is the same, to the unit."""
        table = np.asarray(counts, dtype=np.int64)
        published = table + self.draw(bits, table if self.restricted else None)
        if not np.array_equal(self.invariants.sums(published), self.invariants.sums(table)):
            raise ArithmeticError("the noise changed a kept sum")
        return published


def lattice_sampler(
    invariants: Invariants,
    epsilon: Number | Epsilon | Loss | None = None,
    *,
    alpha: Number | None = None,
    rho: Number | None = None,
    delta: Number = 0,
    sigma: Number | None = None,
    law: str | None = None,
    nonnegative: bool = False,
    inequalities: Inequalities | tuple[Any, Any] | None = None,
    per_unit: bool = False,
    contributions: int = 1,
    allow_diagnosed: bool = False,
    projected: bool = False,
    named: Callable[[int], str] = by_number,
) -> LatticePlan:
    """The best sampler we know for noise that keeps these sums, with what it promises.

    epsilon bounds the log-likelihood ratio for the smallest change that survives what is kept (or, `per_unit`, for
    every unit of distance). Nothing but public values is looked at. `nonnegative` conditions the noise on no negative
    count; `projected` says that negative counts will be mended afterwards, in public.
    """
    limits = None if inequalities is None else inequalities_of(inequalities).check(invariants.cells)
    structure = structure_of(invariants)
    people = whole(contributions, "contributions", 1)
    name, asked = _asked(law, sigma, epsilon, alpha=alpha, rho=rho, delta=delta)
    terms = terms_of(structure, name, people, per_unit, nonnegative, limits)
    chosen, loss = _law(name, asked, terms)
    if limits is not None:
        _require_room(limits, nonnegative, named)
    if nonnegative and chosen.rate is not None and invariants.cells > MOST_L2:
        found = f"no count of {invariants.cells} may be negative in a draw of all of them, and few draws are such"
        raise BadInput(
            "l2 noise under inequalities was asked for", found, f"Use law l1, or {called('nonnegative_by', 'project')}"
        )
    pieces = pieces_for(structure, chosen, nonnegative and chosen.odds is not None)
    _require_width(chosen, pieces, structure, terms.restricted)
    said = remarks(chosen, terms, structure, invariants, projected)
    promise = Guarantee(loss, neighbours(chosen, terms), grade_of(chosen, loss), remarks=said)
    graded = _graded(promise, structure, chosen, pieces, allow_diagnosed, terms.restricted)
    plan = LatticePlan(invariants, structure, chosen, pieces, graded, nonnegative, limits, terms.bound, named)
    _require_often(plan)
    return plan


def _require_room(limits: Inequalities, nonnegative: bool, named: Callable[[int], str]) -> None:
    """Refuse inequalities that contradict each other, or hold only as equalities."""
    from discreet.lattice.room import conflict

    if (found := conflict(limits, nonnegative)) is not None and found.strict:
        raise BadInput(
            "inequalities were asked for",
            f"they contradict each other, so that no table meets them: {told(limits, found, named)}",
            "Drop one of them",
        )
    if found is not None:
        raise BadInput(
            "inequalities were asked for",
            f"they can hold only as equalities, which would be published exactly: {told(limits, found, named)}",
            "Drop one of them, or leave room between them",
        )
    if len(pinned := limits.pinned()):
        found_row = f"they leave {named(int(pinned[0]))} no more than one value, which would be published exactly"
        raise BadInput(
            "inequalities were asked for", found_row, "Use bounds that are public, and leave room between them"
        )


def told(limits: Inequalities, found: Conflict, named: Callable[[int], str]) -> str:
    """The inequalities of a proof, in names."""
    shown = [limits.told(one, named) for one in found.inequalities[:SHOWN]]
    more = ["..."] if len(found.inequalities) > SHOWN else []
    return "; ".join([*shown, *more, *(["no count is negative"] if found.counts else [])])


def _require_often(plan: LatticePlan) -> None:
    """Refuse what a draw meets too rarely: inequalities that kept sums tie together, or, in l2 noise, no count below
    zero."""
    walked = plan.nonnegative and plan.law.rate is not None
    if plan.inequalities is None and not walked:
        return
    found = plan._redrawing.rarely_met(seeded(0))
    if found is not None:
        tied, rarest = found
        raise BadInput(
            f"{'l2 noise under ' if walked else ''}inequalities {'was' if walked else 'were'} asked for",
            f"{tied} of them are tied together, and fewer than one draw in {rarest:,} may meet them all",
            f"Use law l1, or {called('nonnegative_by', 'project')}"
            if walked
            else "Ask for fewer inequalities about the same rows, or keep no sums over them, or only sums within each "
            "area",
        )


def _require_width(law: LatticeLaw, pieces: tuple[Piece, ...], structure: Structure, restricted: bool) -> None:
    """Refuse noise that the samplers at work would be at for hours, while nothing is spent."""
    width = width_of(law)
    do = "Spend more" + (", or use law gaussian (with rho)" if law.name == "l1" and walks(structure) else "")
    do = "Spend more" if restricted else do
    for name in dict.fromkeys(piece.name for piece in pieces):
        widest = WIDEST_DRAWN.get((name, law.name), WIDEST)
        require_width(width, widest, f"{law.name} noise on a lattice (sampler {name})", do)


def _asked(
    name: str | None, sigma: Number | None, epsilon: Number | Epsilon | Loss | None, **privacy: Any
) -> tuple[str, Loss | LatticeGaussian]:
    """The name of the law, and what may be lost; or the law itself: `sigma` gives its width, as papers do."""
    if sigma is None:
        loss = loss_of(epsilon, **privacy)
        return noise_meant(loss, name, "l1", "gaussian"), loss
    if name != "gaussian" or epsilon is not None or any(privacy.values()):
        found = "it is the width of Gaussian noise and stands in the place of epsilon and rho"
        raise BadInput("sigma was asked for", found, "Give law gaussian and sigma alone")
    return name, LatticeGaussian(positive(sigma, "sigma") ** 2)


def _law(name: str, asked: Loss | LatticeGaussian, terms: Terms) -> tuple[LatticeLaw, Loss]:
    """The noise, and what it promises."""
    if isinstance(asked, LatticeGaussian):
        return asked, Concentrated(asked.rho(terms))
    return calibrated(name, asked, terms), asked


def plan_lattice(
    key_columns: Keys,
    keep: Iterable[Kept | str],
    epsilon: Number | Epsilon | Loss | None = None,
    *,
    rows: int | None = None,
    **options: Any,
) -> LatticePlan:
    """`lattice_sampler` for a table in long form with these public key columns; inequalities may be said in words."""
    limits = limits_list(options.pop("inequalities", None))
    invariants = invariant_matrix(keep, key_columns, rows, some=not limits)
    if limits:
        options |= {
            "inequalities": together(limits, key_columns, invariants.cells),
            "named": lambda row: f"({', '.join(f'{name}={column[row]}' for name, column in key_columns.items())})",
        }
    return lattice_sampler(invariants, epsilon, **options)


EXACT = "law l1 and keep two margins at most, or sums that are nested or disjoint: these are exact, also in wide tables"
FEWER = "law l1 and keep one margin alone, or sums that are nested or disjoint: these are exact, also in wide tables"
PERHAPS = f"law l1; if that is refused, too, {FEWER}"


def walks(structure: Structure) -> bool:
    """Whether sums overlap, and Gaussian noise has a walk on all that do: on whole tables and small lattices."""
    overlapping = [part for part in structure.alike if part.shape.free]
    known = (part.shape.single and part.shape.whole is not None for part in overlapping)
    return bool(overlapping) and all(
        one or part.shape.dimensions <= LARGEST_BASIS for one, part in zip(known, overlapping)
    )


def _advice(structure: Structure, law: LatticeLaw, restricted: bool = False) -> str:
    """What does work; small chains have met."""
    if restricted:
        return f"{_advice(structure, law)}, with {called('nonnegative_by', 'project')} or negative counts"
    met = all(_meets(part, law) for part in structure.alike if part.shape.free)
    use = "law gaussian (with rho)" if walks(structure) else _exact_instead(structure, law)
    return f"Use {use}{', or allow diagnosed samples' if met else ''}"


def _exact_instead(structure: Structure, law: LatticeLaw) -> str:
    """Two margins are kept already where a two-way table lacks cells."""
    if any(part.shape.free and part.shape.places is not None for part in structure.alike):
        return FEWER if law.odds is not None else PERHAPS
    return EXACT


def _meets(part: Part, law: LatticeLaw) -> bool:
    """Whether coupled chains on such a part have met."""
    rate = 0.0 if law.odds is None else math.log(law.odds)
    return part.shape.dimensions <= MOST_MET or (part.shape.single and have_met(part.shape.whole, law.name, rate))


def _projects(structure: Structure, law: LatticeLaw) -> bool:
    """Whether the signed noise has an exact sampler, so that its table can be projected."""
    return all(piece.grade != "diagnosed" for piece in pieces_for(structure, law, False))


def _graded(
    promise: Guarantee,
    structure: Structure,
    law: LatticeLaw,
    pieces: tuple[Piece, ...],
    allow_diagnosed: bool,
    restricted: bool,
) -> Guarantee:
    """The promise with the grade of its weakest sampler; a chain's distance from its law is charged to delta."""
    chains = [piece for piece in pieces if piece.grade == "diagnosed"]
    if not chains:
        return promise
    price = whole_price(promise).epsilon
    if price is None or restricted:
        raise NotProven(
            "noise that keeps these sums was asked for",
            "no exact sampler is known for it, and a Markov chain's distance can be charged only to l1 noise without "
            "inequalities",
            _advice(structure, law, restricted)
            if not restricted or not _projects(structure, law)
            else f"Project instead ({called('nonnegative_by', 'project')}), or allow negative counts",
        )
    if not allow_diagnosed:
        raise NotProven(
            "noise that keeps these sums was asked for",
            "no exact sampler is known for this law on them, only a Markov chain whose distance from it is diagnosed",
            _advice(structure, law),
        )
    charge = _distance(chains, price)
    if promise.delta + charge >= 1:
        raise NotProven(
            "a diagnosed sample was asked for",
            f"{RUNS} runs leave a distance that, charged at epsilon = {price}, promises nothing",
            "Use law gaussian (with rho), or a smaller epsilon",
        )
    assert promise.epsilon is not None
    loss = Approximate(promise.epsilon, promise.delta + charge)
    said = (*promise.remarks, Remark.of("chain", delta=text(charge)))
    return replace(promise, loss=loss, grade="diagnosed", remarks=said)


def _distance(chains: list[Piece], price: Epsilon) -> Fraction:
    """What the chains' distance from their law costs in delta, by coupling; rounded up."""
    from discreet.lattice.coupling import diagnose

    charge = Fraction(0)
    for piece in chains:
        chain = piece.chain  # type: ignore[attr-defined]
        charge += exact(diagnose(chain, runs=RUNS, lag=chain.lag, seed=0).delta(float(price), chain.iterations))
    return exact(decimal_above(charge, 6))
