"""A release folder of every kind, in memory. The noise is repeatable, but the folders say that it is private."""

from __future__ import annotations

import os
import runpy
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.io.folder import Contents, read_contents
from discreet.sample.bits import Bits

MADE = runpy.run_path(str(Path(__file__).parents[1] / "golden" / "make.py"))
ABOUT = dc.About("People by place", "a register", "statistics@example.org", "CC BY 4.0", "Made for a test.")
CUBE = [(u, v, w) for u in "abc" for v in "def" for w in "ghi"][:-1]  # no exact sampler is known for it

KINDS: dict[str, dict[str, Any]] = {
    **MADE["GOLDEN"],
    "unmeasured": {"epsilon": 1, "max_count": 12, "favor": "distribution", "measurements": False},
    "unmeasured-by-rank": {"epsilon": 1, "max_count": 12, "mechanism": "rank", "measurements": False},
    "not-refined": {"epsilon": 1, "max_count": 12, "refine": False},
    "unfixed": {"epsilon": 2, "max_count": 6, "mechanism": "unfixed"},
    "column-generation": {"epsilon": 2, "max_count": 6, "mechanism": "column-generation"},
    "staircase": {"epsilon": 1, "max_count": 12, "mechanism": "staircase", "about": ABOUT},
    "uniform": {"epsilon": 1, "max_count": 12, "mechanism": "uniform"},
    "exponential": {"epsilon": 1, "max_count": 4, "mechanism": "exponential"},
    "randomized-response": {"epsilon": 1, "max_count": 4, "mechanism": "randomized-response", "contributions": 2},
    "signed": {"epsilon": 1, "mechanism": "signed-geometric", "contributions": 3},
    "bounded-several": {
        "epsilon": 3,
        "mechanism": "bounded",
        "truth": "1/3",
        "support": 6,
        "max_count": 12,
        "contributions": 2,
    },
    "bounded-both": {
        "epsilon": 2,
        "mechanism": "bounded",
        "truth": "1/2",
        "support": 3,
        "small_counts": "both",
        "min_count": 1,
    },
    "by-size-gaussian": {"rho": 1, "max_count": "size", "mechanism": "discrete-gaussian"},
    "by-size-unmeasured": {"epsilon": 1, "max_count": "size", "mechanism": "geometric", "measurements": False},
    "gaussian-rho": {"rho": "1/2", "max_count": 12, "mechanism": "discrete-gaussian"},
    "with-a-ledger": {"epsilon": 1, "max_count": 12, "mechanism": "geometric", "ledger": True},
    "seeded-rows": {"epsilon": 1, "max_count": 12, "mechanism": "geometric", "seed": 5},
    "parquet": {"epsilon": 1, "max_count": 12, "format": "parquet"},
    "workbook": {"epsilon": 1, "max_count": 12, "format": "xlsx"},
    "unmeasured-margins": {"epsilon": 1, "measure": ["margin:county", "margin:sex"], "measurements": False},
    "margins-in-parquet": {
        "epsilon": 1,
        "delta": "1/1000",
        "measure": "auto",
        "keep": "margin:sex",
        "contributions": 2,
        "format": "parquet",
    },
    "measured-range": {"epsilon": 1, "favor": "distribution", "split": "0.2"},  # with borders
    "two-margins": {"epsilon": 1, "keep": ["margin:county", "margin:sex"]},
    "unmeasured-projected": {"epsilon": 1, "keep": "total", "nonnegative": True, "measurements": False},
    "one-sum": {"epsilon": 1, "keep": ["sum:sex=f"], "contributions": 2},
    "own-sums": {"epsilon": 1, "keep": [dc.sums([[1] * 15 + [0] * 15])], "law": "l2"},
    "ordered": {"epsilon": 1, "inequalities": "order:sex=f,m", "nonnegative": True},
    "ordered-kept": {"epsilon": 1, "inequalities": "order:sex=f,m", "keep": "sum:sex=m"},
    "levels-unmeasured": {"epsilon": 1, "measure": "auto", "measurements": False},
    "levels-lacking-rows": {"epsilon": 1, "measure": ["margin:state", "margin:kind", "cells"]},
    "several-tables": {"epsilon": 1, "mechanism": "geometric", "views": ("county", "sex")},
    "several-tables-measured": {"epsilon": 1, "views": ("county",)},
}
SLOW: dict[str, dict[str, Any]] = {
    "chain": {"epsilon": 4, "keep": ["margin:u,v", "margin:v,w", "margin:u,w"], "allow_diagnosed": True},
}
FULL = bool(os.environ.get("DISCREET_FULL"))
if FULL:
    KINDS |= SLOW


