"""What the kept sums of several releases give away together, on cells that all of them are sums of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput, SolverFailed
from discreet.lattice.invariants import Kept, Margin, Sums, SumWhere, Total, invariant_matrix
from discreet.ledger.documents import KeptTable

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from discreet.lattice.disclosure import GivenAway

SHOWN = 5  # cells that are named; the number of all of them stands beside
FIXED = -1  # in place of a modulus: the cell is fixed because counts are not negative


@dataclass(frozen=True)
class GivenCell:
    """A cell by its keys, and what is given away of it: its remainder by `modulus`, or (0) the count itself."""

    keys: dict[str, str]
    modulus: int = 0


@dataclass(frozen=True)
class Disclosure:
    """What a release gives away together with those before it: the first cells, and how many there are."""

    cells: tuple[GivenCell, ...] = ()
    exact: int = 0
    remainders: int = 0
    fixed: int = 0  # cells known because counts are not negative
    not_compared: tuple[int, ...] = ()  # numbers of entries whose sums, or some of them, are sums of other cells
    examined: bool = True  # False: there are too many cells

    @property
    def anything(self) -> bool:
        return bool(self.exact or self.remainders or self.fixed)


@dataclass(frozen=True, eq=False)
class Numbered:
    """The kept sums of one entry, on their rows; None where they are not stored. `sums`: what they came to."""

    number: int
    table: KeptTable | None
    digest: str | None = None  # of the table and what is kept of it
    sums: Integers | None = None


@dataclass(frozen=True, eq=False)
class Stack:
    """Kept sums of several entries as sums of common cells."""

    cells: tuple[dict[str, str], ...]  # the keys of each
    blocks: dict[int, csr_array]  # by number of entry
    values: dict[int, Integers]  # the published sums, where they are known
    left_out: frozenset[int]  # entries of which something could not be put on these cells


def newly_given(earlier: Sequence[Numbered], new: Numbered) -> Disclosure:
    """What is given away with `new` that was not before; what its own guarantee says is not repeated."""
    assert new.table is not None
    others = {one.number for one in earlier if one.table is None or one.table.count != new.table.count}
    if new.digest is not None and any(one.digest == new.digest for one in earlier):
        return Disclosure(not_compared=tuple(sorted(others)))
    given, examined = _Given(), True
    missing: set[int] = set()
    for stack in _stacks([*_distinct(earlier), new], new.table.count):
        missing |= stack.left_out
        if new.number not in stack.blocks:
            continue
        before = [block for number, block in stack.blocks.items() if number != new.number]
        after, known = _given_away([*before, stack.blocks[new.number]]), _given_away(before)
        own = _given_away([stack.blocks[new.number]])
        examined &= all(one.examined for one in (after, known, own))
        said = {*known.exact.tolist(), *own.exact.tolist()}
        given.add(stack, [cell for cell in after.exact.tolist() if cell not in said], 0)
        remainders = dict(known.residues)
        for cell, modulus in after.residues:
            if remainders.get(cell) != modulus and cell not in said:
                given.add(stack, [cell], modulus)
    return given.disclosure((others | missing) - {new.number}, examined)


def all_given(entries: Sequence[Numbered]) -> Disclosure:
    """Everything that the kept sums of all entries give away, with what follows from the published sums."""
    given, examined = _Given(), True
    missing = {one.number for one in entries if one.table is None}
    for count in dict.fromkeys(one.table.count for one in entries if one.table is not None):
        for stack in _stacks(_distinct(entries), count):
            missing |= stack.left_out
            found = _given_away(list(stack.blocks.values()))
            examined &= found.examined
            given.add(stack, found.exact.tolist(), 0)
            for cell, modulus in found.residues:
                given.add(stack, [cell], modulus)
            known = [number for number in stack.blocks if number in stack.values]
            if known:
                cells, all_fixed = _fixed([(stack.blocks[number], stack.values[number]) for number in known])
                examined &= all_fixed
                given.add(stack, cells, FIXED)
    return given.disclosure(missing, examined)


def _distinct(entries: Sequence[Numbered]) -> list[Numbered]:
    """The same sums of the same rows say nothing new; of several, one whose sums are known is kept."""
    found: dict[object, Numbered] = {}
    for one in entries:
        key = one.number if one.digest is None else one.digest
        if key not in found or (found[key].sums is None and one.sums is not None):
            found[key] = one
    return list(found.values())


class _Given:
    """Cells given away so far; a cell counts once, by the most that is known of it."""

    def __init__(self) -> None:
        self.found: dict[tuple[tuple[str, str], ...], int] = {}

    def add(self, stack: Stack, cells: Iterable[int], modulus: int) -> None:
        for cell in cells:
            key = tuple(sorted(stack.cells[cell].items()))
            if self.found.get(key) not in (0, FIXED):
                self.found[key] = modulus

    def disclosure(self, not_compared: set[int], examined: bool) -> Disclosure:
        kinds = list(self.found.values())
        shown = tuple(GivenCell(dict(key), modulus) for key, modulus in list(self.found.items())[:SHOWN])
        exact, fixed = kinds.count(0), kinds.count(FIXED)
        return Disclosure(
            shown, exact, len(kinds) - exact - fixed, fixed, tuple(sorted(not_compared)), examined
        )  # fmt: skip


def _given_away(blocks: list[csr_array], counts: Integers | None = None) -> GivenAway:
    from scipy.sparse import csr_array, vstack

    from discreet.lattice.disclosure import GivenAway, given_away

    if not blocks:
        return GivenAway(np.zeros(0, dtype=np.int64), (), np.zeros(0, dtype=np.int64), True)
    return given_away(csr_array(vstack(blocks)), counts)


def _fixed(known: list[tuple[csr_array, Integers]]) -> tuple[list[int], bool]:
    """Cells that can have one value only in a table without negative counts that has these sums; whether all is known.

    Only the sums matter, so any such table will do, and a corner of what is possible is usually made of whole numbers.
    """
    from scipy.sparse import csr_array, vstack

    from discreet.program import LinearProgram, solve

    matrix = csr_array(vstack([block for block, _ in known]))
    sums = np.concatenate([values for _, values in known])
    width, target = matrix.shape[1], sums.astype(float)
    try:
        found = solve(LinearProgram(np.zeros(width), matrix, target, target, np.zeros(width), np.full(width, np.inf)))
    except SolverFailed:
        return [], False
    counts = np.rint(found.values).astype(np.int64)
    if not found.optimal or not np.array_equal(matrix @ counts, sums):
        return [], False
    away = _given_away([block for block, _ in known], counts)
    return away.fixed.tolist(), away.examined


def _stacks(entries: Sequence[Numbered], count: str) -> list[Stack]:
    """One for every set of key columns that no other contains."""
    tables = [one for one in entries if one.table is not None and one.table.count == count]
    kinds = {one.table.keys for one in tables if one.table is not None}
    return [_stack(tables, keys) for keys in kinds if not any(keys < other for other in kinds)]


def _stack(tables: Sequence[Numbered], keys: frozenset[str]) -> Stack:
    """All kept sums that are sums of cells with these keys.

    A row of a coarser table is the sum of the cells that have its keys; where there is none, it is a cell of its own.
    """
    cells = _Cells(keys, [one.table for one in tables if one.table is not None])
    inside = [one for one in tables if one.table is not None and one.table.keys <= keys]
    pairs = {one.number: cells.lifted(one.table) for one in inside if one.table is not None}  # may add cells
    blocks = {
        one.number: _on_cells(one.table, pairs[one.number], len(cells.described))
        for one in inside
        if one.table is not None
    }
    values = {one.number: one.sums for one in inside if one.sums is not None}
    outside = [one for one in tables if one.number not in pairs]
    for one in outside:
        assert one.table is not None
        implied = _by_name(one.table.kept, keys, cells.described) if len(cells.described) == cells.finest else None
        if implied is not None:
            blocks[one.number] = implied
    return Stack(tuple(cells.described), blocks, values, frozenset(one.number for one in outside))


class _Cells:
    """Common cells: the rows of the tables with all keys, then rows of coarser ones that none of these belongs to."""

    def __init__(self, keys: frozenset[str], tables: Sequence[KeptTable]) -> None:
        names = sorted(keys)
        finest = dict.fromkeys(row for table in tables if table.keys == keys for row in _rows(table, names))
        self.described = [dict(zip(names, row)) for row in finest]
        self.finest = len(self.described)
        self.added: dict[tuple[tuple[str, str], ...], int] = {}

    def lifted(self, table: KeptTable) -> list[tuple[int, int]]:
        """Pairs (row of the table, cell that it contains)."""
        names = sorted(table.keys)
        place = {row: i for i, row in enumerate(_rows(table, names))}
        found = [place.get(tuple(cell[name] for name in names)) for cell in self.described[: self.finest]]
        pairs = [(row, cell) for cell, row in enumerate(found) if row is not None]
        matched = set(found)
        alone = [values for values, i in place.items() if i not in matched]
        return pairs + [(place[values], self._own_cell(names, values)) for values in alone]

    def _own_cell(self, names: list[str], values: tuple[str, ...]) -> int:
        key = tuple(zip(names, values))
        if key not in self.added:
            self.added[key] = len(self.described)
            self.described.append(dict(key))
        return self.added[key]


def _rows(table: KeptTable, names: list[str]) -> Iterable[tuple[str, ...]]:
    return zip(*(table.columns[name] for name in names))


def _on_cells(table: KeptTable, pairs: list[tuple[int, int]], cells: int) -> csr_array:
    from scipy.sparse import csr_array

    sums = invariant_matrix(table.kept, table.columns, table.rows).matrix
    rows, columns = (np.array(side, dtype=np.int64) for side in zip(*pairs))
    lift = csr_array((np.ones(len(pairs), dtype=np.int64), (rows, columns)), shape=(table.rows, cells))
    return csr_array(sums @ lift)


def _by_name(kept: tuple[Kept, ...], keys: frozenset[str], cells: list[dict[str, str]]) -> csr_array | None:
    """Of sums of other cells, what their names say about these: a margin implies those over fewer columns."""
    said: list[Kept] = []
    for what in kept:
        if isinstance(what, Sums):
            continue
        if isinstance(what, SumWhere):
            said += [what] if keys.issuperset(dict(what.where)) else []
            continue
        columns = () if isinstance(what, Total) else tuple(name for name in what.columns if name in keys)
        said.append(Margin(columns) if columns else Total())
    try:
        return invariant_matrix(said, {name: [cell[name] for cell in cells] for name in sorted(keys)}).matrix
    except BadInput:  # nothing can be said, or of no cell
        return None
