"""Bases of the lattice {v : A v = 0}, and its shortest vectors."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from discreet.arrays import Integers

PRIME = (1 << 61) - 1  # a matrix is reduced modulo it, and what comes out is checked in whole numbers
SMALL = 1 << 20  # what is larger than this came about by the prime: sums of small products are exact in floats
MOST_PAIRS = 200_000  # of columns, looked at one by one in Python


def kernel_basis(matrix: Integers) -> Integers:
    """An LLL-reduced basis of the integer vectors v with A v = 0, one a row; saturated, whatever the rank of A."""
    from flint import fmpz_mat

    height, width = matrix.shape
    joined = np.hstack([matrix.T, np.eye(width, dtype=np.int64)])
    hermite = fmpz_mat(joined.tolist()).hnf()
    kernel = [
        [int(hermite[i, height + j]) for j in range(width)]
        for i in range(width)
        if all(hermite[i, j] == 0 for j in range(height))
    ]
    return reduced(np.array(kernel, dtype=np.int64)) if kernel else np.zeros((0, width), dtype=np.int64)


def reduced(basis: Integers) -> Integers:
    """The same lattice in a basis of short vectors (LLL)."""
    from flint import fmpz_mat

    short = fmpz_mat(basis.tolist()).lll()
    return np.array([[int(entry) for entry in row] for row in short.tolist()], dtype=np.int64)


def integral_kernel(matrix: Integers) -> Integers | None:
    """A basis of the integer v with A v = 0, A of entries 0 and 1, where elimination needs no fractions; or None.

    If A = C R, where R has the identity in some columns and C, those columns of A, has full rank, then v is in the
    kernel just when R v = 0: any integers in the other columns, and whole numbers in these.
    """
    from flint import nmod_mat

    height, width = matrix.shape
    if not matrix.any() or np.abs(matrix).max() > 1:
        return None
    reduced, rank = nmod_mat(height, width, matrix.ravel().tolist(), PRIME).rref()
    rows = np.array([int(entry) for entry in reduced.entries()[: rank * width]], dtype=np.int64).reshape(rank, width)
    rows = np.where(rows > PRIME // 2, rows - PRIME, rows)
    if np.abs(rows).max() > SMALL:
        return None
    leads = np.argmax(rows != 0, axis=1)
    if not np.array_equal(matrix[:, leads].astype(float) @ rows.astype(float), matrix):
        return None
    free = np.setdiff1d(np.arange(width), leads)
    kernel = np.zeros((len(free), width), dtype=np.int64)
    kernel[np.arange(len(free)), free] = 1
    kernel[:, leads] = -rows[:, free].T
    return kernel


def shortest(kernel: Integers, matrix: Integers) -> tuple[Integers, bool]:
    """A lattice vector of small l1 norm, and whether none is smaller. The columns of `matrix` are distinct, none zero.

    Norms 1 and 2 would need a zero column or two equal ones; 3 and 4 are settled by looking at all sums of two columns.
    """
    found = kernel[np.argmin(np.abs(kernel).sum(axis=1))]
    length = int(np.abs(found).sum())
    if length <= 3 or matrix.shape[1] * (matrix.shape[1] - 1) // 2 > MOST_PAIRS:
        return found, length <= 3
    short = _up_to_four(matrix)
    if short is not None and int(np.abs(short).sum()) < length:
        return short, True
    return found, length <= 5


def _up_to_four(matrix: Integers) -> Integers | None:
    """The shortest vector of l1 norm 3 or 4, if there is one: a = b + c, a + b = c + d, or a = b + c + d."""
    width = matrix.shape[1]
    columns = np.ascontiguousarray(matrix.T.astype(np.int8))
    single = {column.tobytes(): i for i, column in enumerate(columns)}
    pairs: dict[bytes, tuple[int, int]] = {}
    four: Integers | None = None
    for i, j in combinations(range(width), 2):
        both = (columns[i] + columns[j]).tobytes()
        if both in single:
            return _vector(width, (i, j), (single[both],))
        if four is None and both in pairs:
            four = _vector(width, (i, j), pairs[both])
        pairs[both] = (i, j)
    if four is not None:
        return four
    for a, b in permutations(range(width), 2):
        rest = pairs.get((columns[a] - columns[b]).tobytes())
        if rest is not None:
            return _vector(width, (a,), (b, *rest))
    return None


def _vector(width: int, plus: tuple[int, ...], minus: tuple[int, ...]) -> Integers:
    vector = np.zeros(width, dtype=np.int64)
    np.add.at(vector, list(plus), 1)
    np.add.at(vector, list(minus), -1)
    return vector


def exchange(matrix: Integers) -> tuple[int, int, int, int] | None:
    """Columns with i + j = k + l, if there are such, of a matrix of distinct 0/1 columns with as many ones each.

    Then two units moved from k and l to i and j are a smallest change: the sum of all entries cannot change, so the
    distance is even, and two units alone would need two equal columns.
    """
    size = matrix.shape[1]
    if size < 4 or len(set(matrix.sum(axis=0).tolist())) > 1:
        return None
    marks = np.random.default_rng(0).integers(0, 1 << 40, matrix.shape[0]) @ matrix  # sums stay far below 2^63
    one, other = np.triu_indices(size, 1)
    sums = marks[one] + marks[other]
    order = np.argsort(sums, kind="stable")
    for place in np.flatnonzero(np.diff(sums[order]) == 0).tolist():
        first, second = int(order[place]), int(order[place + 1])
        four = int(one[first]), int(other[first]), int(one[second]), int(other[second])
        if np.array_equal(matrix[:, four[0]] + matrix[:, four[1]], matrix[:, four[2]] + matrix[:, four[3]]):
            return four
    return None
