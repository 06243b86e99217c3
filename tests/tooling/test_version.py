"""Which discreet is this? From Python and from the shell; and the public names, which a person meets with <tab>."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import discreet as dc

SOURCE = Path(dc.__file__).parents[1]


def test_the_version_is_the_installed_one() -> None:
    assert dc.__version__ == importlib.metadata.version("discreet")


def test_sources_that_were_never_installed_do_not_fail() -> None:
    """Without site-packages (-S) there is no metadata; they are let in for a moment, as the package needs numpy."""
    import numpy

    program = f"""
import sys
sys.path += [{str(SOURCE)!r}, {str(Path(numpy.__file__).parents[1])!r}]
import discreet
sys.path.pop()
print(discreet.__version__)
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "0+unknown\n", done.stderr


def test_importing_does_not_look_for_the_version() -> None:
    program = "import sys, discreet; assert 'importlib.metadata' not in sys.modules; discreet.__version__"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_version_from_the_shell() -> None:
    program = "import sys; sys.argv = ['discreet', '--version']; from discreet.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"discreet {dc.__version__}\n" and done.stderr == ""


def test_dir_is_the_public_names_and_nothing_else() -> None:
    assert dir(dc) == sorted(dc.__all__)
    assert len(set(dc.__all__)) == len(dc.__all__)
    assert not [name for name in dir(dc) if name.startswith("_")], "like __version__, these are for those who ask"


def test_a_star_import_brings_the_same_names() -> None:
    space: dict[str, object] = {}
    exec("from discreet import *", space)
    assert set(space) - {"__builtins__"} == set(dc.__all__)


def test_a_name_that_is_not_there_is_refused() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        dc.no_such_name  # noqa: B018
