"""Typed values as JSON and back. The types of the fields say everything: what is written, read, refused, documented.

Whatever privacy depends on is a Fraction and travels as a string. A value of the wrong kind, a field too many or too
few, and a number that is none are refused by name; nothing is coerced. What is no plain object with fields (losses,
remarks, forms of a mechanism) stands at the end.
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from discreet.arrays import Floats, Integers, Words
from discreet.errors import BadInput, Damaged, as_read, did_you_mean
from discreet.lattice.invariants import Kept, Margin, Sums, SumWhere, Total, kept_json, kept_of
from discreet.laws import NoiseLaw, law_json, law_of_json
from discreet.levels.asked import Asked, Cells, What, asked_json, asked_of, what_json, what_of
from discreet.mechanism import (
    LARGEST_WRITTEN,
    LONGEST_WEIGHT,
    WRITTEN_APART,
    Continued,
    EdgeThenNoise,
    Exponents,
    Form,
    NoiseThenMap,
    Weights,
)  # fmt: skip
from discreet.numbers import Number, exact, part_of_epsilon, text
from discreet.privacy.values import Approximate, Concentrated, Loss, Pure, Remark, pure_of
from discreet.public_map import PublicMap

Json = Any
LONGEST_NUMBER = 100_000  # characters of an exact number: no honest one is longer, and Python's own limit is near
WHOLE = re.compile(r"0|[1-9][0-9]*", re.ASCII)
STUMBLES = (BadInput, ValueError, LookupError, TypeError, ArithmeticError, AttributeError)  # over a value
UNIONS = (Union, types.UnionType)
ARRAYS: dict[Any, Any] = {Integers: np.int64, Words: np.uint64, Floats: np.float64}


@cache
def hints_of(kind: Any) -> dict[str, tuple[Any, Field[Any]]]:
    """The fields of a dataclass with their types resolved; those of a `Record[Facts]` with the type that is given.

    The fields of a `flat` one's value stand beside its neighbours, not below its name."""
    plain = get_origin(kind) or kind
    given = dict(zip(getattr(plain, "__parameters__", ()), get_args(kind)))
    hints = {name: given.get(hint, hint) for name, hint in get_type_hints(plain).items()}
    return {item.name: (hints[item.name], item) for item in fields(plain) if not item.metadata.get("elsewhere")}


@lru_cache(maxsize=256)
def _writer(kind: Any) -> Callable[[Any], Json] | None:
    """How a kind that is known by its hint alone is written."""
    kinds = get_args(kind) if get_origin(kind) in UNIONS else (kind,)
    return next((SPECIALS[one].write for one in kinds if one in SPECIALS), None)


