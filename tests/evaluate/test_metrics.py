from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import BadInput
from discreet.evaluate.metrics import ks, total_variation, w1

histograms = st.lists(st.integers(0, 20), min_size=1, max_size=15).filter(sum)


@settings(max_examples=80, deadline=None)
@given(histograms, histograms)
def test_distances_agree_with_their_definitions(one: list[int], other: list[int]) -> None:
    values = [np.repeat(np.arange(len(h)), h) for h in (one, other)]
    assert w1(one, other) == pytest.approx(stats.wasserstein_distance(*values), abs=1e-9)
    gaps = [abs((values[0] <= k).mean() - (values[1] <= k).mean()) for k in range(max(len(one), len(other)))]
    assert ks(one, other) == pytest.approx(max(gaps), abs=1e-9)
    p, q = ([(v == k).mean() for k in range(max(len(one), len(other)))] for v in values)
    assert total_variation(one, other) == pytest.approx(sum(max(0, a - b) for a, b in zip(p, q)), abs=1e-9)
    assert w1(one, other) == w1(other, one) and w1(one, [3 * count for count in one]) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("wrong", [[], [0, 0], [-1, 2], [float("nan")], [[1]]])
def test_only_distributions_are_compared(wrong: list) -> None:
    with pytest.raises(BadInput, match="not a histogram or distribution"):
        w1(wrong, [1, 2])
