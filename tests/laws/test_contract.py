"""Every registered law meets the contract; and the contract notices every lie that a law could tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.laws import Bounded, Gaussian, Geometric, NoiseLaw, Staircase, calibrated_laws, laws
from discreet.laws import law as registry
from discreet.numbers import Epsilon
from discreet.privacy import Approximate, Concentrated, Pure
from discreet.sample.bits import Bits, seeded
from discreet.testing import assert_noise_law

LOSSES = [Pure("1/5"), Pure(1), Pure(4), Concentrated("1/50"), Concentrated(1), Approximate(1, "1e-6")]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("name", calibrated_laws())
def test_every_law_meets_the_contract(name: str, loss: Any) -> None:
    if laws()[name].pure == isinstance(loss, Pure):
        assert_noise_law(laws()[name].calibrated(loss))


@pytest.mark.parametrize(
    "law",
    [Geometric(Fraction(101, 100)), Geometric(Fraction(20)), Staircase(Fraction(2), Fraction(1, 3)),
     Staircase(Fraction(50), Fraction(1, 1000)), Gaussian(Fraction(1, 3)), Gaussian(Fraction(400)),
     Bounded(Fraction(3), Fraction(1, 2), 8), Bounded(Fraction(3), Fraction(1, 50), 9),
     Bounded(Fraction(3, 2), Fraction(1, 1000), 8), Bounded(Fraction(11, 10), Fraction(9, 10), 5),
     Bounded(Fraction(101, 100), Fraction(1, 10), 700)],
    ids=repr,
)  # fmt: skip
def test_so_do_laws_of_other_shapes(law: NoiseLaw) -> None:
    assert_noise_law(law)


# Lies. Each is a staircase law, or a Gaussian, with one thing about it wrong.

HONEST = Staircase(Fraction(2), Fraction(1, 3))


def twisted(law: NoiseLaw, **lies: Any) -> NoiseLaw:
    liar = type("Liar", (type(law),), {"name": "liar", **lies})
    registry.register(liar)
    return liar(**vars(law))


@pytest.fixture(autouse=True)
def no_liar_stays() -> Iterator[None]:
    yield
    registry._LAWS.pop("liar", None)


def biased_alone(self: Staircase, counts: Any, bits: Bits, top: int | None = None) -> Any:
    return Staircase.add(self, counts, bits, top) + (len(counts) == 1)


def in_place(self: Staircase, counts: Any, bits: Bits, top: int | None = None) -> Any:
    counts[:] = Staircase.add(self, counts, bits, top)
    return counts.copy()


def skewed(self: Staircase, k: int, bits: int) -> tuple[int, int]:
    low, high = Staircase.below(self, k, bits)
    return (low, high) if k != 0 else (max(0, low - (1 << bits) // 50), max(0, high - (1 << bits) // 50))


def accepting(cls: type[Staircase], loss: Any, units: int = 1) -> Staircase:
    return Staircase.calibrated.__func__(cls, Pure(loss.epsilon or 1), units)


def times_epsilon(factor: str) -> Callable[..., Any]:
    def calibrated(cls: type[Staircase], loss: Any, units: int = 1) -> Any:
        return Staircase.calibrated.__func__(cls, loss if loss.rho else loss.times(Fraction(factor)), units)

    return classmethod(calibrated)  # type: ignore[return-value]


LIES: dict[str, tuple[dict[str, Any], str]] = {
    "masses": ({"masses": lambda self, reach: 1.01 * Staircase.masses(self, reach)}, "not to 1"),
    "tails": ({"tails": lambda self, reach: Staircase.tails(self, reach) ** 2}, "tails are not sums"),
    "log_mass": ({"log_mass": lambda self, x: Staircase.log_mass(self, x) + 0.01}, "log_mass is not log"),
    "lopsided": (
        {"log_mass": lambda self, x: Staircase.log_mass(self, x) - 1e-3 * (np.asarray(x) < 0)},
        "not symmetric",
    ),
    "spread": ({"spread": property(lambda self: 1.01 * Staircase.spread.fget(self))}, "the masses say"),
    "decay": ({"decay": property(lambda self: 0.5)}, "decay is not the ratio"),
    "below": ({"below": skewed}, "does not enclose"),
    "vague": ({"below": lambda self, k, bits: (0, 1 << bits)}, "no tight enclosure"),
    "centre": ({"centre": property(lambda self: (-2, 2))}, "leaves too much out"),
    "chance": (
        {
            "chance_below": lambda self, k: Staircase.chance_below(self, k) * Fraction(99, 100),
            "below": lambda self, k, bits: HONEST.below(k, bits),
            "tails": lambda self, reach: HONEST.tails(reach),
        },
        "misses chance_below",
    ),
    "fewer odds": ({"worst_odds": property(lambda self: Fraction(19, 10))}, "but neighbours differ by"),
    "more odds": ({"worst_odds": property(lambda self: Fraction(21, 10))}, "too many"),
    "not pure": ({"pure": False}, "do not agree"),
    "unbounded": ({"pure": False, "worst_odds": property(lambda self: None)}, "called unbounded"),
    "half delta": ({"delta": lambda self, e, s=1: Staircase.delta(self, e, s) / 2}, "excesses sum to"),
    "delta by a hair": (
        {"delta": lambda self, e, s=1: max(0, Staircase.delta(self, e, s) - Fraction(1, 2**70))},
        "excesses sum to",
    ),
    "delta of one unit": ({"delta": lambda self, e, s=1: Staircase.delta(self, e)}, "excesses sum to"),
    "price": ({"price": lambda self, units=1: Pure(Epsilon(ratio=Fraction(19, 10) ** units))}, "is too low"),
    "price of one": ({"price": lambda self, units=1: Staircase.price(self)}, "is too low"),
    "steep price": ({"price": lambda self, units=1: Staircase.price(self, units**2)}, "and then"),
    "calibrated": ({"calibrated": times_epsilon("1.001")}, "costs"),
    "wasteful": ({"calibrated": times_epsilon("0.9")}, "wider than needed"),
    "accepts all": ({"calibrated": classmethod(accepting)}, "must be refused"),
    "another law": ({"calibrated": Staircase.calibrated}, "another law"),
    "flat": ({"curvature": lambda self, r: Staircase.curvature(self, r) / 2}, "lies below"),
    "curved": ({"curvature": lambda self, r: Staircase.curvature(self, r) * 4}, "lies below"),
    "sampler": ({"add": lambda self, c, b, top=None: Staircase(Fraction(11, 5), self.gamma).add(c, b, top)}, "follow"),
    "single draws": ({"add": biased_alone}, "follow"),
    "no top": ({"add": lambda self, c, b, top=None: Staircase.add(self, c, b)}, "follow"),
    "in place": ({"add": in_place}, "counts were changed"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found_out(lie: str) -> None:
    lies, message = LIES[lie]
    with pytest.raises(AssertionError, match=message):
        assert_noise_law(twisted(HONEST, **lies), bits=seeded(1))


def test_without_lies_the_twisted_law_passes() -> None:
    assert_noise_law(twisted(HONEST))


@pytest.mark.parametrize(
    "lies, message",
    [
        ({"price": lambda self, units=1: Concentrated(units / (2 * self.variance))}, "is too low"),
        ({"price": lambda self, units=1: Concentrated(units**2 / (2 * self.variance) * Fraction(99, 100))}, "too low"),
        ({"delta": lambda self, e, s=1: Gaussian.delta(self, e, s) * Fraction(9, 10)}, "excesses sum to"),
        ({"add": lambda self, c, b, top=None: Gaussian(Fraction(10)).add(c, b, top)}, "follow"),
        ({"curvature": lambda self, r: Gaussian.curvature(self, r) * 0.99}, "lies below"),
        ({"rational": True, "chance_below": lambda self, k: Fraction(math.erf(k))}, "chance_below"),
        ({"chance_below": lambda self, k: Fraction(1, 2)}, "must say so"),
    ],
)
def test_a_lie_about_gaussian_noise_is_found_out(lies: dict[str, Any], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        assert_noise_law(twisted(Gaussian(Fraction(9)), **lies), bits=seeded(1))


def test_without_lies_the_twisted_gaussian_passes() -> None:
    assert_noise_law(twisted(Gaussian(Fraction(9))))


def test_a_law_that_is_not_registered_is_found_out() -> None:
    liar = twisted(HONEST)
    registry._LAWS.pop("liar")
    with pytest.raises(AssertionError, match="not registered"):
        assert_noise_law(liar)


# The registry.


def test_a_name_is_taken_once() -> None:
    class Other(Geometric):
        pass

    with pytest.raises(BadInput, match="another law of that name"):
        registry.register(Other)
    assert registry.register(Geometric) is Geometric
    with pytest.raises(BadInput, match="frozen dataclass"):
        registry.register(type("Bare", (), {"name": "bare"}))


def test_laws_are_found_by_name_and_written_exactly() -> None:
    assert list(laws()) == ["bounded", "geometric", "discrete-gaussian", "staircase"]
    assert registry.law_named("geometric") is Geometric
    with pytest.raises(BadInput, match="Did you mean 'discrete-gaussian'"):
        registry.law_named("discrete-gausian")
    assert registry.law_json(Geometric(Fraction(5, 3))) == {"law": "geometric", "odds": "5/3"}
    assert registry.law_json(Gaussian(Fraction(9, 2))) == {"law": "discrete-gaussian", "variance": "4.5"}


@pytest.mark.parametrize(
    "value, message",
    [
        ({}, "no noise law of that name"),
        ({"law": "uniform"}, "no noise law of that name"),
        ({"law": "geometric"}, "has the fields odds"),
        ({"law": "geometric", "odds": 2}, "each a text"),
        ({"law": "geometric", "odds": "2", "gamma": "1/3"}, "has the fields odds"),
        ({"law": "geometric", "odds": "two"}, "not an exact number"),
        ({"law": "geometric", "odds": "1/0"}, "not an exact number"),
        ({"law": "geometric", "odds": "1/2"}, "odds must be above 1"),
    ],
)
def test_damaged_laws_are_refused(value: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        registry.law_of_json(value)
