"""The lab stands beside the package: the package does without it, and says so where somebody asks for it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import discreet
import discreet_lab
from tests.test_imports import FRAMES_AND_FILES, SOURCE, imports, loaded_by, reached

ROOT = Path(__file__).parents[2]
LAB = Path(discreet_lab.__file__).parent
FOUND_BY_FILE = (
    "cli", "distribution/methods", "requirements", "ways/keep_distribution", "ways/keep_sums", "ways/measure",
    "ways/by_share", "ways/by_size", "ways/row_by_row",
)  # fmt: skip
FOR_OTHERS_TO_IMPORT = ("__main__.py", "testing.py", "lattice/diagnostics.py", "record/schema.py")


def name_the_lab(folder: Path) -> set[str]:
    """The files that so much as name it: imports inside functions and by name are not missed."""
    found = (path for path in folder.rglob("*.py") if "discreet_lab" in path.read_text(encoding="utf-8"))
    return {path.relative_to(folder).as_posix() for path in found}


def test_of_the_package_only_one_command_names_the_lab_and_loads_it_late() -> None:
    assert name_the_lab(SOURCE) == {"cli/reproduce.py"}
    assert "discreet_lab" not in loaded_by("import discreet.cli.reproduce")


def test_tests_of_the_package_do_without_the_lab() -> None:
    """But for the one that sees to it that the wheel has no lab."""
    named = {name for name in name_the_lab(ROOT / "tests") if not name.startswith("lab/")}
    assert named == {"tooling/test_wheel.py"}


def test_every_module_of_the_package_is_reached_without_the_lab() -> None:
    later = [SOURCE.joinpath(*name.split(".")[1:]).with_suffix(".py") for name in [*discreet.LATER, "discreet.plot"]]
    by_file = [path for folder in FOUND_BY_FILE for path in (SOURCE / folder).glob("*.py")]
    others = [SOURCE / name for name in FOR_OTHERS_TO_IMPORT]
    assert all((SOURCE / folder).is_dir() for folder in FOUND_BY_FILE)
    every = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")}
    assert every - reached(SOURCE / "__init__.py", *later, *by_file, *others) == set()


@pytest.mark.parametrize("path", sorted(LAB.rglob("*.py")), ids=lambda path: path.relative_to(LAB).as_posix())
def test_the_lab_keeps_to_the_boundaries_of_the_package(path: Path) -> None:
    used = {name.split(".")[0] for name in imports(path)} & {*FRAMES_AND_FILES, "secrets", "random"}
    assert not used, used


def test_the_wheel_leaves_the_lab_out_and_an_editable_install_has_it() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"]["packages"] == ["src/discreet"]
    assert [ROOT / folder for folder in build["dev-mode-dirs"]] == [LAB.parent]


def reproduce_without(module: str) -> subprocess.CompletedProcess[str]:
    """`discreet reproduce --list` where this module cannot be imported."""
    program = f"import sys; sys.modules[{module!r}] = None; from discreet.cli import main; main()"
    command = [sys.executable, "-c", program, "reproduce", "--list"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_without_the_lab_the_command_says_how_to_get_it() -> None:
    done = reproduce_without("discreet_lab")
    assert done.returncode == 2 and not done.stdout
    assert "package index" in done.stderr and "make setup" in done.stderr and "Traceback" not in done.stderr


def test_a_broken_lab_is_not_called_absent() -> None:
    done = reproduce_without("discreet_lab.experiment")
    assert done.returncode == 1 and "discreet_lab.experiment" in done.stderr and "package index" not in done.stderr
