"""Rows that went through different mechanisms, by the sizes of their groups: each part by itself, then together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Integers
from discreet.estimate.evidence import Evidence
from discreet.estimate.independent import IndependentRows, independent_rows


@dataclass(frozen=True, eq=False)
class RowPart:
    """Some rows, by their places in the table, and what they tell."""

    rows: Integers
    evidence: Evidence

    @property
    def top(self) -> int:
        assert self.evidence.top is not None, "every group has its size"
        return self.evidence.top

    def among(self, rows: Integers) -> RowPart | None:
        """What those of them that are among these rows tell; None where none is."""
        inside = np.isin(self.rows, rows)
        return RowPart(self.rows[inside], self.evidence.of(np.flatnonzero(inside))) if inside.any() else None


def put_together(parts: tuple[RowPart, ...]) -> IndependentRows:
    """Their noises are independent, so variances add up; so does what may be left of a bias."""
    if len(parts) == 1:
        return independent_rows(parts[0].evidence)
    number = sum(len(part.rows) for part in parts)
    own, variance, slack = (np.zeros(number) for _ in range(3))
    for part in parts:
        found = independent_rows(part.evidence)
        own[part.rows], variance[part.rows] = found.own, found.variance
        slack[part.rows] = 0.0 if found.slack is None else found.slack
    return IndependentRows(own, variance, slack=slack)
