"""The slow obvious version: list the points of a small lattice, weigh each, compare frequencies."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable

import numpy as np
from scipy.stats import chi2

Law = dict[tuple[int, ...], float]
FALSE_ALARM = 1e-6


def points(matrix: np.ndarray, reach: int) -> list[tuple[int, ...]]:
    """All v with A v = 0 and entries in -reach..reach: the tails of all vectors, then what the heads must be."""
    rows = independent(matrix)
    width = rows.shape[1]
    heads = next(
        list(choice)
        for choice in itertools.combinations(range(width), len(rows))
        if abs(np.linalg.det(rows[:, choice])) > 0.5
    )
    tails = [column for column in range(width) if column not in heads]
    tail = np.array(list(itertools.product(range(-reach, reach + 1), repeat=len(tails))), dtype=np.int64)
    head = np.rint(np.linalg.solve(rows[:, heads], -(rows[:, tails] @ tail.T))).astype(np.int64).T
    vectors = np.zeros((len(tail), width), dtype=np.int64)
    vectors[:, tails], vectors[:, heads] = tail, head
    good = (np.abs(vectors).max(axis=1) <= reach) & ~(matrix @ vectors.T).any(axis=0)
    return [tuple(vector) for vector in vectors[good].tolist()]


def independent(matrix: np.ndarray) -> np.ndarray:
    kept: list[int] = []
    for i in range(len(matrix)):
        if np.linalg.matrix_rank(matrix[[*kept, i]]) > len(kept):
            kept.append(i)
    return matrix[kept]


def law(
    matrix: np.ndarray,
    reach: int,
    weight: Callable[[tuple[int, ...]], float],
    allowed: Callable[[tuple[int, ...]], bool] = lambda v: True,
) -> Law:
    weights = {v: weight(v) for v in points(matrix, reach) if allowed(v)}
    total = sum(weights.values())
    return {v: w / total for v, w in weights.items()}


def l1(rate: float) -> Callable[[tuple[int, ...]], float]:
    return lambda v: math.exp(-rate * sum(map(abs, v)))


def l2(rate: float) -> Callable[[tuple[int, ...]], float]:
    return lambda v: math.exp(-rate * math.sqrt(sum(x * x for x in v)))


def gaussian(variance: float) -> Callable[[tuple[int, ...]], float]:
    return lambda v: math.exp(-sum(x * x for x in v) / (2 * variance))


def p_value(draws: np.ndarray, law: Law) -> float:
    """Pearson's test, with all rare points taken together."""
    seen = Counter(map(tuple, draws.tolist()))
    counted, chances = np.array([seen.get(point, 0) for point in law]), np.array(list(law.values()))
    beyond = len(draws) - counted.sum(), 1 - chances.sum()
    return p_of(np.append(counted, beyond[0]), np.append(chances, max(beyond[1], 0.0)))


def p_of(seen: np.ndarray, chances: np.ndarray, least: float = 8.0) -> float:
    """The same for how often each point was seen."""
    expected = seen.sum() * chances
    often = expected >= least
    seen_often, rest = [*seen[often]], expected[~often].sum()
    expected_often = [*expected[often]]
    if rest >= least:
        seen_often, expected_often = [*seen_often, seen[~often].sum()], [*expected_often, rest]
    assert len(seen_often) > 5
    statistic = sum((n - m) ** 2 / m for n, m in zip(seen_often, expected_often))
    return float(chi2.sf(statistic, len(seen_often) - 1))


def odds_for(draws: np.ndarray, right: Law, wrong: Law) -> float:
    """The logarithm of how much likelier the draws are under one law than under another. Draws of the wrong one show
    log(1/p) or more with a chance of p at most. Draws of what is not listed are left out, under both."""
    assert right.keys() == wrong.keys()
    seen = Counter(map(tuple, draws.tolist()))
    return sum(number * math.log(right[v] / wrong[v]) for v, number in seen.items() if v in right)


def rejected(draws: np.ndarray, right: Law, wrong: Law) -> bool:
    """Whether draws of the right law show that they are not of the wrong one."""
    return odds_for(draws, right, wrong) > math.log(1 / FALSE_ALARM)


def check(draws: np.ndarray, right: Law, wrong: Law) -> None:
    """The draws follow the right law, and the test is able to tell it from a nearby one."""
    assert p_value(draws, right) > FALSE_ALARM
    assert p_value(draws, wrong) < FALSE_ALARM


def margins(rows: int, columns: int) -> np.ndarray:
    cells = np.arange(rows * columns)
    along = [(cells // columns == i).astype(int) for i in range(rows)]
    across = [(cells % columns == j).astype(int) for j in range(columns)]
    return np.array(along + across)


THREE_SETS = np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)] * 2).T
