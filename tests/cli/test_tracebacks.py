"""An error nobody foresaw is shown without the values of variables: they may be secret counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BROKEN = """
import sys
from dataclasses import replace
import discreet.ways.row_by_row.way as row_by_row
from discreet.cli import main

def broken(plan, measured):
    counts = measured
    raise RuntimeError("broken")

row_by_row.WAY = replace(row_by_row.WAY, publish=broken)
main()
"""


def test_an_unforeseen_error_shows_no_variables(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("place,n\na,123454321\n")
    words = ["release", "table.csv", "--count", "n", "--epsilon", "50", "--mechanism", "signed-geometric"]
    done = subprocess.run(
        [sys.executable, "-c", BROKEN, *words, "--out", "out"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode != 0 and done.stdout == "" and not (tmp_path / "out").exists()
    assert "RuntimeError: broken" in done.stderr
    assert "1234543" not in done.stderr and "locals" not in done.stderr and "│" not in done.stderr
