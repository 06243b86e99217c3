"""The Makefile does what the documents say, and installs no more than is asked for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split()  # type: ignore[index]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
CORE, EVERYTHING, DEMO = "--editable .\n", '--editable ".[dev]"\n', "discreet demo"
MADE = [".venv", ".venv-lowest", "dist", "demo-release", "site", "fuzz-findings", "screenshots"]


def named(text: str) -> set[str]:
    """Targets that a page names, in `make this` or on a line of a shell block."""
    return set(re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE))


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_targets_that_are_named_exist(path: Path) -> None:
    assert named(path.read_text(encoding="utf-8")) <= set(TARGETS)


def test_every_target_has_a_rule_and_is_explained() -> None:
    for target in TARGETS:
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
    assert named(page("CONTRIBUTING.md")) == set(TARGETS)
    assert {"demo", "test"} <= named(page("README.md"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A fresh clone, as far as make can see."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "lowest.py").touch()
    age(tmp_path, "pyproject.toml", 100)
    age(tmp_path, "tools/lowest.py", 100)
    return tmp_path


def age(folder: Path, name: str, seconds: int) -> None:
    """The file is there, and this old."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def would_do(folder: Path, target: str) -> str:
    """The commands make would run; what an outer make has set is kept out."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "--dry-run", "--no-print-directory", target]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


def test_a_fresh_demonstration_installs_the_core_alone(folder: Path) -> None:
    commands = would_do(folder, "demo")
    assert CORE in commands and DEMO in commands and EVERYTHING not in commands


def test_a_fresh_setup_installs_everything(folder: Path) -> None:
    assert EVERYTHING in would_do(folder, "setup")
    assert EVERYTHING in would_do(folder, "test") and "pytest" in would_do(folder, "test")


def test_setup_after_the_demonstration_adds_the_rest(folder: Path) -> None:
    age(folder, ".venv/.core", 50)
    assert CORE not in would_do(folder, "demo") and DEMO in would_do(folder, "demo")
    commands = would_do(folder, "setup")
    assert CORE not in commands and EVERYTHING in commands


def test_the_demonstration_after_setup_installs_nothing(folder: Path) -> None:
    age(folder, ".venv/.core", 50)
    age(folder, ".venv/.ready", 40)
    assert "pip install" not in would_do(folder, "demo") + would_do(folder, "setup")


def test_a_changed_project_is_installed_again(folder: Path) -> None:
    for name in (".venv/.core", ".venv/.ready", ".venv-lowest/.ready"):
        age(folder, name, 50)
    age(folder, "pyproject.toml", 0)
    assert CORE in would_do(folder, "demo") and EVERYTHING not in would_do(folder, "demo")
    assert EVERYTHING in would_do(folder, "setup")
    assert "tools/lowest.py" in would_do(folder, "test-lowest")


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_is_ignored_and_cleaned(folder: Path, name: str) -> None:
    assert name in MAKEFILE and name in would_do(folder, "clean").split()
    assert name in [line.strip("/") for line in page(".gitignore").splitlines()]


def test_every_test_is_collected() -> None:
    """A folder whose name pytest passes over would be tested by nobody."""
    import tomllib
    from fnmatch import fnmatch

    root = Path(__file__).parents[2]
    options = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    for path in (root / "tests").rglob("test_*.py"):
        parts = path.relative_to(root).parts[:-1]
        assert not any(fnmatch(part, pattern) for part in parts for pattern in options["norecursedirs"]), path
