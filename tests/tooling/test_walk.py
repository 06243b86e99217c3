"""The walk of a table through the house does not grow unnoticed."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

WALK = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "walk.py"))
# files entered and changes of file, a little above what tools/walk.py counts: lower them with every shortening. That
# CSV files are read and compared some rows at a time is eight changes of a verify, and six of an estimate.
MOST = {
    "keep-distribution": {"release": (24, 77), "save": (29, 128), "verify": (44, 273), "estimate": (27, 105)},
    "row-by-row": {"release": (21, 66), "save": (29, 122), "verify": (40, 231), "estimate": (25, 98)},
    "keep-sums": {"release": (31, 174), "save": (31, 115), "verify": (45, 249), "estimate": (25, 90)},
}


@pytest.mark.parametrize("way", WALK["WAYS"])
def test_no_step_of_a_release_walks_further_than_it_did(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused is drawn again, which is a walk of its own: the words are the same every time, so that it is."""
    monkeypatch.setattr("ssl.RAND_bytes", np.random.default_rng(1).bytes)
    walks = WALK["walks"](WALK["WAYS"][way], WALK["table"]())
    found = {step: (len(set(stays)), len(stays) - 1) for step, stays in walks.items()}
    longer = {step: (one, MOST[way][step]) for step, one in found.items() if any(map(int.__gt__, one, MOST[way][step]))}
    assert not longer, f"files and changes of file, and the most there should be: {longer}"


def test_a_walk_counts_stays() -> None:
    stays = WALK["walked"](lambda: WALK["dc"].Pure(1))
    assert stays == ["options.py", "privacy/values.py", "numbers.py"]


def test_the_checks_of_a_verify_are_counted_one_by_one() -> None:
    """What comes before and after them is little."""
    way = WALK["WAYS"]["row-by-row"]
    found = dict(WALK["checks"](way, WALK["table"]()))
    whole = len(WALK["walks"](way, WALK["table"]())["verify"]) - 1
    assert found["the seal of release.json"] == 2
    assert 0 <= whole - sum(found.values()) <= 2 * len(found)
