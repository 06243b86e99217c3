"""A plan for noise that keeps sums: made from public values alone, then drawn as often as needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput, NotProven, SolverFailed, choose
from discreet.guarantee import Guarantee
from discreet.lattice.guarantee import Asked, Change, Noise, calibrate, remarks, smallest_change, whole_price
from discreet.lattice.invariants import Invariants, Kept, Keys, invariant_matrix
from discreet.lattice.sampler import Piece, in_order, pieces_for
from discreet.lattice.structure import Structure, structure_of
from discreet.numbers import Epsilon, Number, decimal_above, epsilon_of, exact, positive, probability, text, whole
from discreet.sample.bits import Bits

LAWS = ("l1", "l2", "gaussian")
MOST_REDRAWS = 1_000_000
RUNS = 1000  # couplings that a diagnosed grade rests on


@dataclass(frozen=True, eq=False)
class Inequalities:
    """B y >= b for the published table y."""

    matrix: Integers
    least: Integers

    def as_json(self) -> dict[str, Any]:
        return {"matrix": self.matrix.tolist(), "least": self.least.tolist()}

    def hold(self, table: Integers) -> bool:
        return bool(np.all(self.matrix @ table >= self.least))


@dataclass(frozen=True, eq=False)
class LatticePlan:
    """Everything public about the noise: what is kept, its law, the samplers, the promise."""

    invariants: Invariants
    structure: Structure
    asked: Asked
    noise: Noise
    change: Change
    pieces: tuple[Piece, ...]
    guarantee: Guarantee
    remarks: tuple[str, ...]
    nonnegative: bool = False
    inequalities: Inequalities | None = None

    @property
    def grade(self) -> str:
        return self.guarantee.grade

    @property
    def sampler(self) -> str:
        """The names of the samplers at work."""
        return "+".join(dict.fromkeys(piece.name for piece in self.pieces))

    @property
    def determined(self) -> Integers:
        """Rows that what is kept pins down."""
        return self.structure.determined

    @property
    def discloses(self) -> tuple[str, ...]:
        """What is published exactly, in words."""
        return tuple(str(item) for item in self.invariants.kept)

    @property
    def mechanism(self) -> dict[str, Any]:
        """For a record: P(v) proportional to odds^-|v|, e^(-rate |v|) or e^(-|v|^2/(2 variance))."""
        numbers = {"odds": self.noise.odds, "rate": self.noise.rate, "variance": self.noise.variance}
        return {
            "name": f"lattice-{self.asked.law}",
            "law": self.asked.law,
            "sampler": self.sampler,
            "nonnegative": self.nonnegative,
            "inequalities": None if self.inequalities is None else self.inequalities.as_json(),
            "parameters": {name: text(number) for name, number in numbers.items() if number is not None},
        }

    def draw(self, bits: Bits, counts: Integers | None = None) -> Integers:
        """Noise of every cell. The counts are needed, and read, only under inequalities."""
        return self.draws(1, bits, counts)[0]

    def draws(self, number: int, bits: Bits, counts: Integers | None = None) -> Integers:
        """Independent noise, a row per draw."""
        if not self.asked.restricted:
            return self._draws(number, bits, None)
        table = self._checked(counts)
        if self.inequalities is None and self.asked.law == "l1":
            return self._draws(number, bits, table)
        return np.stack([self._redrawn(bits, table) for _ in range(number)])

    def _draws(self, number: int, bits: Bits, counts: Integers | None) -> Integers:
        if len(self.pieces) == 1 and len(self.pieces[0].cells) == self.invariants.cells:
            cells = self.pieces[0].cells
            return in_order(self.pieces[0].draw(number, bits, None if counts is None else counts[cells]), cells)
        out = np.zeros((number, self.invariants.cells), dtype=np.int64)
        for piece in self.pieces:
            out[:, piece.cells] = piece.draw(number, bits, None if counts is None else counts[piece.cells])
        return out

    def _redrawn(self, bits: Bits, table: Integers) -> Integers:
        """Drawn again until the inequalities hold: the law conditioned on them."""
        for _ in range(MOST_REDRAWS):
            noise = self._draws(1, bits, table if self.nonnegative and self.asked.law == "l1" else None)[0]
            if self._allowed(table + noise):
                return noise
        raise SolverFailed(
            "noise under inequalities was asked for",
            f"{MOST_REDRAWS:,} draws all violate them",
            "Ask for fewer inequalities",
        )

    def _allowed(self, table: Integers) -> bool:
        if self.nonnegative and np.any(table < 0):
            return False
        return self.inequalities is None or self.inequalities.hold(table)

    def check(self, counts: Integers) -> None:
        """Refuse a table that violates the inequalities it is to be conditioned on."""
        if self.asked.restricted:
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
            raise BadInput(
                "noise under inequalities was asked for", "the table itself violates them", "Drop the inequality"
            )
        return table

    def release(self, counts: Integers, bits: Bits) -> Integers:
        """The table with noise: every kept sum is the same, to the unit."""
        table = np.asarray(counts, dtype=np.int64)
        published = table + self.draw(bits, table if self.asked.restricted else None)
        if not np.array_equal(self.invariants.sums(published), self.invariants.sums(table)):
            raise ArithmeticError("the noise changed a kept sum")
        return published


def lattice_sampler(
    invariants: Invariants,
    epsilon: Number | Epsilon | None = None,
    *,
    alpha: Number | None = None,
    rho: Number | None = None,
    delta: Number = 0,
    sigma: Number | None = None,
    law: str = "l1",
    nonnegative: bool = False,
    inequalities: tuple[Any, Any] | None = None,
    per_unit: bool = False,
    contributions: int = 1,
    allow_diagnosed: bool = False,
) -> LatticePlan:
    """The best sampler we know for noise that keeps these sums, with what it promises.

    epsilon bounds the log-likelihood ratio for the smallest change that survives what is kept (or, `per_unit`, for
    every unit of distance). Nothing but public values is looked at.
    """
    choose(law, LAWS, "law")
    limits = None if inequalities is None else _inequalities(*inequalities, cells=invariants.cells)
    given = [
        name
        for name, value in (("epsilon", epsilon), ("alpha", alpha), ("rho", rho), ("sigma", sigma))
        if value is not None
    ]
    if len(given) != 1:
        raise BadInput(
            "a privacy parameter was needed", f"{' and '.join(given) or 'none'} was given", "Give exactly one"
        )
    asked = Asked(
        epsilon=None if epsilon is None and alpha is None else epsilon_of(epsilon, alpha),
        delta=probability(delta, "delta"),
        rho=None if rho is None else positive(rho, "rho"),
        sigma=None if sigma is None else positive(sigma, "sigma"),
        law=law,
        per_unit=per_unit,
        restricted=nonnegative or limits is not None,
        contributions=whole(contributions, "contributions", 1),
    )
    structure = structure_of(invariants)
    change = smallest_change(structure)
    noise = calibrate(asked, change)
    pieces = pieces_for(structure, noise, nonnegative and law == "l1")
    guarantee, more = _graded(noise.guarantee, pieces, allow_diagnosed, asked, change)
    words = (*remarks(asked, change, structure, invariants), *more)
    guarantee = replace(guarantee, remarks=words)
    return LatticePlan(invariants, structure, asked, noise, change, pieces, guarantee, words, nonnegative, limits)


def plan_lattice(
    key_columns: Keys,
    keep: Iterable[Kept | str],
    epsilon: Number | Epsilon | None = None,
    *,
    rows: int | None = None,
    **options: Any,
) -> LatticePlan:
    """`lattice_sampler` for a table in long form with these public key columns."""
    return lattice_sampler(invariant_matrix(keep, key_columns, rows), epsilon, **options)


def _graded(
    guarantee: Guarantee, pieces: tuple[Piece, ...], allow_diagnosed: bool, asked: Asked, change: Change
) -> tuple[Guarantee, tuple[str, ...]]:
    """The promise with the grade of its weakest sampler; a chain's distance from its law is charged to delta."""
    chains = [piece for piece in pieces if piece.grade == "diagnosed"]
    if not chains:
        return guarantee, ()
    price = whole_price(guarantee, asked, change).epsilon
    if price is None or asked.restricted:
        raise NotProven(
            "noise that keeps these sums was asked for",
            "no exact sampler is known for it, and a Markov chain's distance can be charged only to l1 noise without "
            "inequalities",
            "Allow negative counts, or keep less",
        )
    if not allow_diagnosed:
        raise NotProven(
            "noise that keeps these sums was asked for",
            "no exact sampler is known for this law on them, only a Markov chain whose distance from it is diagnosed",
            "Use law gaussian (with rho), which is exact on two-way tables of any size, or allow diagnosed samples",
        )
    from discreet.lattice.coupling import diagnose

    charge = Fraction(0)
    for piece in chains:
        chain = piece.chain  # type: ignore[attr-defined]
        found = diagnose(chain, runs=RUNS, seed=0)
        charge += exact(found.delta(float(price), chain.iterations))
    charge = exact(decimal_above(charge, 6))
    if guarantee.delta + charge >= 1:
        raise NotProven(
            "a diagnosed sample was asked for",
            f"{RUNS} runs leave a distance that, charged at epsilon = {price}, promises nothing",
            "Use law gaussian (with rho), or a smaller epsilon",
        )
    said = (
        "The noise came from a Markov chain; its distance from the law is diagnosed, not proved, and charged as "
        f"delta = {text(charge)}."
    )
    return replace(guarantee, delta=guarantee.delta + charge, grade="diagnosed"), (said,)


def _inequalities(matrix: Any, least: Any, *, cells: int) -> Inequalities:
    rows = np.atleast_2d(np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix))
    bounds = np.atleast_1d(np.asarray(least))
    if rows.shape != (len(bounds), cells):
        raise BadInput(
            "inequalities were asked for",
            f"a {rows.shape[0]} x {rows.shape[1]} matrix, {len(bounds)} bounds and {cells} rows do not fit",
        )
    if not (np.array_equal(rows, np.round(rows)) and np.array_equal(bounds, np.round(bounds))):
        raise BadInput(
            "inequalities were asked for", "a coefficient or bound is not a whole number", "Multiply them up"
        )
    return Inequalities(rows.astype(np.int64), bounds.astype(np.int64))
