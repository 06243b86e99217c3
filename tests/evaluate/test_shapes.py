from __future__ import annotations

import numpy as np
import pytest

from discreet.evaluate.metrics import w1
from discreet.evaluate.shapes import SHAPES, rows_of


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("top", [1, 2, 50, 2000])
def test_shapes_are_distributions_and_rows_follow_them(shape: str, top: int) -> None:
    distribution = SHAPES[shape](top)
    assert len(distribution) == top + 1 and (distribution > 0).all() and distribution.sum() == pytest.approx(1)
    counts = rows_of(distribution, 5000)
    assert len(counts) == 5000 and w1(np.bincount(counts, minlength=top + 1), distribution) < 1e-3 * (top + 1)
