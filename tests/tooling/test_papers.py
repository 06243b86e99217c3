"""The papers of the project agree with one another."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def cited() -> Version:
    return Version(re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)[1])  # type: ignore[index]


def test_the_version_under_way_and_the_cited_one() -> None:
    """The newest numbered version is what people cite; a development version comes after it and has its section."""
    project = Version(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
    numbered = [Version(found) for found in re.findall(r"^## (\d\S*)", CHANGELOG, re.M)]
    assert numbered == sorted(numbered, reverse=True) and cited() == numbered[0]
    assert (project > cited()) == project.is_devrelease and project >= cited()
    assert ("## Unreleased" in CHANGELOG) or not project.is_devrelease


def test_links_of_the_changelog_are_defined_and_used() -> None:
    defined = set(re.findall(r"^\[([^\]]+)\]: \S+$", CHANGELOG, re.M))
    used = set(re.findall(r"\[([^\]]+)\](?![(:])", CHANGELOG))
    assert defined == used and defined
