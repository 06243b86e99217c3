"""Digests of everything active that releases were ever published with. A script that is not among them is refused.

Whoever changes a script, or a page around one, adds its digest: `python tools/scripts.py` prints it.
"""

from __future__ import annotations

import hashlib

# explore.html without its data
KNOWN_SHELLS = frozenset({"34030db0198271cf1b4c7efed75d63b72b2bde1d77ba465f17a37747e4ebb051"})
# analysis.R
KNOWN_ANALYSES = frozenset({"c1b3c59546393d874fb60972b5df81f02aeae826c57470a15ba830ef99724471"})


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
