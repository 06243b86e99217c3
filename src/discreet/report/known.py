"""Digests of everything active that releases were ever published with. A script that is not among them is refused.

Whoever changes a script, or a page around one, adds its digest: `python tools/scripts.py` prints it.
"""

from __future__ import annotations

import hashlib

# explore.html without its data
KNOWN_SHELLS = frozenset({"8c98680a7c75a611bb067d3d3372d46e81603cffda8bbe6366707948d43402af"})
# analysis.R
KNOWN_ANALYSES = frozenset({"f653fe34b02f71c7a4b8f7100d5a2c09e7a3ddbe7cc345d18005e6136fddca63"})


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
