"""The tables behind the experiments: from a folder of public data, or stand-ins of the same shape that say so."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet_lab.experiment import Data, RunSetting

ABSENT = "no data folder was given; these numbers are generated in the same shape"


def check_folder(folder: Path) -> None:
    """Refuse a folder that is not there, before any work is done."""
    if not folder.is_dir():
        raise BadInput(
            f"real data were to be read from {folder}", "there is no such folder", "Leave --data out to use stand-ins"
        )


def _rows(setting: RunSetting, file: str) -> Iterator[dict[str, str]] | None:
    """The rows of a file of the data folder; None if no folder was given or it has no such file."""
    if setting.data is None or not (setting.data / file).is_file():
        return None
    with open(setting.data / file, encoding="utf-8", newline="") as stream:
        return iter(list(csv.DictReader(stream)))


def _column(setting: RunSetting, file: str, column: str) -> Integers | None:
    rows = _rows(setting, file)
    if rows is None:
        return None
    try:
        return np.array([int(row[column]) for row in rows], dtype=np.int64)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"the column {column!r} of {file} was to be read", f"it is missing or not whole: {error}"
        ) from error


def crime(setting: RunSetting) -> tuple[Integers, Data]:
    """Homicides by US county, 3,136 of them."""
    source = "homicides by US county, 2012"
    counts = _column(setting, "us_county_murders_2012.csv", "murder")
    if counts is not None:
        return counts, Data(source)
    rng = np.random.default_rng(2012)
    tail = np.floor(rng.pareto(1.15, 3136) * 1.1 + 1).astype(np.int64)
    return np.where(rng.random(3136) < 0.525, 0, np.minimum(tail, 500)), Data(source, ABSENT)


def bird_flu(setting: RunSetting) -> tuple[dict[str, int], Data]:
    """Human cases of bird flu by US state, as of the day nearest to the paper's."""
    source = "human cases of bird flu by US state, February 28, 2025"
    rows = _rows(setting, "h5n1_us_states_2025_02.csv")
    if rows is not None:
        return {row["state"]: int(row["cases_2025_02_28"]) for row in rows}, Data(source)
    states = {"California": 38, "Colorado": 10, "Wisconsin": 1, **{f"state {k}": int(k % 4 == 0) for k in range(47)}}
    return states, Data(source, ABSENT)


def schools(setting: RunSetting) -> tuple[Integers, Data]:
    """Teachers by US school. The national file is not available: gamma counts of the printed size and range."""
    rng = np.random.default_rng(95969)
    counts = np.minimum(np.floor(rng.gamma(2.2, 14.5, 95969)), 80).astype(np.int64)
    why = "the national file of 95,969 schools is not available; as many gamma counts, top-coded at 80, take its place"
    return counts, Data("teachers by US school", why, obtainable=False)


def histogram(setting: RunSetting, name: str) -> tuple[Integers, Data]:
    """One of the histograms of counts that the authors of paper 000 published with their code."""
    source = f"the authors' {name} data"
    rows = _rows(setting, "kl_histograms.csv")
    if rows is not None:
        bins = {int(row["count"]): int(row["categories"]) for row in rows if row["dataset"] == name}
        return np.array([bins.get(i, 0) for i in range(max(bins) + 1)], dtype=np.int64), Data(source)
    return np.bincount(_drawn(name)), Data(source, ABSENT)


def _drawn(name: str) -> Integers:
    """Draws from the laws that paper 000 describes."""
    rng = np.random.default_rng(sum(map(ord, name)))
    if name == "binomial":
        return rng.binomial(20, 0.5, 10_000)
    if name == "uniform":
        return rng.integers(0, 30, 3000)
    if name == "bimodal":
        return np.concatenate([rng.binomial(39, 0.7, 10_000), rng.binomial(39, 0.3, 10_000)])
    if name in ("zero-inflated", "top-inflated"):
        extra = np.zeros(200, dtype=np.int64) if name == "zero-inflated" else np.full(100, 79)
        return np.concatenate([rng.integers(0, 80, 10_000 - len(extra)), extra])
    masses = (139 / 140) ** np.arange(70)
    law = masses / masses.sum()
    return rng.choice(70, 10_000, p=law if name == "right-skewed" else law[::-1])


def adult(setting: RunSetting) -> tuple[dict[str, NDArray[np.bool_]], Data]:
    """Three yes-or-no questions about 32,561 adults."""
    source = "the UCI Adult table"
    rows = _rows(setting, "adult_targets.csv")
    if rows is None:
        rng = np.random.default_rng(1994)
        shares = {"income over 50K": 0.241, "male": 0.669, "under 30": 0.297}
        return {name: rng.random(32_561) < share for name, share in shares.items()}, Data(source, ABSENT)
    people = list(rows)
    return {
        "income over 50K": np.array([person["income"].strip() == ">50K" for person in people]),
        "male": np.array([person["sex"].strip() == "Male" for person in people]),
        "under 30": np.array([int(person["age"]) < 30 for person in people]),
    }, Data(source)


def county_populations(setting: RunSetting, state: str) -> tuple[Integers, Data]:
    """The populations of the counties of a state in 2010, ascending."""
    source = f"county populations of {state}, 2010"
    rows = _rows(setting, "us_county_population_2010.csv")
    if rows is not None:
        found = [int(row["pop_2010"]) for row in rows if row["state"] == state]
        if found:
            return np.sort(np.array(found, dtype=np.int64)), Data(source)
    rng = np.random.default_rng(sum(map(ord, state)))
    counties = {"Illinois": 102, "California": 58}.get(state, 80)
    return np.sort(np.exp(rng.normal(10, 1.3, counties)).astype(np.int64)), Data(source, ABSENT)


def census_noise(setting: RunSetting) -> tuple[Integers, Integers] | None:
    """True and noisy populations of Californian counties, by the Census Bureau in March 2022; None if absent."""
    truth = _column(setting, "census_das_demo_ca_2022.csv", "total_census2010")
    noisy = _column(setting, "census_das_demo_ca_2022.csv", "total_dp_20220316")
    return None if truth is None or noisy is None else (truth, noisy)
