"""However a promise is asked for, too much and too little are refused in the same words."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.build.bounded_inputs import bounded_mechanism, published_bounded_mechanism
from discreet.build.bounded_noise import bounded_noise
from discreet.build.construct import construct
from discreet.build.design import design
from discreet.build.explicit import explicit, names
from discreet.certify import certify
from discreet.compare import compare
from discreet.distribution import private_distribution
from discreet.errors import BadInput
from discreet.lattice.kept_chain import kept_chain, keys_of_shape
from discreet.lattice.plan import plan_lattice
from discreet.mechanism import of_weights
from discreet.privacy import Approximate, Concentrated, Pure
from discreet.privacy.parse import epsilons_of

MATRIX = [["1/2", "1/2"], ["1/2", "1/2"]]
ASKED: dict[str, Callable[..., Any]] = {
    "explicit": lambda **p: explicit("geometric", 5, **p),
    "signed": lambda **p: explicit("signed-geometric", None, **p),
    "gaussian": lambda **p: explicit("discrete-gaussian", 5, **p),
    "construct": lambda **p: construct([0.5, 0.5], **p),
    "named": lambda **p: construct([0.5, 0.5], method="geometric", **p),
    "distribution": lambda **p: private_distribution([3, 4, 5], **p),
    "chain": lambda **p: kept_chain(keys_of_shape([3, 3]), ["total"], **p),
}
ODDS_ONLY: dict[str, Callable[..., Any]] = {
    "certify": lambda **p: certify(MATRIX, **p),
    "design": lambda **p: design(3, **p),
    "compare": lambda **p: compare(3, **p),
    "bounded noise": lambda **p: bounded_noise(truth="1/2", support=2, **p),
    "bounded": lambda **p: bounded_mechanism(3, truth="1/2", support=2, **p),
    "published": lambda **p: published_bounded_mechanism(3, truth="1/2", support=2, **p),
    "profile": lambda **p: of_weights("flat", [[1, 1], [1, 1]]).delta(**p),
    "derivable": lambda **p: of_weights("flat", [[1, 1], [1, 1]]).derivable_from_geometric(**p),
}

QUESTIONS = ("profile", "derivable")  # about a mechanism at an epsilon: nothing is lost by asking


@pytest.mark.parametrize("name", [*ASKED, *ODDS_ONLY])
def test_two_at_once_are_refused(name: str) -> None:
    ask = (ASKED | ODDS_ONLY)[name]
    with pytest.raises(BadInput, match="epsilon and alpha were given together"):
        ask(epsilon=1, alpha="1/2")
    if name not in QUESTIONS:
        with pytest.raises(BadInput, match="epsilon and rho were given together"):
            ask(epsilon=1, rho=1)
        with pytest.raises(BadInput, match="rho stands alone"):
            ask(rho=1, delta="1e-6")


@pytest.mark.parametrize("name", [*ASKED, *ODDS_ONLY])
def test_none_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="privacy parameter was needed: none was given"):
        (ASKED | ODDS_ONLY)[name]()


@pytest.mark.parametrize("name", [name for name in names() if name != "discrete-gaussian"])
def test_a_delta_is_refused_where_the_noise_is_pure(name: str) -> None:
    for ask in (explicit, lambda *args, **p: construct(np.ones(6) / 6, method=name, **p)):
        with pytest.raises(BadInput, match="a delta would be spent for nothing"):
            ask(name, 5, epsilon=1, delta="1e-6")
        with pytest.raises(BadInput, match="only Gaussian noise is calibrated by rho"):
            ask(name, 5, rho=1)


@pytest.mark.parametrize("name", ODDS_ONLY)
def test_a_value_will_do_as_well(name: str) -> None:
    ODDS_ONLY[name](epsilon=Pure(1))
    with pytest.raises(BadInput, match="only Gaussian noise is calibrated by rho"):
        ODDS_ONLY[name](epsilon=Concentrated(1))


@pytest.mark.parametrize("name", [name for name in ODDS_ONLY if name not in QUESTIONS])
def test_a_rho_is_refused_in_words_where_ratios_count(name: str) -> None:
    with pytest.raises(BadInput, match="only Gaussian noise is calibrated by rho"):
        ODDS_ONLY[name](rho=1)


@pytest.mark.parametrize("name", ["compare", "bounded noise", "bounded", "published"])
def test_a_delta_is_refused_in_words_where_none_can_be_asked_for(name: str) -> None:
    with pytest.raises(BadInput, match=r"a delta would be spent for nothing|its delta is computed"):
        ODDS_ONLY[name](epsilon=1, delta="1e-6")


@pytest.mark.parametrize("name", [name for name in dc.__all__ if inspect.isfunction(getattr(dc, name))])
def test_whoever_takes_an_epsilon_takes_every_way_of_writing_one(name: str) -> None:
    """So that none of the four is a raw TypeError anywhere."""
    taken = set(inspect.signature(getattr(dc, name)).parameters)
    assert "epsilon" not in taken or {"alpha", "delta", "rho"} <= taken


def test_designs_and_certificates_take_a_delta() -> None:
    assert certify(MATRIX, Approximate(1, "1e-6")).delta == certify(MATRIX, 1, "1e-6").delta > 0
    assert design(3, 1, delta="1/100").delta > 0
    with pytest.raises(BadInput, match="a delta would be spent for nothing"):
        design(3, 1, delta="1/100", mechanism="geometric")
    assert design(3, 1, delta="1/100", mechanism="discrete-gaussian").certificate.holds


NO_NOISE_NAMED: dict[str, Callable[[Any], str]] = {  # what is asked without naming a noise, and the law it gets
    "release": lambda loss: _law(dc.release(dc.example(), loss).mechanism.noise),
    "release in a range": lambda loss: _law(dc.release(dc.example(), loss, max_count=20).mechanism.noise),
    "by rank": lambda loss: _law(dc.release(dc.example(), loss, mechanism="rank").mechanism.noise),
    "row by row": lambda loss: _law(dc.release(dc.example(), loss, dc.RowByRow(max_count=20)).mechanism.form.noise),
    "by size": lambda loss: _law(dc.release(sized(), loss, max_count="size").mechanism.sizes[0].form.noise),
    "kept sums": lambda loss: dc.release(dc.example(), loss, keep="total").mechanism.law,
    "measured": lambda loss: _law(dc.release(sized(), loss, measure="cells").mechanism.questions[0].noise),
    "distribution": lambda loss: _law(private_distribution([3, 4, 5], loss).noise),
    "noise that keeps sums": lambda loss: plan_lattice(keys_of_shape([3, 3]), ["total"], loss).law.name,
    "chain": lambda loss: kept_chain(keys_of_shape([3, 3]), ["total"], loss).law,
}


def sized() -> dc.Table:
    return dc.table(pa.table({"place": ["a", "b"], "size": ["4", "4"], "n": [1, 2]}), "n", keys=["place", "size"])


def _law(noise: Any) -> str:
    return str(noise.name)


UNNAMED = ("measured", "distribution")  # where noise has no name to be asked by, a delta asks for Gaussian noise


@pytest.mark.parametrize("name", NO_NOISE_NAMED)
def test_where_no_noise_is_named_it_is_pure_but_for_rho(name: str) -> None:
    ask = NO_NOISE_NAMED[name]
    assert ask(Pure(1)) in ("geometric", "l1")
    assert ask(Concentrated("1/2")) in ("discrete-gaussian", "gaussian")
    if name in UNNAMED:
        assert ask(Approximate(1, "1e-6")) in ("discrete-gaussian", "gaussian")
    else:
        with pytest.raises(BadInput, match="a delta would be spent for nothing"):
            ask(Approximate(1, "1e-6"))


@pytest.mark.parametrize(
    "options", [{"base": "geometric"}, {"base": "staircase"}, {"mechanism": "geometric"}, {"mechanism": "unfixed",
    "max_count": 5}, {"keep": "total", "law": "l1"}, {"keep": "total", "law": "l2"}], ids=str,
)  # fmt: skip
def test_noise_that_is_named_and_pure_refuses_the_rest_in_the_same_words(options: dict[str, Any]) -> None:
    for ask in (dc.release, dc.plan):
        with pytest.raises(BadInput, match="its noise is pure: a delta would be spent for nothing"):
            ask(dc.example(), 1, delta="1e-6", **options)
        with pytest.raises(BadInput, match="only Gaussian noise is calibrated by rho"):
            ask(dc.example(), rho=1, **options)


ENORMOUS = 10**5000  # Python writes no integer of so many digits


@pytest.mark.parametrize("name", [*ASKED, *ODDS_ONLY])
@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"epsilon": ENORMOUS}, "more than 4000 digits"),
        ({"epsilon": Fraction(1, ENORMOUS)}, "more than 4000 digits"),
        ({"epsilon": 10**90}, "1000 it protects nobody"),
        ({"alpha": "1e-400", "epsilon": 1}, "given together"),
        ({"alpha": "1e-500"}, "above 1000 protects nobody"),
        ({"alpha": Fraction(1, ENORMOUS)}, "more than 4000 digits"),
    ],
)
def test_numbers_beyond_all_sense_are_refused_in_words(name: str, given: dict[str, Any], found: str) -> None:
    with pytest.raises(BadInput, match=found) as caught:
        (ASKED | ODDS_ONLY)[name](**given)
    assert len(str(caught.value)) < 250  # nobody reads four thousand digits


class _Several:
    def item(self) -> float:
        raise RuntimeError("a tensor with 2 elements cannot be converted to a scalar")


@pytest.mark.parametrize("name", [name for name in (*ASKED, *ODDS_ONLY) if name not in QUESTIONS])
@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"epsilon": 1, "delta": "1\n"}, r"delta = '1\\n' was asked for"),
        ({"alpha": "1\n"}, r"alpha = '1\\n' was asked for"),
        ({"epsilon": Decimal("NaN")}, "epsilon was given as NaN: that is not a finite number"),
        ({"epsilon": _Several()}, "epsilon was given as a _Several: a _Several is not a number"),
        ({"epsilon": Pure(1), "delta": 5e-324}, r"delta = 1/2000+\.\.\. was asked for: Pure"),
    ],
    ids=["delta", "alpha", "decimal", "several", "tiny"],
)  # fmt: skip
def test_a_refusal_is_one_short_line(name: str, given: dict[str, Any], found: str) -> None:
    with pytest.raises(BadInput, match=found) as caught:
        (ASKED | ODDS_ONLY)[name](**given)
    assert len(str(caught.value)) < 250 and str(caught.value).isprintable()


def test_a_tiny_delta_is_not_written_out_where_it_is_refused() -> None:
    for ask in (ASKED["explicit"], ASKED["chain"], ODDS_ONLY["compare"], ODDS_ONLY["bounded"]):
        with pytest.raises(BadInput, match=r"delta = 1/2000+\.\.\. was asked for with") as caught:
            ask(epsilon=1, delta=5e-324)
        assert len(str(caught.value)) < 250


@pytest.mark.parametrize("rho", [10**6, "1e400", Fraction(ENORMOUS), Fraction(1, ENORMOUS), "1e-19"])
def test_a_rho_that_protects_nobody_or_drowns_everybody_is_refused(rho: Any) -> None:
    for ask in (ASKED["distribution"], ODDS_ONLY["certify"], lambda **p: dc.release(sized(), **p)):
        with pytest.raises(BadInput, match=r"protects nobody|drown every count|more than 4000 digits"):
            ask(rho=rho)
    assert dc.release(sized(), rho=500_000).guarantee.rho == 500_000


def test_an_epsilon_given_as_a_ratio_is_a_number_however_large() -> None:
    assert float(Pure.of_alpha("1e-400").epsilon) == pytest.approx(400 * math.log(10), rel=1e-15)
    assert float(Pure.of_alpha("1e-3").epsilon) == pytest.approx(3 * math.log(10), rel=1e-15)


@pytest.mark.parametrize("several", [np.int64(1), np.array(1.0), Pure(1), [Pure(1)], (1,), "1", np.array([1.0])])
def test_one_epsilon_or_several_however_written(several: Any) -> None:
    assert [str(one) for one in epsilons_of(several, "an evaluation")] == ["1"]


@pytest.mark.parametrize("several", [None, [None], True, Approximate(1, "1e-6"), [Concentrated(1)], object()])
def test_what_is_no_epsilon_is_refused_among_several(several: Any) -> None:
    for ask in (lambda: dc.choose(10, epsilons=several), lambda: dc.evaluate(sized(), ["geometric"], several)):
        with pytest.raises(BadInput):
            ask()
