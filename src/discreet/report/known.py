"""Digests of everything active that releases were ever published with. A script that is not among them is refused.

Whoever changes a script, or a page around one, adds its digest: `python tools/scripts.py` prints it.
"""

from __future__ import annotations

import hashlib

# explore.html without its data
KNOWN_SHELLS = frozenset({"dabaf6e3f7d15de487350d3c482c52e6f9d44205766c316b2c3be4041d5f1b1a"})
# analysis.R
KNOWN_ANALYSES = frozenset({"191cda469dcb164247011b2f294dbc487a7eff37fc00d1abf50d8053eb25e0fd"})


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
