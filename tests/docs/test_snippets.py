"""Every snippet of README and docs runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from discreet.io.spark import has_java

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from snippets import blocks, pages, run_page  # noqa: E402


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_the_snippets_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.stem == "spark" and not has_java():
        pytest.skip("there is no Java, in which Spark runs (Debian: apt-get install openjdk-17-jre-headless)")
    monkeypatch.chdir(tmp_path)
    run_page(page)


def test_snippets_are_found() -> None:
    assert len(blocks(ROOT / "README.md")) >= 5
