"""Who may import what."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

SOURCE = Path(discreet.__file__).parent
HEAVY = (
    "pandas", "polars", "pyarrow", "narwhals", "highspy", "matplotlib", "numba", "scipy", "flint", "sqlalchemy",
    "duckdb", "pyspark", "arviz_stats", "jinja2", "typer", "rich", "psycopg", "hypothesis",
)  # fmt: skip
FRAMES_AND_FILES = {"pyarrow", "pyspark", "narwhals", "pandas", "polars", "sqlalchemy", "duckdb", "psycopg"}
MAY_TOUCH_THEM = ("io", "ledger", "parts", "cli", "app", "testing.py", "count", "count.py", "evaluate")


def imports(path: Path) -> set[str]:
    """Every module a file imports, at its head or inside a function; what is only for the type checker is left out."""
    found: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in guarded:
            continue
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


def files(part: str) -> list[Path]:
    place = SOURCE / part
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]


def reached(*starts: Path) -> set[str]:
    """The modules of this package that importing the files leads to, functions included."""
    todo, seen = list(starts), set(starts)
    while todo:
        for name in imports(todo.pop()):
            parts = name.split(".")
            if parts[0] != "discreet":
                continue
            for length in range(2, len(parts) + 1):
                place = SOURCE.joinpath(*parts[1:length])
                for path in (place.with_suffix(".py"), place / "__init__.py"):
                    if path.is_file() and path not in seen:
                        seen.add(path)
                        todo.append(path)
    return {path.relative_to(SOURCE).as_posix() for path in seen}


def test_the_prover_does_not_know_the_builders() -> None:
    for path in files("certify"):
        assert not any(name.startswith(("discreet.build", "discreet.program")) for name in imports(path)), path
        forbidden = {name for name in reached(path) if name.startswith(("build/", "program/"))}
        assert not forbidden, (path, forbidden)


PROVERS = sorted((SOURCE / "ways").glob("*/prove.py"))


@pytest.mark.parametrize("path", PROVERS, ids=lambda path: path.parent.name)
def test_what_proves_a_way_does_not_know_the_builders(path: Path) -> None:
    """Not even by way of others; only what replays a release may build again."""
    forbidden = {name for name in reached(path) if name.startswith(("build/", "program/"))}
    assert not forbidden, forbidden
    assert len(PROVERS) == 6


def test_the_solver_knows_nothing_of_privacy() -> None:
    for path in files("program") if (SOURCE / "program").exists() else []:
        assert not any(name.startswith(("discreet.certify", "discreet.privacy")) for name in imports(path)), path


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_one_frame_boundary(path: Path) -> None:
    if path.relative_to(SOURCE).parts[0] in MAY_TOUCH_THEM:
        return
    used = {name.split(".")[0] for name in imports(path)} & FRAMES_AND_FILES
    assert not used, used


def test_only_one_file_asks_for_randomness() -> None:
    for path in sorted(SOURCE.rglob("*.py")):
        names = imports(path)
        asks = {"secrets", "random"} & {name.split(".")[0] for name in names} or {
            "ssl.RAND_bytes",
            "os.urandom",
        } & names
        assert not asks or path == SOURCE / "sample" / "bits.py", (path, asks)


def loaded_by(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert not loaded_by("import discreet") & set(HEAVY)


@pytest.mark.parametrize("name", sorted(discreet.__all__))
def test_every_public_name_is_there_and_explained(name: str) -> None:
    thing = getattr(discreet, name)
    assert thing.__doc__ and thing.__doc__.strip()


def test_a_release_needs_no_solver_and_no_compiler() -> None:
    code = """
import pathlib, tempfile, discreet as dc
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "t.csv").write_text("k,n\\na,1\\nb,2\\n")
dc.release(dc.read_table(folder / "t.csv", "n"), 1, max_count=5).save(folder / "out")
"""
    # pandas may be loaded: pyarrow itself looks for it
    assert not loaded_by(code) & {"highspy", "numba", "polars", "sqlalchemy", "duckdb", "narwhals"}
