"""A law that nobody here has heard of goes through everything once it is registered."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from discreet.build.construct import construct
from discreet.build.explicit import explicit, names, pure_names
from discreet.build.transport import output_law, transport
from discreet.certify import certify
from discreet.compare import compare
from discreet.distribution import refine
from discreet.distribution.evidence.cells import expected_excess, reach_of, width_of
from discreet.errors import BadInput
from discreet.estimate.intervals import half_width
from discreet.laws import contract, draw_noise, law_json, law_of_json
from discreet.laws import law as registry
from discreet.mechanism import Mechanism, NoiseThenMap
from discreet.numbers import Epsilon
from discreet.privacy import Pure
from discreet.sample.bits import seeded
from discreet.testing import assert_noise_law, assert_private, assert_sampler_law


@pytest.fixture
def plateau() -> Iterator[Any]:
    assert "plateau" not in names()
    yield import_module("tests.laws.plateau").Plateau
    registry._LAWS.pop("plateau")
    sys.modules.pop("tests.laws.plateau")


def test_it_meets_the_contract(plateau: Any) -> None:
    for odds in (Fraction(21, 20), Fraction(3), Fraction(30)):
        assert_noise_law(plateau(odds))


@pytest.fixture
def heavy() -> Iterator[Any]:
    yield import_module("tests.laws.heavy").Heavy
    registry._LAWS.pop("heavy")
    sys.modules.pop("tests.laws.heavy")


@pytest.mark.parametrize("width", [Fraction(1, 2), Fraction(8)])
def test_heavy_tails_meet_the_contract(heavy: Any, width: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies beyond all masses that are summed is a millionth of the variance, and belongs to it."""
    assert_noise_law(heavy(width), size=50_000)
    right = heavy(width).spread
    for wrong in (1 - 1e-6, 1 + 1e-6):
        monkeypatch.setattr(heavy, "spread", right * wrong)
        with pytest.raises(AssertionError, match="spread is"):  # said before anything is drawn
            assert_noise_law(heavy(width))


def test_tails_too_heavy_for_a_variance_are_refused(heavy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    law, one = heavy(Fraction(4)), Fraction(1)
    monkeypatch.setattr(heavy, "chance_below", lambda self, k: 1 - one / (3 + k) if k >= 0 else one / (2 - k))
    with pytest.raises(AssertionError, match="no variance can be seen"):
        contract._variance(law, law.masses(64))
    monkeypatch.setattr(heavy, "tails", lambda self, reach: 1 / (2 + np.arange(reach + 1.0)))
    with pytest.raises(AssertionError, match="too wide for a contract"):
        assert_noise_law(law)


@pytest.mark.parametrize("width", [Fraction(1, 2), Fraction(5), Fraction(3000)])
def test_heavy_tails_end_far_out_and_are_summed_all_the_same(heavy: Any, width: Fraction) -> None:
    """E max(0, X - k) is a sum of products that telescopes."""
    law, k = heavy(width), np.array([0, 1, 7, 1000, 65_535, 65_536, 65_537, 10**6, 10**9])
    a, s = float(width) + k, float(width)
    right = float(law.above) * s * (s + 1) * (s + 2) * (s + 3) / (3 * a * (a + 1) * (a + 2))
    np.testing.assert_allclose(expected_excess(-k, law), right, rtol=2e-6)
    np.testing.assert_allclose(expected_excess(k, law) - k, right, rtol=2e-6, atol=1e-6)
    assert reach_of(law) <= 64 * width_of(law) + 1


def test_it_is_a_mechanism_and_is_proved(plateau: Any) -> None:
    assert "plateau" in names() and "plateau" in pure_names()
    mechanism = explicit("plateau", 12, 1)
    assert mechanism.name == "plateau" and mechanism.form.noise == plateau.calibrated(Pure(1))
    assert_private(mechanism, 1)
    assert mechanism.odds() == mechanism.form.noise.odds and not certify(mechanism, "0.99").holds
    exact = np.array([[w / mechanism.weights.total for w in row] for row in mechanism.weights.rows])
    np.testing.assert_allclose(mechanism.matrix(), exact, rtol=1e-12)
    with pytest.raises(BadInput, match="a delta would be spent for nothing"):
        explicit("plateau", 12, 1, delta="1e-6")
    with pytest.raises(BadInput, match="only Gaussian noise is calibrated by rho"):
        explicit("plateau", 12, rho=1)


def test_unbounded_it_is_proved_by_its_odds_or_its_delta(plateau: Any) -> None:
    signed = Mechanism("own", NoiseThenMap(plateau(Fraction(3))))
    at_odds = Epsilon(ratio=Fraction(3))
    assert certify(signed, at_odds).holds and certify(signed, at_odds).grade == "exact"
    less = Epsilon(ratio=Fraction(2))
    assert not certify(signed, less).holds
    # P(X <= -1) - 2 P(X <= -2) with P(X <= -1) = 3/8 and P(X <= -2) = 1/8; no other output is twice as likely
    assert signed.delta(less) == Fraction(1, 8)
    assert certify(signed, less, "1/8").holds and not certify(signed, less, "0.1249").holds


def test_it_draws_itself_and_is_written_down(plateau: Any) -> None:
    law = plateau(Fraction(2))
    right = [2.0 ** -max(abs(k) - 1, 0) / 5 for k in range(-60, 61)]
    assert_sampler_law(lambda size: draw_noise(law, size, seeded(5)), right, first=-60)
    assert law_json(law) == {"law": "plateau", "odds": "2"} and law_of_json(law_json(law)) == law


def test_what_builds_and_estimates_takes_it(plateau: Any) -> None:
    z = np.array([0.4, 0.3, 0.2, 0.1])
    law = plateau(Fraction(2))
    form = transport(z, law)
    np.testing.assert_allclose(output_law(form, z), z, atol=1e-9)
    np.testing.assert_allclose(z @ form.matrix(), z, atol=1e-9)
    assert construct(z, 1, method="plateau").cost > 0
    assert "plateau" in [compared.name for compared in compare(3, 1).mechanisms]
    seen = np.bincount(np.clip(law.add(np.repeat(np.arange(4), [400, 300, 200, 100]), seeded(2)), 0, 3), minlength=4)
    found = refine(seen, law)
    assert found.sum() == pytest.approx(1) and abs(found[0] - 0.4) < 0.1
    inside = law.masses(8)[0] + 2 * law.masses(8)[1:].sum()
    assert half_width(inside - 1e-6, law, 1.0, 1e-12) == pytest.approx(8, abs=1e-3)
