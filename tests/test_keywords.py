"""A misspelt keyword is answered by every public name as any other bad input is."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.mechanism import of_weights
from discreet.options import spelt, spelt_fields

ANY = ("sum_where",)  # whose keywords are the columns of a table
MADE = ("About", "Approximate", "BySize", "Concentrated", "KeepDistribution", "KeepSums", "LedgerSpec", "Measure",
        "Output", "Pure", "ReleaseSpec", "RowByRow", "TableSpec")  # fmt: skip
NAMELESS = ("cells", "example", "margin", "total")  # they take nothing by name


def keywords(thing: Any) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [name for name, one in inspect.signature(thing).parameters.items() if one.kind in kinds]


TAKING = sorted(
    name
    for name in dir(dc)
    if inspect.isfunction(getattr(dc, name)) and keywords(getattr(dc, name)) and name not in ANY
)
POSITIONAL = {
    "release": [dc.example()],
    "release_many": [[dc.example()]],
    "plan": [dc.example()],
    "release_parts": ["in"],
}


def test_there_are_functions_to_ask() -> None:
    assert {"explicit", "construct", "design", "certify", "compare", "private_distribution"} <= set(TAKING)
    assert {"bounded_noise", "choose", "evaluate", "release_many", "release", "verify", "table"} <= set(TAKING)


@pytest.mark.parametrize("name", [*TAKING, *MADE])
def test_a_misspelt_keyword_is_refused_with_what_was_probably_meant(name: str) -> None:
    thing = getattr(dc, name)
    for known in keywords(thing):
        if (name, known) != ("release_many", "tables"):  # passed on to `release`, which has none like it
            with pytest.raises(
                dc.BadInput, match=f"'{known}z' was asked for: there is none of that name. Did you mean"
            ):
                thing(*POSITIONAL.get(name, ()), **{f"{known}z": 1})


@pytest.mark.parametrize("name", [*TAKING, *MADE, *NAMELESS])
def test_a_keyword_like_no_other_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(dc.BadInput, match="'qqqq' was asked for"):
        getattr(dc, name)(*POSITIONAL.get(name, ()), qqqq=1)


def test_so_is_a_privacy_parameter_that_a_method_is_given(tmp_path: Path) -> None:
    flat = of_weights("flat", [[1, 1], [1, 1]])
    for method in (dc.ledger(tmp_path / "l.db").create, flat.delta, flat.derivable_from_geometric):
        with pytest.raises(dc.BadInput, match=r"'epsilom' was asked for: there is none of that name\. Did"):
            method(epsilom=1)


def test_what_is_checked_looks_as_it_did() -> None:
    def one(first: int, *, second: str = "b") -> str:
        """What it does."""
        return f"{first}{second}"

    checked = spelt(one)
    assert inspect.signature(checked) == inspect.signature(one)
    assert (checked.__doc__, checked.__name__, checked(1), checked(first=2, second="c")) == (
        one.__doc__, one.__name__, "1b", "2c",
    )  # fmt: skip
    with pytest.raises(TypeError, match="missing"):
        checked()  # type: ignore[call-arg]


def test_a_value_that_is_checked_is_copied_and_pickled() -> None:
    spec = dc.KeepSums(keep=(dc.total(),))
    assert replace(spec, nonnegative=True).nonnegative
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_a_checked_value_may_be_inherited_from() -> None:
    from dataclasses import dataclass

    @spelt_fields
    @dataclass(frozen=True)
    class One:
        first: int = 1

    @spelt_fields
    @dataclass(frozen=True)
    class Two(One):
        second: int = 2

    assert Two(first=3, second=4) == Two(3, 4)
    with pytest.raises(dc.BadInput, match="Did you mean 'second'"):
        Two(secnd=4)  # type: ignore[call-arg]


WRONG = [None, 3, 3.5, b"x", object(), [], {}, np.eye(2), float("nan"), [None], pa.table({"n": [77_777]})]
SMALL = dc.table(pa.table({"a": ["x", "y"], "n": [1, 2]}), count="n", keys=["a"])
USED = {
    "table": {"frame": pa.table({"a": ["x", "y"], "n": [1, 2]}), "count": "n", "keys": ["a"]},
    "count": {"data": pa.table({"a": ["x"]}), "by": ["a"], "universe": {"a": ["x", "y"]}},
    "certify": {"mechanism": dc.explicit("geometric", 3, epsilon=1), "epsilon": 1},
    "choose": {"schema": 5}, "plan": {"schema_or_rows": 5, "epsilon": 1, "max_count": 3}, "explicit": {"epsilon": 1},
    "release": {"table": SMALL, "epsilon": 1, "mechanism": "geometric", "max_count": 3},
    "release_many": {"tables": [SMALL], "epsilon": 1},
    "evaluate": {"table": SMALL, "repeats": 2, "workers": 1, "methods": [], "epsilons": [1]},
    "compare": {"max_count": 3, "epsilon": 1}, "design": {"max_count": 3, "epsilon": 1},
    "construct": {"z": [0.5, 0.5], "epsilon": 1}, "fixed_point": {"distribution": [0.5, 0.5]},
    "private_distribution": {"table_or_histogram": [1, 2], "epsilon": 1, "max_count": 1},
}  # fmt: skip
NAMES = ("by", "count", "keys", "matrix", "require")  # whose entries are shown, whatever they are
COSTLY = {"choose": ("schema", "prior", "max_count", "epsilons"), "plan": ("epsilon", "schema_or_rows")}


@pytest.mark.parametrize("name", TAKING)
def test_what_is_of_a_wrong_kind_is_refused_in_words_and_shows_no_table(name: str, tmp_path: Path) -> None:
    """Whatever is given: it does, or it is bad input; Python's own errors say nothing to a person."""
    given = {**dict.fromkeys(_needed(getattr(dc, name)), str(tmp_path / "nowhere")), **USED.get(name, {})}
    for keyword in keywords(inspect.unwrap(getattr(dc, name))):
        if keyword == "bits":  # for tests: a source of randomness
            continue
        for value in [*WRONG, tmp_path] if keyword not in COSTLY.get(name, ()) else [{}, object()]:
            try:
                getattr(dc, name)(**{**given, keyword: value})
            except dc.DiscreetError as error:
                assert "77777" not in str(error) or keyword in NAMES, (keyword, value)
            assert not [*tmp_path.iterdir()], (keyword, value)


