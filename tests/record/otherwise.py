"""Every sentence in the source said otherwise, then folders verified and a ledger read: `python otherwise.py LEDGER
FOLDER...` prints how many sentences were changed, and what is wrong. For a process of its own."""

from __future__ import annotations

import ast
import re
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from typing import Any

SENTENCE = re.compile(r"[A-Za-z{'][\w ,.;:'{}!?()/%=+\-]*")
PART = re.compile(r"[A-Za-z ,.;:]+")  # of a text with values in it
FORMAT = re.compile(r"\b(SELECT|INSERT|CREATE|UPDATE|PRAGMA|WHERE|FROM|LIKE|BEGIN|default-src|append-only)\b")
WORDS = 3  # or fewer make a name, not a sentence
changed = 0


def otherwise(text: Any, shape: re.Pattern[str]) -> Any:
    global changed
    if not isinstance(text, str) or len(text.split()) < WORDS or not shape.fullmatch(text) or FORMAT.search(text):
        return text
    changed += 1
    return f"Otherwise: {text}"


class Rewording(ast.NodeTransformer):
    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        for part in node.values:
            if isinstance(part, ast.Constant):
                part.value = otherwise(part.value, PART)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.copy_location(ast.Constant(otherwise(node.value, SENTENCE)), node)


class Reworded(SourceFileLoader):
    def get_code(self, fullname: str) -> Any:
        tree = Rewording().visit(ast.parse(Path(self.path).read_text(encoding="utf-8")))
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


class Finder(PathFinder):
    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> Any:
        found = super().find_spec(fullname, path, target)
        if fullname.partition(".")[0] == "discreet" and found is not None and str(found.origin).endswith(".py"):
            found.loader = Reworded(fullname, found.origin)
        return found


if __name__ == "__main__":
    sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]
    import discreet as dc

    dc.__version__ = "99.0"  # so that pages are not compared: their words are others, though the files are the same
    for folder in sys.argv[2:]:
        print(*(f"{folder}: {problem}" for problem in dc.verify(folder, allow_seeded=True).problems), sep="\n", end="")
        dc.estimate(folder).total()
    assert len(dc.ledger(sys.argv[1]).history("d")) == 1 and "Otherwise" in str(dc.ledger(sys.argv[1]).status("d"))
    print(changed)
