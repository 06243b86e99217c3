"""Make an environment of the oldest versions that pyproject.toml allows: `python tools/lowest.py .venv-lowest`.

A lower bound that nobody tries is a guess. pip knows only how to install the newest; uv can do both.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SAME_IN_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
}
WITHOUT_WHEELS = {"pyspark"}  # published as source only; there is nothing in it to compile


def uv_settings(pip_config: str) -> dict[str, str]:
    """What `pip config list` says, in the words of uv, which does not read it: both then look in the same places."""
    found = {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # pip's way: every index counts, none comes first
    for line in sorted(pip_config.splitlines(), reverse=True):  # `:env:` comes last, and wins
        name, _, value = line.partition("=")
        if (option := name.rpartition(".")[2]) in SAME_IN_UV:
            places = value.strip("'\"").replace("\\n", " ").split()
            found[SAME_IN_UV[option]] = ("," if option == "find-links" else " ").join(places)
    return found


def asked(project: dict[str, Any]) -> list[str]:
    """What the project and its extras ask for, as pyproject.toml writes it."""
    return [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]


def bounds(project: dict[str, Any]) -> dict[str, str]:
    """The lower bound of every package."""
    matches = [re.match(r"([\w.-]+)(?:\[[\w,-]+\])?>=([\w.]+)", one) for one in asked(project)]
    return {normal(match[1]): match[2] for match in matches if match}


def normal(name: str) -> str:
    """Jinja2, jinja2; typing_extensions, typing-extensions: one spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()


def untried(lower: dict[str, str], installed: dict[str, str]) -> list[str]:
    """Bounds that promise too much: the version they name cannot be installed with the others."""
    return [
        f"{name}>={bound} was never tried: the oldest version that can be installed is {installed[name]}"
        for name, bound in sorted(lower.items())
        if release(installed[name]) != release(bound)
    ]


def release(version: str) -> list[str]:
    """16.0.0 is 16."""
    return re.sub(r"(\.0)+$", "", version).split(".")


def as_wheels(lower: dict[str, str]) -> list[str]:
    """Nothing is compiled here: a version without a wheel for this Python is not one that users can have."""
    return [word for name in sorted(lower.keys() - WITHOUT_WHEELS) for word in ("--only-binary", name)]


def install(place: Path, extras: list[str], lower: dict[str, str]) -> dict[str, str]:
    python, uv = place / "bin" / "python", place / "bin" / "uv"
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    said([sys.executable, "-m", "venv", "--clear", place])
    said([*pip, "install", "--quiet", "uv"])
    settings = {**uv_settings(said([*pip, "config", "list"])), **os.environ}
    oldest = ["--resolution", "lowest-direct", *as_wheels(lower)]
    package = f"{ROOT}[{','.join(extras)}]"
    said([uv, "pip", "install", "--quiet", "--python", python, *oldest, "--editable", package], settings)
    listing = said([uv, "pip", "list", "--quiet", "--python", python, "--format", "json"], settings)
    return {normal(one["name"]): one["version"] for one in json.loads(listing)}


def said(command: list[str | Path], environment: dict[str, str] | None = None) -> str:
    """What a command prints; its complaints go to the person."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout


def main(place: str) -> None:
    """The environment, and a failure where a bound could not be tried."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lower = bounds(project)
    installed = install(Path(place), list(project["optional-dependencies"]), lower)
    if problems := untried(lower, installed):
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main(sys.argv[1])
