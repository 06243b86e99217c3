"""Whoever replays a table gets the same one: no step depends on the order in which a machine adds floats up."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet.levels.table as table_module
from discreet.levels.combine import combine
from discreet.levels.design import LevelDesign, Question
from discreet.levels.table import UNIT, whole_table

ROUNDED_ALIKE = {
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "absolute", "negative", "rint", "floor", "clip",
    "greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "isnan",
}  # fmt: skip
IN_ANY_ORDER = {"maximum", "minimum", "logical_or", "logical_and"}
INEXACT_NAMES = {
    "mean", "average", "std", "var", "dot", "matmul", "einsum", "tensordot", "inner", "exp", "log", "power", "sqrt",
    "linalg", "bincount", "fsum", "nansum", "trapezoid",
}  # fmt: skip
MODULES = "fixed fit rounding feedback shrink flat held told top table order margins ragged_table compiled _kernels"


class Guarded(np.ndarray[Any, Any]):
    """An array that refuses every step on floats which machines may round differently."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        floats = any(np.asarray(one).dtype.kind == "f" for one in inputs)
        if floats and method != "__call__" and ufunc.__name__ not in IN_ANY_ORDER:
            raise AssertionError(f"{ufunc.__name__}.{method} of floats")
        if floats and method == "__call__" and ufunc.__name__ not in ROUNDED_ALIKE:
            raise AssertionError(f"{ufunc.__name__} of floats")
        if options.get("out"):
            options["out"] = tuple(_plain(one) for one in options["out"])
        if "where" in options:
            options["where"] = _plain(options["where"])
        return _guarded(getattr(ufunc, method)(*map(_plain, inputs), **options))


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Guarded) else value


def _guarded(value: Any) -> Any:
    return value.view(Guarded) if isinstance(value, np.ndarray) else value


def example(shape: tuple[int, ...], measured: list[Question], rng: np.random.Generator) -> tuple[LevelDesign, Any, Any]:
    parent = np.repeat(np.arange(3), [4, 1, 6])
    design = LevelDesign((np.zeros(1, dtype=np.int64), np.zeros(3, dtype=np.int64), parent), shape)
    cells = rng.poisson(3.0, design.table_shape(design.cells))
    noisy = {q: design.answer(cells, q) + np.rint(rng.normal(0, 4, design.table_shape(q))) for q in measured}
    found = combine(design, noisy, dict.fromkeys(measured, 16.0))
    estimates = {q: np.rint(found.estimate(q) * UNIT).astype(np.int64) for q in measured}
    return design, estimates, {q: np.rint(np.sqrt(found.variance(q)) * UNIT).astype(np.int64) for q in measured}


DESIGNS = [
    ((), [Question(0), Question(1), Question(2)]),
    ((3, 2), [Question(0), Question(2), Question(1, (0, 1)), Question(2, (0, 1))]),
    ((3, 2), [*(Question(level, (a,)) for level in (1, 2) for a in (0, 1)), Question(2, (0, 1))]),
    ((3, 2, 2), [Question(2), Question(0, (0, 1)), Question(0, (1, 2)), Question(1, (2,))]),
]


@pytest.mark.parametrize(("shape", "measured"), DESIGNS)
def test_no_float_is_added_up_in_an_order_of_the_machine(shape: tuple[int, ...], measured: list[Question]) -> None:
    design, estimates, deviations = example(shape, measured, np.random.default_rng(4))
    plain = whole_table(design, estimates, deviations, {}, "5eed")
    guarded = ({q: one.view(Guarded) for q, one in some.items()} for some in (estimates, deviations))
    assert np.array_equal(whole_table(design, *guarded, {}, "5eed"), plain)


def test_the_guard_guards() -> None:
    values = np.array([1, 2]).view(Guarded)
    assert values.sum() == 3
    for wrong in (lambda: (values / 3).sum(), lambda: np.cumsum(values / 3), lambda: np.exp(values / 3)):
        with pytest.raises(AssertionError):
            wrong()


@pytest.mark.parametrize(("module", "design"), [("shrink", 1), ("flat", 3)])
def test_a_plain_sum_would_be_found(module: str, design: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"discreet.levels.{module}.folded", lambda values: values.sum(axis=0))
    with pytest.raises(AssertionError, match="of floats"):
        test_no_float_is_added_up_in_an_order_of_the_machine(*DESIGNS[design])


def test_no_inexact_function_is_named() -> None:
    folder = Path(str(table_module.__file__)).parent
    for name in MODULES.split():
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text())):
            if isinstance(node, ast.Attribute):
                assert node.attr not in INEXACT_NAMES, f"{node.attr} in {name}.py, line {node.lineno}"
            assert not (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.MatMult, ast.Pow))) or _constant(node)


def _constant(node: ast.BinOp) -> bool:
    """A power that is worked out once, exactly."""
    sides = (side.operand if isinstance(side, ast.UnaryOp) else side for side in (node.left, node.right))
    return all(isinstance(side, ast.Constant) for side in sides)
