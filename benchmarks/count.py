"""Counting microdata: ours next to hand-written SQL that counts and bounds the same way, in one run."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

COUNTIES = 3000


def microdata(path: Path, rows: int, people: int) -> None:
    import duckdb

    duckdb.execute(
        f"COPY (SELECT CAST(hash(i) % {people} AS BIGINT) AS person, "
        f"lpad(CAST(hash(i * 7 + 1) % {COUNTIES} AS VARCHAR), 5, '0') AS county, "
        f"CASE WHEN hash(i * 13 + 5) % 2 = 0 THEN 'f' ELSE 'm' END AS sex FROM range({rows}) AS t(i)) TO '{path}'"
    )


def hand_written(path: Path, bound: int | None) -> Callable[[], int]:
    """The counts of a universe that is a join of two lists, as one would write it by hand."""
    import duckdb

    kept = f"SELECT county, sex FROM '{path}'"
    if bound is not None:
        inner, outer = (f"from_hex('{os.urandom(64).hex()}')" for _ in range(2))
        number = "row_number() OVER (PARTITION BY person, county, sex)"
        row = f"encode(person || ':' || county || ':' || sex || ':' || {number})"
        rank = f"sha256({outer} || from_hex(sha256({inner} || {row})))"
        kept = f"SELECT * FROM (SELECT *, {rank} AS rank FROM '{path}')"
        kept += f" QUALIFY row_number() OVER (PARTITION BY person ORDER BY rank) <= {bound}"
    query = (
        f"WITH universe AS (SELECT lpad(CAST(c AS VARCHAR), 5, '0') AS county, sex FROM range({COUNTIES}) AS t(c), "
        f"(VALUES ('f'), ('m')) AS s(sex)), found AS (SELECT county, sex, count(*) AS n FROM ({kept}) GROUP BY ALL) "
        "SELECT county, sex, coalesce(n, 0) FROM universe LEFT JOIN found USING (county, sex) ORDER BY ALL"
    )

    def call() -> int:
        with duckdb.connect() as database:
            return sum(row[2] for row in database.execute(query).fetchall())

    return call


def ours(path: Path, bound: int | None) -> Callable[[], int]:
    from discreet.count import count

    universe = {"county": [f"{county:05d}" for county in range(COUNTIES)], "sex": ["f", "m"]}
    person = None if bound is None else "person"
    return lambda: int(count(path, ["county", "sex"], universe, person, bound).counts.sum())


def best_of(calls: list[Callable[[], int]], repeats: int) -> list[float]:
    """The shortest time of each, taking turns."""
    seconds = [float("inf")] * len(calls)
    for _ in range(repeats):
        totals = []
        for k, call in enumerate(calls):
            start = time.perf_counter()
            totals.append(call())
            seconds[k] = min(seconds[k], time.perf_counter() - start)
        assert len(set(totals)) == 1, "they do not count the same"
    return seconds


def run(rows: int = 20_000_000) -> list[dict[str, Any]]:
    results = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        microdata(path, rows, people=rows * 2 // 5)
        for bound in (None, 2):
            mine, other = best_of([ours(path, bound), hand_written(path, bound)], repeats=3 if bound is None else 2)
            results.append(
                {
                    "name": f"count {rows:,} rows of Parquet"
                    + (f", at most {bound} per person" if bound else "")
                    + " (s)",
                    "ours": mine,
                    "other": other,
                    "ratio": other / mine,
                    "note": "other: hand-written SQL in DuckDB; at least 0.67 is asked",
                }
            )
    return results


if __name__ == "__main__":
    for result in run(*(int(word) for word in sys.argv[1:])):
        print(result)
