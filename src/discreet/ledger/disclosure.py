"""What the kept sums of several releases give away together, on cells that all of them are sums of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.lattice.inequalities import Inequalities
from discreet.lattice.invariants import Kept, Margin, SumWhere, Total, invariant_matrix
from discreet.ledger.matching import Matched, Numbered, count_of, counts_apart, matched, strangers
from discreet.ledger.one_table import Valued, fixed_cells, of_one_table, sums_give_away

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SHOWN = 5  # cells that are named; the number of all of them stands beside
MOST_ROWS = 2_000_000  # of all tables together: they are put on common cells in some seconds
FIXED = -1  # in place of a modulus: the cell can have one value only, since counts are not negative


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
    examined: bool = True  # False: there are too many cells, or they are too entangled

    @property
    def anything(self) -> bool:
        return bool(self.exact or self.remainders or self.fixed)

    @property
    def refused(self) -> bool:
        """What was not looked at may give away anything."""
        return self.anything or not self.examined


@dataclass(frozen=True, eq=False)
class Stack:
    """Kept sums of several entries as sums of common cells."""

    cells: tuple[dict[str, str], ...]  # the keys of each
    blocks: dict[int, csr_array]  # by number of entry
    values: dict[int, Integers]  # the published sums, where they are known
    limits: dict[int, Inequalities]
    witness: Integers | None  # a table of counts that may have these sums
    left_out: frozenset[int]  # entries of which something could not be put on these cells


def newly_given(earlier: Sequence[Numbered], new: Numbered) -> Disclosure:
    """What is given away with `new` that was not before: by which sums are kept, and by what they come to."""
    *earlier, new = counts_apart([*earlier, new])
    assert new.table is not None
    count = count_of(new.table)
    others = {one.number for one in earlier if one.table is None or count_of(one.table) != count}
    if _kept_again(earlier, new):
        return Disclosure(not_compared=tuple(sorted(others)))
    entries = [one for one in [*_distinct(earlier), new] if one.number not in others]
    stored = all(one.table is not None for one in earlier)  # what was kept and cannot be looked at may give it away
    if not stored or _too_many(entries):
        return Disclosure(not_compared=tuple(sorted(others)), examined=False)
    tables = matched(entries)
    given, examined = _Given(), True
    for one in tables:
        others |= {one.number} if strangers([one, tables[-1]]) else set()
    for stack in _stacks(tables):
        others |= stack.left_out
        if new.number not in stack.blocks:
            continue
        own = stack.blocks[new.number]
        before = [block for number, block in stack.blocks.items() if number != new.number]
        after, known = sums_give_away([*before, own]), sums_give_away(before)
        examined &= after.examined and known.examined
        fixed, known_fixed, all_fixed = _newly_fixed(stack, new.number)
        examined &= all_fixed
        said = {*known.exact.tolist(), *known_fixed}
        given.add(stack, [cell for cell in after.exact.tolist() if cell not in said], 0)
        remainders = dict(known.residues)
        for cell, modulus in after.residues:
            if remainders.get(cell) != modulus and cell not in said:
                given.add(stack, [cell], modulus)
        given.add(stack, [cell for cell in fixed if cell not in said], FIXED)
    return given.disclosure(others - {new.number}, examined)


def all_given(entries: Sequence[Numbered]) -> Disclosure:
    """Everything that the kept sums of all entries give away, with what follows from the published sums."""
    given, examined = _Given(), True
    missing = {one.number for one in entries if one.table is None}
    by_count: dict[str, list[Numbered]] = {}
    for one in counts_apart(entries):
        if one.table is not None:
            by_count.setdefault(count_of(one.table), []).append(one)
    for place, group in enumerate(by_count.values()):
        missing |= {one.number for one in group} if place else set()  # they count something else than the first
        distinct = _distinct(group)
        if _too_many(distinct):
            examined = False
            continue
        tables = matched(distinct)
        missing |= strangers(tables)
        for stack in _stacks(tables):
            missing |= stack.left_out
            examined &= _add_all(given, stack)
    return given.disclosure(missing, examined)


def _add_all(given: _Given, stack: Stack) -> bool:
    """What one stack gives away; whether all of it was found."""
    found = sums_give_away(list(stack.blocks.values()))
    given.add(stack, found.exact.tolist(), 0)
    for cell, modulus in found.residues:
        given.add(stack, [cell], modulus)
    examined, left = found.examined, _valued(stack)
    while left:
        alike = of_one_table(left, stack.witness)
        cells, all_fixed = fixed_cells(alike, stack.witness)
        given.add(stack, cells, FIXED)
        examined &= all_fixed
        left = {number: one for number, one in left.items() if number not in alike}
    return examined


def _newly_fixed(stack: Stack, new: int) -> tuple[set[int], set[int], bool]:
    """Cells fixed with the new sums, those that were before, and whether all was found."""
    valued = _valued(stack)
    if new not in valued:
        return set(), set(), new not in stack.values
    alike = of_one_table(valued, stack.witness)
    after, all_after = fixed_cells(alike, stack.witness)
    before, all_before = fixed_cells({number: one for number, one in alike.items() if number != new}, stack.witness)
    return after, before, all_after and all_before


def _valued(stack: Stack) -> dict[int, Valued]:
    """The sums whose values are known, and inequalities, by entry."""
    none = np.zeros(0, dtype=np.int64)
    return {
        number: Valued(block, stack.values.get(number, none), stack.limits.get(number))
        for number, block in stack.blocks.items()
        if len(stack.values.get(number, none)) == block.shape[0]
    }


def _too_many(entries: Sequence[Numbered]) -> bool:
    return sum(one.table.rows for one in entries if one.table is not None) > MOST_ROWS


def _kept_again(earlier: Sequence[Numbered], new: Numbered) -> bool:
    """Whether the same sums of the same rows were kept before, and came to the same when they last were; sums that are
    not known may be any."""
    alike = [one.sums for one in earlier if one.digest is not None and one.digest == new.digest]
    if not alike:
        return False
    return new.sums is None or (alike[-1] is not None and np.array_equal(alike[-1], new.sums))


def _distinct(entries: Sequence[Numbered]) -> list[Numbered]:
    """The same sums of the same rows say nothing new, unless they come to something else: the last of each is kept."""
    valued = {one.digest for one in entries if one.sums is not None}
    found: dict[object, Numbered] = {}
    for one in entries:
        if one.digest is None:
            found[one.number] = one
        elif one.sums is not None or one.digest not in valued:
            key = (one.digest, None if one.sums is None else one.sums.tobytes())
            found.pop(key, None)
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


def _stacks(tables: Sequence[Matched]) -> list[Stack]:
    """One for every set of key columns that no other contains."""
    kinds = {one.keys for one in tables}
    return [_stack(tables, keys) for keys in kinds if not any(keys < other for other in kinds)]


def _stack(tables: Sequence[Matched], keys: frozenset[str]) -> Stack:
    """All kept sums that are sums of cells with these keys.

    A row of a coarser table is the sum of the cells that have its keys; where there is none, it is a cell of its own.
    """
    cells = _Cells(keys, tables)
    inside = [one for one in tables if one.keys <= keys]
    pairs = {one.number: cells.lifted(one) for one in inside}  # may add cells
    blocks = {one.number: _lifted(one.table.matrix, pairs[one.number], len(cells.described)) for one in inside}
    values = {one.number: one.sums for one in inside if one.sums is not None}
    limits = {
        one.number: Inequalities(_lifted(given.matrix, pairs[one.number], len(cells.described)), given.least)
        for one in inside
        if (given := one.table.limits) is not None
    }
    witness = next(
        (
            _on(pairs[one.number], one.witness, len(cells.described))
            for one in inside
            if one.keys == keys and one.witness is not None
        ),
        None,
    )
    outside = [one for one in tables if one.number not in pairs]
    for one in outside:
        implied = _by_name(one.kept, keys, cells.finest) if len(cells.described) == len(cells.finest) else None
        if implied is not None:
            blocks[one.number] = implied
    return Stack(tuple(cells.described), blocks, values, limits, witness, frozenset(one.number for one in outside))


def _on(pairs: list[tuple[int, int]], counts: Integers, cells: int) -> Integers:
    """Counts of a table with all keys, on the cells; where it has no row, nobody is."""
    found = np.zeros(cells, dtype=np.int64)
    rows, places = (np.array(side, dtype=np.int64) for side in zip(*pairs))
    found[places] = counts[rows]
    return found


class _Cells:
    """Common cells: the rows of the tables with all keys, then rows of coarser ones that none of these belongs to."""

    def __init__(self, keys: frozenset[str], tables: Sequence[Matched]) -> None:
        names = sorted(keys)
        found: dict[tuple[str, ...], dict[str, str]] = {}
        for table in tables:
            for place, row in enumerate(_rows(table, names) if table.keys == keys else ()):
                if row not in found:
                    found[row] = table.described(place)
        self.described = list(found.values())
        self.finest = [dict(zip(names, row)) for row in found]
        self.added: dict[tuple[tuple[str, str], ...], int] = {}

    def lifted(self, table: Matched) -> list[tuple[int, int]]:
        """Pairs (row of the table, cell that it contains)."""
        names = sorted(table.keys)
        place = {row: i for i, row in enumerate(_rows(table, names))}
        found = [place.get(tuple(cell[name] for name in names)) for cell in self.finest]
        pairs = [(row, cell) for cell, row in enumerate(found) if row is not None]
        matched = set(found)
        alone = [(values, i) for values, i in place.items() if i not in matched]
        return pairs + [(i, self._own_cell(tuple(zip(names, values)), table, i)) for values, i in alone]

    def _own_cell(self, key: tuple[tuple[str, str], ...], table: Matched, row: int) -> int:
        if key not in self.added:
            self.added[key] = len(self.described)
            self.described.append(table.described(row))
        return self.added[key]


def _rows(table: Matched, names: list[str]) -> Iterable[tuple[str, ...]]:
    return zip(*(table.columns[name] for name in names))


def _lifted(matrix: csr_array, pairs: list[tuple[int, int]], cells: int) -> csr_array:
    """Sums of rows as sums of cells."""
    from scipy.sparse import csr_array

    rows, columns = (np.array(side, dtype=np.int64) for side in zip(*pairs))
    lift = csr_array((np.ones(len(pairs), dtype=np.int64), (rows, columns)), shape=(matrix.shape[1], cells))
    found = csr_array(matrix @ lift)
    found.sum_duplicates()
    return found


def _by_name(kept: Iterable[Kept], keys: frozenset[str], cells: list[dict[str, str]]) -> csr_array | None:
    """Of sums of other cells, what their names say about these: a margin implies those over fewer columns."""
    said: list[Kept] = []
    for what in kept:
        if isinstance(what, SumWhere):
            said += [what] if keys.issuperset(dict(what.where)) else []
        elif isinstance(what, (Margin, Total)):
            columns = () if isinstance(what, Total) else tuple(name for name in what.columns if name in keys)
            said.append(Margin(columns) if columns else Total())
    try:
        return invariant_matrix(said, {name: [cell[name] for cell in cells] for name in sorted(keys)}).matrix
    except BadInput:  # nothing can be said, or of no cell
        return None
