"""One release of every kind, small."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import discreet as dc

ROWS = 150


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


KINDS: dict[str, dict[str, Any]] = {
    "geometric": {"epsilon": 1, "max_count": 8, "mechanism": "geometric"},
    "geometric, three each": {"epsilon": 1, "max_count": 8, "mechanism": "geometric", "contributions": 3},
    "geometric, with words": {
        "epsilon": 1,
        "max_count": 8,
        "mechanism": "geometric",
        "about": dc.About("People by place", "a register", "statistics@example.org", "CC BY 4.0", "Made for a test."),
    },
    "explicit-fair": {"alpha": "1/2", "max_count": 8, "mechanism": "explicit-fair"},
    "uniform": {"epsilon": 1, "max_count": 3, "mechanism": "uniform"},
    "randomized-response": {"epsilon": 1, "max_count": 4, "mechanism": "randomized-response"},
    "exponential": {"epsilon": "1/2", "max_count": 5, "mechanism": "exponential"},
    "staircase": {"epsilon": 1, "max_count": 8, "mechanism": "staircase"},
    "bounded": {"epsilon": "1.1", "mechanism": "bounded", "truth": "1/2", "support": 8},
    "bounded, two each": {"epsilon": 2, "mechanism": "bounded", "truth": "1/2", "support": 8, "contributions": 2},
    "bounded, own rows": {
        "epsilon": 1,
        "mechanism": "bounded",
        "truth": "1/2",
        "support": 4,
        "small_counts": "unbiased",
        "min_count": 1,
    },
    "signed-geometric": {"epsilon": 1, "mechanism": "signed-geometric", "contributions": 2},
    "discrete-gaussian": {"epsilon": 1, "delta": "1e-6", "max_count": 8, "mechanism": "discrete-gaussian"},
    "discrete-gaussian, rho": {"rho": "0.1", "max_count": 8, "mechanism": "discrete-gaussian"},
    "discrete-gaussian, two each": {
        "epsilon": 1,
        "delta": "1e-6",
        "max_count": 8,
        "mechanism": "discrete-gaussian",
        "contributions": 2,
    },
    "transport": {"epsilon": "0.5", "max_count": 8},
    "transport, alpha": {"alpha": "1/50", "max_count": 8},
    "transport, unbounded": {"alpha": "1/2"},
    "transport, own borders": {"epsilon": 2, "max_count": "auto", "favor": "distribution"},
    "transport, top-coded": {"epsilon": "0.5", "max_count": 3, "top_code": True},
    "transport, distribution": {"epsilon": "0.5", "max_count": 8, "favor": "distribution"},
    "transport, counts": {"epsilon": "0.2", "favor": "counts"},
    "transport, weighted": {"epsilon": "0.5", "max_count": 4, "lam": "2.5"},
    "transport, signed": {"epsilon": "0.5", "signed": True},
    "transport, two each": {"epsilon": 1, "max_count": 8, "contributions": 2},
    "transport, not refined": {"epsilon": "0.5", "max_count": 8, "refine": False},
    "transport, one stage": {"epsilon": "0.5", "max_count": 8, "split": 0},
    "transport, no measurements": {"epsilon": "0.5", "max_count": 8, "measurements": False},
    "transport, gaussian": {"epsilon": 1, "delta": "1e-6", "max_count": 8, "base": "gaussian"},
    "transport, rho": {"rho": "0.1", "max_count": 8},
    "transport, rho, own borders, two each": {"rho": 4, "favor": "distribution", "contributions": 2},
    "rank": {"epsilon": "0.5", "max_count": 8, "mechanism": "rank", "split": "0.3"},
    "rank, not refined, own borders": {"epsilon": 2, "max_count": "auto", "consistent": True, "refine": False},
    "seeded": {"epsilon": "0.5", "max_count": 8, "seed": 1},
    "seeded geometric": {"epsilon": "0.5", "max_count": 8, "seed": 1, "mechanism": "geometric"},
}


def counts(rows: int = ROWS) -> np.ndarray:
    return np.random.default_rng(0).poisson(3, rows)


def example(contributions: int = 1, rows: int = ROWS, **options: Any) -> dc.Table:
    frame = pa.table({"place": [f"place {i:04d}" for i in range(rows)], "people": counts(rows)})
    return dc.table(frame, "people", contributions=contributions, **options)


def make(kind: str) -> dc.Release:
    options = dict(KINDS[kind])
    return dc.release(example(options.pop("contributions", 1)), **options)
