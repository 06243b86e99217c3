"""The same measurements in the hands of mbi (private-pgm): the graphical model that fits them best.

It is no dependency: where it is not installed, the study goes on without it and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.levels.design import LevelDesign, Question

STEPS = 10_000  # of mirror descent: with its default of 1,000 it has not settled on tables with large counts
LEAF = "leaf"


def installed() -> bool:
    return find_spec("mbi") is not None


def fitted_model(
    design: LevelDesign, noisy: Mapping[Question, Integers], variances: Mapping[Question, float], total: float
) -> Floats:
    """Its cells: non-negative, consistent, not whole. It is given the best estimate of the total, which it keeps."""
    import warnings

    import jax

    jax.config.update("jax_enable_x64", True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mbi

    names = [LEAF] if design.last else []
    sizes = [design.nodes(design.last)] if design.last else []
    domain = mbi.Domain([*names, *map(str, design.attributes)], [*sizes, *design.shape])
    told = [_measurement(mbi, design, domain, q, noisy[q], variances[q]) for q in noisy]
    model = mbi.estimation.MirrorDescent().estimate(domain, told, known_total=max(1.0, total), iters=STEPS)
    cells: Floats = np.asarray(model.project(tuple(domain.attributes)).datavector())
    return cells.reshape(design.table_shape(design.cells))


def _measurement(
    mbi: Any, design: LevelDesign, domain: Any, question: Question, noisy: Integers, variance: float
) -> Any:
    """A margin where it is one; otherwise a sum over the leaves below each node, or over everything."""
    axes = tuple(str(a) for a in question.attributes)
    query: Callable[[Any], Any] | None
    if question.level == design.last and design.last:
        clique, query = (LEAF, *axes), None
    elif question.level == 0 and axes:
        clique, query = axes, None
    elif question.level == 0:
        clique, query = tuple(domain.attributes[:1]), _added_up
    else:
        clique, query = (LEAF, *axes), _by_node(design, question)
    how = {} if query is None else {"query": query}
    return mbi.LinearMeasurement(noisy.ravel().astype(float), clique, stddev=float(np.sqrt(variance)), **how)


def _added_up(factor: Any) -> Any:
    return factor.datavector().sum()[None]


def _by_node(design: LevelDesign, question: Question) -> Callable[[Any], Any]:
    import jax

    node = np.arange(design.nodes(design.last))
    for level in range(design.last, question.level, -1):
        node = design.parents[level][node]

    def query(factor: Any) -> Any:
        cells = factor.datavector().reshape(len(node), -1)
        return jax.ops.segment_sum(cells, node, num_segments=design.nodes(question.level)).ravel()

    return query
