"""Digests of everything active that releases were ever published with. A script that is not among them is refused.

Whoever changes a script, or a page around one, adds its digest: `python tools/scripts.py` prints it.
"""

from __future__ import annotations

import hashlib

# explore.html without its data
KNOWN_SHELLS = frozenset({"2f68106d319a470fe9858a3476e2749f5b360092a331f5e6db3379e28e1b0cfc"})
# analysis.R
KNOWN_ANALYSES = frozenset({"0325980b1b500cafef44720fab6e498d8bfb367ce9a57a7345f40eaff5d27e0d"})


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
