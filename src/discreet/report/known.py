"""Digests of everything active that releases were ever published with. A script that is not among them is refused.

Whoever changes a script, or a page around one, adds its digest: `python tools/scripts.py` prints it.
"""

from __future__ import annotations

import hashlib

KNOWN_SHELLS = frozenset(
    {"f8d83a336ea58545af989f91a250645efbe35bfa0ad97f8843ca26ce3e49f5d0"}
)  # explore.html without its data
KNOWN_ANALYSES = frozenset({"22bafa22f73759c7f7a65e14008e6cc115b8de2422858de8f5525113ff8ecbf2"})  # analysis.R


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