def encode(value: Any) -> Json:
    """Plain JSON values; a Fraction becomes its exact text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return float(value)
    if isinstance(value, (Fraction, Decimal)):
        return text(Fraction(value))
    if isinstance(value, np.ndarray):
        return value.tolist()
    if type(value) in WRITERS:
        return WRITERS[type(value)](value)
    if hasattr(value, "as_json"):
        return value.as_json()
    if isinstance(value, Mapping):
        return {name: encode(item) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return list(value) if set(map(type, value)) == {str} else [encode(item) for item in value]
    out: dict[str, Json] = {}
    for name, (hint, item) in hints_of(value.__class__).items():
        part, write = getattr(value, name), _writer(hint)
        if part is None and "sometimes" in item.metadata:  # older records, without it, are read on
            continue
        inner = encode(part) if write is None or part is None else write(part)
        if "flat" in item.metadata:
            out.update(inner)
        else:
            out[name] = inner
    return out


def decode(kind: Any, value: Json, where: str = "") -> Any:
    """A value of that type, or Damaged."""
    if kind is Any:
        return value
    if kind in SPECIALS:
        return _guarded(SPECIALS[kind].read, value, where)
    origin = get_origin(kind)
    if origin in UNIONS:
        return _one_of(get_args(kind), value, where)
    if origin is Literal:
        if value not in get_args(kind) or not any(type(value) is type(one) for one in get_args(kind)):
            raise Damaged(where, f"{as_read(value)} is none of {', '.join(map(repr, get_args(kind)))}")
        return value
    if kind in ARRAYS:
        return _array(value, ARRAYS[kind], where)
    if origin is tuple:
        return _tuple(get_args(kind), value, where)
    if origin in (dict, Mapping):
        return {
            name: decode(get_args(kind)[1], item, f"{where}.{name}") for name, item in _object(value, where).items()
        }
    if kind is Fraction:
        return _fraction(value, where)
    if kind in (bool, int, str, type(None)):
        return _plain(kind, value, where)
    if kind is float:
        return _float(value, where)
    if hasattr(kind, "of_json"):
        return _guarded(kind.of_json, value, where)
    if is_dataclass(kind):
        return decode_fields(kind, _object(value, where), where)
    raise TypeError(f"no JSON for {kind}")


def decode_fields(kind: Any, value: Mapping[str, Json], where: str) -> Any:
    """A dataclass from an object that has exactly its fields; those with a default may be missing."""
    known = names_of(kind)
    for name in value:
        if name not in known:
            raise Damaged(f"{where}.{name}", f"there is no such field. {did_you_mean(name, known)}")
    made: dict[str, Any] = {}
    for name, (hint, item) in hints_of(kind).items():
        if "flat" in item.metadata:
            inner = {key: value[key] for key in flat_names(hint, value) if key in value}
            made[name] = decode(hint, inner, where)
        elif name in value:
            made[name] = decode(hint, value[name], f"{where}.{name}")
        elif item.default is MISSING and item.default_factory is MISSING:
            raise Damaged(f"{where}.{name}", "is missing")
    try:
        return kind(**made)
    except STUMBLES as error:
        raise _damage(error, where) from error


def names_of(kind: Any) -> list[str]:
    """Every name that stands at the level of a value's fields."""
    names: list[str] = []
    for name, (hint, item) in hints_of(kind).items():
        names += sorted(_all_flat_names(hint)) if "flat" in item.metadata else [name]
    return names


def _all_flat_names(hint: Any) -> set[str]:
    if hint in SPECIALS:
        return set(SPECIALS[hint].names)
    return {name for one in get_args(hint) or (hint,) for name in names_of(one)}


def flat_names(hint: Any, value: Mapping[str, Json]) -> list[str]:
    return sorted(_all_flat_names(hint) & set(value))


def _one_of(kinds: tuple[Any, ...], value: Json, where: str) -> Any:
    if value is None and type(None) in kinds:
        return None
    others = [kind for kind in kinds if kind is not type(None)]
    if set(get_args(Number)) <= set(others):
        words = [word for kind in others if get_origin(kind) is Literal for word in get_args(kind)]
        spoken = "inf" if isinstance(value, Decimal) and value == Decimal("inf") else value
        if spoken in words:
            return spoken
        return _fraction(value, where) if isinstance(value, str) else _number(value, where)
    problems = []
    for kind in others:
        try:
            return decode(kind, value, where)
        except Damaged as problem:
            problems.append(problem)
    inside = [problem for problem in problems if problem.where != where]  # it fitted, but for something in it
    told = inside if len(inside) == 1 else problems
    raise told[0] if len(told) == 1 else Damaged(where, f"{as_read(value)} is not what belongs here")


