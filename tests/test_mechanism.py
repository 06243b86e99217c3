from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.build.explicit import explicit
from discreet.errors import BadInput, Damaged
from discreet.laws import Geometric
from discreet.mechanism import Mechanism, NoiseThenMap, Weights, form_parameters, of_weights
from discreet.numbers import Epsilon
from discreet.public_map import PublicMap
from discreet.record.codec import decode, encode
from discreet.requirements import STRUCTURAL
from discreet.sample.bits import secure
from discreet.sample.rows import draw_rows
from discreet.testing import assert_sampler_law, mechanisms, weight_matrices
from discreet.ways.row_by_row.facts import RowMechanism

Made = tuple[Mechanism, Epsilon]


def probabilities(mechanism: Mechanism) -> list[list[Fraction]]:
    weights = mechanism.weights
    return [[Fraction(weight, weights.total) for weight in row] for row in weights.rows]


@given(
    mechanisms(7), st.sampled_from(["wrong", "absolute", "squared", "ranges", "beyond:1", "lopsided:2,1/2"]), st.data()
)
def test_costs_are_expectations(made: Made, cost: str, data: Any) -> None:
    mechanism, _ = made
    size = mechanism.form.shape[0]
    raw = data.draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
    prior = [Fraction(weight, sum(raw)) for weight in raw]

    ranges = [range(a, b + 1) for a in range(size) for b in range(a, size)]

    def loss(i: int, j: int) -> Fraction:
        name = cost.partition(":")[0]
        return {
            "wrong": Fraction(i != j),
            "absolute": Fraction(abs(i - j)),
            "squared": Fraction((i - j) ** 2),
            "ranges": Fraction(sum((i in one) != (j in one) for one in ranges), len(ranges)),
            "beyond": Fraction(abs(i - j) > 1),
            "lopsided": Fraction(2 * (j - i) if j > i else Fraction(i - j, 2)),
        }[name]

    rows = probabilities(mechanism)
    per_input = [sum((p * loss(i, j) for j, p in enumerate(row)), Fraction(0)) for i, row in enumerate(rows)]
    exact = sum((share * value for share, value in zip(prior, per_input)), Fraction(0))
    assert mechanism.cost(cost, [float(share) for share in prior]) == pytest.approx(float(exact), rel=1e-9, abs=1e-12)
    assert mechanism.cost(cost) == pytest.approx(float(sum(per_input) / size), rel=1e-9, abs=1e-12)
    assert mechanism.worst_cost(cost) == pytest.approx(float(max(per_input)), rel=1e-9, abs=1e-12)


@given(mechanisms(7))
def test_bias_and_variance(made: Made) -> None:
    mechanism, _ = made
    for i, row in enumerate(probabilities(mechanism)):
        mean = sum((p * j for j, p in enumerate(row)), Fraction(0))
        variance = sum((p * (j - mean) ** 2 for j, p in enumerate(row)), Fraction(0))
        assert mechanism.bias()[i] == pytest.approx(float(mean - i), abs=1e-9)
        assert mechanism.variance()[i] == pytest.approx(float(variance), abs=1e-8)


@given(mechanisms(8))
def test_a_fixed_point_stays_where_it_is(made: Made) -> None:
    mechanism, _ = made
    z = mechanism.fixed_point()
    assert z.sum() == pytest.approx(1) and (z >= 0).all()
    assert mechanism.fixed_point_residual(z) < 1e-9
    corner = np.eye(len(z))[0]
    assert mechanism.fixed_point_residual(corner) == pytest.approx(np.abs(mechanism.matrix()[0] - corner).max())


def brute_properties(rows: list[list[Fraction]]) -> dict[str, bool]:
    """The seven promises, word by word."""
    n = range(len(rows))
    away = [(i, k, step) for i in n for k in n for step in (-1, 1) if (k - i) * step >= 0 and k + step in n]
    return {
        "row-honest": all(rows[i][i] >= rows[k][i] for i in n for k in n),
        "row-monotone": all(rows[k + step][i] <= rows[k][i] for i, k, step in away),
        "column-honest": all(rows[k][k] >= rows[k][i] for i in n for k in n),
        "column-monotone": all(rows[i][k + step] <= rows[i][k] for i, k, step in away),
        "fair": all(rows[i][i] == rows[0][0] for i in n),
        "weakly-honest": all(rows[i][i] >= Fraction(1, len(rows)) for i in n),
        "symmetric": all(rows[k][i] == rows[-1 - k][-1 - i] for i in n for k in n),
    }


@given(
    st.one_of(
        mechanisms(6).map(lambda made: made[0]), weight_matrices(4, 4).filter(lambda m: len(set(m.form.shape)) == 1)
    )
)
def test_properties_hold_or_have_a_witness(mechanism: Mechanism) -> None:
    found = mechanism.properties()
    assert tuple(found) == STRUCTURAL
    assert {name: witness is None for name, witness in found.items()} == brute_properties(probabilities(mechanism))
    for witness in found.values():
        assert witness is None or "T[" in witness.sentence


