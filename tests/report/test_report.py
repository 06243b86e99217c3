"""The pictures of the report."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.report.figures import MOST_BARS, distribution_svg


@pytest.mark.parametrize("counts", [3, 40, MOST_BARS, 10 * MOST_BARS, 50_000])
def test_a_wide_distribution_is_an_outline_not_thousands_of_bars(counts: int) -> None:
    picture = distribution_svg(np.full(counts, 1 / counts))
    assert picture is not None and picture.startswith("<svg") and "share of rows" in picture
    assert picture.count('<g id="patch_') < MOST_BARS + 12 and len(picture) < 300_000


def test_no_distribution_no_picture() -> None:
    assert distribution_svg(None) is None
