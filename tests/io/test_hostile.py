"""Inputs at the edge: each works, or is refused in words; none hangs, and none ends in a traceback."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import discreet as dc
from discreet.certify import certify
from discreet.errors import BadInput
from discreet.evaluate.files import Journal
from discreet.io.areas import areas_of
from discreet.io.counted import _noted
from discreet.laws import Gaussian
from discreet.mechanism import Mechanism, NoiseThenMap

TABLE = dc.table(pa.table({"k": ["a", "b"], "n": [5, 0]}), "n")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epsilon": 1000, "max_count": 5}, "protects nobody"),
        ({"epsilon": 1000, "max_count": 5, "mechanism": "explicit-fair"}, "above e.340"),
        ({"epsilon": 1, "delta": "1e-400", "max_count": 5, "base": "gaussian"}, "below 1e-40 cannot be proved"),
        ({"epsilon": 1, "delta": "1e-400", "mechanism": "discrete-gaussian"}, "below 1e-40 cannot be proved"),
        ({"epsilon": 1, "delta": "1e-400", "keep": ["total"], "law": "gaussian"}, "below 1e-40 cannot be proved"),
        ({"epsilon": 1, "seed": -1}, "the seed = -1"),
        ({"epsilon": 1, "seed": "x"}, "the seed was given as 'x'"),
    ],
)
def test_extremes_are_refused_in_words(options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=f"(?i){said}"):
        dc.release(TABLE, **options)


def test_gaussian_noise_is_refuted_at_a_delta_too_small_to_prove() -> None:
    found = certify(Mechanism("noise", NoiseThenMap(Gaussian(Fraction(4)))), 1, "1e-400")
    assert not found.holds and found.smallest_epsilon is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('k,n\na,1\n"b,2\n' + "d,4\n" * 400_000, "row 3 has no end"),
        ('"k,n\n' + "a,1\n" * 400_000, "no column names"),
        ("k,n\na,1\nb\n", "row 3 has 1 cells"),
    ],
)
def test_a_stray_quotation_mark_is_an_error_that_quotes_nothing(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(text)
    with pytest.raises(BadInput, match=said) as caught:
        dc.read_table(tmp_path / "table.csv", "n")
    assert "d,4" not in str(caught.value) and "a,1" not in str(caught.value)


def test_lines_may_end_with_a_carriage_return_alone(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_bytes(b"k,n\ra,1\rb,2\r")
    assert dc.read_table(tmp_path / "table.csv", "n").counts.tolist() == [1, 2]


def test_keys_of_a_kind_that_has_no_order_are_refused() -> None:
    frame = pd.DataFrame({"k": pd.period_range("2020-01", periods=2, freq="M"), "n": [1, 2]})
    with pytest.raises(BadInput, match=r"'k' is a key column: its values are of type .*period.* Write them as text"):
        dc.table(frame, "n", "k")


TOO_MUCH = ["9" * 5000, "[" * 100_000 + "]" * 100_000]
READERS: dict[str, Callable[[Path, str], Any]] = {
    "a release file": lambda at, value: dc.read_spec(_written(at / "s.toml", f"[privacy]\nepsilon = {value}")),
    "a matrix": lambda at, value: dc.read_mechanism(_written(at / "m.json", f'{{"matrix": [[{value}]]}}')),
    "a form": lambda at, value: dc.read_mechanism(_written(at / "m.json", f'{{"form": {{"top": {value}}}}}')),
    "a universe": lambda at, value: dc.read_table(
        _written(at / "t.csv", "a,n\nb,1\n"), "n", universe=_written(at / "u.json", f'{{"a": [{value}]}}')
    ),
    "a note of counting": lambda at, value: _noted(_written(at / "n.json", value), []),
    "an evaluation": lambda at, value: Journal.open(_written(at / "e.jsonl", f"{value}\n"), "f"),
    "a map": lambda at, value: areas_of(_written(at / "g.json", value), "a", ["b"]),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("value", TOO_MUCH, ids=["long", "deep"])
def test_a_text_that_python_cannot_read_is_refused_in_our_words(name: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        READERS[name](tmp_path, value)
    assert "sys." not in str(caught.value) and "recursion" not in str(caught.value)


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path
