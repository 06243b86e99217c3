"""Two-way tables with both margins kept under the l1 law, exactly: the columns are halved until they are single.

For some columns the row sums q are known, and their halves' sums s are drawn: with weights left(s) right(q - s), given
that they sum to zero. That can happen with a chance Z(q) that depends on q; so one goes on with chance Z(q) over the
product of the rows' potentials, and otherwise starts again from the whole table. In the chance of a table all
potentials of inner nodes cancel and the weights of the cells are left: the law is exact, whatever the potentials are.
The first node needs no such test, for its q are all zero.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import product

import numpy as np

from discreet.arrays import Flags, Integers
from discreet.lattice.chances import integer_bounds
from discreet.lattice.groups import SHORT_BY, CellGroup, group_of
from discreet.lattice.potentials import GUARD_BITS, Potential, cell_potential, no_potential
from discreet.lattice.restricted import factor_near, tilting_logs
from discreet.lattice.splits import MOST_STORED, Frequencies, Split, split_of
from discreet.lattice.zero_sums import LONG, Enclosure, RowSums, chances, given_sum, go_on
from discreet.sample.bits import Bits, seeded

MOST_CELLS_AT_ONCE = 1 << 18  # of tables tried together: what is looked up for them is a hundred times larger
PROBES = 32  # trials at once from which the share of accepted ones is guessed; only the size of batches depends on it
MOST_PROBES = 512  # a second or so, where one is accepted so rarely that another sampler should be looked for
DEVIATIONS = 7.5  # of a sum, inside the tables; beyond, everything is settled one by one and slowly
STEEPEST = 0.6  # of the rate: tilts beyond it make heavy tails
FEW_PATTERNS = 3  # of the rows of a table: if it has no more, it has all its tables for itself
WIDEST_SHARED = 5  # columns of a node with tables of all patterns of its rows: 32 of them
DECAYS = 16  # the same, for the exponential tails of few cells


GoesOn = Callable[[RowSums, int, Bits], Integers]  # which trials, of so many nodes each, go on


@dataclass(frozen=True, eq=False)
class Stage:
    """Nodes of one depth that share their tables: the places of their sums, and of those of their halves."""

    split: Split
    kinds: Integers  # of the rows
    nodes: Integers
    left: Integers
    right: Integers


@dataclass(frozen=True, eq=False)
class HalvedColumns:
    """A tree of columns: its nodes are numbered, the whole table is 0, `leaves` are the columns from left to right."""

    stages: tuple[Stage, ...]
    leaves: Integers
    groups: tuple[tuple[Flags, CellGroup], ...] = ()  # where there are several cells in a place

    @property
    def _cells(self) -> int:
        return len(self.stages[0].kinds) * len(self.leaves)

    @property
    def _nodes(self) -> int:
        return 2 * len(self.leaves) - 1

    @cached_property
    def acceptance(self) -> float:
        """About how many trials end in a table; none of many: nearly none. Guessed from trials that are thrown away."""
        size = max(1, min(PROBES, MOST_CELLS_AT_ONCE // self._cells))
        bits, trials, found = seeded(0), 0, 0
        while found == 0 and trials < MOST_PROBES:
            found, trials = len(self._trials(size, bits)), trials + size
        return (found + 0.5) / (trials + 1)

    def draw(self, draws: int, bits: Bits) -> Integers:
        """draws x rows x columns."""
        most = max(1, MOST_CELLS_AT_ONCE // self._cells)
        found, done = [np.zeros((0, len(self.stages[0].kinds), len(self.leaves)), dtype=np.int64)], 0
        while done < draws:
            size = math.ceil(1.2 * (draws - done) / self.acceptance)
            found.append(self._trials(min(most, size), bits)[: draws - done])
            done += len(found[-1])
        return np.concatenate(found)

    def roughly(self, draws: int, bits: Bits) -> Integers:
        """The same nearly, for a simulation: of trials that go on with unequal chances, those with larger ones go on
        more often, in place of others, and none starts again. They follow the law the closer the more there are."""
        most = max(1, MOST_CELLS_AT_ONCE // self._cells)
        runs = [min(most, draws - done) for done in range(0, draws, most)]
        return np.concatenate([self._trials(run, bits, _replaced) for run in runs])

    def _trials(self, trials: int, bits: Bits, goes_on: GoesOn | None = None) -> Integers:
        """The tables in which so many trials end."""
        rows, goes_on = len(self.stages[0].kinds), goes_on or _accepted
        sums = np.zeros((trials, self._nodes, rows), dtype=np.int64)
        for depth, stage in enumerate(self.stages):
            known = sums[:, stage.nodes]
            if depth > 0:
                alive = goes_on(RowSums(stage.split, stage.kinds, known.reshape(-1, rows)), len(stage.nodes), bits)
                sums, known = sums[alive], known[alive]
            problems = RowSums(stage.split, stage.kinds, known.reshape(-1, rows))
            parts = given_sum(problems, np.zeros(len(problems.sums), dtype=np.int64), bits).reshape(known.shape)
            sums[:, stage.left], sums[:, stage.right] = parts, known - parts
        tables = np.ascontiguousarray(sums[:, self.leaves].transpose(0, 2, 1))
        rough = goes_on is _replaced  # weights differ by less than one in 10^9
        return tables[self._weighed(tables, bits)] if self.groups and not rough else tables

    def _weighed(self, tables: Integers, bits: Bits) -> Flags:
        """Each by the true weights of its groups over those it was drawn with."""
        low = np.ones(len(tables))
        for where, group in self.groups:
            inside = (np.abs(tables[:, where]) <= group.potential.high).all(axis=1)
            low = np.where(inside, low - 2 * SHORT_BY * np.count_nonzero(where), 0.0)
        return Enclosure(low, np.ones(len(tables))).compare(lambda i: self._quotient(tables[i]), bits)

    def _quotient(self, table: Integers) -> Callable[[int], tuple[int, int]]:
        from flint import arb, ctx

        def chance(known: int) -> tuple[int, int]:
            with ctx.workprec(known + 2 * GUARD_BITS):
                share = arb(2) ** known
                for where, group in self.groups:
                    for total, number in Counter(np.abs(table[where]).tolist()).items():
                        share *= group.quotient(total, known + GUARD_BITS) ** number
                return integer_bounds(share, known)

        return chance


def _accepted(rows: RowSums, nodes: int, bits: Bits) -> Integers:
    """The trials all of whose nodes go on."""
    return np.flatnonzero(go_on(rows, bits).reshape(-1, nodes).all(axis=1))


def _replaced(rows: RowSums, nodes: int, bits: Bits) -> Integers:
    """As many trials as there are, each as often as its chance says: at equal distances along their chances."""
    reached = np.cumsum(chances(rows).low.reshape(-1, nodes).prod(axis=1))
    places = (np.arange(len(reached)) + float(bits.words(1)[0]) * 2.0**-64) / len(reached)
    return np.asarray(np.minimum(np.searchsorted(reached, places * reached[-1], side="right"), len(reached) - 1))


Splitter = Callable[[int, int], tuple[Split, Integers]]  # of the columns first .. last - 1: tables, kinds of the rows


def halved(columns: int, splitter: Splitter) -> HalvedColumns:
    """The tree, breadth first; nodes of one depth whose tables are the same are drawn together."""
    spans, first_child, level = [(0, columns)], {}, [0]
    stages: list[Stage] = []
    while level:
        groups: dict[tuple[int, bytes], tuple[Split, Integers, list[int]]] = {}
        for node in level:
            first, last = spans[node]
            middle = _middle(first, last)
            first_child[node] = len(spans)
            spans += [(first, middle), (middle, last)]
            split, kinds = splitter(first, last)
            groups.setdefault((id(split), kinds.tobytes()), (split, kinds, []))[2].append(node)
        for split, kinds, nodes in groups.values():
            left = np.array([first_child[node] for node in nodes])
            stages.append(Stage(split, kinds, np.array(nodes), left, left + 1))
        below = [child for node in level for child in (first_child[node], first_child[node] + 1)]
        level = [child for child in below if spans[child][1] - spans[child][0] > 1]
    leaves = {first: node for node, (first, last) in enumerate(spans) if last - first == 1}
    return HalvedColumns(tuple(stages), np.array([leaves[column] for column in range(columns)]))


def _middle(first: int, last: int) -> int:
    return first + (last - first + 1) // 2


Pattern = tuple[int, ...]  # how many cells there are in the places of a row
Place = tuple[int, int, int]  # row, column, and how many cells there are


@cache
def _every(columns: int) -> tuple[Pattern, ...]:
    """All patterns of single cells, or none, in so many columns."""
    return tuple(product((1, 0), repeat=columns))


@lru_cache(maxsize=2 * WIDEST_SHARED)
def _shared(odds: Fraction, rows: int, window: int, columns: int) -> Split:
    """Of a node with rows of any pattern: tables that lack cells, each in other places, have it in common."""

    def potential(found: Pattern) -> Potential:
        if len(found) == 1:
            return _place_potential(odds, found[0], window)
        return _shared(odds, rows, window, len(found)).sums[_every(len(found)).index(found)]

    half = _middle(0, columns)
    pairs = [(potential(one[:half]), potential(one[half:])) for one in _every(columns)]
    return split_of(pairs, window, _grids(math.log(odds), rows, columns, window), window)


@lru_cache(maxsize=16)
def noise_table(
    odds: Fraction, rows: int, columns: int, cells: int = 1, others: frozenset[Place] = frozenset()
) -> HalvedColumns:
    """So many cells in every place, of any sign and all alike, with some other places; what is drawn are the places'
    sums. Best with the shorter side as columns. Rows whose places are alike, among the columns of a node, are of the
    same kind."""
    rate = math.log(odds)
    sizes = {(row, column): size for row, column, size in others}
    window = _window(rate, columns * max(cells, 1, *sizes.values()) if sizes else columns * cells)
    splits: dict[tuple[Pattern, ...], Split] = {}
    widest = _middle(0, columns)

    def unusual(first: int, last: int) -> list[int]:
        return sorted({row for row, column in sizes if first <= column < last})

    def pattern(row: int, first: int, last: int) -> Pattern:
        return tuple(sizes.get((row, column), cells) for column in range(first, last))

    @cache
    def patterns(first: int, last: int) -> tuple[Pattern, ...]:
        held = unusual(first, last)
        usual = [(cells,) * (last - first)] if len(held) < rows else []
        found = tuple(dict.fromkeys([*usual, *(pattern(row, first, last) for row in held)]))
        return _every(last - first) if last - first < columns and shares() else found

    @cache
    def shares() -> bool:
        """Whether all nodes but the first, or none, have tables that others share: potentials cancel in either case."""
        single = cells == 1 and set(sizes.values()) == {0} and 1 < widest <= WIDEST_SHARED
        there = {pattern(row, *half) for row in range(rows) for half in ((0, widest), (widest, columns))}
        return single and len(there) > FEW_PATTERNS and 2**widest * (2 * window + 1) ** 2 <= MOST_STORED

    def potential(found: Pattern, first: int, last: int) -> Potential:
        if last - first == 1:
            return _place_potential(odds, found[0], window)
        return split(first, last).sums[patterns(first, last).index(found)]

    def split(first: int, last: int) -> Split:
        there, middle = patterns(first, last), _middle(first, last)
        if there not in splits:
            half, whole = middle - first, last - first == columns  # of the whole, all sums are zero
            if not whole and shares():
                return _shared(odds, rows, window, last - first)
            pairs = [(potential(one[:half], first, middle), potential(one[half:], middle, last)) for one in there]
            grids = _grids(rate, rows, max(map(sum, there)), window)
            splits[there] = split_of(pairs, window, grids, 0 if whole else window)
        return splits[there]

    def splitter(first: int, last: int) -> tuple[Split, Integers]:
        numbers = {one: kind for kind, one in enumerate(patterns(first, last))}
        kinds = np.zeros(rows, dtype=np.int64)
        for row in unusual(first, last):
            kinds[row] = numbers[pattern(row, first, last)]
        return split(first, last), kinds

    held = np.full((rows, columns), cells)
    for (row, column), size in sizes.items():
        held[row, column] = size
    several = np.unique(held[held > 1]).tolist()
    groups = tuple((held == size, group_of(odds, size, 3 * window)) for size in several)
    return replace(halved(columns, splitter), groups=groups)


def _place_potential(odds: Fraction, cells: int, window: int) -> Potential:
    if cells > 1:
        return group_of(odds, cells, 3 * window).potential
    return cell_potential(odds) if cells else no_potential(odds)


def nonnegative_table(odds: Fraction, counts: Integers, there: Flags | None = None) -> HalvedColumns:
    """No noise below minus the count of its cell: a kind per row, and tables for every node. How long it takes to make
    and to draw depends on the counts. Cells may be missing."""
    rows, columns = counts.shape
    there = np.ones(counts.shape, dtype=bool) if there is None else there
    rate, tilts = math.log(odds), _tilts(odds, counts)
    window = min(_window(rate, columns), max(1, int(counts.sum(axis=1).max())))
    splits: dict[tuple[int, int], Split] = {}

    def cell(i: int, j: int) -> Potential:
        return cell_potential(odds, tilts[i][j], int(counts[i, j])) if there[i, j] else no_potential(odds)

    def potentials(first: int, last: int) -> Sequence[Potential]:
        return [cell(i, first) for i in range(rows)] if last - first == 1 else split(first, last).sums

    def split(first: int, last: int) -> Split:
        if (first, last) not in splits:
            middle = _middle(first, last)
            pairs = list(zip(potentials(first, middle), potentials(middle, last)))
            splits[first, last] = split_of(pairs, window, _grids(rate, rows, last - first, window), window)
        return splits[first, last]

    return halved(columns, lambda first, last: (split(first, last), np.arange(rows)))


def _tilts(odds: Fraction, counts: Integers) -> list[list[Fraction]]:
    """A factor per row and one per column, multiplied. They cancel, since noise changes no sum; with good ones the
    means nearly vanish, and more trials are accepted."""
    rows, columns = counts.shape
    numbers = np.arange(rows * columns)
    along_rows = numbers // columns == np.arange(rows)[:, None]
    along_columns = numbers % columns == np.arange(columns - 1)[:, None]
    margins = np.concatenate([along_rows, along_columns]).astype(np.int64)
    logs = np.append(tilting_logs(odds, margins, [np.array([count]) for count in counts.ravel()]), 0.0)
    sums = logs[:rows, None] + logs[rows:]
    gentler = min(1.0, STEEPEST * math.log(odds) / max(float(np.abs(sums).max()), 1e-9))
    along = [factor_near(gentler * log) for log in sums[:, 0].tolist()]
    across = [factor_near(gentler * log) for log in (sums[0] - sums[0, 0]).tolist()]
    return [[one * other for other in across] for one in along]


def _window(rate: float, columns: int) -> int:
    """Enough for nearly all sums of half of the columns."""
    return math.ceil(DEVIATIONS * _deviation(rate) * math.sqrt(columns) / 2 + DECAYS / rate) + 2


def _deviation(rate: float) -> float:
    """Of a cell."""
    return math.sqrt(2 * math.exp(-rate)) / -math.expm1(-rate)


def _grids(rate: float, rows: int, width: int, window: int) -> list[Frequencies]:
    """For all rows and for those that are left when long tables are halved, until none are halved any more."""
    numbers = [rows]
    while numbers[-1] > LONG:
        numbers.append(numbers[-1] // 2)
    found = []
    for number in numbers:
        spread = _deviation(rate) * math.sqrt(number * width) / 2
        reach = max(2 * window + 2, 14 * spread + 60 / rate)
        found.append(Frequencies(number, 1 << math.ceil(math.log2(reach)), min(0.8 * rate, 9.5 / spread)))
    return found