def _number(value: Json, where: str) -> Fraction:
    """A number as a person writes it into a file: a decimal stands for itself."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise Damaged(where, f"{as_read(value)} is not a number")
    return _fraction(str(value), where)


def _fraction(value: Json, where: str) -> Fraction:
    if not isinstance(value, str) or len(value) > LONGEST_NUMBER:
        raise Damaged(where, f"{as_read(value)} is not an exact number in quotation marks")
    try:
        return exact(value)
    except BadInput as error:
        raise Damaged(where, f"{as_read(value)} is not a number") from error


def _plain(kind: Any, value: Json, where: str) -> Any:
    if type(value) is not kind:
        named = {bool: "true or false", int: "a whole number", str: "text"}.get(kind, "null")
        raise Damaged(where, f"{as_read(value)} is not {named}")
    return value


def _float(value: Json, where: str) -> float:
    try:
        if type(value) in (int, float) and math.isfinite(value):
            return float(value)
    except OverflowError as error:
        raise Damaged(where, f"{as_read(value)} is too large") from error
    raise Damaged(where, f"{as_read(value)} is not a number")


def _array(value: Json, kind: Any, where: str) -> Any:
    allowed = {int, float} if kind is np.float64 else {int}
    if not isinstance(value, list) or not set(map(type, value)) <= allowed:
        raise Damaged(where, f"it is not a list of {'' if float in allowed else 'whole '}numbers")
    try:
        array = np.array(value, dtype=kind)
    except (OverflowError, ValueError) as error:
        raise Damaged(where, "a number in it is too large") from error
    if kind is np.float64 and not np.isfinite(array).all():
        raise Damaged(where, "a number in it is not finite")
    return array


def _tuple(kinds: tuple[Any, ...], value: Json, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise Damaged(where, f"{as_read(value)} is not a list")
    if kinds == (str, Ellipsis) and set(map(type, value)) <= {str}:
        return tuple(value)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(decode(kinds[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    if len(value) != len(kinds):
        raise Damaged(where, f"it has {len(value)} entries, not {len(kinds)}")
    return tuple(decode(kind, item, f"{where}[{i}]") for i, (kind, item) in enumerate(zip(kinds, value)))


def _object(value: Json, where: str) -> Mapping[str, Json]:
    if not isinstance(value, dict):
        raise Damaged(where, f"{as_read(value)} is not an object with fields")
    return value


def _guarded(read: Callable[[Json], Any], value: Json, where: str) -> Any:
    """What the reader makes of it; whatever it stumbles over is damage."""
    try:
        return read(value)
    except STUMBLES as error:
        raise _damage(error, where) from error


def _damage(error: Exception, where: str) -> Damaged:
    """Only what was said on purpose is a reason to tell."""
    if isinstance(error, Damaged):
        return Damaged(f"{where}{error.where}", error.why)
    return Damaged(where, str(error) if isinstance(error, (BadInput, ValueError)) else "it is not what belongs here")


def loss_json(loss: Loss) -> dict[str, str | None]:
    return dict(loss.stated)


def loss_of_json(value: Mapping[str, Json]) -> Loss:
    """Exactly what `loss_json` writes: a loss stated in two ways, or in another spelling, is none."""
    for name in LOSS_NAMES:
        kinds = (str,) if name == "delta" else (str, type(None))
        if not isinstance(_object(value, "").get(name, MISSING), kinds):
            raise Damaged(f".{name}", "is missing, or not an exact number in quotation marks")
    if value["epsilon"] is None and value["rho"] is None:
        raise Damaged(".epsilon", "is missing, and so is rho")
    delta = exact(str(value["delta"]), "delta")
    loss: Loss
    if value["rho"] is not None:
        loss = Concentrated(value["rho"])
    else:
        epsilon = part_of_epsilon(value["epsilon"], value["alpha"])
        loss = Approximate(epsilon, delta) if delta else pure_of(epsilon)
    if loss.stated != value:
        raise Damaged("", "the loss is not stated in the one way there is")
    return loss


def form_json(form: Form) -> dict[str, Json]:
    if isinstance(form, (Weights, Continued)):
        kind, weights = ("weights", form) if isinstance(form, Weights) else ("continued", form.start)
        rows = [[str(weight) for weight in row] for row in weights.rows]
        return {"form": kind, "weights": rows, "denominator": str(weights.total)}
    if isinstance(form, Exponents):
        return {"form": "exponents", "odds": text(form.odds), "powers": form.powers.tolist()}
    if isinstance(form, EdgeThenNoise):
        edge = {name: value for name, value in form_json(form.edge).items() if name != "form"}
        return {"form": "edge-then-noise", "first": form.first, **edge, "noise": law_json(form.noise), "top": form.top}
    return {
        "form": "noise-then-map",
        "noise": law_json(form.noise),
        "clamp": None if form.clamp is None else list(form.clamp),
        "map": None if form.map is None else encode(form.map),
    }


def form_of_json(value: Mapping[str, Json]) -> Form:
    kind = _object(value, "").get("form")
    if not isinstance(kind, str) or kind not in FORM_FIELDS:
        raise Damaged(".form", f"there is no form {as_read(kind)}")
    if set(value) != {"form", *FORM_FIELDS[kind]}:
        raise Damaged(".form", "its fields do not fit it")
    if kind == "edge-then-noise":
        edge = form_of_json({"form": "weights", "weights": value["weights"], "denominator": value["denominator"]})
        assert isinstance(edge, Weights)
        first, top = decode(int, value["first"], ".first"), decode(int | None, value["top"], ".top")
        return EdgeThenNoise(first, edge, decode(NoiseLaw, value["noise"], ".noise"), top)
    if kind in ("weights", "continued"):
        written = decode(tuple[tuple[str, ...], ...], value["weights"], ".weights")
        if sum(len(weight) + WRITTEN_APART for row in written for weight in row) > LARGEST_WRITTEN:
            raise Damaged(".weights", f"they are longer than {LARGEST_WRITTEN >> 20} MiB")
        rows = tuple(tuple(_whole(weight, ".weights") for weight in row) for row in written)
        if not rows or not rows[0]:
            raise Damaged(".weights", "there are none")
        weights = Weights(rows, _whole(value["denominator"], ".denominator"))
        return weights if kind == "weights" else Continued(weights)
    if kind == "exponents":
        return Exponents(decode(Fraction, value["odds"], ".odds"), _powers(value["powers"]))
    clamp = decode(tuple[int, int | None] | None, value["clamp"], ".clamp")
    noise, map = decode(NoiseLaw, value["noise"], ".noise"), decode(PublicMap | None, value["map"], ".map")
    return NoiseThenMap(noise, clamp, map)


def _whole(written: Json, where: str) -> int:
    if not isinstance(written, str) or len(written) > LONGEST_WEIGHT or not WHOLE.fullmatch(written):
        raise Damaged(where, f"{as_read(written)} is not a whole number in quotation marks")
    return int(written)


def _powers(written: Json) -> Any:
    rows = decode(tuple[Integers, ...], written, ".powers")
    if not rows or not len(rows[0]):
        raise Damaged(".powers", "there are none")
    if len({len(row) for row in rows}) > 1:
        raise Damaged(".powers", "their rows are not of one length")
    return np.stack(rows)


def remark_json(remark: Remark) -> dict[str, int | str]:
    return {"code": remark.code, **dict(remark.numbers)}


def remark_of_json(value: Mapping[str, Json]) -> Remark:
    code, numbers = _object(value, "").get("code"), {name: item for name, item in value.items() if name != "code"}
    if not isinstance(code, str) or not all(type(item) in (int, str) for item in numbers.values()):
        raise ValueError("a remark is a code with numbers")
    return Remark(code, tuple(numbers.items()))


@dataclass(frozen=True)
class Special:
    """How values of a kind that is no plain dataclass, or several dataclasses with a tag, are written and read."""

    write: Callable[[Any], Json]
    read: Callable[[Json], Any]
    types: tuple[type, ...]  # that its values have; none where only the type hint of a field tells
    names: tuple[str, ...] = ()  # of the fields it is written with, where these may stand beside others


LOSS_NAMES = ("epsilon", "alpha", "delta", "rho")
FORM_FIELDS: dict[Json, tuple[str, ...]] = {
    "weights": ("weights", "denominator"),
    "continued": ("weights", "denominator"),
    "exponents": ("odds", "powers"),
    "noise-then-map": ("noise", "clamp", "map"),
    "edge-then-noise": ("first", "weights", "denominator", "noise", "top"),
}
FORM_NAMES = ("form", *dict.fromkeys(name for names in FORM_FIELDS.values() for name in names))
SPECIALS: dict[Any, Special] = {
    Loss: Special(loss_json, loss_of_json, (Pure, Approximate, Concentrated), LOSS_NAMES),
    Form: Special(form_json, form_of_json, (Weights, Continued, Exponents, NoiseThenMap, EdgeThenNoise), FORM_NAMES),
    Kept: Special(kept_json, kept_of, (Total, Margin, SumWhere, Sums)),
    What: Special(what_json, what_of, (Cells,)),
    Asked: Special(asked_json, asked_of, (Asked,)),
    NoiseLaw: Special(law_json, law_of_json, ()),
    Remark: Special(remark_json, remark_of_json, (Remark,)),
}
WRITERS = {kind: one.write for one in SPECIALS.values() for kind in one.types}
