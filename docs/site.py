"""`make docs`: run every snippet, draw the pictures, lay out the pages, and have Sphinx make the site of them.

The pages read well as they are, on any host of Markdown. For the site they are copied, with what their snippets said,
pictures are drawn anew beside the copies, and pages are added that are made from the source: every public name, every
command, every field of release.json. Nothing of the repository is written: `python docs/pictures.py` does that.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from contents import CONTENTS
from pictures import draw_all
from snippets import BLOCK, ROOT, pages, run_page

SITE = ROOT / "site"
DECISIONS = "docs/decisions/README.md"  # hosts of Markdown show the folder; the site has a page for it
FOLDER = ": docs/decisions\n"
LONGEST = 40  # lines of what a snippet said
TITLES = {"README": "First steps", "docs/decisions/README": "Decisions"}  # in the contents, where a page has another
STARTS = """
**New here?** [In the browser](docs/page.md) needs no code; [in a notebook](docs/notebook.md) takes six lines;
[questions](docs/faq.md) says which options for which case.

"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        lay_out(source)
        draw_all(source / "docs" / "pictures")
        with ProcessPoolExecutor() as pool:
            for page, told in zip(pages(), pool.map(told_by, pages())):
                add_output(source / page.relative_to(ROOT), told)
        render(source, SITE)
    print(f"site: {SITE / 'index.html'}")


def lay_out(source: Path) -> None:
    """The pages as they stand in the repository, so that links between them hold, with an index and the names."""
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        target = source / page.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, target)
    for page in source.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("docs/decisions)", DECISIONS + ")").replace(FOLDER, f": {DECISIONS}\n"))
    decided = "\n".join(path.stem for path in sorted((ROOT / "docs" / "decisions").glob("*.md")))
    (source / DECISIONS).write_text(
        f"# Decisions\n\n```{{toctree}}\n:maxdepth: 1\n\n{decided}\n```\n", encoding="utf-8"
    )
    shutil.copytree(ROOT / "docs" / "pictures", source / "docs" / "pictures")
    for name in ("conf.py", "scorer.js"):
        shutil.copy(ROOT / "docs" / name, source / name)
    (source / "docs" / "api.md").write_text(api(), encoding="utf-8")
    head = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    (source / "index.md").write_text(head + STARTS + "\n".join(trees()), encoding="utf-8")


def trees() -> Iterator[str]:
    """The contents, a tree for every part; the proofs and decisions under those they belong to."""
    for title, names in CONTENTS.items():
        listed = [name for pattern in names for name in _listed(pattern)]
        named = [f"{TITLES[name]} <{name}>" if name in TITLES else name for name in listed]
        yield f"```{{toctree}}\n:caption: {title}\n:maxdepth: 1\n\n" + "\n".join(named) + "\n```\n"


def _listed(pattern: str) -> list[str]:
    if "*" not in pattern:
        return [pattern]
    return sorted(path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.glob(f"{pattern}.md"))


def api() -> str:
    """Every public name, with its signature and what its docstring says."""
    import inspect

    import discreet as dc

    parts = ["# Every public name\n\nAll that `import discreet as dc` offers, from `dir(dc)`.\n"]
    groups: dict[str, list[str]] = {"Functions": [], "Values": [], "Errors": []}
    for name in dir(dc):
        found = getattr(dc, name)
        if inspect.ismodule(found):
            groups["Functions"].append(_called(name, found))
        elif not inspect.isclass(found):
            groups["Functions"].append(f".. autofunction:: discreet.{name}\n")
        elif issubclass(found, Exception):
            groups["Errors"].append(f".. autoexception:: discreet.{name}\n   :no-members:\n")
        else:
            groups["Values"].append(f".. autoclass:: discreet.{name}\n   :members:\n")
    for title, entries in groups.items():
        parts.append(f"## {title}\n\n```{{eval-rst}}\n" + "\n".join(entries) + "```\n")
    return "\n".join(parts)


def _called(name: str, module: Any) -> str:
    """A module that is called as a function; what else is in it is no public name."""
    import inspect

    said = "\n".join(f"   {line}".rstrip() for line in (inspect.getdoc(module.__call__) or "").splitlines())
    return f".. py:function:: discreet.{name}{inspect.signature(module)}\n\n{said}\n"


def told_by(page: Path) -> list[str]:
    """What the snippets of a page said, each page in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path.cwd()
        os.chdir(folder)
        try:
            return run_page(page)
        finally:
            os.chdir(here)


def add_output(laid: Path, told: list[str]) -> None:
    """To a page as it is laid out, its links mended."""
    laid.write_text(with_output(laid.read_text(encoding="utf-8"), told), encoding="utf-8")


def with_output(text: str, told: list[str]) -> str:
    """The page, with what every snippet said under it."""
    said = iter(told)

    def both(match: object) -> str:
        block = match[0]  # type: ignore[index]
        lines = next(said).rstrip().splitlines()
        if not lines:
            return str(block)
        more = [] if len(lines) <= LONGEST else [f"... and {len(lines) - LONGEST} more lines"]
        return f"{block}\n\n```text\n" + "\n".join([*lines[:LONGEST], *more]) + "\n```"

    return BLOCK.sub(both, text)


def render(source: Path, site: Path) -> None:
    """Sphinx, with a warning (a link that leads nowhere, a page that nothing lists) as an error."""
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", str(source / ".trees")]
    subprocess.run([*command, str(source), str(site)], check=True)
    foreign = foreign_assets(site)
    if foreign:
        raise SystemExit("loaded from elsewhere: " + ", ".join(foreign))


def foreign_assets(site: Path) -> list[str]:
    """What the pages would load from other hosts: scripts, styles, pictures, frames."""
    loads = re.compile(r'<(?:script|img|iframe|source)[^>]*src="(https?:)?//[^"]*"|<link[^>]*href="(https?:)?//[^"]*"')
    return [f"{page.name}: {one[0][:90]}" for page in site.rglob("*.html") for one in loads.finditer(page.read_text())]


if __name__ == "__main__":
    main()
