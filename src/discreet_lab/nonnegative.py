"""Ways to have no negative count beside kept sums, on real tables: errors, biases, zeros and time."""

from __future__ import annotations

import csv
import gzip
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.arrays import Integers
from discreet.lattice.blocks import nearest_in_blocks
from discreet.lattice.conditioning import By
from discreet.lattice.invariants import kept_list
from discreet.lattice.laws import L1
from discreet.lattice.plan import plan_lattice
from discreet.lattice.sampler import pieces_for
from discreet.laws import Geometric, draw_noise
from discreet.numbers import Epsilon
from discreet.privacy.values import Pure
from discreet.public_map import public_words
from discreet.sample.bits import Bits, seeded
from discreet.ways.keep_sums.draw import draw
from discreet.ways.keep_sums.plan import SumsPlan
from discreet.ways.keep_sums.publish import publish
from discreet.ways.keep_sums.spec import KeepSums

EPSILONS = ("0.1", "0.5", "1", "2")
LARGE = 500  # a count whose bias is looked at, too
STAND_IN = "drawn in the same shape, in place of the real table"
ADULT = {"education": 16, "marital": 7, "occupation": 15, "race": 5, "sex": 2, "income": 2}


@dataclass(frozen=True, eq=False)
class SumsTable:
    """Counts with their keys, and the sums that are kept: nested or disjoint ones."""

    name: str
    about: str
    keys: Mapping[str, list[str]]
    counts: Integers
    keep: tuple[str, ...]

    def planned(self, epsilon: str, by: By | None) -> SumsPlan:
        """As a release with these options would be planned."""
        spec = KeepSums(keep=kept_list(self.keep), nonnegative=by is not None, nonnegative_by=by)
        how = {"nonnegative": spec.conditioned, "projected": spec.projected}
        lattice = plan_lattice(self.keys, self.keep, Pure(epsilon), rows=len(self.counts), **how)
        return SumsPlan(spec, lattice, lattice.guarantee)


def tables(data: Path | None) -> tuple[SumsTable, ...]:
    """Real ones where the folder has them, otherwise stand-ins that say so."""
    return _precincts(data), _murders(data), _adult(data), _sids(data)


