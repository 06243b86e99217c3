"""The tool behind `make test-lowest`: it tries what pyproject.toml promises."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import lowest  # noqa: E402


def test_every_requirement_has_a_lower_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = {lowest.normal(re.split(r"[\[<>=!~; ]", one)[0]) for one in lowest.asked(project)} - {"discreet"}
    assert set(lowest.bounds(project)) == packages


def test_the_builder_is_tried_too() -> None:
    """The wheel is built by what the developer tools bring, so that its bound is one of those that are tried."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(pyproject["build-system"]["requires"]) <= set(pyproject["project"]["optional-dependencies"]["dev"])


def test_a_bound_that_cannot_be_installed_is_told() -> None:
    lower = {"pandas": "2.2", "rich": "13", "jinja2": "3.1"}
    assert lowest.untried(lower, {"pandas": "2.2.0", "rich": "13.0.0", "jinja2": "3.1"}) == []
    told = lowest.untried(lower, {"pandas": "2.2.2", "rich": "13.0.0", "jinja2": "3.10"})
    assert [line.split(" was")[0] for line in told] == ["jinja2>=3.1", "pandas>=2.2"]


def test_uv_looks_where_pip_looks() -> None:
    listing = "global.index-url='https://a/simple'\n:env:.index-url='https://b/simple'\nglobal.timeout='60'\n"
    listing += "global.extra-index-url='https://c/simple\\nhttps://d/simple'\nglobal.find-links='/one /two'\n"
    assert lowest.uv_settings(listing) == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_DEFAULT_INDEX": "https://b/simple",
        "UV_INDEX": "https://c/simple https://d/simple",
        "UV_FIND_LINKS": "/one,/two",
    }
    assert set(lowest.uv_settings("")) == {"UV_INDEX_STRATEGY"}


def test_sources_are_taken_only_where_there_is_no_wheel() -> None:
    words = lowest.as_wheels({"numpy": "2", "pyspark": "4"})
    assert words == ["--only-binary", "numpy"]
