"""The JSON Schema of release.json, made from the types of the record."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, is_dataclass
from fractions import Fraction
from typing import Any, Literal, Union, get_args, get_origin

from discreet.arrays import Floats, Integers, Words
from discreet.lattice.invariants import Kept
from discreet.laws import NoiseLaw
from discreet.levels.asked import What
from discreet.mechanism import Form
from discreet.privacy.values import Loss, Remark
from discreet.record.codec import Json, flat, hints_of

EXACT = {"type": "string", "pattern": "^-?[0-9]+(\\.[0-9]+|/[0-9]+)?$"}
MAYBE = {"type": ["string", "null"]}
LOSS_SCHEMA = {
    "type": "object",
    "properties": {"epsilon": MAYBE, "alpha": MAYBE, "delta": EXACT, "rho": MAYBE},
    "required": ["epsilon", "alpha", "delta", "rho"],
}
LAW_SCHEMA = {"type": "object", "properties": {"law": {"type": "string"}}, "required": ["law"]}
FORM_SCHEMA = {
    "anyOf": [
        {
            "type": "object",
            "properties": {
                "form": {"enum": ["weights", "continued", "exponents", "noise-then-map", "edge-then-noise"]},
                "weights": {"type": "array", "items": {"type": "array", "items": EXACT}},
                "denominator": EXACT,
            },
            "required": ["form", "weights", "denominator"],
        },
        {
            "type": "object",
            "properties": {
                "odds": EXACT,
                "powers": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
            },
            "required": ["form", "odds", "powers"],
        },
        {
            "type": "object",
            "properties": {
                "noise": LAW_SCHEMA,
                "clamp": {"type": ["array", "null"], "items": {"type": ["integer", "null"]}},
                "map": {"type": ["object", "null"]},
            },
            "required": ["form", "noise", "clamp", "map"],
        },
        {
            "type": "object",
            "properties": {"first": {"type": "integer"}, "top": {"type": ["integer", "null"]}},
            "required": ["form", "first", "weights", "denominator", "noise", "top"],
        },
    ]
}
REMARK_SCHEMA = {
    "type": "object",
    "properties": {"code": {"type": "string"}},
    "required": ["code"],
    "additionalProperties": {"type": ["integer", "string"]},
}
PLAIN: dict[Any, Json] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    type(None): {"type": "null"},
    Fraction: EXACT,
    Integers: {"type": "array", "items": {"type": "integer"}},
    Words: {"type": "array", "items": {"type": "integer", "minimum": 0}},
    Floats: {"type": "array", "items": {"type": "number"}},
    Loss: LOSS_SCHEMA,
    Form: FORM_SCHEMA,
    Kept: {"type": ["string", "object"]},
    What: {"type": ["string", "object"]},
    NoiseLaw: LAW_SCHEMA,
    Remark: REMARK_SCHEMA,
}


def schema_of(kind: Any) -> Json:
    """The schema of whatever a type is written as."""
    if kind in PLAIN:
        return PLAIN[kind]
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(one) for one in get_args(kind)]}
    if origin is Literal:
        return {"enum": list(get_args(kind))}
    if origin is tuple:
        return _tuple_schema(get_args(kind))
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema_of(get_args(kind)[1])}
    if hasattr(kind, "json_schema"):
        return dict(kind.json_schema)
    assert is_dataclass(kind), kind
    return _object_schema(kind)


def _tuple_schema(kinds: tuple[Any, ...]) -> Json:
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return {"type": "array", "items": schema_of(kinds[0])}
    return {"type": "array", "prefixItems": [schema_of(kind) for kind in kinds], "items": False}


def _object_schema(kind: Any) -> Json:
    """An object with these fields and no other; the fields of a flat one stand among them."""
    properties: dict[str, Json] = {}
    required: list[str] = []
    variants = []
    for name, (hint, item) in hints_of(kind).items():
        if not flat(item):
            properties[name] = schema_of(hint)
            if item.default is MISSING and item.default_factory is MISSING:
                required.append(name)
            continue
        inner = schema_of(hint)
        for one in inner.get("anyOf", [inner]):
            for field, rule in one["properties"].items():
                properties.setdefault(field, {} if field in properties else rule)
        if "anyOf" in inner:
            variants.append({"anyOf": [{"required": one["required"]} for one in inner["anyOf"]]})
        else:
            required += inner["required"]
    out = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {**out, "allOf": variants} if variants else out


def release_schema() -> Json:
    """Of release.json: what every record has, and one variant for each way."""
    from discreet.record.release import ReleaseRecord
    from discreet.ways import PACKAGES, way_named

    of: Any = ReleaseRecord
    variants = [_variant(name, _object_schema(of[way_named(name).facts])) for name in PACKAGES]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "release.json of a discreet release",
        "description": "Exact numbers are strings. Made from the types of the record; scripts may rely on it.",
        "oneOf": variants,
    }


def _variant(way: str, record: Json) -> Json:
    """A record of one way: all fields are written, those with a default too."""
    properties = {**record["properties"], "way": {"const": way}, "seal": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": sorted(properties), "additionalProperties": False}
