"""The walk of a table through the house does not grow unnoticed."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

WALK = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "walk.py"))
# files entered and changes of file, a little above what tools/walk.py counts: lower them with every shortening.
# Releases of kept sums draw again what is refused, so that the number of their changes is random; and so is, a little,
# that of a table that is drawn back towards its noisy counts. One file is options.py, where keywords are checked.
# The pages beside the report are four files of a save (report: csvw, explore, prepared, told) and one more of a verify.
MOST = {
    "keep-distribution": {"release": (25, 128), "save": (27, 126), "verify": (41, 334), "estimate": (26, 102)},
    "row-by-row": {"release": (20, 70), "save": (31, 144), "verify": (41, 278), "estimate": (24, 90)},
    "keep-sums": {"release": (29, 180), "save": (25, 108), "verify": (39, 276), "estimate": (25, 110)},
}


@pytest.mark.parametrize("way", WALK["WAYS"])
def test_no_step_of_a_release_walks_further_than_it_did(way: str) -> None:
    walks = WALK["walks"](WALK["WAYS"][way], WALK["table"]())
    found = {step: (len(set(stays)), len(stays) - 1) for step, stays in walks.items()}
    longer = {step: (one, MOST[way][step]) for step, one in found.items() if any(map(int.__gt__, one, MOST[way][step]))}
    assert not longer, f"files and changes of file, and the most there should be: {longer}"


def test_a_walk_counts_stays() -> None:
    stays = WALK["walked"](lambda: WALK["dc"].Pure(1))
    assert stays == ["options.py", "privacy/values.py", "numbers.py"]
