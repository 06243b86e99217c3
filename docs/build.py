"""`make docs`: run every snippet, draw the pictures, and render the pages to `site/`."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from markdown_it import MarkdownIt
from pictures import draw_all
from snippets import ROOT, pages, run_page

SITE = ROOT / "site"
STYLE = """
body{font:17px/1.6 Georgia,serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1c2326}
pre{background:#eef4f5;padding:.8rem;overflow:auto;font-size:.85em}code{font-size:.92em}h1,h2,h3{color:#1b3a4b}
table{border-collapse:collapse;display:block;overflow:auto}td,th{border:1px solid #c9d8dc;padding:.3rem .6rem}
img{max-width:100%}
"""


def render(page: Path) -> None:
    """One page; links to other pages become links to their HTML."""
    html = MarkdownIt("commonmark").enable("table").render(page.read_text(encoding="utf-8"))
    html = re.sub(r'href="(?!https?:)([^"#]*)\.md', r'href="\1.html', html)
    target = SITE / page.relative_to(ROOT).with_suffix(".html")
    target.parent.mkdir(parents=True, exist_ok=True)
    head = f"<!doctype html><meta charset=utf-8><title>{page.stem}</title><style>{STYLE}</style>"
    target.write_text(head + html, encoding="utf-8")


def main() -> None:
    draw_all()
    for page in pages():
        with tempfile.TemporaryDirectory() as folder:
            here = Path.cwd()
            os.chdir(folder)
            try:
                run_page(page)
            finally:
                os.chdir(here)
        print(f"ran {page.relative_to(ROOT)}")
    shutil.rmtree(SITE, ignore_errors=True)
    everything = [*pages(), *(ROOT / "docs").glob("*/*.md"), *ROOT.glob("*.md")]
    for page in dict.fromkeys(everything):
        render(page)
    shutil.copytree(ROOT / "docs" / "pictures", SITE / "docs" / "pictures")
    print(f"site: {SITE / 'README.html'}")


if __name__ == "__main__":
    main()
