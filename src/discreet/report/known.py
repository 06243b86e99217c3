"""Digests of everything active that releases were ever published with. A script that is not among them is refused.

Whoever changes a script, or a page around one, adds its digest: `python tools/scripts.py` prints it.
"""

from __future__ import annotations

import hashlib

# explore.html without its data
KNOWN_SHELLS = frozenset({
    "34030db0198271cf1b4c7efed75d63b72b2bde1d77ba465f17a37747e4ebb051",
    "8c98680a7c75a611bb067d3d3372d46e81603cffda8bbe6366707948d43402af",
})  # fmt: skip
# analysis.R
KNOWN_ANALYSES = frozenset({
    "c1b3c59546393d874fb60972b5df81f02aeae826c57470a15ba830ef99724471",
    "d329e79bf4709ea61959b278afee62a6908dae3aafe1055e09542b4bf9632fc6",
})  # fmt: skip


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
