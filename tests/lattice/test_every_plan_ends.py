"""Whatever is kept, of whatever table, by whatever law: seconds later there is a draw, or a refusal that helps."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput, DiscreetError
from discreet.lattice.plan import LatticePlan, plan_lattice
from discreet.lattice.projection import project, require_projectable
from discreet.sample.bits import seeded

SECONDS = 30.0  # of this process alone; most take a hundredth of it, and a busy machine several times as long
MOST_CELLS = 600
NAMES = "abcd"


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    def late(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} seconds")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@st.composite
def tables(draw: st.DrawFn) -> tuple[tuple[int, ...], dict[str, list[str]]]:
    """A table of two to four ways that may lack some cells."""
    sides = draw(st.lists(st.sampled_from((2, 2, 3, 3, 4, 5, 7, 12, 40)), min_size=2, max_size=4))
    assume(math.prod(sides) <= MOST_CELLS)
    there = np.ones(math.prod(sides), dtype=bool)
    for hole in draw(st.lists(st.integers(0, len(there) - 1), max_size=3)):
        there[hole] = False
    assume(there.sum() > 2)
    keys = {name: part.ravel()[there].astype(str).tolist() for name, part in zip(NAMES, np.indices(sides))}
    return tuple(sides), keys


@st.composite
def kept(draw: st.DrawFn, sides: tuple[int, ...]) -> list[str]:
    """Margins, single sums, a total."""
    columns = st.sets(st.sampled_from(NAMES[: len(sides)]), min_size=1, max_size=max(1, len(sides) - 1)).map(sorted)
    margin = columns.map(lambda names: f"margin:{','.join(names)}")
    alone = columns.flatmap(
        lambda names: st.tuples(*(st.integers(0, sides[NAMES.index(n)] - 1) for n in names)).map(
            lambda values: "sum:" + ",".join(f"{n}={v}" for n, v in zip(names, values))
        )
    )
    return draw(st.lists(st.one_of(margin, margin, alone, st.just("total")), min_size=1, max_size=4, unique=True))


@st.composite
def asked(draw: st.DrawFn) -> tuple[dict[str, list[str]], list[str], dict[str, Any]]:
    sides, keys = draw(tables())
    law, epsilon = draw(st.sampled_from(("l1", "l1", "gaussian", "l2"))), draw(st.sampled_from(("1/10", "1", "4")))
    options: dict[str, Any] = {"law": law, ("rho" if law == "gaussian" else "epsilon"): epsilon}
    how = draw(st.sampled_from(("signed", "signed", "projected", "nonnegative", "ordered")))
    if how == "ordered":
        options["inequalities"] = "order:a=0,1"
    elif how != "signed":
        options[how] = True
    return keys, draw(kept(sides)), options


def ended(keys: dict[str, list[str]], keep: list[str], options: dict[str, Any]) -> LatticePlan | DiscreetError:
    """The plan, with a draw made for counts of zero; or the refusal."""
    cells = len(keys["a"])
    try:
        with at_most(SECONDS):
            plan = plan_lattice(keys, keep, **options)
            if options.get("projected"):
                require_projectable(plan.structure)
            drawn = plan.release(np.zeros(cells, dtype=np.int64), seeded(1))
            if options.get("projected"):
                assert not project(plan.structure, drawn).counts.min() < 0
        assert plan.grade != "diagnosed"
        return plan
    except DiscreetError as error:
        return error


@given(asked())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_every_plan_ends_in_a_draw_or_in_advice_that_works(
    case: tuple[dict[str, list[str]], list[str], dict[str, Any]],
) -> None:
    keys, keep, options = case
    end = ended(keys, keep, options)
    if isinstance(end, LatticePlan):
        return
    assert end.do
    if "law gaussian (with rho)" in end.do and "Spend more" not in end.do:
        assert isinstance(ended(keys, keep, {"law": "gaussian", "rho": "1/2"}), LatticePlan)
    elif 'nonnegative_by="project"' in end.do and "inequalities" not in options:
        instead = {**options, "nonnegative": False, "projected": True}
        assert isinstance(ended(keys, keep, instead), LatticePlan)


def test_what_is_advised_for_sums_of_too_many_groups_can_be_drawn():
    """Fewer groups alone would not help: three one-way margins of 500 cells are refused, too."""
    keys = {name: part.ravel().astype(str).tolist() for name, part in zip("abc", np.indices((12, 12, 12)))}
    with pytest.raises(BadInput, match="two margins at most, or sums that are nested or disjoint"):
        plan_lattice(keys, ["margin:a", "margin:b", "margin:c"], 1)
    for keep in (["margin:a", "margin:b,c"], ["margin:a", "margin:b"], ["margin:a", "margin:a,b"]):
        assert plan_lattice(keys, keep, 1).draw(seeded(1)).any()
