"""A number that somebody chose has its reason beside it."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "discreet"
INSTRUCTIONS = ("# type:", "# noqa", "# fmt:", "# pragma")  # for tools, not for people


def reasons(text: str) -> dict[int, bool]:
    """Lines with a comment for people, and whether they hold nothing else."""
    found = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith(INSTRUCTIONS):
            found[token.start[0]] = not token.line[: token.start[1]].strip()
    return found


def numeric(node: ast.expr) -> bool:
    """A number, an expression of numbers, a Fraction or another call on numbers, or a tuple that holds one."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return numeric(node.operand)
    if isinstance(node, ast.BinOp):
        return numeric(node.left) or numeric(node.right)
    if isinstance(node, ast.Call):
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        return called == "Fraction" or any(map(numeric, node.args))
    return isinstance(node, (ast.Tuple, ast.List)) and any(map(numeric, node.elts))


def named(statement: ast.stmt) -> list[str]:
    """The constants that a statement makes."""
    if isinstance(statement, ast.AnnAssign):
        targets: list[ast.expr] = [statement.target]
    else:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
    single = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [one.id for one in single if isinstance(one, ast.Name) and one.id.isupper()]


def unexplained(text: str) -> list[str]:
    """Numeric constants of a module with no comment on their lines or on the line above."""
    comments, found = reasons(text), []
    for statement in ast.parse(text).body:
        names, value = named(statement), getattr(statement, "value", None)
        if not names or value is None or not numeric(value):
            continue
        beside = any(line in comments for line in range(statement.lineno, (statement.end_lineno or 0) + 1))
        if not beside and not comments.get(statement.lineno - 1, False):
            found += names
    return found


def test_every_number_has_its_reason():
    modules = sorted(SOURCE.rglob("*.py"))
    assert len(modules) > 100
    missing = {str(path.relative_to(SOURCE)): unexplained(path.read_text(encoding="utf-8")) for path in modules}
    assert {name: names for name, names in missing.items() if names} == {}


@pytest.mark.parametrize(
    "text",
    [
        "MOST = 3",
        "MOST: int = -3",
        "MOST = 1 << 20  # type: ignore",
        "LOW, HIGH = 1, 2",
        "SHARE = Fraction(1, 20)",
        "SHARE = np.uint64(7)",
        "REACH = BITS * 2",
        "STEPS = (\n    1,\n    2,\n)",
        "INK = '#123456'\nMOST = 3",
        "LEAST = 1  # a reason\nMOST = 3",
    ],
)
def test_a_number_without_a_reason_is_found(text):
    assert unexplained(text)


@pytest.mark.parametrize(
    "text",
    [
        "MOST = 3  # a reason",
        "# a reason\nMOST = 3",
        "STEPS = (\n    1,  # a reason\n    2,\n)",
        "INK = '#123456'",
        "NAMES = ('a', 'b')",
        "ON = True",
        "most = 3",
        "def f():\n    MOST = 3",
    ],
)
def test_what_needs_no_reason_is_left_alone(text):
    assert unexplained(text) == []
