"""Typed values as JSON and back: the types say what is written, and nothing is coerced."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.arrays import Floats, Integers, Words
from discreet.errors import Damaged
from discreet.lattice.invariants import Kept, margin, sum_where, sums, total
from discreet.laws import Gaussian, Geometric, NoiseLaw, Staircase
from discreet.mechanism import Exponents, Form, NoiseThenMap, Weights
from discreet.privacy import Approximate, Concentrated, Guarantee, Loss, Neighbours, Pure, Remark
from discreet.privacy.values import ONE_PERSON
from discreet.public_map import PublicMap
from discreet.record.codec import decode, encode
from discreet.record.schema import schema_of

exact_numbers = st.fractions(min_value=Fraction(1, 10**6), max_value=900)
losses = st.one_of(
    exact_numbers.map(Pure),
    st.fractions(min_value=Fraction(1, 100), max_value=Fraction(99, 100)).map(Pure.of_alpha),
    st.builds(Approximate, exact_numbers, st.fractions(min_value=Fraction(1, 10**9), max_value=Fraction(1, 2))),
    exact_numbers.map(Concentrated),
)


@dataclass(frozen=True)
class Inner:
    a: int
    b: str | None = None


@dataclass(frozen=True, eq=False)
class Sample:
    yes: bool
    many: tuple[int, ...]
    pair: tuple[int, str]
    share: Fraction
    kind: Literal["x", "y"]
    rows: Integers
    words: Words
    shares: Floats
    loss: Loss = field(metadata={"flat": True})
    inner: Inner
    noise: NoiseLaw | None
    names: dict[str, str]


def sample(**changes: Any) -> Sample:
    values: dict[str, Any] = {
        "yes": True, "many": (1, 2), "pair": (3, "c"), "share": Fraction(1, 3), "kind": "x",
        "rows": np.array([-1, 2]), "words": np.array([2**63], dtype=np.uint64), "shares": np.array([0.1, 1.0]),
        "loss": Pure(1), "inner": Inner(4), "noise": Geometric(Fraction(2)), "names": {"k": "v"},
    }  # fmt: skip
    return Sample(**{**values, **changes})


def through(value: Any, kind: Any) -> Any:
    return decode(kind, json.loads(json.dumps(encode(value))))


def test_a_value_comes_back_as_it_was() -> None:
    back = through(sample(), Sample)
    assert encode(back) == encode(sample()) and back.noise == Geometric(Fraction(2)) and back.loss == Pure(1)
    assert back.rows.dtype == np.int64 and back.words.dtype == np.uint64 and back.words[0] == 2**63
    assert encode(sample())["epsilon"] == "1" and "loss" not in encode(sample())


@given(losses)
def test_every_loss_comes_back(loss: Loss) -> None:
    assert through(loss, Loss) == loss
    promise = Guarantee(loss, Neighbours(ONE_PERSON, loss), remarks=(Remark.of("top-coded", max_count=3),))
    assert through(promise, Guarantee) == promise


FORMS: list[Form] = [
    Weights(((1, 2), (2, 1)), 3),
    Exponents(Fraction(3, 2), np.array([[0, 1], [1, 0]])),
    NoiseThenMap(Gaussian(Fraction(7, 2)), (0, 4)),
    NoiseThenMap(Staircase(Fraction(2), Fraction(1, 3))),
    NoiseThenMap(
        Geometric(Fraction(3)), (0, 1), PublicMap(0, 40, np.array([1 << 40], dtype=np.uint64), np.array([0, 1]))
    ),
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: type(form).__name__)
def test_every_form_of_a_mechanism_comes_back(form: Form) -> None:
    assert encode(through(form, Form)) == encode(form)


@pytest.mark.parametrize(
    "kept", [total(), margin("a", "b"), margin("a,b"), sum_where(sex="f"), sum_where(sex="a=b"), sums([[1, 0]], "mine")]
)
def test_everything_kept_comes_back(kept: Kept) -> None:
    assert through(kept, Kept) == kept


WRONG: list[tuple[str, Any]] = [
    ("yes", 1), ("yes", "true"), ("many", [1, 2.0]), ("many", [True]), ("many", 3), ("pair", [1]), ("pair", ["a", "b"]),
    ("share", 0.5), ("share", "x"), ("share", "1/0"), ("share", "nan"), ("share", "1e-40000000"), ("kind", "z"),
    ("kind", 0), ("rows", [1.0]), ("rows", [2**63]), ("rows", "1"), ("words", [-1]), ("shares", ["1"]),
    ("epsilon", 1), ("epsilon", "1.0"), ("epsilon", None), ("alpha", "1/2"), ("rho", "1"), ("delta", None),
    ("delta", "2"), ("inner", {"a": 4, "c": 1}), ("inner", {"b": "x"}), ("inner", []),
    ("noise", {"law": "geometric"}),
    ("noise", {"law": "geometric", "odds": "2", "more": "1"}), ("noise", {"law": "magic"}), ("noise", {"odds": "2"}),
    ("noise", {"law": "geometric", "odds": 2}), ("noise", {"law": "geometric", "odds": "1/2"}), ("names", {"k": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), WRONG, ids=str)
def test_what_does_not_fit_its_type_is_refused(name: str, value: Any) -> None:
    with pytest.raises(Damaged):
        decode(Sample, {**encode(sample()), name: value})


@pytest.mark.parametrize("name", list(encode(sample())))
def test_a_missing_field_is_named(name: str) -> None:
    value = encode(sample())
    del value[name]
    with pytest.raises(Damaged):
        decode(Sample, value)


def test_an_unknown_field_is_named_with_what_was_meant() -> None:
    with pytest.raises(Damaged, match=r"mnay.*Did you mean 'many'"):
        decode(Sample, {**encode(sample()), "mnay": 1})


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_none(number: str) -> None:
    with pytest.raises(Damaged):
        decode(Sample, {**encode(sample()), "shares": [float(number)]})


def test_the_schema_says_the_same() -> None:
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(schema_of(Sample))
    assert not list(validator.iter_errors(encode(sample())))
    for name, value in (("yes", 1), ("many", [True]), ("share", 0.5), ("kind", "z"), ("rows", ["1"]), ("more", 1)):
        assert list(validator.iter_errors({**encode(sample()), name: value})), name


@pytest.mark.parametrize("name", ["epsilon", "alpha", "delta", "rho"])
def test_a_loss_says_which_of_its_numbers_is_missing(name: str) -> None:
    good = {"epsilon": "1", "alpha": None, "delta": "0", "rho": None}
    with pytest.raises(Damaged, match=f"x.{name}: is missing, or not an exact number"):
        decode(Loss, {key: value for key, value in good.items() if key != name}, "x")
    with pytest.raises(Damaged, match="not an object with fields"):
        decode(Loss, None, "x")