def facts_of(mechanism: Mechanism) -> RowMechanism:
    return RowMechanism(mechanism.name, form_parameters(mechanism.form), mechanism.form)


@given(mechanisms(9))
def test_a_mechanism_survives_its_json(made: Made) -> None:
    import json

    mechanism, _ = made
    written = json.loads(json.dumps(encode(facts_of(mechanism))))
    again = decode(RowMechanism, written)
    assert again.name == mechanism.name and Mechanism(again.name, again.form).weights == mechanism.weights
    assert encode(again) == written


@pytest.mark.parametrize(
    ("damage", "says"),
    [("form", "there is no form"), *((name, "its fields do not fit it") for name in ("noise", "clamp", "map"))],
)
def test_a_damaged_description_is_refused(damage: str, says: str) -> None:
    value = encode(facts_of(explicit("geometric", 5, 1)))
    del value[damage]
    with pytest.raises(Damaged, match=says):
        decode(RowMechanism, value)


def test_a_mechanism_is_frozen() -> None:
    mechanism = explicit("uniform", 3, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        mechanism.name = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        mechanism.matrix()[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        explicit("explicit-fair", 3, 1).form.powers[0, 0] = 1


def test_weights_have_one_row_sum() -> None:
    with pytest.raises(BadInput, match="row 1 is not 2 weights with sum 3"):
        Weights(((1, 2), (2, 2)), 3)
    with pytest.raises(BadInput, match="row 0"):
        of_weights("bad", [[-1, 2], [0, 1]])


@given(st.lists(st.integers(0, (5 << 6) - 1), min_size=1, max_size=7), st.integers(0, 63), st.integers(0, 4))
def test_a_public_map_counts_the_keys_passed(raw: list[int], word: int, value: int) -> None:
    keys = sorted(raw)
    outputs = [i % 5 for i in range(len(keys) + 1)]
    public_map = PublicMap(0, 6, np.array(keys, dtype=np.uint64), np.array(outputs))
    key = (value << 6) | word
    expected = outputs[sum(k <= key for k in keys)]
    assert public_map.apply(np.array([value]), np.array([word], dtype=np.uint64)).tolist() == [expected]


@given(st.lists(st.integers(0, (5 << 6) - 1), min_size=1, max_size=7))
def test_the_matrix_of_a_public_map_is_the_share_of_words(raw: list[int]) -> None:
    keys = sorted(raw)
    outputs = np.array([i % 5 for i in range(len(keys) + 1)])
    public_map = PublicMap(0, 6, np.array(keys, dtype=np.uint64), outputs)
    values, words = np.repeat(np.arange(5), 64), np.tile(np.arange(64, dtype=np.uint64), 5)
    seen = np.zeros((5, 5))
    np.add.at(seen, (values, public_map.apply(values, words)), 1 / 64)
    np.testing.assert_allclose(public_map.matrix(5, 5), seen, atol=1e-12)
    mapped = Mechanism("mapped", NoiseThenMap(Geometric(Fraction(2)), (0, 4), public_map))
    geometric = explicit("geometric", 4, alpha="1/2")
    exact = [[weight / mapped.weights.total for weight in row] for row in mapped.weights.rows]
    np.testing.assert_allclose(exact, geometric.matrix() @ seen, atol=1e-12)


def test_every_row_is_drawn_from_its_own_law() -> None:
    counts = np.repeat([0, 3, 1], 180_000)
    for mechanism in (explicit("randomized-response", 3, 1), explicit("explicit-fair", 3, 1)):
        shuffled = np.random.default_rng(0).permutation(len(counts))
        drawn = np.empty(len(counts), dtype=np.int64)
        drawn[shuffled] = draw_rows(mechanism.form, counts[shuffled], secure())
        for value in (0, 1, 3):
            mine, law = drawn[counts == value], mechanism.matrix()[value]
            assert_sampler_law(lambda _, mine=mine: mine, law, size=180_000, wrong=0.9 * law + 0.1 / 4)


def test_what_is_too_large_says_so() -> None:
    wide = explicit("geometric", 10**6, 1)
    with pytest.raises(BadInput, match="up to max_count 2000 only"):
        wide.matrix()
    with pytest.raises(BadInput, match="would fill the memory"):
        _ = wide.weights
    with pytest.raises(BadInput, match="irrational"):
        _ = explicit("discrete-gaussian", 5, rho=1).weights


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        ("absolut", "Did you mean 'absolute'"),
        ("beyond", "takes 1 number"),
        ("lopsided:1", "takes 2 number"),
        ("lopsided:1,-1", "must not be negative"),
        (np.ones((2, 2)), "4 rows and 4 columns"),
    ],
)
def test_costs_that_are_none(cost: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        explicit("uniform", 3, 1).cost(cost)


@pytest.mark.parametrize(
    ("prior", "said"),
    [
        ([1, 0, 0], "4 numbers are needed"),
        ([2, -1, 0, 0], "negative"),
        ([0.5, 0, 0, 0], "sums to 0.5"),
        ([np.nan] * 4, "non-finite"),
    ],
)
def test_priors_that_are_none(prior: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        explicit("uniform", 3, 1).cost("wrong", prior)
