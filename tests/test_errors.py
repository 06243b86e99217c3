from __future__ import annotations

import ast
from pathlib import Path

import pytest

import discreet
from discreet.errors import (
    BadInput,
    DiscreetError,
    Infeasible,
    MissingExtra,
    NotProven,
    OverBudget,
    SolverFailed,
    choose,
    did_you_mean,
)

SOURCE = Path(discreet.__file__).parent


def test_a_message_says_what_was_asked_found_and_what_to_do() -> None:
    error = BadInput("the count column 'x' was asked for", "there is none", "Did you mean 'y'?", column="x")
    assert str(error) == "The count column 'x' was asked for: there is none. Did you mean 'y'?"
    assert (error.asked, error.found, error.do) == (
        "the count column 'x' was asked for", "there is none", "Did you mean 'y'?",
    )  # fmt: skip
    assert error.values == {"column": "x"}
    assert str(BadInput("a", "b.")) == "A: b."


def test_exit_statuses() -> None:
    statuses = {
        kind: kind.exit_status for kind in (BadInput, Infeasible, MissingExtra, NotProven, SolverFailed, OverBudget)
    }
    assert statuses == {BadInput: 2, Infeasible: 2, MissingExtra: 2, NotProven: 1, SolverFailed: 1, OverBudget: 1}
    assert all(issubclass(kind, DiscreetError) for kind in statuses)


def test_suggestions() -> None:
    assert did_you_mean("Murdres", ["county", "murders"]) == "Did you mean 'murders'?"
    assert did_you_mean("MURDERS", ["county", "Murders"]) == "Did you mean 'Murders'?"
    assert did_you_mean("zzz", ["county", "murders"]) == "There is: county, murders"
    assert did_you_mean("zzz", [f"column {i}" for i in range(99)]).endswith(", ...")
    assert choose("b", ["a", "b"], "letter") == "b"
    with pytest.raises(BadInput, match="letter 'bb' was asked for: there is no letter of that name"):
        choose("bb", ["a", "b"], "letter")


def test_no_error_is_left_to_python() -> None:
    """Nothing raises a bare exception, and nothing is unfinished."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                name = ast.unparse(node.exc.func)
                assert name not in {"Exception", "NotImplementedError", "RuntimeError", "SystemExit"}, (
                    path,
                    node.lineno,
                )


@pytest.mark.parametrize(
    ("asked", "said"),
    [("a table was given", "A table was given"), ("data.csv was read", "data.csv was read"), ("'x' is", "'x' is")],
)
def test_a_path_or_a_name_is_not_capitalised(asked: str, said: str) -> None:
    assert str(BadInput(asked, "no")) == f"{said}: no."
