from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.build.explicit import explicit
from discreet.certify import certify
from discreet.certify.profile import curve_of
from discreet.certify.rows import exact_rows
from discreet.certify.words import lines
from discreet.errors import BadInput
from discreet.laws import Gaussian, Geometric
from discreet.mechanism import Exponents, Mechanism, NoiseThenMap
from discreet.numbers import Epsilon
from discreet.testing import epsilons, weight_matrices
from tests.certify.hockey_stick import hockey_stick, rational_rows

TINY = Fraction(1, 2**60)
STAYS = [[1, 0, 0], [Fraction(1, 5), Fraction(3, 5), Fraction(1, 5)], [Fraction(1, 10), Fraction(2, 5), Fraction(1, 2)]]


@given(weight_matrices())
def test_every_point_of_the_curve_is_the_hockey_stick_rounded_up(mechanism: Mechanism) -> None:
    rows, curve = rational_rows(mechanism), certify(mechanism, curve=True).curve
    assert curve is not None and curve.points[0][0] == 0
    for epsilon, delta in curve.points:
        low, high = Epsilon(value=epsilon).bounds(200) if epsilon else (Fraction(1),) * 2
        assert hockey_stick(rows, high) <= delta <= hockey_stick(rows, low) + TINY
    never = hockey_stick(rows, Fraction(10**60))
    assert (curve.floor is None) == (never == 0)
    if curve.floor is not None:
        one, other = rows[curve.floor.input], rows[curve.floor.neighbour]
        assert curve.floor.delta == never == sum(p for p, q in zip(one, other) if q == 0)
    assert curve.points[-1][1] == never, "it ends where it does not fall any more"


@given(weight_matrices(), epsilons(), st.fractions(0, Fraction(1, 2), max_denominator=40))
def test_the_smallest_delta_is_enough_and_nothing_smaller_is(
    mechanism: Mechanism, epsilon: Epsilon, claimed: Fraction
) -> None:
    verdict = certify(mechanism, epsilon, claimed)
    assert verdict.smallest_delta is not None and verdict.least_delta is not None
    shown = Fraction(verdict.smallest_delta)
    assert verdict.least_delta <= shown <= verdict.least_delta * (1 + Fraction(1, 10**11))
    low, high = epsilon.bounds(200)
    rows = rational_rows(mechanism)
    assert hockey_stick(rows, high) <= verdict.least_delta <= hockey_stick(rows, low) + TINY
    if shown < 1:
        assert certify(mechanism, epsilon, shown).holds
    if verdict.least_delta > TINY:
        assert not certify(mechanism, epsilon, verdict.least_delta - TINY).holds


@given(st.integers(2, 6), epsilons("1/10", 2), st.fractions(Fraction(1, 1000), Fraction(1, 4), max_denominator=1000))
def test_a_delta_lowers_the_smallest_epsilon_of_pure_noise(size: int, made: Epsilon, delta: Fraction) -> None:
    """Also where the noise would do without any delta, and also where it is too wide for its matrix."""
    narrow = explicit("geometric", size, made)
    verdict = certify(narrow, made, delta)
    assert verdict.holds and verdict.smallest_odds is not None
    rows = rational_rows(narrow)
    assert hockey_stick(rows, verdict.smallest_odds) <= delta
    assert verdict.smallest_odds == 1 or hockey_stick(rows, verdict.smallest_odds * Fraction(9999, 10000)) > delta
    wide = certify(Mechanism("wide", NoiseThenMap(Geometric(made.odds()))), made, delta)
    assert wide.holds and wide.smallest_odds is not None and wide.smallest_odds <= made.odds()
    assert hockey_stick(rows, wide.smallest_odds) <= delta, "clamped noise is no less private than noise"


def test_wide_noise_has_the_curve_of_narrow_noise() -> None:
    noise = Geometric(Fraction(2))
    wide, narrow = curve_of(NoiseThenMap(noise)), curve_of(NoiseThenMap(noise, (0, 3)))
    assert [epsilon for epsilon, _ in wide.points] == [epsilon for epsilon, _ in narrow.points]
    assert all(abs(one - other) < TINY for (_, one), (_, other) in zip(wide.points, narrow.points))
    assert wide.points[-1][1] == 0 < wide.points[0][1]


def test_gaussian_noise_has_a_curve_without_an_end() -> None:
    found = certify(Mechanism("gauss", NoiseThenMap(Gaussian(Fraction(4)))), curve=True)
    assert found.holds is None and not found and found.smallest_epsilon is None and found.grade == "enclosed"
    assert found.curve is not None and 0 < found.curve.points[-1][1] <= Fraction(1, 10**12)
    deltas = [delta for _, delta in found.curve.points]
    assert deltas == sorted(deltas, reverse=True)
    for epsilon, delta in found.curve.points[1::7]:
        assert delta == Gaussian(Fraction(4)).delta(Epsilon(value=epsilon))


def test_nothing_to_tell_apart_is_a_curve_of_one_point() -> None:
    curve = curve_of(exact_rows([[Fraction(1, 2)] * 2] * 3))
    assert curve.points == ((0, 0),) and curve.floor is None


def test_without_a_claim_the_certificate_says_what_there_is() -> None:
    found = certify(STAYS[1:], delta="1/10", curve=True)  # the first is (1/5, 3/5, 1/5), the other (1/10, 2/5, 1/2)
    assert (found.holds, found.epsilon, found.witness, found.smallest_delta) == (None, None, None, None)
    assert found.smallest_odds == 2, "1/2 - 2/5 = 1/10, and the other way round 3/10 - r/5 is less"
    assert certify(STAYS, curve=True).smallest_epsilon is None


def test_zeros_that_stay_are_priced_in_words() -> None:
    said = "\n".join(lines(certify(STAYS, 1, curve=True)))
    assert "A count of 0 always stays 0" in said and "a delta of 0.8 at any epsilon" in said
    other = "\n".join(lines(certify([*STAYS[1:], [0, 0, 1]], 1, curve=True)))
    assert "A count of 0 always stays" not in other and "delta is at least 0.5" in other


def test_large_matrices_of_powers_are_refuted_without_being_written_out() -> None:
    mechanism = explicit("explicit-fair", 900, "1/100")
    assert isinstance(mechanism.form, Exponents)
    verdict = certify(mechanism, "1/1000")
    assert not verdict.holds and verdict.smallest_delta is None
    assert certify(mechanism, "1/100").smallest_delta == "0"


def test_a_curve_is_drawn_or_refused(tmp_path: Path) -> None:
    certify(STAYS, 1, curve=True).plot(str(tmp_path / "curve.svg"))
    assert "<svg" in (tmp_path / "curve.svg").read_text()
    certify([[Fraction(1)], [Fraction(1)]], curve=True).plot(str(tmp_path / "flat.png"))
    with pytest.raises(BadInput, match="curve=True"):
        certify(STAYS, 1).plot(str(tmp_path / "none.svg"))
    with pytest.raises(BadInput, match="must end in"):
        certify(STAYS, 1, curve=True).plot(str(tmp_path / "curve.txt"))
    with pytest.raises(BadInput, match="delta = 2"):
        certify(STAYS, delta=2, curve=True)
    with pytest.raises(BadInput, match="exactly one"):
        certify(STAYS)
