"""R-hat and effective sample size of recorded chains, by arviz-stats. Secret wherever inequalities bound the chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import BadInput, MissingExtra


@dataclass(frozen=True)
class Mixing:
    """The worst R-hat and the smallest effective sample size over cells, their squares, and the two norms."""

    rhat: float
    ess: float
    draws: int
    chains: int
    private_side: bool
    grade: str = "diagnosed"


def mixing(paths: Any, *, private_side: bool = False) -> Mixing:
    """`paths`: (chains, draws, cells). A cell that never moves says nothing and is left out."""
    values = _statistics(np.asarray(paths, dtype=float))
    stats = _array_stats()
    return Mixing(
        rhat=float(np.max(stats.rhat(values, chain_axis=0, draw_axis=1))),
        ess=float(np.min(stats.ess(values, chain_axis=0, draw_axis=1, method="mean"))),
        draws=values.shape[1],
        chains=values.shape[0],
        private_side=private_side,
    )


def effective_draws(paths: Any) -> float:
    """The smallest effective sample size alone."""
    values = _statistics(np.asarray(paths, dtype=float))
    return float(np.min(_array_stats().ess(values, chain_axis=0, draw_axis=1, method="mean")))


def _statistics(paths: Floats) -> Floats:
    if paths.ndim != 3 or paths.shape[1] < 4:
        raise BadInput(
            "chains were to be diagnosed", f"their shape is {paths.shape}", "Give (chains, draws >= 4, cells)"
        )
    norms = [np.abs(paths).sum(axis=2), (paths**2).sum(axis=2)]
    every = np.concatenate([paths, paths**2, np.stack(norms, axis=2)], axis=2)
    moving = every.std(axis=(0, 1)) > 0
    if not moving.any():
        raise BadInput("chains were to be diagnosed", "no cell ever moved")
    return np.asarray(every[:, :, moving])


def _array_stats() -> Any:
    try:
        from arviz_stats.base import array_stats
    except ImportError as error:
        raise MissingExtra(
            "chain diagnostics were asked for",
            "they need arviz-stats, which is not installed",
            "Install discreet[diagnostics]",
        ) from error
    return array_stats
