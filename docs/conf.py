"""How Sphinx makes the site. `make docs` runs it through site.py, which lays the pages out first."""

from __future__ import annotations

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
