"""No two public classes share a name, here or between the library and the lab."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"


def classes(text: str) -> list[str]:
    """Public classes of a module."""
    return [
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def duplicates(modules: dict[str, str]) -> dict[str, list[str]]:
    """Class names that stand more than once, and where."""
    places: dict[str, list[str]] = {}
    for name, text in modules.items():
        for found in classes(text):
            places.setdefault(found, []).append(name)
    return {name: where for name, where in places.items() if len(where) > 1}


def test_public_classes_have_names_of_their_own():
    modules = {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    assert len(modules) > 100
    assert duplicates(modules) == {}


def test_a_second_class_of_the_same_name_is_found():
    one, other = "class Plan: ...\nclass _Own: ...", "class _Own: ...\nclass Plan:\n    class Inner: ..."
    assert duplicates({"a.py": one, "b.py": other}) == {"Plan": ["a.py", "b.py"]}
    assert duplicates({"a.py": one}) == {}


def test_what_passes_between_rooms_has_a_type() -> None:
    """Dictionaries of anything are for what comes from outside: JSON, keywords, frames."""
    files = (SOURCE / "discreet").rglob("*.py")
    assert sum(path.read_text().count("dict[str, Any]") for path in files) <= 15
