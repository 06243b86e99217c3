"""The code in the documentation, found and run. The tests and `make docs` use it."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """README and every page of docs."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> list[tuple[str, str]]:
    """(language, code) in the order of the page."""
    return [(match[1], match[2]) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def run_page(page: Path) -> list[str]:
    """Every Python block in one namespace, every `discreet` line of a shell block, in the current folder; what each
    block printed, with the value of its last line, as a notebook would show it."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    return [
        run_python(code, str(page), namespace) if language == "python" else run_shell(code)
        for language, code in blocks(page)
    ]


def run_python(code: str, name: str, namespace: dict[str, object]) -> str:
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(compile(tree, name, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
            if value is not None:
                print(value)
    return told.getvalue()


def run_shell(code: str) -> str:
    """Lines that start with `discreet`; a line ending in a backslash goes on, `# exit N` states the expected status."""
    told = []
    for line in code.replace("\\\n", " ").splitlines():
        if line.startswith("discreet "):
            expected = int(found[1]) if (found := re.search(r"# exit (\d)", line)) else 0
            status, out, said = run_command(shlex.split(line, comments=True))
            assert status == expected, f"{line}\n{out}{said}"
            told.append(out or said)
    return "".join(told)


def run_command(words: list[str]) -> tuple[int, str, str]:
    """The command as its entry point runs it, in this process: most of the time of a new one would go into imports.
    Its status, and what it wrote on both streams."""
    from discreet.cli import main

    out, said, before, status = io.StringIO(), io.StringIO(), sys.argv, 0
    sys.argv = words
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = before
    return status, out.getvalue(), said.getvalue()
