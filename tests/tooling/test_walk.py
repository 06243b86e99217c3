"""The walk of a table through the house does not grow unnoticed."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

WALK = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "walk.py"))
# files entered and changes of file, a little above what tools/walk.py counts: lower them with every shortening.
# One file is options.py, where keywords are checked.
# The pages beside the report are four files of a save (report: csvw, explore, prepared, told) and one more of a verify;
# what draws pictures is one; columns of a file that are read some rows at a time are one. Where sums are kept, noise is
# drawn again for the report, to say how far off a count is: that is a hundred changes of a save and of a verify.
MOST = {
    "keep-distribution": {"release": (26, 130), "save": (31, 142), "verify": (43, 320), "estimate": (27, 109)},
    "row-by-row": {"release": (20, 72), "save": (35, 153), "verify": (43, 260), "estimate": (25, 98)},
    "keep-sums": {"release": (29, 180), "save": (36, 214), "verify": (45, 352), "estimate": (25, 110)},
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
