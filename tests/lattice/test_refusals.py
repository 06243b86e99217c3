"""What is refused is refused in seconds, and what is offered in its place works."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError, NotProven
from discreet.lattice.basis import exchange
from discreet.lattice.plan import plan_lattice
from discreet.sample.bits import seeded
from tests.clock import within


def cells_of(*shape: int) -> dict[str, list[str]]:
    return dict(zip("abcd", (part.ravel().astype(str).tolist() for part in np.indices(shape))))


@pytest.mark.parametrize(
    ("shape", "keep", "options"),
    [
        ((30, 30), "a b", {"epsilon": "0.05"}),
        ((30, 30), "a b", {"epsilon": "0.05", "contributions": 2}),
        ((4, 4, 4), "a,b a,c b,c", {"epsilon": 1}),
        ((4, 4, 4), "a,b a,c b,c", {"epsilon": "0.05", "contributions": 3}),
        ((4, 4, 4), "a,b a,c b,c", {"epsilon": 1, "nonnegative": True}),
    ],
)
def test_where_gaussian_noise_is_offered_it_is_drawn(
    shape: tuple[int, ...], keep: str, options: dict[str, Any]
) -> None:
    margins = [f"margin:{names}" for names in keep.split()]
    with pytest.raises(DiscreetError) as refused:
        plan_lattice(cells_of(*shape), margins, **options)
    assert "law gaussian (with rho)" in str(refused.value)
    people = options.get("contributions", 1)
    for rho in ("1/2", "1/2000"):
        plan = plan_lattice(cells_of(*shape), margins, rho=rho, law="gaussian", contributions=people)
        assert plan.grade == "exact"
        if math.prod(shape) < 1000:
            assert plan.draw(seeded(1)).any()


@pytest.mark.parametrize("shape", [(10, 10, 5), (200, 200)])
def test_what_has_no_sampler_is_refused_at_once(shape: tuple[int, ...]) -> None:
    with within(10), pytest.raises(NotProven):
        plan_lattice(cells_of(*shape), [f"margin:{name}" for name in "abc"[: len(shape)]], epsilon=1)


@given(st.integers(2, 4), st.data())
@settings(max_examples=60, deadline=None)
def test_an_exchange_is_the_shortest_change(ones: int, data: st.DataObject) -> None:
    """Against all pairs of columns."""
    sets = st.sets(st.integers(0, 5), min_size=ones, max_size=ones).map(frozenset)
    columns = data.draw(st.lists(sets, min_size=2, max_size=9, unique=True))
    matrix = np.array([[int(row in column) for column in columns] for row in range(6)])
    pairs = list(itertools.combinations(range(len(columns)), 2))
    sums = [tuple(matrix[:, list(pair)].sum(axis=1)) for pair in pairs]
    found = exchange(matrix)
    assert (found is not None) == (len(set(sums)) < len(sums))
    if found is not None:
        assert np.array_equal(matrix[:, list(found[:2])].sum(axis=1), matrix[:, list(found[2:])].sum(axis=1))
        assert len(set(found)) == 4
