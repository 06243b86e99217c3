"""How Sphinx makes the site. `make docs` runs it through site.py, which lays the pages out first."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any

from docutils import nodes

import discreet

project = "discreet"
author = "The discreet maintainers"
release = version = discreet.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
root_doc = "index"
html_theme = "furo"
html_title = f"discreet {version}"
html_static_path: list[str] = []
html_show_sourcelink = False
html_show_copyright = False
html_copy_source = False
html_search_scorer = str(Path(__file__).parent / "scorer.js")  # Sphinx looks where it was started
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1b5166", "color-brand-content": "#1b5166"},
    "dark_css_variables": {"color-brand-primary": "#9bd0d7", "color-brand-content": "#9bd0d7"},
}
default_role = "code"  # docstrings are plain text with `names` in them
myst_heading_anchors = 4
myst_enable_extensions = ["deflist", "smartquotes"]
smartquotes = False
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "undoc-members": False}
add_module_names = False
python_maximum_signature_line_length = 90
nitpicky = False
suppress_warnings = ["docutils", "misc.highlighting_failure"]  # docstrings are no reStructuredText, shells are no code


def meaning(owner: Any, name: str) -> str:
    """Of a field of a value: what its option says, or the comment beside it in the source."""
    fields = {one.name: one for one in dataclasses.fields(owner)} if dataclasses.is_dataclass(owner) else {}
    if name in fields and "option" in fields[name].metadata:
        return str(fields[name].metadata["option"].help)
    if name == "as_json":
        return "What --json prints, as a value"
    for kind in inspect.getmro(owner) if inspect.isclass(owner) else ():
        if kind.__module__.startswith("discreet"):
            found = re.search(rf"(?m)^    {name}: [^#\n]*  # (.+?)(?:  \(fmt.*)?$", inspect.getsource(kind))
            if found and not found[1].startswith(("fmt:", "type:", "noqa")):
                return found[1]
    return ""


def described(app: Any, domain: str, kind: str, content: Any) -> None:
    """Fields that have no docstring have a meaning all the same."""
    owner, _, name = content.parent[0].get("fullname", "").rpartition(".")
    said = "" if content.children or not owner else meaning(getattr(discreet, owner, None), name)
    if said:
        content += nodes.paragraph(text=said[:1].upper() + said[1:].rstrip(".") + ".")


def setup(app: Any) -> None:
    app.connect("object-description-transform", described)
