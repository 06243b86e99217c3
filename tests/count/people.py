"""A few people as every kind of data that can be counted, and the obvious count of them."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from discreet.io import microdata
from discreet.io.universe import read_universe
from discreet.table import Table

UNIVERSE = {"county": ["01001", "01003", "02001"], "sex": ["f", "m"]}
ROWS = [("01001", "f", "a"), ("01001", "f", "b"), ("02001", "m", "a"), ("01001", "m", "a"), ("01001", "f", "a")]
Rows = list[tuple[str, str, str]]
KEY = bytes(range(32))


def frame_of(rows: Rows) -> dict[str, list[str]]:
    return {name: [row[k] for row in rows] for k, name in enumerate(("county", "sex", "person"))}


def as_pandas(rows: Rows, _folder: Path) -> Any:
    return pd.DataFrame(frame_of(rows), columns=["county", "sex", "person"], dtype=str)


def as_polars(rows: Rows, _folder: Path) -> Any:
    return pl.DataFrame(frame_of(rows), schema={"county": pl.String, "sex": pl.String, "person": pl.String})


def as_arrow(rows: Rows, _folder: Path) -> Any:
    return pa.table(frame_of(rows), schema=pa.schema([(name, pa.string()) for name in ("county", "sex", "person")]))


def as_parquet(rows: Rows, folder: Path) -> Any:
    pq.write_table(as_arrow(rows, folder), folder / "people.parquet")
    return folder / "people.parquet"


def as_csv(rows: Rows, folder: Path) -> Any:
    as_pandas(rows, folder).to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


def as_lazy_polars(rows: Rows, folder: Path) -> Any:
    return as_polars(rows, folder).lazy()


def as_relation(rows: Rows, folder: Path) -> Any:
    return duckdb.from_arrow(as_arrow(rows, folder))


def as_ibis(rows: Rows, folder: Path) -> Any:
    return ibis.memtable(as_arrow(rows, folder))


KINDS = {
    "pandas": as_pandas, "polars": as_polars, "pyarrow": as_arrow, "parquet": as_parquet, "csv": as_csv,
    "polars-lazy": as_lazy_polars, "duckdb": as_relation, "ibis": as_ibis,
}  # fmt: skip
COLLECTED = {"polars-lazy": "polars", "duckdb": "pyarrow", "ibis": "pyarrow"}  # what a lazy frame becomes
GIVEN_BACK = {**COLLECTED, "polars-lazy": "polars-lazy", "duckdb": "duckdb"}  # what a release of a table gives back


def obvious(rows: Rows) -> list[int]:
    """The specification: go through the universe, count the rows that are the same."""
    found = Counter(row[:2] for row in rows)
    return [found[pair] for pair in product(*UNIVERSE.values())]


def counts_of(table: Table) -> list[int]:
    return table.counts.tolist()


def under_one_key(data: Any, bound: int, key: bytes = KEY) -> Any:
    """Bounded counts, as they come out under a key that is given."""
    names = ["county", "sex"]
    return microdata.counted(data, names, read_universe(UNIVERSE, names), "person", bound, key)[0]


categories = st.tuples(st.sampled_from(UNIVERSE["county"]), st.sampled_from(UNIVERSE["sex"]))
people = st.lists(st.tuples(categories, st.sampled_from("abcde")).map(lambda pair: (*pair[0], pair[1])), max_size=25)
