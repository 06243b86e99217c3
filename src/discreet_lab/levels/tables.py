"""The tables of the study: some with levels, some with attributes, some with both. Two chose nothing."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np

from discreet.arrays import Integers
from discreet.errors import choose
from discreet.io.csv_text import arrow_text, owned_by_arrow
from discreet.io.tables import table
from discreet.levels.design import Question
from discreet.levels.layout import MOST_WAYS, Layout, layout_of
from discreet.table import Table

STAND_IN = "drawn, in place of the real table"
ADULT = {"education": 16, "marital": 7, "occupation": 15, "race": 5, "sex": 2, "income": 2}
GROUPS = ("aian", "asian", "black", "hisp", "nhpi", "other", "two", "white")
LARGE = 200_000  # cells: of such a table few releases are made
THOUSAND = 1000  # people: the unit in which populations are counted


@dataclass(frozen=True, eq=False)
class LevelsTable:
    """A table and its levels."""

    name: str
    about: str
    table: Table
    levels: tuple[str, ...] = ()
    held_out: bool = False

    @property
    def large(self) -> bool:
        return len(self.table) > LARGE

    @cached_property
    def layout(self) -> Layout:
        return layout_of(self.table.schema, self.levels)

    @cached_property
    def cells(self) -> Integers:
        cells: Integers = self.layout.design.in_cells(self.table.counts)
        return cells

    @cached_property
    def truth(self) -> dict[Question, Integers]:
        """The true answer to every question that is judged: every level and margin up to two ways, and the cells."""
        design = self.layout.design
        some = [q for q in design.questions() if len(q.attributes) <= MOST_WAYS or q == design.cells]
        return {question: design.answer(self.cells, question).ravel() for question in some}


def study_tables(data: Path | None = None, names: Sequence[str] = ()) -> tuple[LevelsTable, ...]:
    """Real ones where the folder has them, otherwise stand-ins that say so; those with these names, or all."""
    chosen = [choose(name, TABLES, "table") for name in names] or list(TABLES)
    return tuple(TABLES[name](data) for name in chosen)


def _murders(data: Path | None) -> LevelsTable:
    about, rows = "murders by US county, 2012", _rows(data, "us_county_murders_2012.csv")
    if rows is None:
        found = _drawn_counties(2, 51, 60)
        return LevelsTable("murders", f"{about}; {STAND_IN}", found, ("state", "county"))
    keys = {"state": [row["fips"][:2] for row in rows], "county": [row["fips"] for row in rows]}
    return LevelsTable("murders", about, _table(keys, [int(row["murder"]) for row in rows]), ("state", "county"))


def _vermont(data: Path | None) -> LevelsTable:
    about, rows = "people by precinct of Vermont and group, 2010", _rows(data, "us_vtd_race_2010_long.csv.gz", "VT-")
    levels = ("county", "precinct")
    if rows is None:
        found = _drawn_precincts(3, levels, (14, 20))
        return LevelsTable("vermont", f"{about}; {STAND_IN}", found, levels)
    return LevelsTable("vermont", about, _precincts(rows, levels), levels)


def _us(data: Path | None) -> LevelsTable:
    about, rows = "people by US precinct and group, 2010", _rows(data, "us_vtd_race_2010_long.csv.gz")
    levels = ("state", "county", "precinct")
    if rows is None:
        found = _drawn_precincts(4, levels, (20, 10, 10))
        return LevelsTable("us", f"{about}; {STAND_IN}, and smaller", found, levels)
    return LevelsTable("us", about, _precincts(rows, levels), levels)


def _precincts(rows: Sequence[Mapping[str, str]], levels: tuple[str, ...]) -> Table:
    places = [row["geo"] for row in rows]
    of = {"state": [place[:2] for place in places], "county": [place[:6] for place in places], "precinct": places}
    keys = {**{name: of[name] for name in levels}, "group": [row["group"] for row in rows]}
    return _table(keys, [int(row["count"]) for row in rows])


def _adult_three(data: Path | None) -> LevelsTable:
    about, rows = "adults by age, sex and income, 296 cells", _rows(data, "adult_targets.csv")
    if rows is None:
        shape = {"age": 74, "sex": 2, "income": 2}
        drawn = np.random.default_rng(5).negative_binomial(1.2, 0.011, 296)
        return LevelsTable("adult-3", f"{about}; {STAND_IN}", _product(shape, drawn))
    values = [sorted({row[name] for row in rows}) for name in ("age", "sex", "income")]
    ages = range(min(map(int, values[0])), max(map(int, values[0])) + 1)
    many = dict.fromkeys(product(map(str, ages), values[1], values[2]), 0)
    for row in rows:
        many[row["age"], row["sex"], row["income"]] += 1
    columns = {name: [key[i] for key in many] for i, name in enumerate(("age", "sex", "income"))}
    return LevelsTable("adult-3", about, _table(columns, many.values()))


def _adult_six(data: Path | None) -> LevelsTable:
    about, rows = "adults by six attributes, 33,600 cells", _rows(data, "adult_six.csv")
    counts = np.zeros(tuple(ADULT.values()), dtype=np.int64)
    if rows is None:
        rng, about = np.random.default_rng(6), f"{about}; {STAND_IN}"
        held = rng.choice(counts.size, 4178, replace=False)
        counts.reshape(-1)[held] = np.ceil(rng.lognormal(0.9, 1.4, len(held)))
    else:
        for row in rows:
            counts[tuple(int(row[name]) for name in ADULT)] = int(row["people"])
    return LevelsTable("adult-6", about, _product(ADULT, counts))


def _population(data: Path | None) -> LevelsTable:
    about, rows = "thousands of people by US county, 2010", _rows(data, "us_county_population_2010.csv")
    if rows is None:
        found = _drawn_counties(7, 51, 60)
        return LevelsTable("population", f"{about}; {STAND_IN}", found, ("state", "county"), held_out=True)
    keys = {"state": [row["state"] for row in rows], "county": [row["fips"] for row in rows]}
    found = _table(keys, [int(row["pop_2010"]) // THOUSAND for row in rows])
    return LevelsTable("population", about, found, ("state", "county"), held_out=True)


def _sids(data: Path | None) -> LevelsTable:
    about, rows = "sudden infant deaths by county of North Carolina and period", _rows(data, "nc_sids_counties.csv")
    if rows is None:
        drawn = np.random.default_rng(8).negative_binomial(0.9, 0.12, 200)
        found = _product({"county": 100, "period": 2}, drawn)
        return LevelsTable("sids", f"{about}; {STAND_IN}", found, ("county",), held_out=True)
    keys = {"county": [row["fips"] for row in rows for _ in range(2)], "period": ["1974", "1979"] * len(rows)}
    counts = [int(row[column]) for row in rows for column in ("sids74", "sids79")]
    return LevelsTable("sids", about, _table(keys, counts), ("county",), held_out=True)


TABLES = {
    "murders": _murders, "vermont": _vermont, "us": _us, "adult-3": _adult_three, "adult-6": _adult_six,
    "population": _population, "sids": _sids,
}  # fmt: skip


def _drawn_counties(seed: int, states: int, each: int) -> Table:
    """Half of the counts zero, the others with a long tail."""
    rng, rows = np.random.default_rng(seed), states * each
    counts = np.where(rng.random(rows) < 0.5, 0, np.minimum(rng.pareto(1.15, rows) + 1, 500)).astype(np.int64)
    keys = {"state": [f"s{i // each:02}" for i in range(rows)], "county": [f"c{i:04}" for i in range(rows)]}
    return _table(keys, counts)


def _drawn_precincts(seed: int, levels: tuple[str, ...], sizes: tuple[int, ...]) -> Table:
    """Nested names of places, times groups; the floor of a lognormal law."""
    names = [f"p{'-'.join(f'{part:02}' for part in place)}" for place in product(*map(range, sizes))]
    counts = np.floor(np.random.default_rng(seed).lognormal(2.0, 2.1, len(names) * len(GROUPS))).astype(np.int64)
    keys = {
        name: [place[: 3 * (depth + 1)] for place in names for _ in GROUPS] for depth, name in enumerate(levels)
    } | {"group": list(GROUPS) * len(names)}
    return _table(keys, counts)


def _product(shape: Mapping[str, int], counts: Integers) -> Table:
    places = np.indices(tuple(shape.values())).reshape(len(shape), -1)
    return _table({name: [f"{value:03}" for value in axis] for name, axis in zip(shape, places)}, counts.reshape(-1))


def _table(keys: Mapping[str, Sequence[str]], counts: Iterable[int]) -> Table:
    """Through text, as a file would be read."""
    header, rows = [*keys, "people"], (",".join(row) for row in zip(*keys.values(), map(str, counts)))
    text = owned_by_arrow("\n".join([",".join(header), *rows]).encode())
    return table(arrow_text(text, header, Path("table.csv"), skipped=1), count="people", keys=list(keys))


def _rows(data: Path | None, name: str, start: str = "") -> list[dict[str, str]] | None:
    """The rows of a file, those whose first column starts so; None if it is not there."""
    file = None if data is None else data / name
    if file is None or not file.is_file():
        return None
    with (gzip.open if name.endswith(".gz") else open)(file, "rt", encoding="utf-8", newline="") as lines:
        return [row for row in csv.DictReader(lines) if next(iter(row.values())).startswith(start)]
