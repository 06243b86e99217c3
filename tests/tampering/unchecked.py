"""What verify takes on trust. The same list, with reasons, stands in docs/guarantee.md; a test holds them together."""

from __future__ import annotations

FIELDS = (
    "created",
    "private",
    "mark",
    "about",
    "ledger",
    "rendered",
    "schema.keys",
    "schema.count",
    "schema.max_count",
    "schema.rows_are_disjoint",
    "schema.dropped_totals",
    "schema.suppressed_as",
    "guarantee.epsilon",
    "guarantee.alpha",
    "guarantee.rho",
    "guarantee.delta",
    "mechanism.name",
    "mechanism.weights",
    "mechanism.map_seed",
    "mechanism.map.keys",
    "mechanism.aim",
    "mechanism.projection",
    "mechanism.inequalities",
    "mechanism.questions[].asked",
    "mechanism.histogram",
    "distribution.borders",
    "distribution.histogram",
    "distribution.measurements",
    "distribution.distribution",
    "invariants.kept[].matrix",
)
FILES = ("table", "measurements", "answers")
TOGETHER = (  # with another place that goes with it; each of them alone is refused
    "private", "mark", "schema.keys", "schema.count", "schema.rows_are_disjoint", "schema.dropped_totals",
    "schema.suppressed_as",
    "mechanism.histogram", "distribution.histogram",
)  # fmt: skip


def on_trust(pattern: str) -> bool:
    return any(pattern == field or pattern.startswith((f"{field}.", f"{field}[")) for field in FIELDS)
