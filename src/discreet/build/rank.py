"""Rank transport: the published counts have exactly the published histogram.

Rows are sorted by their noisy values and the k-th row gets the k-th smallest count of a private histogram. All of it is
post-processing of noisy values and histogram. Rows are not independent of each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Integers
from discreet.errors import BadInput


def rank_map(noisy: ArrayLike, cumulative: ArrayLike, tie_words: ArrayLike) -> Integers:
    """The counts for noisy values; cumulative[i] is the number of rows that are to have a count of at most i.

    Equal noisy values are put in the order of their (random) words.
    """
    values, ends = np.asarray(noisy), np.asarray(cumulative)
    if len(ends) == 0 or ends[-1] != len(values) or ends[0] < 0 or (np.diff(ends) < 0).any():
        raise BadInput(
            f"{len(values)} rows were to get the counts of a histogram",
            "its cumulative counts must ascend from at least 0 to the number of rows",
        )
    if len(np.asarray(tie_words)) != len(values):
        raise BadInput("ties between noisy values were to be broken", "one random word a row is needed")
    out = np.empty(len(values), dtype=np.int64)
    out[np.lexsort((np.asarray(tie_words), values))] = np.searchsorted(ends, np.arange(len(values)), side="right")
    return out


def integer_cumulative(fit: ArrayLike, total: int, u: float) -> Integers:
    """Round cumulative counts with one shared uniform u: monotone, and right on average. The last is the total."""
    if not 0 <= u < 1:
        raise BadInput(f"cumulative counts were to be rounded with u = {u}", "u must lie in [0, 1)")
    rounded = np.floor(np.maximum.accumulate(np.asarray(fit, dtype=float)) + u)
    out = np.clip(rounded, 0, total).astype(np.int64)
    out[-1] = total
    return out