def _needed(thing: Any) -> list[str]:
    parameters = inspect.signature(thing).parameters
    return [name for name in keywords(thing) if parameters[name].default is inspect.Parameter.empty]


def test_kinds_are_those_that_a_function_says_it_takes() -> None:
    @spelt
    def asked(path: str | Path, flag: bool = True, said: str | None = None, told: Callable[[str], None] | None = None):  # type: ignore[no-untyped-def]
        return path, flag, said, told

    assert asked("a", False, "b", print) == ("a", False, "b", print) and asked(Path("a"))[2:] == (None, None)
    for wrong, words in [
        ({"path": None}, "path was given as None: it is neither text nor a path"),
        ({"path": "a", "flag": 1}, "flag was given as 1: it is neither true nor false"),
        ({"path": "a", "said": ["b"]}, "said was given as a list: it is not text"),
        ({"path": "a", "told": "b"}, "told was given as 'b': it cannot be called"),
    ]:
        with pytest.raises(dc.BadInput, match=words):
            asked(**wrong)
    with pytest.raises(dc.BadInput, match="flag was given as None"):
        asked("a", None)


ASKED = sorted(
    name
    for name, one in inspect.getmembers(dc.Estimate, inspect.isfunction)
    if not name.startswith("_") and name not in ("where", "with_rows", "read_rows", "sums", "possible")
)  # `where` takes columns by name; the others are for the house


@pytest.mark.parametrize("name", ASKED)
def test_a_misspelt_keyword_of_a_question_is_refused(name: str) -> None:
    ask = getattr(dc.estimate(dc.release(dc.example(), epsilon=1, seed=1)), name)
    with pytest.raises(dc.BadInput, match="The option 'misspelt' was asked for"):
        ask(misspelt=1)


def test_a_misspelt_keyword_of_save_is_refused(tmp_path: Path) -> None:
    with pytest.raises(dc.BadInput, match="Did you mean 'format'"):
        dc.release(dc.example(), epsilon=1, seed=1).save(tmp_path / "out", fromat="csv")  # type: ignore[call-arg]
    assert not (tmp_path / "out").exists()
