"""release.json: the release as one JSON object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.release import Release

SCHEMA_VERSION = 1
SEED_WARNING = "Made from a seed, for a test or a simulation: NOT private, must not be published as if it were."


def document(release: Release, digests: dict[str, str]) -> dict[str, Any]:
    """Everything a stranger needs to re-check the release, and nothing secret."""
    from importlib.metadata import version

    value = {
        "schema_version": SCHEMA_VERSION,
        "software": f"discreet {version('discreet')}",
        "created": release.created,
        "private": release.private,
        **({} if release.private else {"warning": SEED_WARNING}),
        "schema": {**release.schema.as_json(), "max_count": release.max_count},
        "guarantee": release.guarantee.as_json(),
        "certificate": release.certificate,
        "mechanism": release.mechanism,
        "distribution": release.distribution,
        "invariants": release.published.invariants,
        "digests": digests,
    }
    return {**value, "seal": seal_of(value)}


def seal_of(document: dict[str, Any]) -> str:
    """A checksum of all other fields: an edit of any of them shows, unless the seal is made anew."""
    import hashlib

    sealed = {name: value for name, value in document.items() if name != "seal"}
    return hashlib.sha256(json.dumps(sealed, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
