"""The specification: least squares with matrices of cells by cells, for designs small enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.levels.design import LevelDesign, Question, tree_of
from discreet.levels.either import Design
from discreet.levels.ragged import RaggedDesign


def matrix_of(design: Design, question: Question) -> Integers:
    """A row for every entry of a question, a column for every cell."""
    cells = design.entries(design.cells)
    one = np.eye(cells, dtype=np.int64)
    return np.stack(
        [design.answer(cell.reshape(design.table_shape(design.cells)), question).ravel() for cell in one], 1
    )


def dense(
    design: Design, measured: Mapping[Question, Any], variances: Mapping[Question, float]
) -> tuple[Floats, Floats]:
    """Estimates of the cells and their covariance: weighted least squares in the null space of what is kept.

    What is not measured at all has a pseudo-inverse's answer; sums that are known do not depend on it.
    """
    kept = [q for q in measured if variances[q] == 0]
    cells = design.entries(design.cells)
    fixed = np.vstack([np.zeros((1, cells)), *(matrix_of(design, q) for q in kept)])
    values = np.concatenate([[0.0], *(np.asarray(measured[q], dtype=float).ravel() for q in kept)])
    start = np.linalg.pinv(fixed) @ values
    _, sizes, basis = np.linalg.svd(fixed)
    free = basis[int((sizes > 1e-9).sum()) :].T
    noisy = [q for q in measured if variances[q] > 0]
    rows = np.vstack([matrix_of(design, q) / np.sqrt(variances[q]) for q in noisy])
    seen = np.concatenate([np.asarray(measured[q], dtype=float).ravel() / np.sqrt(variances[q]) for q in noisy])
    inverse = np.linalg.pinv(free.T @ rows.T @ rows @ free, rcond=1e-10, hermitian=True)
    covariance = free @ inverse @ free.T
    return start + covariance @ rows.T @ (seen - rows @ start), covariance


def random_design(rng: np.random.Generator) -> LevelDesign:
    """Up to three levels below the top and up to three attributes, with uneven branches."""
    codes: list[Integers] = []
    nodes = np.zeros(1, dtype=np.int64)
    for _ in range(rng.integers(0, 4)):
        children = rng.integers(1, 4, len(nodes))
        parent = np.repeat(np.arange(len(nodes)), children)
        codes = [code[parent] for code in codes]
        nodes = np.arange(len(parent))
        codes.append(nodes)
    shape = tuple(int(n) for n in rng.integers(2, 4, rng.integers(0, 3 if len(nodes) > 8 else 4)))
    parents, _ = tree_of(codes)
    return LevelDesign(parents, shape)


def random_ragged(rng: np.random.Generator) -> RaggedDesign:
    """The same with at least one attribute, of which rows are missing, in any order; every leaf has a row."""
    completed = random_design(rng)
    while not completed.shape:
        completed = random_design(rng)
    leaves, each = completed.nodes(completed.last), completed.size(completed.attributes)
    there = rng.random((leaves, each)) < rng.choice([0.3, 0.7, 0.95])
    there[np.arange(leaves), rng.integers(each, size=leaves)] = True
    there.flat[-1] = not there[-1, :-1].any()
    return RaggedDesign(completed, rng.permutation(np.flatnonzero(there)))
