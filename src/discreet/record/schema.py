"""The JSON Schema of release.json, made from the types of the record.

It is as strict as the codec in what it can say: which fields there are, their kinds and ranges, and how an exact number
is written. That a fraction is reduced, that 1.0 is no whole number and what depends on other fields, it cannot say.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, Literal, Union, get_args, get_origin

from discreet.arrays import Floats, Integers, Words
from discreet.lattice.invariants import Kept
from discreet.laws import NoiseLaw, laws
from discreet.levels.asked import What
from discreet.mechanism import Form
from discreet.privacy.values import Loss, Remark
from discreet.public_map import PublicMap
from discreet.record.codec import FORM_FIELDS, FORM_NAMES, LOSS_NAMES, Json, hints_of

ABOVE_ZERO = r"([1-9][0-9]*(\.[0-9]*[1-9])?|0\.[0-9]*[1-9]|[1-9][0-9]*/[1-9][0-9]*)"  # as text() writes numbers
INSIDE = r"(0\.[0-9]*[1-9]|[1-9][0-9]*/[1-9][0-9]*)"  # above zero and, if it is no fraction, below one
TEXT: Json = {"type": "string"}
NULL: Json = {"type": "null"}
WHOLE: Json = {"type": "integer"}


def _written(pattern: str) -> Json:
    return {"type": "string", "pattern": f"^{pattern}$"}


def _list_of(items: Json, **more: Json) -> Json:
    return {"type": "array", "items": items, **more}


def _object(**properties: Json) -> Json:
    """With these fields, all of them and no other."""
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


def _variants(names: Iterable[str], variants: Iterable[Mapping[str, Json]]) -> Json:
    """An object with the fields of one of several variants, and none of the others'."""
    either = [{"properties": {name: one.get(name, False) for name in names}, "required": [*one]} for one in variants]
    return {
        "type": "object", "properties": dict.fromkeys(names, True), "additionalProperties": False, "anyOf": either,
    }  # fmt: skip


EXACT, POSITIVE, PROBABILITY = _written(f"(0|-?{ABOVE_ZERO})"), _written(ABOVE_ZERO), _written(f"(0|{INSIDE})")
INT64 = {**WHOLE, "minimum": -(1 << 63), "maximum": (1 << 63) - 1}
WEIGHT = _written("(0|[1-9][0-9]*)")
LOSS_SCHEMA = _variants(
    LOSS_NAMES,
    (
        {"epsilon": POSITIVE, "alpha": NULL, "delta": PROBABILITY, "rho": NULL},
        {"epsilon": POSITIVE, "alpha": _written(INSIDE), "delta": PROBABILITY, "rho": NULL},
        {"epsilon": NULL, "alpha": NULL, "delta": {"const": "0"}, "rho": POSITIVE},
    ),
)
MARGIN = _object(margin=_list_of(TEXT, minItems=1))
WORD = _written("(total|margin:.+|sum:.+)")
KEPT_SCHEMA = {
    "anyOf": [
        WORD,
        MARGIN,
        _object(sum={"type": "object", "additionalProperties": TEXT, "minProperties": 1}),
        _object(name=TEXT, matrix=_list_of(_list_of({"enum": [0, 1]}, minItems=1), minItems=1)),
    ]
}
REMARK_SCHEMA = {
    "type": "object",
    "properties": {"code": TEXT},
    "required": ["code"],
    "additionalProperties": {"type": ["integer", "string"]},
}


def _law_schema() -> Json:
    """Every law that is registered, with its parameters."""
    found = laws().items()
    return {"anyOf": [_object(law={"const": name}, **{one.name: EXACT for one in fields(law)}) for name, law in found]}  # type: ignore[arg-type]


def _form_schema() -> Json:
    rules = {
        "weights": _list_of(_list_of(WEIGHT, minItems=1), minItems=1),
        "denominator": WEIGHT,
        "odds": POSITIVE,
        "powers": _list_of(_list_of({**INT64, "minimum": 0}, minItems=1), minItems=1),
        "noise": schema_of(NoiseLaw),
        "clamp": {"anyOf": [NULL, schema_of(tuple[int, int | None])]},
        "map": {"anyOf": [NULL, schema_of(PublicMap)]},
        "first": {**WHOLE, "minimum": 0},
        "top": {"type": ["integer", "null"]},
    }
    return _variants(
        FORM_NAMES,
        [{"form": {"const": form}, **{name: rules[name] for name in names}} for form, names in FORM_FIELDS.items()],
    )


PLAIN: dict[Any, Json] = {
    bool: {"type": "boolean"},
    int: WHOLE,
    float: {"type": "number"},
    str: TEXT,
    type(None): NULL,
    Fraction: EXACT,
    Integers: _list_of(INT64),
    Words: _list_of({**WHOLE, "minimum": 0, "maximum": (1 << 64) - 1}),
    Floats: _list_of({"type": "number"}),
    Loss: LOSS_SCHEMA,
    Kept: KEPT_SCHEMA,
    What: {"anyOf": [_written("(cells|total|margin:.+)"), MARGIN]},
    Remark: REMARK_SCHEMA,
}


def schema_of(kind: Any) -> Json:
    """The schema of whatever a type is written as."""
    if kind in PLAIN:
        return PLAIN[kind]
    if kind == NoiseLaw:
        return _law_schema()
    if kind == Form:
        return _form_schema()
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
        return _list_of(schema_of(kinds[0]))
    each = [schema_of(kind) for kind in kinds]
    return {"type": "array", "prefixItems": each, "items": False, "minItems": len(each)}


def _object_schema(kind: Any) -> Json:
    """An object with these fields and no other; the fields of a flat one stand among them. All of them are written,
    those with a default too."""
    properties: dict[str, Json] = {}
    required: list[str] = []
    either: list[Json] = []
    for name, (hint, item) in hints_of(kind).items():
        inner = schema_of(hint) if "flat" in item.metadata else _object(**{name: schema_of(hint)})
        properties |= inner["properties"]
        required += () if "sometimes" in item.metadata else inner.get("required", ())
        either += [{"anyOf": inner["anyOf"]}] if "anyOf" in inner else inner.get("allOf", ())
    out = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {**out, "allOf": either} if either else out


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
    """A record of one way, sealed."""
    properties = {**record["properties"], "way": {"const": way}, "seal": TEXT}
    return {**record, "properties": properties, "required": [*record["required"], "seal"]}
