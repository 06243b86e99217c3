"""The tables of the study. Those held out were named before any of them was looked at, and chose nothing; of the last
three the shapes, but not these draws, had shown a fault before. *thirds* was held out until packs were looked for."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.arrays import Integers
from discreet.errors import choose

SEED = 20  # of every table that is drawn: the study compares releases of one table, not tables


@dataclass(frozen=True, eq=False)
class StudyTable:
    """Counts, and the max_count that somebody might know: with it, counts are cut there beforehand."""

    name: str
    counts: Integers
    max_count: int
    about: str
    held_out: bool = False

    def as_released(self, with_max_count: bool) -> Integers:
        return np.minimum(self.counts, self.max_count) if with_max_count else self.counts

    @property
    def rows(self) -> int:
        return len(self.counts)


def study_tables(data: Path | None = None) -> tuple[StudyTable, ...]:
    """All of them; real tables where `data` is a folder that has them, otherwise stand-ins that say so."""
    return (*_real(data), *_drawn(), *_extreme(), *_held_out(data))


def some_tables(names: tuple[str, ...], data: Path | None = None) -> tuple[StudyTable, ...]:
    """Those with these names; all where there are none."""
    every = study_tables(data)
    known = [table.name for table in every]
    return every if not names else tuple(every[known.index(choose(name, known, "table"))] for name in names)


def _rng(name: str) -> np.random.Generator:
    """Its own for each table, so that a new one changes no other."""
    return np.random.default_rng([SEED, *name.encode()])


def _real(data: Path | None) -> tuple[StudyTable, ...]:
    return _example(), _homicides(data), _sids(data)


def _example() -> StudyTable:
    from discreet.io.example import example

    return StudyTable("example", example().counts, 50, "murders by US county, 1996: the table of the demonstration")


def _homicides(data: Path | None) -> StudyTable:
    counts = _column(data, "us_county_murders_2012.csv", "murder")
    if counts is not None:
        return StudyTable("homicides", counts, 50, "homicides by US county, 2012")
    rng = _rng("homicides")
    tail = np.minimum(np.floor(rng.pareto(1.15, 3136) * 1.1 + 1), 600).astype(np.int64)
    drawn = np.where(rng.random(3136) < 0.525, 0, tail)
    return StudyTable("homicides", drawn, 50, "half zeros and a Pareto tail, in place of homicides by US county")


def _sids(data: Path | None) -> StudyTable:
    counts = _column(data, "nc_sids_counties.csv", "sids74")
    if counts is not None:
        return StudyTable("sids", counts, 50, "sudden infant deaths by county of North Carolina, 1974 to 1978")
    drawn = _rng("sids").negative_binomial(0.9, 0.12, 100)
    return StudyTable("sids", drawn, 50, "a negative binomial of mean 6.6, in place of infant deaths by county")


def _drawn() -> tuple[StudyTable, ...]:
    return (
        StudyTable("bimodal", _bimodal(), 80, "Poisson 8 and Poisson 40 in equal parts"),
        StudyTable("heaped", _heaped(), 80, "a negative binomial of mean 20, six rows in ten rounded to tens or fives"),
        StudyTable("spiky", _spiky(), 60, "a fifth each of 0, 12, 13 and 40; the rest even from 0 to 60"),
        StudyTable("uniform", _rng("uniform").integers(0, 81, 5000), 80, "every count from 0 to 80 alike"),
        StudyTable("negbin", _rng("negbin").negative_binomial(3, 0.08, 800), 200, "a negative binomial of mean 34.5"),
        StudyTable("tiny", _rng("tiny").negative_binomial(1, 0.1, 50), 60, "fifty rows of a geometric law of mean 9"),
        StudyTable("binomial", _rng("binomial").binomial(20, 0.5, 10_000), 20, "binomial, 20 throws"),
        StudyTable("schools", _schools(), 80, "gamma of shape 2.2 and scale 14.5, cut at 80, as teachers by school"),
        StudyTable("mostly-zero", _mostly_zero(), 30, "19 rows in 20 are zero, the others geometric of mean 5"),
        StudyTable("zero-inflated", _zero_inflated(), 30, "three rows in ten are zero, the others Poisson 9"),
        StudyTable("power-law", _power_law(), 200, "a chance of count + 1 to the power of -1.6, up to 3,000"),
        StudyTable("two-point", _rng("two-point").choice([3, 40], 1000), 50, "3 or 40, a coin's throw"),
        StudyTable("few", np.minimum(_rng("few").poisson(1.2, 2000), 5), 5, "Poisson 1.2, cut at 5"),
        StudyTable("yes-no", _rng("yes-no").binomial(1, 0.3, 2000), 1, "one in 3 rows in 10, otherwise zero"),
    )


def _extreme() -> tuple[StudyTable, ...]:
    poisson = _rng("enormous").poisson(3, 500)
    return (
        StudyTable("all-zero", np.zeros(500, dtype=np.int64), 10, "zero in every row"),
        StudyTable("all-equal", np.full(300, 7), 20, "seven in every row"),
        StudyTable("eight-rows", np.array([0, 0, 1, 2, 3, 7, 12, 30]), 50, "0, 0, 1, 2, 3, 7, 12 and 30"),
        StudyTable("coin", _rng("coin").binomial(1, 0.5, 2000), 1, "one in every other row, otherwise zero"),
        StudyTable("enormous", np.append(poisson, 20_000), 20, "500 rows Poisson 3, and one row of 20,000"),
    )


def _held_out(data: Path | None) -> tuple[StudyTable, ...]:
    rng = _rng("triangular")
    triangular = np.floor(rng.triangular(0, 15, 70, 1500)).astype(np.int64)
    return (
        StudyTable("lognormal", _lognormal(), 150, "the floor of a lognormal (2.5, 0.9)", True),
        StudyTable("three-poissons", _three_poissons(), 60, "Poisson 1, 10 and 35: six, three and one in ten", True),
        StudyTable("triangular", triangular, 70, "a triangle over 0 to 70 with its top at 15", True),
        StudyTable("u-shaped", _u_shaped(), 30, "beta-binomial (0.5, 0.5) of 30 throws: most rows at the ends", True),
        _precincts(data),
        StudyTable(
            "wide", _rng("wide").integers(0, 1000, 300), 1000, "every count from 0 to 999 alike, 300 rows", True
        ),
        StudyTable("wide-few", _rng("wide-few").integers(0, 1000, 30), 1000, "the same, 30 rows", True),
        StudyTable("long", _long(), 500, "the floor of a lognormal (3, 1.2), 500 rows", True),
        StudyTable("thirds", 3 * _rng("thirds").poisson(4, 1000), 40, "three times a Poisson 4, 1,000 rows"),
    )


def _bimodal() -> Integers:
    rng = _rng("bimodal")
    return np.where(rng.random(3000) < 0.5, rng.poisson(8, 3000), rng.poisson(40, 3000))


def _heaped() -> Integers:
    rng = _rng("heaped")
    exact = rng.negative_binomial(1.5, 1.5 / 21.5, 3000)
    place = rng.random(3000)
    return np.where(place < 0.3, (exact + 5) // 10 * 10, np.where(place < 0.6, (exact + 2) // 5 * 5, exact))


def _spiky() -> Integers:
    rng = _rng("spiky")
    spikes = np.array([0, 12, 13, 40, -1])[rng.integers(0, 5, 3000)]
    return np.where(spikes < 0, rng.integers(0, 61, 3000), spikes)


def _schools() -> Integers:
    return np.minimum(_rng("schools").gamma(2.2, 14.5, 20_000).astype(np.int64), 80)


def _mostly_zero() -> Integers:
    rng = _rng("mostly-zero")
    return np.where(rng.random(4000) < 0.95, 0, rng.geometric(0.2, 4000))


def _zero_inflated() -> Integers:
    rng = _rng("zero-inflated")
    return np.where(rng.random(2000) < 0.3, 0, rng.poisson(9, 2000))


def _power_law() -> Integers:
    masses = np.arange(1.0, 3002.0) ** -1.6
    return _rng("power-law").choice(3001, 5000, p=masses / masses.sum())


def _lognormal() -> Integers:
    return np.floor(_rng("lognormal").lognormal(2.5, 0.9, 2500)).astype(np.int64)


def _long() -> Integers:
    return np.floor(_rng("long").lognormal(3, 1.2, 500)).astype(np.int64)


def _three_poissons() -> Integers:
    rng = _rng("three-poissons")
    means = np.array([1.0, 10.0, 35.0])
    return rng.poisson(means[rng.choice(3, 4000, p=[0.6, 0.3, 0.1])])


def _u_shaped() -> Integers:
    rng = _rng("u-shaped")
    return rng.binomial(30, rng.beta(0.5, 0.5, 1200))


def _precincts(data: Path | None) -> StudyTable:
    file = None if data is None else data / "us_vtd_race_2010_long.csv.gz"
    if file is None or not file.is_file():
        drawn = np.floor(_rng("precincts").lognormal(2.0, 2.1, 2200)).astype(np.int64)
        return StudyTable("precincts", drawn, 100, "the floor of a lognormal (2, 2.1), in place of precincts", True)
    with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
        counts = np.array([int(row["count"]) for row in csv.DictReader(lines) if row["geo"].startswith("VT-")])
    return StudyTable("precincts", counts, 100, "people by precinct of Vermont and race group, 2010", True)


def _column(data: Path | None, file: str, column: str) -> Integers | None:
    if data is None or not (data / file).is_file():
        return None
    with open(data / file, encoding="utf-8", newline="") as lines:
        return np.array([int(row[column]) for row in csv.DictReader(lines)], dtype=np.int64)
