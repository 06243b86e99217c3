"""The specification: roundings and fits of single tables, by loops, exact fractions and enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from discreet.arrays import Floats, Integers


def round_cycles(fine: Integers, bits: int, ties: Integers) -> Integers:
    """One table [row, column] with whole sums: walk each cycle of odd cells, along rows and along columns in turn."""
    found = fine.astype(object).copy()
    for bit in range(bits):
        step = 1 << bit
        odd = [at for at in np.ndindex(fine.shape) if found[at] & step]
        along_row = _pairs([[at for at in odd if at[0] == row] for row in range(fine.shape[0])])
        along_column = _pairs([[at for at in odd if at[1] == column] for column in range(fine.shape[1])])
        left = set(odd)
        for start in odd:
            if start not in left:
                continue
            ups, downs, at = [], [], start
            while at in left:
                ups.append(at)
                downs.append(along_row[at])
                left -= {at, along_row[at]}
                at = along_column[along_row[at]]
            lead = sum(found[at] - fine[at] for at in ups) - sum(found[at] - fine[at] for at in downs)
            flat = start[0] * fine.shape[1] + start[1]
            if lead > 0 or (lead == 0 and ties[flat]):
                ups, downs = downs, ups
            for at in ups:
                found[at] += step
            for at in downs:
                found[at] -= step
    return (found // (1 << bits)).astype(np.int64)


def _pairs(lines: list[list[tuple[int, ...]]]) -> dict[tuple[int, ...], tuple[int, ...]]:
    partner = {}
    for line in lines:
        for one, other in zip(line[0::2], line[1::2], strict=True):
            partner[one], partner[other] = other, one
    return partner


def nearest_table(target: Floats, spread: Floats, rows: Integers, columns: Integers) -> tuple[Integers, float]:
    """By enumeration: the whole table with these sums that is nearest, and its distance."""
    shape = target.shape
    best: tuple[float, Integers] | None = None
    ranges = [range(min(rows[i], columns[j]) + 1) for i in range(shape[0] - 1) for j in range(shape[1] - 1)]
    for inner in product(*ranges):
        table = np.zeros(shape, dtype=np.int64)
        table[:-1, :-1] = np.array(inner, dtype=np.int64).reshape(shape[0] - 1, shape[1] - 1)
        table[:-1, -1] = rows[:-1] - table[:-1].sum(axis=1)
        table[-1] = columns - table[:-1].sum(axis=0)
        if table.min() < 0:
            continue
        distance = float(((table - target) ** 2 / spread).sum())
        if best is None or distance < best[0]:
            best = distance, table
    assert best is not None
    return best[1], best[0]


def remainders(fine: Integers, total: int, unit: int, words: Integers) -> list[int]:
    """One block: rounded up where the most is left."""
    parts = [Fraction(int(value), unit) for value in fine]
    whole = [part.numerator // part.denominator for part in parts]
    order = sorted(range(len(parts)), key=lambda i: (whole[i] - parts[i], words[i]))
    for i in order[: total - sum(whole)]:
        whole[i] += 1
    return whole
