"""Each requirement is written twice; here the two are held against each other."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput
from discreet.requirements import STRUCTURAL, kinds, parse_requirement, properties

VALUES = {
    "truth": "1/4",
    "support": "1",
    "at-least": "0,1,1/8",
    "at-most": "1,0,3/8",
    "output-ratio": "2",
    "fixed-point": ["1/4", "1/2", "1/4"],
    "target": ["1/2", "1/4", "1/4"],
}


def rows_hold(requirement, weights, total):
    """The slow obvious reading of the linear rows."""
    for row in requirement.rows(len(weights)):
        left = sum(Fraction(c) * Fraction(weights[i][j], total) for (i, j), c in zip(row.cells, row.coefficients))
        if left > row.bound or (row.sense == "==" and left != row.bound):
            return False
    return True


@st.composite
def small_weights(draw):
    """Matrices with rows that sum to 8, built so that structure is not rare."""
    rows = [draw(st.sampled_from(ROWS)) for _ in range(3)]
    if draw(st.booleans()):
        rows[2] = rows[0][::-1]
    return rows


ROWS = [[a, b, 8 - a - b] for a in range(9) for b in range(9 - a)]


@pytest.mark.parametrize("kind", sorted(kinds()))
@settings(max_examples=300, deadline=None)
@given(weights=small_weights())
def test_rows_and_predicate_agree(kind, weights):
    requirement = parse_requirement((kind, VALUES[kind]) if kind in VALUES else kind)
    assert (requirement.check(weights, 8) is None) == rows_hold(requirement, weights, 8)


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_each_requirement_is_kept_by_some_and_broken_by_some(kind):
    requirement = parse_requirement((kind, VALUES[kind]) if kind in VALUES else kind)
    random = np.random.default_rng(1)
    found = {requirement.check([ROWS[k] for k in random.integers(0, len(ROWS), 3)], 8) is None for _ in range(3000)}
    found |= {
        requirement.check(w, 8) is None for w in ([[2, 4, 2]] * 3, [[4, 2, 2]] * 3, [[8, 0, 0], [0, 8, 0], [0, 0, 8]])
    }
    found.add(requirement.check([[2, 6, 0], [3, 2, 3], [0, 6, 2]], 8) is None)
    assert found == {True, False}


def test_big_weights_are_compared_exactly():
    big = 2**200
    fair = [[big, big + 1], [big + 1, big]]
    assert properties(fair, 2 * big + 1)["fair"] is None
    assert properties([[big, big + 1], [big, big + 1]], 2 * big + 1)["fair"] is not None


@pytest.mark.parametrize("size", [1, 2, 5])
def test_implications_are_true(size):
    random = np.random.default_rng(size)
    seen = 0
    for _ in range(2000):
        weights = random.integers(0, 3, (size, size)) + np.eye(size, dtype=int) * random.integers(0, 3)
        total = int(weights.sum(axis=1).max())
        weights[np.arange(size), np.arange(size)] += total - weights.sum(axis=1)
        for name in STRUCTURAL:
            requirement = parse_requirement(name)
            if requirement.implies and requirement.check(weights, total) is None:
                seen += 1
                assert all(parse_requirement(other).check(weights, total) is None for other in requirement.implies)
    assert seen


def test_aliases():
    letters = dict(zip(("RH", "RM", "CH", "CM", "F", "WH", "S"), STRUCTURAL))
    assert {letter: parse_requirement(letter).name for letter in letters} == letters


def test_a_witness_names_entries_that_break_the_promise():
    witness = parse_requirement("column-honest").check([[3, 1], [3, 1]], 4)
    assert witness.cells == ((1, 0), (1, 1))
    assert witness.sentence == "T[1,0] = 0.75 exceeds T[1,1] = 0.25"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("fare", "Did you mean 'fair'?"),
        ("fair=1", "takes no value"),
        ("truth", "needs a value"),
        ("truth=1", "between 0 and 1, both excluded"),
        ("truth=0", "between 0 and 1, both excluded"),
        ("support=0", "at least 1"),
        ("output-ratio=1/2", "1 or more"),
        ("output-ratio=wide", "not a finite number"),
        ("support=two", "whole number"),
        ("at-least=1,2", "an input, an output and a probability"),
        ("at-most=0,1,2", "between 0 and 1"),
        ("at-most=1/2,1,1", "must be whole numbers"),
        (("fixed-point", [0.5, 0.6]), "sum to 1"),
        (("target", [1.5, -0.5]), "non-negative"),
        ("fixed-point=no-such-file.json", "No such file"),
        (7, "neither a name"),
    ],
)
def test_errors(wrong, message):
    with pytest.raises(BadInput, match=re.escape(message)):
        parse_requirement(wrong)


def test_sizes_are_checked():
    with pytest.raises(BadInput, match="run from 0 to 2"):
        parse_requirement("at-least=3,0,1/2").rows(3)
    with pytest.raises(BadInput, match="has 2 numbers, 3 are needed"):
        parse_requirement(("fixed-point", ["1/2", "1/2"])).rows(3)
    with pytest.raises(BadInput, match="as many outputs as inputs"):
        parse_requirement("fair").check([[1, 1, 2], [1, 1, 2]], 4)


NEWCOMER = """
from dataclasses import dataclass

from discreet.requirements._base import Plain, Row, Breach, square


@dataclass(frozen=True)
class SeldomZero(Plain):
    kind = "seldom-zero"
    alias = "SZ"

    def rows(self, size):
        return [Row(((size - 1, 0),), (10,), "<=", 1)]

    def check(self, weights, total):
        array = square(weights, total)
        return Breach(((len(array) - 1, 0),), "too often") if array[-1, 0] * 10 > total else None


REQUIREMENT = SeldomZero
"""


def test_a_new_requirement_is_one_file(tmp_path, monkeypatch):
    from discreet import requirements
    from discreet.build.design import design

    (tmp_path / "seldom_zero.py").write_text(NEWCOMER)
    monkeypatch.setattr(requirements, "__path__", [*requirements.__path__, str(tmp_path)])
    requirements.kinds.cache_clear()
    try:
        bare = design(3, "0.5", method="program")
        made = design(3, "0.5", require=["SZ", "weakly-honest"])
        assert bare.mechanism.matrix()[3, 0] > 0.1 >= made.mechanism.matrix()[3, 0]
        assert made.requirements == {"seldom-zero": None, "weakly-honest": None}
    finally:
        requirements.kinds.cache_clear()
