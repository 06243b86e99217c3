"""The pictures of the report: what stands where."""

from __future__ import annotations

import re
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.report import drawing
from discreet.report.errors import Errors
from discreet.report.figures import MOST_BARS, MOST_DOTS, curve_svg, distribution_svg, error_svg
from discreet.report.passive import HEAD, active_content

SVG = "{http://www.w3.org/2000/svg}"
POINT = re.compile(r"(-?[0-9.]+) (-?[0-9.]+)")


def parsed(picture: str | None) -> ElementTree.Element:
    assert picture is not None and active_content(HEAD + picture) is None
    return ElementTree.fromstring(picture)


def written(root: ElementTree.Element, anchor: str) -> list[tuple[float, float, str]]:
    """Texts and where they are: numbers below the picture are in the middle, those beside it at the end."""
    texts = [one for one in root.iter(f"{SVG}text") if one.get("style") == f"text-anchor:{anchor}"]
    return [(float(one.get("x", "")), float(one.get("y", "")), one.text or "") for one in texts]


def scale(ticks: list[tuple[float, str]]) -> tuple[float, float]:
    """Slope and offset by which numbers become places, from what is written beside the axis."""
    places, numbers = np.array([place for place, _ in ticks]), [float(text.replace(",", "")) for _, text in ticks]
    slope, offset = np.polyfit(numbers, places, 1)
    np.testing.assert_allclose(np.polyval([slope, offset], numbers), places, atol=0.02)
    return float(slope), float(offset)


def across(root: ElementTree.Element) -> tuple[float, float]:
    return scale([(x, text) for x, y, text in written(root, "middle") if text[-1].isdigit()])


def upwards(root: ElementTree.Element) -> tuple[float, float]:
    return scale([(y - 4, text) for _, y, text in written(root, "end")])


@pytest.mark.parametrize("counts", [3, 40, MOST_BARS, 10 * MOST_BARS, 50_000])
def test_a_wide_distribution_is_an_outline_not_thousands_of_bars(counts: int) -> None:
    picture = distribution_svg(np.full(counts, 1 / counts))
    assert picture is not None and picture.startswith("<svg") and "share of rows" in picture
    assert picture.count("z") <= MOST_BARS + 1 and len(picture) < 30_000


@given(st.lists(st.floats(0.001, 1), min_size=12, max_size=MOST_BARS - 2))
def test_bars_are_where_the_axes_say_and_as_high(weights: list[float]) -> None:
    shares = np.array(weights) / sum(weights)
    root = parsed(distribution_svg(shares))
    (x, x0), (y, y0) = across(root), upwards(root)
    bars = re.findall(r"M([0-9.]+) [0-9.]+V([0-9.]+)H([0-9.]+)V[0-9.]+z", next(root.iter(f"{SVG}path")).get("d", ""))
    assert len(bars) >= np.searchsorted(np.cumsum(shares), 0.98) + 1
    for count, (left, top, right) in enumerate(bars):
        assert (float(left) + float(right)) / 2 == pytest.approx(x0 + x * count, abs=0.2)
        assert float(top) == pytest.approx(y0 + y * 100 * shares[count], abs=0.2)
        assert 0 <= float(left) < float(right) <= drawing.WIDTH and float(top) >= 0


@pytest.mark.parametrize("counts", [4, MOST_DOTS, MOST_DOTS + 1, 400])
@pytest.mark.parametrize("size", [1e-6, 1.0, 12_345.0, 1e9])
def test_errors_are_where_the_axes_say(counts: int, size: float) -> None:
    errors = Errors(np.arange(counts) * 10.0, size * np.sqrt(1 + np.arange(counts)), None)
    root = parsed(error_svg(errors))
    (x, x0), (y, y0) = across(root), upwards(root)
    points = np.array(POINT.findall(next(root.iter(f"{SVG}path")).get("d", "")), dtype=float)
    np.testing.assert_allclose(points[:, 0], x0 + x * errors.counts, atol=0.2)
    np.testing.assert_allclose(points[:, 1], y0 + y * errors.absolute, atol=0.2)
    for place, _, text in (*written(root, "middle"), *written(root, "end")):
        assert place >= 0 and (not text[-1].isdigit() or place + len(text) * 3.4 <= drawing.WIDTH), text


def test_a_curve_is_logarithmic_upwards() -> None:
    root = parsed(curve_svg([(0.5 * k, 10.0**-k) for k in range(12)] + [(7, 0)]))
    ticks = [(y - 4, np.log10(float(text))) for _, y, text in written(root, "end")]
    slope, offset = np.polyfit([power for _, power in ticks], [place for place, _ in ticks], 1)
    points = np.array(POINT.findall(next(root.iter(f"{SVG}path")).get("d", "")), dtype=float)
    assert len(points) == 12, "a delta of zero is not on it"
    np.testing.assert_allclose(points[:, 1], offset - slope * np.arange(12), atol=0.1)
    assert "L" not in (next(parsed(curve_svg([])).iter(f"{SVG}path")).get("d") or "")


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e9), st.booleans())
def test_an_axis_has_a_few_round_numbers_within_it(low: float, span: float, whole: bool) -> None:
    found = drawing.axis("x", low, low + span, whole=whole)
    assert len(found.ticks) <= drawing.MOST_TICKS + 1
    assert all(found.low - 1e-6 * span <= tick <= found.high + 1e-6 * span for tick in found.ticks)
    assert not whole or all(tick == round(tick) for tick in found.ticks)
    if not whole:
        assert len(found.ticks) >= 3


def test_no_distribution_no_picture() -> None:
    assert distribution_svg(None) is None


def test_words_in_a_picture_are_not_markup() -> None:
    frame = drawing.Frame(drawing.axis("<script>", 0, 1), drawing.axis('"&', 0, 1))
    root = parsed(drawing.drawing(frame, drawing.dots([], []), "</title><script>"))
    assert {one.text for one in root.iter(f"{SVG}text")} >= {"<script>", '"&'}
    assert root[0].text == "</title><script>"


def test_a_page_needs_no_library_of_pictures() -> None:
    import subprocess

    code = "import discreet.report.figures, sys; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
