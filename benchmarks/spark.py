"""Spark as an engine next to processes of this machine, and Tumult Analytics on the same people, in one run.

Times are of processors, of all processes together (the JVM and Python's workers too), in units u = os.urandom(8 *
rows). Each engine makes a small release first, so that starting it is not measured. `DISCREET_TUMULT=/path/to/python`
names a Python that has tmlt.analytics, which needs older versions of pyspark and pandas than discreet; without it that
row is left out. `DISCREET_SCALE=1000000,10000000` chooses the sizes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SIZES = os.environ.get("DISCREET_SCALE", "1000000,10000000")
PART = 500_000  # rows of a part
TICKS = os.sysconf("SC_CLK_TCK")
TUMULT = """
import json, sys, time
from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session
spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "3g").config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.sql.shuffle.partitions", "8").getOrCreate())
spark.sparkContext.setLogLevel("ERROR")
people, keys, out = sys.argv[1:]
session = Session.from_dataframe(PureDPBudget(1), "people", spark.read.parquet(people), protected_change=AddOneRow())
query = QueryBuilder("people").groupby(KeySet.from_dataframe(spark.read.parquet(keys))).count()
session.evaluate(query, PureDPBudget(1)).write.parquet(out)
print(json.dumps(spark.read.parquet(out).count()))
"""


def processors(root: int | None = None) -> float:
    """Seconds of processors that this process and all that descend from it have taken so far (Linux)."""
    stats = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        stats[int(place.parent.name)] = (int(words[1]), sum(map(int, words[11:15])))
    found, todo = 0, [root or os.getpid()]
    while todo:
        one = todo.pop()
        found += stats.get(one, (0, 0))[1]
        todo += [child for child, (parent, _) in stats.items() if parent == one]
    return found / TICKS


def spent(run: Callable[[], object]) -> tuple[float, float]:
    """Seconds of processors, and by the clock."""
    before, start = processors(), time.perf_counter()
    run()
    return processors() - before, time.perf_counter() - start


def frame_of(rows: int) -> Any:
    import pyarrow as pa

    places = np.arange(rows)
    counts = np.random.default_rng(0).negative_binomial(1, 0.2, rows)
    return pa.table({"county": places // 100, "age": places % 100, "n": counts})


def in_parts(folder: Path, rows: int) -> Path:
    import pyarrow.parquet as pq

    folder.mkdir()
    frame = frame_of(rows)
    for number, start in enumerate(range(0, rows, PART)):
        pq.write_table(frame.slice(start, PART), folder / f"{number:05d}.parquet")
    return folder


def session(folder: str) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "3g",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.local.dir": folder,
        "spark.sql.shuffle.partitions": "8",
    }  # fmt: skip
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def engines(folder: Path, sizes: list[int]) -> list[dict[str, object]]:
    import discreet as dc
    from discreet.parts.engine import Processes

    spark = session(str(folder / "spark"))
    small = in_parts(folder / "small", 1000)
    ways: dict[str, Callable[[Path, Path], object]] = {
        "processes": lambda given, out: dc.release_parts(given, "n", "all", 1, out=out, engine=Processes(2)),
        "engine spark": lambda given, out: dc.release_parts(given, "n", "all", 1, out=out, engine="spark"),
        "a Spark frame": lambda given, out: dc.release(
            spark.read.parquet(str(given)), epsilon=1, count="n", keys="all", out=out, part_rows=PART
        ),
    }
    for name, way in ways.items():
        way(small, folder / f"small {name}")
    found: list[dict[str, object]] = []
    for rows in sizes:
        given = in_parts(folder / str(rows), rows)
        unit = min(spent(lambda rows=rows: os.urandom(8 * rows))[0] for _ in range(3))  # type: ignore[misc]
        for name, way in ways.items():
            out = folder / f"{rows} {name}"
            work, clock = spent(lambda way=way, given=given, out=out: way(given, out))  # type: ignore[misc]
            found.append({"name": f"{rows:,} rows, {name}", "u": work / unit, "seconds": work, "by the clock": clock})
            shutil.rmtree(out)
        shutil.rmtree(given)
    spark.stop()
    return found


def tumult(python: str, folder: Path, rows: int = 1_000_000) -> list[dict[str, object]]:
    """People to count, over a million public categories, with pure Laplace or geometric noise: theirs and ours."""
    import pyarrow.parquet as pq

    import discreet as dc

    table = frame_of(rows)
    places = np.repeat(np.arange(rows), table["n"].to_numpy())
    keys = table.select(["county", "age"])
    pq.write_table(keys.take(np.random.default_rng(1).permutation(places)), folder / "people.parquet")
    pq.write_table(keys, folder / "keys.parquet")

    def ours() -> None:
        counted = dc.count(folder / "people.parquet", ["county", "age"], folder / "keys.parquet")
        dc.release(counted, epsilon=1, mechanism="signed-geometric").save(folder / "ours", format="parquet")

    def theirs() -> None:
        program = [python, "-c", TUMULT, *(str(folder / name) for name in ("people.parquet", "keys.parquet", "theirs"))]
        environment = {**os.environ, "PYSPARK_PYTHON": python}
        environment.pop("PYTHONPATH", None)
        done = subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True)
        most, start = 0.0, time.perf_counter()
        while done.poll() is None:  # its JVM ends with it: what it took is looked at while it lives
            most = max(most, processors(done.pid))
            time.sleep(0.5)
        assert done.stdout is not None and done.returncode == 0
        assert json.loads(done.stdout.read().splitlines()[-1]) == rows
        results.extend((most, time.perf_counter() - start))

    results: list[float] = []
    mine, clock = spent(ours)
    theirs()
    row = {"name": f"count {len(places):,} people over {rows:,} categories, and publish (s of processors)"}
    note = f"other: Tumult Analytics, its start included; by the clock {clock:.0f} and {results[1]:.0f} s"
    return [{**row, "ours": mine, "other": results[0], "ratio": results[0] / mine, "note": note}]


def run() -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as place:
        found = engines(Path(place), [int(size) for size in SIZES.split(",")])
    if "DISCREET_TUMULT" in os.environ:
        with tempfile.TemporaryDirectory() as place:
            found += tumult(os.environ["DISCREET_TUMULT"], Path(place))
    return found


if __name__ == "__main__":
    for result in run():
        print(result)