def _precincts(data: Path | None) -> SumsTable:
    about, keep = "people by precinct of Vermont and group, 2010", ("margin:county",)
    file = None if data is None else data / "us_vtd_race_2010_long.csv.gz"
    if file is None or not file.is_file():
        counts = np.floor(np.random.default_rng(1).lognormal(2.0, 2.1, 2240)).astype(np.int64)
        cells = np.arange(2240)
        keys = {"county": [str(cell // 160) for cell in cells], "cell": [str(cell) for cell in cells]}
        return SumsTable("precincts", f"{about}; {STAND_IN}", keys, counts, keep)
    with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["geo"].startswith("VT-")]
    keys = {"county": [row["geo"].split("-")[1] for row in rows], "precinct": [row["geo"] for row in rows],
            "group": [row["group"] for row in rows]}  # fmt: skip
    return SumsTable("precincts", about, keys, np.array([int(row["count"]) for row in rows]), keep)


def _murders(data: Path | None) -> SumsTable:
    about, keep = "murders by US county, 2012", ("margin:state",)
    file = None if data is None else data / "us_county_murders_2012.csv"
    if file is None or not file.is_file():
        rng = np.random.default_rng(2)
        counts = np.where(rng.random(3120) < 0.5, 0, np.minimum(rng.pareto(1.15, 3120) + 1, 500)).astype(np.int64)
        keys = {"state": [str(i // 60) for i in range(3120)], "county": [str(i) for i in range(3120)]}
        return SumsTable("murders", f"{about}; {STAND_IN}", keys, counts, keep)
    with open(file, encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    keys = {"state": [row["fips"][:2] for row in rows], "county": [row["fips"] for row in rows]}
    return SumsTable("murders", about, keys, np.array([int(row["murder"]) for row in rows]), keep)


def _adult(data: Path | None) -> SumsTable:
    about, keep = "adults by six attributes, 33,600 cells", ("margin:education,sex",)
    places = np.indices(tuple(ADULT.values())).reshape(len(ADULT), -1)
    counts = np.zeros(places.shape[1], dtype=np.int64)
    file = None if data is None else data / "adult_six.csv"
    if file is None or not file.is_file():
        rng, about = np.random.default_rng(3), f"{about}; {STAND_IN}"
        held = rng.choice(len(counts), 4178, replace=False)
        counts[held] = np.ceil(rng.lognormal(0.9, 1.4, len(held))).astype(np.int64)
    else:
        with open(file, encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                at = np.ravel_multi_index(tuple(int(row[name]) for name in ADULT), tuple(ADULT.values()))
                counts[at] = int(row["people"])
    keys = {name: [str(value) for value in axis.tolist()] for name, axis in zip(ADULT, places)}
    return SumsTable("adult", about, keys, counts, keep)


def _sids(data: Path | None) -> SumsTable:
    about, keep = "sudden infant deaths by county of North Carolina, 1974 to 1978", ("total",)
    file = None if data is None else data / "nc_sids_counties.csv"
    if file is None or not file.is_file():
        drawn = np.random.default_rng(4).negative_binomial(0.9, 0.12, 100)
        return SumsTable("sids", f"{about}; {STAND_IN}", {"county": [str(i) for i in range(100)]}, drawn, keep)
    with open(file, encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    keys = {"county": [row["county"] for row in rows]}
    return SumsTable("sids", about, keys, np.array([int(row["sids74"]) for row in rows]), keep)


Release = Callable[[Bits], Integers]


def _of_the_way(table: SumsTable, epsilon: str, by: By | None) -> Release:
    planned = table.planned(epsilon, by)
    return lambda bits: publish(planned, draw(planned, table.counts, bits)).counts


def _old(table: SumsTable, epsilon: str) -> Release:
    """Conditioned, at the odds that the older bound (gamma = 1) allows."""
    planned = table.planned(epsilon, "condition")
    law = L1(Epsilon(value=Fraction(epsilon)).times(Fraction(1, 4)).odds())
    pieces = pieces_for(planned.lattice.structure, law, True)
    older = replace(planned, lattice=replace(planned.lattice, law=law, pieces=pieces))
    return lambda bits: publish(older, draw(older, table.counts, bits)).counts


def _repaired(table: SumsTable, epsilon: str) -> Release:
    """Independent noise of the same odds in every cell, then repaired to have the sums, as a census does it."""
    structure = table.planned(epsilon, None).lattice.structure
    blocks = [cells for part in structure.parts for cells in part.classes]
    cells, sizes = np.concatenate(blocks), np.array([len(block) for block in blocks])
    sums = np.add.reduceat(table.counts[cells], np.cumsum(sizes) - sizes)
    law = Geometric(Epsilon(value=Fraction(epsilon)).times(Fraction(1, 2)).odds())

    def release(bits: Bits) -> Integers:
        noisy, out = table.counts + draw_noise(law, len(table.counts), bits), np.empty_like(table.counts)
        out[cells] = nearest_in_blocks(noisy[cells], sizes, sums, public_words("repaired", "ties", len(cells)))
        return out

    return release


METHODS: dict[str, Callable[[SumsTable, str], Release]] = {
    "signed": lambda table, epsilon: _of_the_way(table, epsilon, None),
    "projected": lambda table, epsilon: _of_the_way(table, epsilon, "project"),
    "conditioned": lambda table, epsilon: _of_the_way(table, epsilon, "condition"),
    "conditioned, gamma = 1": _old,
    "noise, then repair": _repaired,
}


@dataclass(frozen=True)
class Found:
    """Of the releases of one table by one method: means over rows and releases."""

    table: str
    epsilon: str
    method: str
    error: float
    bias_at_zeros: float
    bias_of_large: float | None
    zeros: float  # share of rows published as zero
    seconds: float


def studied(table: SumsTable, epsilon: str, method: str, repeats: int) -> Found:
    release, off, zeros, seconds = METHODS[method](table, epsilon), [], [], []
    for seed in range(repeats):
        start = time.process_time()
        counts = release(seeded(seed))
        seconds.append(time.process_time() - start)
        off.append(counts - table.counts)
        zeros.append((counts == 0).mean())
    errors, empty, large = np.array(off), table.counts == 0, table.counts > LARGE
    return Found(
        table.name, epsilon, method, float(np.abs(errors).mean()), float(errors[:, empty].mean()),
        float(errors[:, large].mean()) if large.any() else None, float(np.mean(zeros)), float(np.median(seconds)),
    )  # fmt: skip


def lines_of(found: Sequence[Found], tables: Sequence[SumsTable]) -> Iterator[str]:
    """A table in Markdown for each table of the study."""
    for table in tables:
        share = (table.counts == 0).mean()
        kept = ", ".join(table.keep)
        yield f"\n**{table.about}**: {len(table.counts):,} cells, {share:.0%} of them zero; kept: {kept}.\n"
        yield "| epsilon | | error of a cell | bias at zeros | bias above 500 | share of zeros | seconds |"
        yield "|---|---|---|---|---|---|---|"
        for one in found:
            if one.table == table.name:
                large = "" if one.bias_of_large is None else f"{one.bias_of_large:+.1f}"
                cells = (one.epsilon, one.method, f"{one.error:.2f}", f"{one.bias_at_zeros:+.2f}", large,
                         f"{one.zeros:.0%}", f"{one.seconds:.2g}")  # fmt: skip
                yield "| " + " | ".join(cells) + " |"
    yield ""
