"""The foundation: exact noise on ten million rows, import time, a whole release, certifying a large matrix."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet as dc

ROWS = 10_000_000


def best(run: Callable[[], object], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def ten_million_rows() -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    frame = pa.table({"id": np.arange(ROWS), "count": rng.integers(0, 81, ROWS)})
    counts = frame.column("count").to_numpy()

    def ours() -> object:
        table = dc.table(frame, count="count", keys=["id"])
        return dc.release(table, epsilon=1, max_count=80, mechanism="geometric", measurements=False).table

    def numpy_noise() -> object:
        return np.clip(counts + rng.geometric(0.632, ROWS) - rng.geometric(0.632, ROWS), 0, 80)

    ours()
    seconds = best(ours)
    rows: list[dict[str, object]] = [
        _ratio("10 million rows, against os.urandom(8 * rows)", seconds, best(lambda: os.urandom(8 * ROWS))),
        _ratio("10 million rows, against numpy's own noise and clip", seconds, best(numpy_noise)),
        {"name": "memory, in input columns (3 plus the output allowed)", "ours": _memory(ours) / (8 * ROWS)},
    ]
    if (opendp := _opendp_seconds_per_row()) is not None:
        rows.append(_ratio("a row, against OpenDP's geometric mechanism (us)", 1e6 * seconds / ROWS, 1e6 * opendp))
    return rows


def _ratio(name: str, ours: float, other: float) -> dict[str, object]:
    return {"name": name, "ours": ours, "other": other, "ratio": other / ours}


def _memory(run: Callable[[], object]) -> float:
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak)


def _opendp_seconds_per_row(rows: int = 100_000) -> float | None:
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    mechanism = dp.m.make_laplace(*space, scale=1.0)
    data = np.random.default_rng(0).integers(0, 81, rows).tolist()
    return best(lambda: mechanism(data), 2) / rows


def start_up() -> list[dict[str, object]]:
    def python(code: str) -> float:
        return best(lambda: subprocess.run([sys.executable, "-c", code], check=True), 7)

    numpy_alone, with_us = python("import numpy"), python("import numpy, discreet")
    return [{"name": "import discreet, seconds beyond numpy (0.1 allowed)", "ours": with_us - numpy_alone}]


def whole_release() -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "t.csv"
        table.write_text("k,n\n" + "".join(f"r{i:05d},{i % 17}\n" for i in range(3000)))
        program = Path(sys.executable).with_name("discreet")
        times = []
        for k in range(3):
            out = str(Path(folder) / f"out{k}")
            command = [program, "release", table, "--count", "n", "--epsilon", "1", "--max-count", "50", "--out", out]
            times.append(best(lambda command=command: subprocess.run(command, check=True, capture_output=True), 1))
    return [{"name": "release of 3,000 rows to a finished folder, seconds (4 allowed)", "ours": min(times)}]


def certifying() -> list[dict[str, object]]:
    matrix = dc.explicit("geometric", 499, "0.05").matrix()
    return [
        {"name": "certify 500 x 500 floats, seconds (5 allowed)", "ours": best(lambda: dc.certify(matrix, "0.06"), 2)}
    ]


def run() -> list[dict[str, object]]:
    return [*ten_million_rows(), *start_up(), *whole_release(), *certifying()]
