"""Where CI is set, nothing is left out in silence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = """
import pytest

def test_that_skips():
    pytest.skip("no server")

@pytest.mark.xfail(strict=True)
def test_that_is_known_to_fail():
    assert False
"""


@pytest.mark.parametrize(("ci", "status"), [("", 0), ("true", 1)])
def test_a_skipped_test_fails_in_ci(tmp_path: Path, ci: str, status: int) -> None:
    (tmp_path / "pytest.ini").touch()
    (tmp_path / "test_two.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", tmp_path]
    environment = {**os.environ, "CI": ci, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout
    assert ("1 failed, 1 xfailed" if ci else "1 skipped, 1 xfailed") in done.stdout
    assert not ci or "no server" in done.stdout
