"""From keywords to one value: nothing is split into letters, overruled or ignored."""

from __future__ import annotations

import inspect
import runpy
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import discreet as dc
from discreet.cli import main
from discreet.options import options_of
from discreet.ways import keywords, spec_of, ways_by_keyword
from tests.releases import example

MATRIX = [[0.5, 0.3, 0.2], [0.25, 0.5, 0.25], [0.2, 0.3, 0.5]]


def table() -> dc.Table:
    frame = pa.table({"county": list("aabbcc"), "sex": list("fmfmfm"), "n": [3, 0, 12, 1, 7, 7]})
    return dc.table(frame, "n", keys=["county", "sex"])


@pytest.mark.parametrize(
    ("options", "spec"),
    [
        ({}, dc.KeepDistribution()),
        ({"max_count": 5, "split": "1/4"}, dc.KeepDistribution(max_count=5, split=Fraction(1, 4))),
        ({"mechanism": "rank"}, dc.KeepDistribution(consistent=True)),
        ({"mechanism": "geometric", "max_count": 5}, dc.RowByRow(mechanism="geometric", max_count=5)),
        ({"mechanism": "matrix.csv"}, dc.RowByRow(mechanism="matrix.csv")),
        ({"keep": "total"}, dc.KeepSums(keep=(dc.total(),))),
        ({"keep": dc.margin("county")}, dc.KeepSums(keep=[dc.margin("county")])),
        ({"keep": ["total", dc.margin("county")]}, dc.KeepSums(keep=(dc.total(), dc.margin("county")))),
        ({"keep": [], "law": "l1", "nonnegative": False}, dc.KeepDistribution()),
    ],
)
def test_keywords_are_short_for_a_value(options: dict[str, Any], spec: Any) -> None:
    assert spec_of(options) == spec


def test_the_short_and_the_long_way_are_the_same_release() -> None:
    short = dc.release(table(), epsilon=1, keep=["total"], seed=1)
    long = dc.release(table(), dc.Pure(1), dc.KeepSums(keep="total"), seed=1)
    assert np.array_equal(short.counts, long.counts) and short.guarantee == long.guarantee
    assert dc.plan(table(), 1, keep="total").promise == dc.plan(table(), dc.Pure(1), dc.KeepSums(keep="total")).promise


class FrameOfPandas2(pd.DataFrame):
    """Which has a method of that name; later ones do not."""

    def first(self, offset: Any) -> Any:
        raise NotImplementedError


KINDS = {"array": np.array, "frame": pd.DataFrame, "older frame": FrameOfPandas2, "list": list}


@pytest.mark.parametrize("given", [kind(MATRIX) for kind in KINDS.values()], ids=KINDS)
def test_a_matrix_of_any_kind_is_a_mechanism(given: Any, tmp_path: Path) -> None:
    out = dc.release(table(), 1, mechanism=given)
    assert out.mechanism.name == "own" and out.max_count == 2
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mechanism": "rank", "consistent": False}, "rank is another word for consistent"),
        ({"own": MATRIX}, "there is none of that name"),
        ({"max_cuont": 5}, "Did you mean 'max_count'"),
        ({"keep": 7}, "a int was to be kept|A int was to be kept"),
        ({"keep": "totl"}, "Did you mean 'total'"),
        ({"mechanism": "geometrc", "max_count": 5}, "Did you mean 'geometric'"),
        ({"mechanism": "transprt"}, "Did you mean 'transport'"),
        ({"base": "gausian"}, "Did you mean 'gaussian'"),
        ({"privatizer": "cumulativ"}, "Did you mean 'cumulative'"),
        ({"privatizer": "laplace", "refine": True, "max_count": 5}, "refinement takes the measurements"),
        ({"base": "geometric", "rho": 1, "epsilon": None}, "only Gaussian noise is calibrated by rho"),
        ({"base": "gaussian"}, "Gaussian noise needs a delta above 0, or rho"),
        ({"mechanism": "geometric", "max_count": 5, "delta": "0.1"}, "a delta would be spent for nothing"),
        ({"keep": "total", "delta": "0.1"}, "a delta would be spent for nothing"),
        ({"max_count": 5, "delta": "0.1"}, "a delta would be spent for nothing"),
        ({"rho": 1}, "epsilon and rho were given together"),
        ({"alpha": "1/2"}, "epsilon and alpha were given together"),
    ],
)
@pytest.mark.parametrize("what", ["release", "plan"])
def test_wrong_options_are_told(options: dict[str, Any], said: str, what: str) -> None:
    with pytest.raises(dc.BadInput, match=said):
        getattr(dc, what)(table(), **{"epsilon": 1, **options})


