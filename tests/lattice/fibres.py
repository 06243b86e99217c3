"""Small lattices written out in full: the slow, obvious versions that the chains are held against."""

from __future__ import annotations

import itertools

import numpy as np


def margins(rows: int, columns: int) -> np.ndarray:
    """Row sums, then column sums."""
    across, down = np.eye(rows, dtype=int), np.eye(columns, dtype=int)
    return np.vstack([np.kron(across, np.ones((1, columns), int)), np.kron(np.ones((1, rows), int), down)])


# three sets over 14 records, every intersection of them met by two records
THREE_SETS = np.array([[1, 0, 0, 1, 1, 0, 1] * 2, [0, 1, 0, 1, 0, 1, 1] * 2, [0, 0, 1, 0, 1, 1, 1] * 2])


def nonnegative_tables(matrix: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Every non-negative table with the same sums, cell by cell. Every cell must be in some sum."""
    found: list[list[int]] = []

    def fill(table: list[int], left: np.ndarray) -> None:
        if len(table) == matrix.shape[1]:
            if not left.any():
                found.append(table)
            return
        column = matrix[:, len(table)]
        for value in range(int(left[column > 0].min()) + 1):
            fill([*table, value], left - value * column)

    fill([], matrix @ counts)
    return np.array(found)


def lattice_ball(matrix: np.ndarray, reach: int) -> np.ndarray:
    """Every integer vector with entries up to `reach` that the matrix sends to zero."""
    every = np.array(list(itertools.product(range(-reach, reach + 1), repeat=matrix.shape[1])))
    return every[~(every @ matrix.T).any(axis=1)]


def law_of(points: np.ndarray, law: str, rate: float) -> np.ndarray:
    """Probabilities proportional to exp(-rate |v|), rate times the squared norm for the Gaussian."""
    norm = {
        "l1": np.abs(points).sum(axis=1),
        "l2": np.sqrt((points**2).sum(axis=1)),
        "gaussian": (points**2).sum(axis=1),
    }
    weights = np.exp(-rate * norm[law])
    return weights / weights.sum()


def components(points: np.ndarray, directions: list[np.ndarray]) -> int:
    """Into how many pieces the points fall if one may only go along the lines."""
    place = {tuple(point): i for i, point in enumerate(points)}
    label = list(range(len(points)))

    def root(i: int) -> int:
        while label[i] != i:
            i = label[i]
        return i

    for point in points:
        for direction in directions:
            for k in range(-6, 7):
                other = place.get(tuple(point + k * direction))
                if other is not None:
                    label[root(place[tuple(point)])] = root(other)
    return len({root(i) for i in range(len(points))})


def same_lattice(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether the rows of both span the same integer vectors."""
    from flint import fmpz_mat

    def canonical(vectors: np.ndarray) -> list[list[int]]:
        rows = [row for row in np.asarray(vectors).tolist() if any(row)]
        return [row for row in fmpz_mat(rows).hnf().tolist() if any(row)] if rows else []

    return canonical(one) == canonical(other)


def observed(paths: np.ndarray, points: np.ndarray) -> np.ndarray:
    """How often the paths were at each of the points."""
    place = {tuple(point): i for i, point in enumerate(points)}
    return np.bincount([place[tuple(state)] for state in paths.reshape(-1, points.shape[1])], minlength=len(points))
