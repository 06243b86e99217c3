"""Make the golden folders anew: `python tests/golden/make.py`. To be done when the format changes, until 0.2.0; after
that release they are what older folders look like, and are never made again.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet as dc
from discreet.mechanism import Continued, Mechanism, of_weights

HERE = Path(__file__).parent
MATRIX = [["1/2", "3/10", "1/5"], ["1/4", "1/2", "1/4"], ["1/5", "3/10", "1/2"]]
PERTURBATION = Mechanism(
    "own", Continued(of_weights("", [[20, 0, 0, 0, 0], [8, 6, 4, 2, 0], [1, 6, 6, 6, 1]]).weights)
)  # fmt: skip

GOLDEN: dict[str, dict[str, Any]] = {
    "keep-distribution": {"epsilon": 1, "max_count": 12},
    "keep-distribution-without-range": {"alpha": "1/3"},
    "keep-distribution-gaussian-auto": {"rho": 4, "max_count": "auto", "favor": "distribution"},
    "keep-distribution-top-coded": {"epsilon": 1, "max_count": 4, "top_code": True, "favor": "counts"},
    "keep-distribution-signed": {"epsilon": 1, "signed": True},
    "keep-distribution-by-rank": {"epsilon": 1, "max_count": 12, "consistent": True, "privatizer": "hierarchical"},
    "keep-distribution-constructed": {"epsilon": 1, "max_count": 6, "mechanism": "heuristic-best"},
    "row-by-row": {"epsilon": 1, "max_count": 12, "mechanism": "geometric"},
    "row-by-row-exponents": {"alpha": "1/2", "max_count": 5, "mechanism": "explicit-fair"},
    "row-by-row-own": {"epsilon": "0.7", "mechanism": MATRIX},
    "row-by-row-continued": {"epsilon": 1, "delta": "0.6", "mechanism": PERTURBATION},
    "row-by-row-gaussian": {"epsilon": 1, "delta": "1e-6", "max_count": 12, "mechanism": "discrete-gaussian"},
    "row-by-row-bounded": {"epsilon": "1.1", "mechanism": "bounded", "truth": "1/2", "support": 8, "min_count": 2},
    "row-by-row-bounded-edge": {
        "alpha": "1/3",
        "delta": "1/4",
        "mechanism": "bounded",
        "truth": "2/5",
        "support": 3,
        "small_counts": "unbiased",
    },
    "by-size": {"epsilon": 1, "max_count": "size", "mechanism": "geometric"},
    "by-size-exponents": {"alpha": "1/2", "max_count": "size", "mechanism": "explicit-fair"},
    "by-share": {"epsilon": 1},
    "keep-sums": {"epsilon": 1, "keep": ["margin:county", "total"]},
    "keep-sums-gaussian": {"rho": "1/2", "law": "gaussian", "keep": [dc.margin("county"), dc.margin("sex")]},
    "keep-sums-nonnegative": {"epsilon": 1, "keep": "total", "nonnegative": "condition", "per_unit": True},
    "keep-sums-projected": {"epsilon": "1/2", "keep": ["margin:county", "margin:sex"], "nonnegative": True},
    "measure": {"epsilon": 2, "measure": "auto"},
    "measure-levels": {
        "epsilon": "1/2",
        "delta": "1e-6",
        "measure": ["total@1/4", "margin:county@1/4", "cells@1/2"],
        "levels": ["county"],
    },
    "measure-kept": {"rho": 1, "measure": ["margin:county", "cells"], "levels": "county", "keep": "margin:sex"},
    "seeded": {"epsilon": 1, "max_count": 12, "favor": "distribution", "seed": 1},
}

IN_PARTS: dict[str, dict[str, Any]] = {  # folders of folders, of three parts each
    "default": {"epsilon": 1, "max_count": 12},
    "signed": {"epsilon": 1, "signed": True, "measurements": False},
    "row-by-row": {"epsilon": 1, "mechanism": "geometric", "os_randomness": True},
    "margin": {"epsilon": 1, "keep": "margin:sex"},
}


def table(kind: str = "") -> dc.Table:
    counties, sexes = [f"county {i:02d}" for i in range(15)], ["f", "m"]
    frame = pa.table(
        {
            "county": [county for county in counties for _ in sexes],
            "sex": sexes * len(counties),
            "n": np.random.default_rng(7).poisson(4, 30),
        }
    )
    if kind.startswith("by-share"):
        number = np.random.default_rng(7).poisson(4, (2, 15))
        columns = pa.table({"county": counties, "births": number[0], "deaths": number[1]})
        return dc.table(columns, {"births": "3/4", "deaths": "1/4"}, keys=["county"])
    if not kind.startswith("by-size"):
        return dc.table(frame, "n", keys=["county", "sex"])
    return dc.table(frame.append_column("size", [[4, 9, 6] * 10]), "n", keys=["county", "sex", "size"])


def release_in_parts(name: str, out: Path) -> None:
    with TemporaryDirectory() as place:
        for part, start in enumerate((0, 7, 20)):
            rows = table().schema.categories.append_column("n", [table().counts])
            pq.write_table(rows.slice(start, (7, 13, 10)[part]), Path(place) / f"{part}.parquet")
        dc.release_parts(place, "n", ["county", "sex"], out=out, **IN_PARTS[name])


if __name__ == "__main__":
    for name in IN_PARTS:
        (HERE / "in-parts").mkdir(exist_ok=True)
        shutil.rmtree(HERE / "in-parts" / name, ignore_errors=True)
        release_in_parts(name, HERE / "in-parts" / name)
    for name, options in GOLDEN.items():
        shutil.rmtree(HERE / name, ignore_errors=True)
        dc.release(table(name), **options).save(HERE / name)
