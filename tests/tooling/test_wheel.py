"""The wheel, alone: what it holds, and that it works with the packages it asks for and no others."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from snippets import blocks  # noqa: E402

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


def needed(package: Distribution, extras: frozenset[str] = frozenset()) -> dict[str, Distribution]:
    """What pip would install with a package: what it asks for, and what that asks for."""
    found: dict[str, Distribution] = {}
    todo = [(package, extras)]
    while todo:
        asking, wanted = todo.pop()
        for one in map(Requirement, asking.requires or []):
            applies = one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in wanted or {""})
            if applies and one.name not in found:
                found[one.name] = distribution(one.name)
                todo.append((found[one.name], frozenset(one.extras)))
    return found


def link(package: Distribution, site: Path) -> None:
    """An installed package in another environment, without a copy."""
    for name in {file.parts[0] for file in package.files or []} - {"..", "__pycache__"}:
        if not (site / name).exists():
            (site / name).symlink_to(Path(str(package.locate_file(name))))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `make wheel` builds it, except that the builder is the one among the developer tools: no download."""
    place = tmp_path_factory.mktemp("dist")
    subprocess.run([*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", place, ROOT], check=True)
    return next(place.glob("*.whl"))


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and exactly the packages it declares, linked from this one."""
    place = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    python = place / "bin" / "python"
    subprocess.run([*PIP, "--python", python, "install", "--no-deps", "--no-index", wheel], check=True)
    site = next(place.glob("lib/python*/site-packages"))
    for package in needed(Distribution.at(next(site.glob("discreet-*.dist-info")))).values():
        link(package, site)
    return place


def run(environment: Path, code: str, folder: Path) -> str:
    """-I: neither this folder nor any variable lends a hand."""
    command = [environment / "bin" / "python", "-I", "-c", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names if not name.startswith("discreet-")} == {"discreet"}
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src/discreet").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == sources
    assert "discreet/py.typed" in names


def test_the_wheel_says_its_license(wheel: Path) -> None:
    about = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    with ZipFile(wheel) as archive:
        assert b"License-Expression: Apache-2.0\nLicense-File: LICENSE\n" in archive.read(f"{about}/METADATA")
        assert archive.read(f"{about}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()


def test_the_wheel_is_of_this_version(wheel: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert wheel.name == f"discreet-{project['version']}-py3-none-any.whl"


def test_the_package_comes_from_the_wheel(environment: Path, tmp_path: Path) -> None:
    code = """
import importlib.util, sys, discreet
discreet.release  # loads more of it
print(importlib.util.find_spec("discreet_lab"), importlib.util.find_spec("pytest"), importlib.util.find_spec("numba"))
print(*{module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "discreet"}, sep="\\n")
"""
    strangers, *files = run(environment, code, tmp_path).splitlines()
    assert strangers == "None None None"
    assert len(files) > 10 and all(Path(file).is_relative_to(environment) for file in files), files


def test_the_first_example_of_the_readme_runs(environment: Path, tmp_path: Path) -> None:
    example = next(code for language, code in blocks(ROOT / "README.md") if language == "python")
    run(environment, example, tmp_path)
    assert (tmp_path / "out" / "release.json").is_file()


def test_the_command_of_the_wheel(environment: Path, tmp_path: Path) -> None:
    command = [environment / "bin" / "discreet", "demo", "--out", "demo"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "Verified: True" in done.stdout and (tmp_path / "demo" / "report.html").is_file()