def test_a_way_that_is_none_and_options_beside_one() -> None:
    with pytest.raises(dc.BadInput, match="a str is not a way"):
        dc.release(table(), 1, "keep-sums")  # type: ignore[arg-type]
    with pytest.raises(dc.BadInput, match="Put it into that value"):
        dc.release(table(), 1, dc.KeepDistribution(), max_count=5)
    with pytest.raises(dc.BadInput, match="says already all there is to say"):
        dc.release(table(), dc.Pure(1), delta="0.1")


def test_help_names_every_option_and_its_values() -> None:
    text = inspect.getdoc(dc.release) or ""
    assert set(keywords()) <= set(inspect.signature(dc.release).parameters)
    for kind in ways_by_keyword():
        assert kind.__name__ in text
        for name, (option, _) in options_of(kind).items():
            assert name in text and option.help in text
            for value in option.values() if option.values is not None else ():
                assert value in text, value
    for name in ("epsilon", "alpha", "rho", "delta", "measurements", "about", "ledger", "dataset", "seed"):
        assert name in text


def test_every_option_is_in_the_reference() -> None:
    docs = Path(__file__).parents[2] / "docs"
    page = (docs / "options.md").read_text(encoding="utf-8")
    assert page == runpy.run_path(str(docs / "reference.py"))["page"](), "run: python docs/reference.py"
    for kind in ways_by_keyword():
        for name, (option, _) in options_of(kind).items():
            assert f"`{name}`" in page and option.help in page, (kind, name)


def test_a_release_holds_nothing_of_the_order_that_came_in(tmp_path: Path) -> None:
    """A table stored sorted by count must not give its ranking away, not even to whoever unpickles the release."""
    import pickle

    counts = np.arange(40)
    names = [f"r{(i * 17) % 40:02d}" for i in range(40)]
    source = dc.table(pa.table({"name": names, "n": counts}), "n")
    assert source.given_rows is not None
    out = dc.release(source, 1, max_count=50)
    order = np.argsort(names)
    content = pickle.dumps(out)
    assert order.astype(np.int64).tobytes() not in content and source.counts.tobytes() not in content
    assert not hasattr(out.schema, "given_rows")
    again = pickle.loads(content)
    assert np.array_equal(again.counts, out.counts) and again.guarantee == out.guarantee


def test_sums_of_a_matrix_are_about_the_rows_as_given(tmp_path: Path) -> None:
    source = dc.table(pa.table({"name": ["b", "a", "c"], "n": [5, 6, 7]}), "n")
    out = dc.release(source, 1, keep=dc.sums([[1, 0, 1]]))
    assert out.record.facts.invariants.sums.tolist() == [12]


@pytest.mark.parametrize(
    "words", [["--consistent", "--independent"], ["--refine", "--no-refine"], ["--measurements", "--no-measurements"]]
)
def test_both_of_a_pair_of_flags_are_refused(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("k,n\na,1\nb,2\n")
    arguments = ["release", "t.csv", "--count", "n", "--epsilon", "1", "--max-count", "5", "--out", "out", *words]
    monkeypatch.setattr(sys, "argv", ["discreet", *arguments])
    with pytest.raises(SystemExit) as leave:
        main()
    assert leave.value.code == 2 and "contradict each other" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_misspelt_privacy_parameter_is_named() -> None:
    with pytest.raises(dc.BadInput, match=r"'epsilom' was asked for: .* Did you mean 'epsilon'"):
        dc.release(example(), epsilom=1)


def test_what_chooses_a_way_has_no_default_in_the_help() -> None:
    parameters = inspect.signature(dc.release).parameters
    assert parameters["measure"].default is None and parameters["mechanism"].default == "transport"


def test_nothing_is_said_of_noise_where_margins_are_measured() -> None:
    with pytest.raises(dc.BadInput, match=r"(?i)law was asked for together with measure"):
        dc.release(example(), epsilon=1, delta="1/100", measure="cells", law="l1")


def test_ways_with_matrices_of_ones_own_are_values_too(tmp_path: Path) -> None:
    one, other = dc.RowByRow(mechanism=np.eye(2)), dc.RowByRow(mechanism=np.eye(2))
    assert one == other and hash(one) == hash(other)
    assert one != dc.RowByRow(mechanism=np.ones((2, 2)) / 2) and one != dc.RowByRow() and one != dc.KeepDistribution()
    assert dc.RowByRow(mechanism=tmp_path / "own.csv") == dc.RowByRow(mechanism=str(tmp_path / "own.csv"))
