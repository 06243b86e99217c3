"""How time and memory grow with the rows: release, save and verify, in units u = os.urandom(8 * rows).

Times are of processors, of all threads together, so that what else runs on a machine matters less. Each case runs in a
process of its own, which measures its u, its times and its memory: `python benchmarks/scale.py
parquet 1000000` runs one. `DISCREET_SCALE=1000000,10000000,50000000` chooses the sizes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

SIZES = os.environ.get("DISCREET_SCALE", "1000000,10000000")
BLOCK = 100  # rows that share their first key: one in ten of the blocks for kept sums has as many
CASES = {
    "parquet": "Parquet in and out (release 6 u, verify 6 u, 60 bytes a row allowed)",
    "csv": "CSV in and out (15 u allowed)",
    "margin": "a margin kept over blocks of ten rows, Parquet out",
    "nested": "a total, and margins over two nested keys, Parquet out",
    "crossing": "two margins that cross in tables of ten by ten, Parquet out",
    "parts": "in parts of a million rows, one process (memory is told whole, in megabytes)",
    "unsorted": "in parts that are not in the order of their keys",
    "system": "in parts, random bits from the operating system alone",
}
PART = 1_000_000  # rows


def table_of(rows: int, kind: str) -> object:
    """Keys and counts as an Arrow table."""
    import pyarrow as pa

    places = np.arange(rows)
    block = BLOCK if kind in ("parquet", "csv") else BLOCK // 10
    keys = {"state": places // (100 * block), "county": places // block, "age": (places % block).astype(np.int32)}
    keys["area"], keys["group"] = places // (10 * block), places // block % 10
    names = {"nested": ["state", "county", "age"], "crossing": ["area", "group", "age"]}.get(kind, ["county", "age"])
    counts = np.random.default_rng(0).negative_binomial(1, 0.2, rows)
    return pa.table({**{name: keys[name] for name in names}, "n": counts})


def write_parts(folder: Path, rows: int, mixed: bool) -> None:
    """A table in parts, one after the other, so that no more than one is in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    rng = np.random.default_rng(0)
    for number, start in enumerate(range(0, rows, PART)):
        places = np.arange(start, min(start + PART, rows))
        places = places * 7919 % rows if mixed else places  # a permutation: the factor is prime, and rows are not its
        keys = {"county": places // BLOCK, "age": (places % BLOCK).astype(np.int32)}
        counts = rng.negative_binomial(1, 0.2, len(places))
        pq.write_table(pa.table({**keys, "n": counts}), folder / f"{number:05d}.parquet")


def measured_in_parts(kind: str, rows: int) -> dict[str, float]:
    """The same of a release in parts, and of its estimates; memory is that of the process, whatever the rows."""
    import discreet as dc
    from discreet.parts.engine import Serial

    options = {"os_randomness": True} if kind == "system" else {}
    with tempfile.TemporaryDirectory(dir=os.environ.get("DISCREET_SCALE_FOLDER")) as folder:
        place = Path(folder)
        for name, size in (("small", 200), ("large", rows)):
            write_parts(place / name, size, kind == "unsorted")

            def released(name: str = name) -> object:
                given, out = place / name, place / f"{name} out"
                return dc.release_parts(given, "n", ["county", "age"], 1, out=out, engine=Serial(), **options)

            def verified(name: str = name) -> object:
                assert dc.verify(place / f"{name} out").valid
                return None

            def estimated(name: str = name) -> object:
                return dc.estimate(place / f"{name} out").share_above(3)

            unit = min(seconds(lambda: os.urandom(8 * min(rows, 10 * PART)))[0] for _ in range(3))
            unit *= max(1, rows / (10 * PART))
            (release, first), (verify, second), (estimate, _) = (
                seconds(run) for run in (released, verified, estimated)
            )
    whole = {"release_megabytes": first / 1e6, "verify_megabytes": second / 1e6}
    return {"u": unit, "release": release / unit, "verify": verify / unit, "estimate": estimate / unit, **whole}


def write(frame: object, path: Path) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    if path.suffix == ".csv":
        pyarrow.csv.write_csv(frame, path)
    else:
        pyarrow.parquet.write_table(frame, path)


def measured(kind: str, rows: int) -> dict[str, float]:
    """Of one case: u in seconds, release with save and verify in u, and the peak of memory in bytes a row."""
    import discreet as dc

    keep = {
        "margin": ["margin:county"],
        "nested": ["total", "margin:state", "margin:state,county"],
        "crossing": ["margin:area,group", "margin:area,age"],
    }.get(kind)
    options = {} if keep is None else {"keep": keep}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, size in (("small", 200), ("large", rows)):  # the first loads what is needed
            frame = table_of(size, kind)
            path = place / f"{name}.{'csv' if kind == 'csv' else 'parquet'}"
            keys = [column for column in frame.column_names if column != "n"]  # type: ignore[attr-defined]
            write(frame, path)
            del frame

            def released(path: Path = path, keys: list[str] = keys, name: str = name) -> object:
                table = dc.read_table(path, count="n", keys=keys)
                return dc.release(table, epsilon=1, **options).save(place / name)

            def verified(name: str = name) -> object:
                assert dc.verify(place / name).valid
                return None

            unit = min(seconds(lambda: os.urandom(8 * rows))[0] for _ in range(3))
            (release, first), (verify, second) = seconds(released), seconds(verified)
    return {"u": unit, "release": release / unit, "verify": verify / unit, "bytes": max(first, second) / rows}


def seconds(run: Callable[[], object]) -> tuple[float, float]:
    """How much time of processors it takes, and how much memory at most (Linux)."""
    before = _memory("VmRSS")
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    except OSError:
        before = float("nan")
    start = time.process_time()
    run()
    return time.process_time() - start, _memory("VmHWM") - before


def _memory(what: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines() if Path("/proc/self/status").exists() else []
    return next((1024.0 * int(line.split()[1]) for line in lines if line.startswith(what)), float("nan"))


def run() -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for kind, words in CASES.items():
        for rows in map(int, SIZES.split(",")):
            command = [sys.executable, __file__, kind, str(rows)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found.append({"name": f"{rows:,} rows, {words}", **json.loads(done.stdout)})
    return found


if __name__ == "__main__":
    in_parts = sys.argv[1] in ("parts", "unsorted", "system")
    print(json.dumps((measured_in_parts if in_parts else measured)(sys.argv[1], int(sys.argv[2]))))
