"""From names to chains, and the command that diagnoses them."""

from __future__ import annotations

import json
import math
from functools import partial

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.lattice.kept_chain import kept_chain, keys_of_shape
from tests.shell import shell


@pytest.fixture
def discreet(tmp_path):
    """Run a command in an empty folder: its exit status, stdout and stderr."""
    return partial(shell, cwd=tmp_path)


def test_shape_names_its_cells():
    keys = keys_of_shape((2, 3))
    assert keys == {"row": list("111222"), "column": list("123123")}
    with pytest.raises(BadInput, match="1 to 3"):
        keys_of_shape((2, 2, 2, 2))


def test_epsilon_is_for_the_smallest_change_or_for_a_unit():
    keys = keys_of_shape((4, 4))
    both = ["margin:row", "margin:column"]
    assert kept_chain(keys, both, 1).rate == pytest.approx(1 / 4)
    assert kept_chain(keys, both, "1/4", per_unit=True).rate == pytest.approx(1 / 4)
    assert kept_chain(keys, ["total"], 1).rate == pytest.approx(1 / 2)
    assert kept_chain(keys, ["total"], 1, nonnegative=True).rate == pytest.approx(math.log((1 + math.e) / 2) / 2)
    assert kept_chain(keys, both, rho="1/2", law="gaussian").rate == pytest.approx(1 / 8)
    assert kept_chain(keys, both, 1, law="l2").rate == pytest.approx(1 / 2)
    assert kept_chain(keys, ["total"], 1, contributions=3).rate == pytest.approx(1 / 6)


def test_diagnose_command(discreet, tmp_path):
    status, out, err = discreet(
        "diagnose", "--shape", "4,4", "--keep", "margin:row", "--keep", "margin:column", "--epsilon", "1",
        "--runs", "300", "--lag", "100", "--seed", "1", "--plot", "curve.svg", "--json",
    )  # fmt: skip
    assert status == 0, err
    found = json.loads(out)
    assert found["runs"] == 300
    bounds = [point["bound"] for point in found["curve"]]
    assert bounds[0] > 0.5 and bounds[-1] == 0 and bounds == sorted(bounds, reverse=True)
    assert next(point["iteration"] for point in found["curve"] if point["bound"] <= 0.01) <= 70
    assert found["grade"] == "diagnosed" and found["private_side"] is False
    assert "<svg" in (tmp_path / "curve.svg").read_text()


def test_diagnose_a_table_says_that_it_is_secret(discreet, tmp_path):
    rows = ["county,sex,n"] + [
        f"{c},{s},{n}" for (c, s), n in zip([(c, s) for c in "abc" for s in "fm"], (4, 0, 2, 1, 0, 3))
    ]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    status, out, err = discreet(
        "diagnose", "t.csv", "--count", "n", "--keys", "all", "--keep", "margin:county", "--keep", "margin:sex",
        "--epsilon", "1", "--nonnegative", "--runs", "50",
    )  # fmt: skip
    assert status == 0, err
    assert "private side" in err
    assert "Diagnosed, not proved" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--epsilon", "1"], "exactly one of TABLE and --shape"),
        (["--shape", "4,x", "--keep", "total", "--epsilon", "1"], "whole numbers"),
        (["--shape", "4,4", "--keep", "margin:rows", "--epsilon", "1"], "Did you mean 'row'"),
        (["--shape", "4,4", "--epsilon", "1"], "none is named"),
        (["--shape", "4,4", "--keep", "total", "--epsilon", "1", "--plot", "curve.txt"], "must end in"),
        (["--shape", "2,2", "--keep", "total", "--epsilon", "1", "--nonnegative"], "no table came"),
    ],
)
def test_diagnose_explains_bad_input_and_leaves_nothing(arguments, says, discreet, tmp_path):
    status, out, err = discreet("diagnose", *arguments)
    assert status == 2
    assert says in err and not out
    assert not list(tmp_path.iterdir())


def test_rates_are_read_exactly():
    assert kept_chain(keys_of_shape((2, 2)), ["total"], alpha="1/4").rate == pytest.approx(math.log(4) / 2)
    assert np.isfinite(kept_chain(keys_of_shape((5,)), ["total"], "1/3").rate)
