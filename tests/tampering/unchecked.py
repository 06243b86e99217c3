"""What verify takes on trust. The same list, with reasons, stands in docs/guarantee.md; a test holds them together."""

from __future__ import annotations

FIELDS = (
    "created",
    "private",
    "mark",
    "about",
    "ledger",
    "rendered",
    "schema.max_count",
    "guarantee.epsilon",
    "guarantee.alpha",
    "guarantee.rho",
    "mechanism.name",
    "mechanism.weights",
    "mechanism.map_seed",
    "mechanism.map.keys",
    "mechanism.aim",
    "mechanism.projection",
    "distribution.borders",
    "distribution.histogram",
    "distribution.measurements",
    "distribution.distribution",
    "invariants.kept[].matrix",
)
FILES = ("table", "measurements")


def on_trust(pattern: str) -> bool:
    return any(pattern == field or pattern.startswith((f"{field}.", f"{field}[")) for field in FIELDS)