class Repeatable(Bits):
    """Bits from a seed that say they are private."""

    @property
    def private(self) -> bool:
        return True


@contextmanager
def repeatable() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        module = import_module("discreet.release")  # the package has a function of that name
        seeded = module.source

        def source(seed: int | None = None) -> Bits:
            return seeded(seed) if seed is not None else Repeatable(0, np.random.default_rng(12345))

        patch.setattr(module, "source", source)
        yield


def table(kind: str, contributions: int) -> dc.Table:
    if kind == "chain":
        columns = {key: [cell[k] for cell in CUBE] for k, key in enumerate("uvw")}
        return dc.table(pa.table({**columns, "n": [3] * 26}), "n", keys=list("uvw"))
    made: dc.Table = MADE["table"](kind)
    if kind.startswith("ordered"):
        made = replace(made, counts=np.sort(made.counts.reshape(-1, 2), axis=1).ravel())
    if kind.startswith("levels"):
        made = _levels(lacking=kind == "levels-lacking-rows")
    return replace(made, schema=replace(made.schema, contributions=contributions * made.schema.contributions))


def _levels(lacking: bool) -> dc.Table:
    """Twelve places in three states; where some rows are lacking, of two kinds each."""
    states, places = [k // 4 for k in range(12)], [f"place {k:02d}" for k in range(12)]
    keys = {"state": [f"state {k}" for k in states], "place": places}
    if lacking:
        rows = [k for k in range(24) if k not in (5, 16)]
        keys = {name: [values[k // 2] for k in rows] for name, values in keys.items()}
        keys["kind"] = ["xy"[k % 2] for k in rows]
    counts = np.random.default_rng(8).poisson(4, len(keys["state"]))
    return dc.table(pa.table({**keys, "n": counts}), "n", keys=list(keys))


def _released(source: dc.Table, views: tuple[str, ...], **options: Any) -> dc.Release:
    """Together with tables that are its sums, if any are named."""
    frame = source.schema.categories.append_column("n", pa.array(source.counts))
    sums = [frame.group_by(key).aggregate([("n", "sum")]).rename_columns([key, "n"]) for key in views]
    tables = [source, *(dc.table(one, "n", keys=one.column_names[:1]) for one in sums)]
    return dc.release_many(tables, **options) if views else dc.release(source, **options)


@dataclass(frozen=True)
class Honest:
    """A folder that verifies, and what it takes to say so."""

    kind: str
    contents: Contents
    seeded: bool


@cache
def honest(kind: str) -> Honest:
    return made(kind, **KINDS[kind])


def made(kind: str, **asked: Any) -> Honest:
    """Released as asked, saved and read again."""
    options = dict(asked)
    source, format = table(kind, options.pop("contributions", 1)), options.pop("format", None)
    with tempfile.TemporaryDirectory() as place, repeatable():
        if options.pop("ledger", None):
            book = dc.ledger(Path(place) / "ledger.db")
            book.create("people", epsilon=5)
            options.update(ledger=book, dataset="people")
        _released(source, options.pop("views", ()), **options).save(Path(place) / "out", format)
        return Honest(kind, read_contents(Path(place) / "out"), "seed" in options)
