"""Inequalities in words: what they mean, what contradicts what, and the law of what is drawn under them."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import discreet as dc
from discreet.errors import BadInput
from discreet.lattice.inequalities import inequalities_of
from discreet.lattice.orders import Rising, limits_list, parse_limit, together
from discreet.lattice.plan import LatticePlan, plan_lattice
from discreet.lattice.room import conflict
from discreet.sample.bits import seeded
from tests.lattice.enumeration import Law, p_value, rejected
from tests.shell import shell

WHAT = ("families", "households", "people")


def frame(counts: list[int], areas: str = "ab") -> pa.Table:
    return pa.table({"area": [a for a in areas for _ in WHAT], "what": [*WHAT] * len(areas), "n": counts})


TABLE = dc.table(frame([1, 3, 7, 0, 0, 2]), "n", keys=["area", "what"])
ORDER = "order:what=families,households,people"


@given(st.lists(st.tuples(st.sampled_from("xy"), st.sampled_from("abcd")), min_size=1, max_size=8, unique=True))
@settings(max_examples=100, deadline=None)
def test_an_order_is_what_it_says(rows: list[tuple[str, str]]) -> None:
    """Against every pair of rows that follow each other among those that are there."""
    keys = {"where": [one for one, _ in rows], "what": [other for _, other in rows]}
    values = ("c", "a", "d")
    expected = set()
    for place in "xy":
        chain = [rows.index((place, value)) for value in values if (place, value) in rows]
        expected |= set(itertools.pairwise(chain))
    if not expected or not set(values) <= set(keys["what"]):
        with pytest.raises(BadInput):
            Rising("what", values).over(keys, len(rows))
        return
    made = Rising("what", values).over(keys, len(rows))
    found = {(int(np.flatnonzero(row == -1)[0]), int(np.flatnonzero(row == 1)[0])) for row in made.matrix.toarray()}
    assert found == expected and not made.least.any() and made.matrix.nnz == 2 * len(expected)


@pytest.mark.parametrize("what", [Rising("a", ("x", "y")), Rising("a", ("x, y", "z")), Rising("a=b", ("x", " y"))])
def test_an_order_can_be_written_and_read_back(what: Rising) -> None:
    assert Rising.of_json(json.loads(json.dumps(what.as_json()))) == what
    assert limits_list(what.as_json()) == (what,)


def test_what_may_stand_in_a_list() -> None:
    pair = ([[1, 0, 0, 0, 0, 0]], [0])
    assert limits_list(None) == limits_list(()) == ()
    assert len(limits_list(pair)) == 1 and limits_list([pair]) == limits_list(pair)
    assert len(limits_list([ORDER, pair, {"order": "what", "values": ["families", "people"]}])) == 3
    assert limits_list(ORDER) == limits_list([ORDER, ORDER])
    whole = together(limits_list([ORDER, pair]), {"area": [*"aaabbb"], "what": [*WHAT] * 2}, 6)
    assert whole is not None and whole.matrix.shape == (5, 6)


@pytest.mark.parametrize("keep", [[], ["margin:area"], ["total"]])
@pytest.mark.parametrize("more", [{}, {"nonnegative": True}, {"law": "l2"}])
def test_it_holds_and_is_verified(keep: list[str], more: dict[str, Any], tmp_path: Path) -> None:
    out = dc.release(TABLE, epsilon=1, keep=keep, inequalities=ORDER, **more)
    published = np.asarray(out.counts).reshape(2, 3)
    assert (np.diff(published, axis=1) >= 0).all()
    assert "nonnegative" not in more or published.min() >= 0
    out.save(tmp_path / "out")
    verified = dc.verify(tmp_path / "out")
    assert verified.problems == ()
    assert ("the table has every kept sum" in verified.checked) == bool(keep)
    assert dc.plan(TABLE, epsilon=1, keep=keep, inequalities=ORDER, **more).steps


def test_from_the_shell_and_from_a_file(tmp_path: Path) -> None:
    source, spec = tmp_path / "in.csv", tmp_path / "spec.toml"
    source.write_text("area,what,n\n" + "".join(f"{a},{w},{n}\n" for a in "ab" for n, w in enumerate(WHAT)))
    (tmp_path / "limits.csv").write_text("-1,1,0,0,0,0,0\n0,0,0,-1,1,0,-2\n")
    base = ["release", str(source), "--count", "n", "--keys", "area,what", "--epsilon", "1"]
    asked = ["--inequalities", ORDER, "--inequalities", str(tmp_path / "limits.csv")]
    assert shell(*base, *asked, "--write-spec", str(spec), "--out", str(tmp_path / "out")).returncode == 0
    assert dc.verify(tmp_path / "out").problems == ()
    again, _ = dc.run(spec, tmp_path / "again")
    assert len(again.mechanism.inequalities.least) == 6
    words = '[table]\nfile = "in.csv"\ncount = "n"\nkeys = ["area", "what"]\n[privacy]\nepsilon = 1\n'
    spec.write_text(f'{words}[keep-sums]\ninequalities = "{ORDER}"\n')
    assert len(dc.run(dc.read_spec(spec), tmp_path / "third")[0].mechanism.inequalities.least) == 4
    planned = shell("plan", *base[1:], *asked, "--json")
    assert planned.returncode == 0 and json.loads(planned.stdout)["expected"] == []


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"inequalities": "order:what=families,peple"}, "Did you mean 'people'"),
        ({"inequalities": "order:wat=families,people"}, "Did you mean 'what'"),
        ({"inequalities": "order:what=people"}, "two values at least"),
        ({"inequalities": "people"}, "nor a file"),
        ({"inequalities": {"order": "what", "values": 3}}, "a column and a list of values"),
        ({"inequalities": ["order:what=people,families"]}, r"\(area=a, what=people\) <= \(area=a, what=families\)"),
        ({"inequalities": [ORDER, "order:what=people,families"]}, "only as equalities.*what=people"),
        ({"inequalities": ([[1] + [0] * 5, [-1] + [0] * 5], [5, -3])}, r"contradict each other.*5 <= .*; .* <= 3"),
        ({"inequalities": ([[1, 1, 1, 0, 0, 0]], [30]), "keep": "margin:area"}, "no table with these kept sums"),
        ({"inequalities": ([[0] * 6], [1])}, "contradict each other.*1 <= 0"),
        ({"inequalities": ([[-1] * 6], [0]), "nonnegative": True}, "only as equalities.*no count is negative"),
        ({"inequalities": ORDER, "nonnegative": "project"}, "could break them"),
        ({"inequalities": ORDER, "law": "gaussian"}, "Use law l1"),
        ({"inequalities": ORDER, "mechanism": "geometric"}, "another way"),
    ],
)
def test_what_cannot_be_is_named_and_not_charged(asked: dict[str, Any], message: str, tmp_path: Path) -> None:
    book = dc.ledger(str(tmp_path / "ledger.db"))
    book.create("d", epsilon=10)
    with pytest.raises(BadInput, match=message):
        dc.release(TABLE, epsilon=1, ledger=book, dataset="d", **asked)
    assert len(book.history("d")) == 0


def test_a_file_of_uneven_lines_is_told(tmp_path: Path) -> None:
    (tmp_path / "limits.csv").write_text("-1,1,0\n1,0\n")
    with pytest.raises(BadInput, match=r"limits\.csv"):
        parse_limit(str(tmp_path / "limits.csv"))


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_a_conflict_is_found_where_no_table_is(data: st.DataObject) -> None:
    """Inequalities in three cells, with a total or without, against all tables of a box that is large enough."""
    rows = data.draw(st.lists(st.lists(st.integers(-1, 1), min_size=3, max_size=3), min_size=1, max_size=4))
    least = data.draw(st.lists(st.integers(-2, 2), min_size=len(rows), max_size=len(rows)))
    sums = data.draw(st.sampled_from([None, 0, 3]))
    nonnegative = data.draw(st.booleans())
    limits = inequalities_of((rows, least))
    every = np.array(list(itertools.product(range(-9, 10), repeat=3)))
    every = every if sums is None else every[every.sum(axis=1) == sums]
    every = every[every.min(axis=1) >= 0] if nonnegative else every
    values = every @ np.array(rows).T
    kept = None if sums is None else (csr_array(np.ones((1, 3), dtype=np.int64)), np.array([sums]))
    found = conflict(limits, nonnegative, kept)
    some = (values >= np.array(least)).all(axis=1)
    if found is not None and found.strict:
        assert not some.any()
    elif found is not None:
        used = list(found.inequalities)
        assert (values[some][:, used] == np.array(least)[used]).all()
    else:
        inside = (values > np.array(least)).all(axis=1) | ~np.array(rows).any(axis=1).all()
        assert some.any() or not inside.any()


def chain_law(counts: np.ndarray, rate: float, kept: bool, reach: int) -> Law:
    """Noise of three cells whose counts rise, with or without their sum."""
    every = itertools.product(range(-reach, reach + 1), repeat=3)
    good = [v for v in every if (np.diff(counts + v) >= 0).all() and (not kept or sum(v) == 0)]
    weights = [math.exp(-rate * sum(map(abs, v))) for v in good]
    return {v: w / sum(weights) for v, w in zip(good, weights)}


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("single", [False, True])
def test_the_law_under_an_order(kept: bool, single: bool) -> None:
    """Two kinds of areas, many of each, each against enumeration; a rate 5% off is rejected."""
    many = 40  # areas of a kind: what nothing ties together is drawn together
    one, other = np.array([2, 2, 3]), np.array([0, 0, 0])
    counts = np.concatenate([one, other] * many)
    keys = {"area": [f"{k}" for k in range(2 * many) for _ in WHAT], "what": [*WHAT] * 2 * many}
    plan: LatticePlan = plan_lattice(keys, ["margin:area"] if kept else [], epsilon=2, inequalities=ORDER)
    assert plan.law.odds is not None
    bits, number = seeded(1), 24_000 // many
    draws = np.stack([plan.draw(bits, counts) for _ in range(number)]) if single else plan.draws(number, bits, counts)
    rate, found = math.log(plan.law.odds), draws.reshape(-1, 2, 3)
    for place, given_counts in enumerate((one, other)):
        right, low, high = (chain_law(given_counts, rate * factor, kept, 14) for factor in (1, 0.95, 1.05))
        assert p_value(found[:, place], right) > 1e-4
        assert rejected(found[:, place], right, low) and rejected(found[:, place], right, high)


def test_a_chain_of_nine_equal_counts_is_drawn_in_good_time() -> None:
    """One draw in 362,880 is in order, where all counts are equal and the noise is wide."""
    keys = {"what": [f"v{k}" for k in range(9)]}
    order = "order:what=" + ",".join(keys["what"])
    plan = plan_lattice(keys, [], epsilon="0.1", inequalities=order)
    noise = plan.draw(seeded(1), np.full(9, 5))
    assert (np.diff(noise) >= 0).all()
