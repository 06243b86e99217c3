"""Six lines of a real notebook, from an Excel file to a verified folder; its picture is in the docs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

import discreet as dc
from tests.web.conftest import PICTURES, workbook

DOCS = Path(__file__).resolve().parents[2] / "docs"
LINES = re.search(r"```text\n(import discreet.*?)```", (DOCS / "notebook.md").read_text(encoding="utf-8"), re.DOTALL)
HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>notebook</title><style>
body{font:15px/1.5 "DejaVu Sans",sans-serif;margin:1.2rem;max-width:60rem;color:#111;background:#fff}
pre{font:13px/1.5 "DejaVu Sans Mono",monospace;margin:.3rem 0}.in{background:#eef2f4;border-left:3px solid #1b5166;
padding:.4rem .8rem}table{font-size:.92em}.out{margin:.2rem 0 1rem 1rem}</style><main>"""


def test_six_lines_from_a_spreadsheet_to_a_verified_folder(tmp_path: Path, browser: Any) -> None:
    assert LINES is not None
    lines = LINES[1].strip().splitlines()
    assert len(lines) == 6
    rows = [[f"{name}", sex, 3 * place] for place, name in enumerate(("Ash", "Birch", "Cedar")) for sex in ("f", "m")]
    workbook(tmp_path / "cases.xlsx", ["county", "sex", "cases"], *rows)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(line) for line in lines])
    NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert dc.verify(tmp_path / "cases-release").valid
    shown = [pages_of(cell) for cell in book.cells]
    assert "Choices of epsilon" in shown[2] and "Verification: valid" in shown[5]
    picture(
        browser,
        "".join(f'<pre class="in">{line}</pre><div class="out">{page}</div>' for line, page in zip(lines, shown)),
    )


def pages_of(cell: Any) -> str:
    """What a notebook shows under a cell: HTML where there is some, otherwise text."""
    found = [output["data"] for output in cell.outputs if "data" in output]
    return "".join(data.get("text/html") or f"<pre>{data['text/plain']}</pre>" for data in found)


def picture(browser: Any, content: str) -> None:
    page = browser.new_context(viewport={"width": 980, "height": 800}).new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_content(f"{HEAD}{content}</main></html>")
    PICTURES.mkdir(exist_ok=True, parents=True)
    page.screenshot(path=PICTURES / "notebook.png", full_page=True)
    assert asked == [], "nothing is loaded from elsewhere"
