"""Black-box audits of every mechanism and way: what draws show is never above the claim, and would show if it were.

`DISCREET_FULL=1` (`make attack`) draws many times more.
"""

from __future__ import annotations

import os
from zlib import crc32

import numpy as np
import pytest

import discreet as dc
from discreet.testing import Audit, audit
from discreet.ways import mechanism_names

from .cases import CASES
from .simulate import Case, drawn

FULL = bool(os.environ.get("DISCREET_FULL"))
# draws: small tables in one release; a release for each; the same where one takes long
TOGETHER, APART, FEW = (500_000, 10_000, 2_000) if FULL else (40_000, 300, 100)
# draws by which an auditor tells that noise is 30% too small
ENOUGH, ENOUGH_APART, ENOUGH_CONDITIONED = 100_000, 12_000, 50_000


def audited(case: Case, copies: int, *, off: bool = False) -> Audit:
    """The claim is that of the right options, whatever was drawn."""
    seed = crc32(str(case).encode())
    one = drawn(case, case.one, copies, seed, off=off)
    other = drawn(case, case.other, copies, seed + 1, off=off)
    return audit(one.published, other.published, claim(case))


def claim(case: Case) -> dc.Pure:
    return drawn(case, case.one, 1, 0).loss


@pytest.mark.parametrize("case", CASES, ids=str)
def test_never_above_the_claim(case: Case) -> None:
    copies = TOGETHER if not case.repeated else FEW if case.slow else APART
    copies = copies // 4 if "nonnegative" in case.options and not case.repeated else copies
    found = audited(case, copies)
    assert not found.refutes(claim(case)), found


@pytest.mark.parametrize("case", [case for case in CASES if case.off and (FULL or not case.repeated)], ids=str)
def test_noise_that_is_a_third_too_small_is_caught(case: Case) -> None:
    copies = ENOUGH_CONDITIONED if "nonnegative" in case.options else ENOUGH
    found = audited(case, ENOUGH_APART if case.repeated else copies, off=True)
    assert found.refutes(claim(case)), found


@pytest.mark.parametrize("name", ["geometric", "signed-geometric", "margin, l1"])
def test_an_audit_is_not_far_below_the_claim(name: str) -> None:
    """These mechanisms use all they are given, and an auditor who saw much less would be blind."""
    case = next(case for case in CASES if case.name == name)
    assert audited(case, 200_000).epsilon() > 0.9


def test_every_name_and_way_is_audited() -> None:
    options = [case.options for case in CASES]
    assert {one.get("mechanism", "transport") for one in options} >= set(mechanism_names())
    kept = {(one.get("law", "l1"), one.get("nonnegative", False)) for one in options if "keep" in one}
    assert kept == {("l1", False), ("l1", True), ("l2", False), ("l2", True), ("gaussian", False)}
    assert {"rho", "delta", "epsilon"} <= {name for one in options for name in one}


def test_what_is_published_together_is_audited_together() -> None:
    """Two looks at the same count, each with all of epsilon: harmless one by one, not together."""
    rng, size = np.random.default_rng(1), 100_000
    ratio = np.exp(-1.0)

    def looks(value: int) -> np.ndarray:
        noise = rng.geometric(1 - ratio, (size, 2)) - rng.geometric(1 - ratio, (size, 2))
        return value + noise

    one, other = looks(0), looks(1)
    for k in range(2):
        assert not audit(one[:, k], other[:, k], dc.Pure(1)).refutes(dc.Pure(1))
    assert audit(one, other, dc.Pure(1)).epsilon() > 1.5


def test_equal_tables_show_nothing() -> None:
    case = next(case for case in CASES if case.name == "geometric")
    found = audit(*(drawn(case, case.one, 20_000, seed).published for seed in (1, 2)), dc.Pure(1))
    assert found.epsilon() < 0.1


def test_a_rare_certain_event_is_found() -> None:
    """Once in two hundred times the count itself is published."""
    rng, size = np.random.default_rng(2), 100_000
    draws = [np.where(rng.random(size) < 1 / 200, value, rng.integers(100, 110, size)) for value in (0, 1)]
    found = audit(*draws, dc.Approximate(1, "1/1000"))
    assert found.refutes(dc.Approximate(1, "1/1000")) and not found.refutes(dc.Approximate(1, "1/100"))
    assert found.refutes(dc.Pure(1)) and found.epsilon(0.01) == 0.0


def test_bounds_cover_as_often_as_they_say() -> None:
    """Of audits of a fair coin against itself at 90%, no more than a tenth see a difference."""
    rng, alarms = np.random.default_rng(3), 0
    for _ in range(200):
        found = audit(rng.integers(0, 2, 200), rng.integers(0, 2, 200), dc.Pure(1), confidence=0.9)
        alarms += found.epsilon() > 0
    assert alarms <= 33  # 20 expected at the most; 33 are three standard deviations above


@pytest.mark.parametrize(("one", "other"), [(50, 50), (0, 0), (1000, 10)])
def test_too_few_draws_are_refused(one: int, other: int) -> None:
    with pytest.raises(dc.BadInput, match="Give 100 draws"):
        audit(np.zeros((one, 1), dtype=int), np.zeros((other, 1), dtype=int), dc.Pure(1))
