"""Black-box audits of every mechanism and way: what draws show is never above the claim, and would show if it were.

`DISCREET_FULL=1` (`make attack`) draws many times more. How much an audit can see depends on its draws. In the sample,
cases that are drawn many at once (`Case.at_once`) have enough for noise that is 30% too small, but for those that say
`rare`. Where every draw is a release of its own the sample would see gross errors only, such as a count published as it
is; of `transport` it looks at what is measured, many at once. Without `off` a case claims more than it uses, or is not
known to be tight: `uniform`, `exponential`, a delta, constructed mechanisms, `rank`, what is refined, and `l2` without
negative counts. Those can be refuted by errors only that are larger than their slack.
"""

from __future__ import annotations

import math
import os
from zlib import crc32

import numpy as np
import pytest

import discreet as dc
from discreet.distribution.privatizer import exact_privatizers
from discreet.privacy.audit import CONFIDENCE, _bounds
from discreet.sample.bits import seeded
from discreet.testing import Audit, audit
from discreet.ways import mechanism_names, spec_of, ways_by_keyword

from .cases import CASES, OWN, TWO_WAY, VERY_MANY
from .simulate import Case, answered, drawn

FULL = bool(os.environ.get("DISCREET_FULL"))
LOSSES = ("epsilon", "rho", "delta", "alpha")
# draws: many at once; a release for each; the same where one takes long
TOGETHER, APART, FEW = (500_000, 10_000, 2_000) if FULL else (20_000, 100, 100)


def audited(case: Case, copies: int, *, off: bool = False, measured: bool = False) -> Audit:
    """The claim is that of the right options, whatever was drawn."""
    seed = crc32(str(case).encode())
    one = drawn(case, case.one, copies, seed, off=off, measured=measured)
    other = drawn(case, case.other, copies, seed + 1, off=off, measured=measured)
    return audit(one.published, other.published, claim(case))


def claim(case: Case) -> dc.Pure:
    return drawn(case, case.one, 1, 0).loss


@pytest.mark.parametrize("case", CASES, ids=str)
def test_never_above_the_claim(case: Case) -> None:
    copies = TOGETHER if case.at_once else FEW if case.slow else APART
    one_by_one = case.at_once and {"nonnegative", "inequalities"} & case.options.keys()
    found = audited(case, copies // 4 if one_by_one else copies)
    assert not found.refutes(claim(case)), found


LOUD = [case for case in CASES if case.off and "measure" not in case.options]  # of margins, what is measured: below


@pytest.mark.parametrize("case", [case for case in LOUD if FULL or (case.at_once and not case.rare)], ids=str)
def test_noise_that_is_a_third_too_small_is_caught(case: Case) -> None:
    found = audited(case, case.enough, off=True)
    assert found.refutes(claim(case)), found


MEASURED = [case for case in CASES if case.off and case.name.startswith(("transport", "measure"))]


@pytest.mark.parametrize("case", MEASURED, ids=str)
@pytest.mark.parametrize("off", [False, True])
def test_what_is_measured_where_a_table_is_made_of_it(case: Case, off: bool) -> None:
    """Rows and answers together: the table is made of them and of public words."""
    many = "rho" in case.options or case.options.get("keep") == TWO_WAY["keep"]  # a swap moves four answers by little
    copies = 150_000 if many else 40_000
    assert audited(case, copies, off=off, measured=True).refutes(claim(case)) is off


def test_every_family_has_an_auditor_that_would_notice() -> None:
    """By what is kept and by which law, also without negative counts; and by the mechanism of rows."""
    noticed = {case.name.split(", crowd")[0] for case in CASES if case.off}
    sums = {
        f"{kept}, {law}" for kept in ("total", "two margins") for law in ("l1", "l2", "gaussian", "l1, non-negative")
    }
    rows = {
        "geometric",
        "signed-geometric",
        "staircase",
        "randomized-response",
        "explicit-fair",
        "discrete-gaussian, rho",
    }
    margins = {"measure", "measure, total kept", "measure, both margins kept", "measure, levels", "measure, rho"}
    assert noticed >= sums | rows | margins | {"transport", "transport, edge", "own", "margin, l1", "margin, gaussian"}


def held_out(chance: float, loss: float, claim: float) -> int:
    """How many draws of each table must be held out, for an event of this chance under the one and e^-loss of it under
    the other, so that Clopper and Pearson's bounds at its expected numbers refute the claim."""
    draws = 100
    while True:
        hits = [math.floor(draws * chance), math.ceil(draws * chance * math.exp(-loss))]
        low, _ = _bounds(np.array(hits[:1]), draws, (1 - CONFIDENCE) / 2)
        _, high = _bounds(np.array(hits[1:]), draws, (1 - CONFIDENCE) / 2)
        if math.log(max(low[0], 1e-300) / high[0]) > claim:
            return draws
        draws = draws * 11 // 10


def test_there_are_draws_enough_for_what_they_are_to_show() -> None:
    """Worked out beforehand, twice over for chance, where the best event is known; half of all draws are held out."""
    odds = math.exp(1.3)
    assert 2 * 2 * held_out(odds / (1 + odds), 1.3, 1) < 40_000
    step = math.exp(-0.39 / 2)  # of conditioned noise for a person more in the other row
    loss = 0.39 / 2 + math.log(1 + step * (1 - step))
    assert 2 * held_out(1 - step, loss, 0.3) < VERY_MANY


@pytest.mark.parametrize("name", exact_privatizers())
def test_distributions_by_every_privatizer(name: str) -> None:
    """Of two rows, one of which has a person more: all that is published, and with power what is measured."""
    one, other, exact = np.array([1, 1]), np.array([0, 2]), dc.Pure(1)
    bits = seeded(crc32(name.encode()))

    def made(histogram: np.ndarray) -> np.ndarray:
        releases = (dc.private_distribution(histogram, exact, method=name, bits=bits) for _ in range(APART))
        return np.array([[*one.measurements, *one.distribution] for one in releases])

    assert not audit(made(one), made(other), exact).refutes(exact)
    for used in ("1", "1.3"):
        draws = [answered(name, histogram, dc.Pure(used), 40_000, bits) for histogram in (one, other)]
        assert audit(*draws, exact).refutes(exact) is (used != "1")


@pytest.mark.parametrize("name", ["geometric", "signed-geometric", "margin, l1"])
def test_an_audit_is_not_far_below_the_claim(name: str) -> None:
    """These mechanisms use all they are given, and an auditor who saw much less would be blind."""
    case = next(case for case in CASES if case.name == name)
    assert audited(case, 200_000).epsilon() > 0.9


def test_every_name_and_way_is_audited() -> None:
    options = [case.options for case in CASES]
    assert {one.get("mechanism", "transport") for one in options} >= {*mechanism_names(), OWN}
    kept = {(one.get("law", "l1"), one.get("nonnegative", "signed")) for one in options if "keep" in one}
    conditioned, projected = {("l1", "condition"), ("l2", "condition")}, {("l1", "project"), ("gaussian", "project")}
    assert kept == {("l1", "signed"), ("l2", "signed"), ("gaussian", "signed"), *conditioned, *projected}
    assert {"rho", "delta", "epsilon", "measure", "inequalities"} <= {name for one in options for name in one}
    audited_ways = {type(spec_of({k: v for k, v in one.items() if k not in LOSSES})) for one in options}
    assert audited_ways == set(ways_by_keyword()), "every way that is registered"


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
