"""How the values of the house are written: losses, laws of noise, forms of a mechanism, kept sums."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.lattice.invariants import Kept, Margin, Sums, SumWhere, Total, kept_json, kept_of
from discreet.laws import NoiseLaw, law_json, law_of_json
from discreet.mechanism import (
    LARGEST_WRITTEN,
    LONGEST_WEIGHT,
    WRITTEN_APART,
    Exponents,
    Form,
    NoiseThenMap,
    Weights,
)  # fmt: skip
from discreet.numbers import Epsilon, exact, part_of_epsilon, text
from discreet.privacy.values import Approximate, Concentrated, Loss, Pure
from discreet.public_map import PublicMap
from discreet.record.codec import Damaged, Json, Special, decode, encode, shown, special
from discreet.record.schema import EXACT

MAYBE = {"type": ["string", "null"]}
WHOLE = re.compile(r"0|[1-9][0-9]*", re.ASCII)


def loss_json(loss: Loss) -> dict[str, str | None]:
    epsilon: Epsilon | None = loss.epsilon
    ratio = None if epsilon is None else epsilon.ratio
    return {
        "epsilon": None if epsilon is None else str(epsilon),
        "alpha": None if ratio is None else text(1 / ratio),
        "delta": text(loss.delta),
        "rho": None if loss.rho is None else text(loss.rho),
    }


def loss_of_json(value: Mapping[str, Json]) -> Loss:
    """Exactly what `loss_json` writes: a loss stated in two ways, or in another spelling, is none."""
    for name in ("epsilon", "alpha", "delta", "rho"):
        if not isinstance(value.get(name), (str, type(None))):
            raise Damaged(f".{name}", "is missing, or not an exact number in quotation marks")
    delta = exact(str(value["delta"]), "delta")
    loss: Loss
    if value["rho"] is not None:
        loss = Concentrated(value["rho"])
    else:
        epsilon = part_of_epsilon(value["epsilon"], value["alpha"])
        loss = Approximate(epsilon, delta) if delta else Pure(epsilon)
    if loss_json(loss) != value:
        raise Damaged("", "the loss is not stated in the one way there is")
    return loss


def form_json(form: Form) -> dict[str, Json]:
    if isinstance(form, Weights):
        rows = [[str(weight) for weight in row] for row in form.rows]
        return {"form": "weights", "weights": rows, "denominator": str(form.total)}
    if isinstance(form, Exponents):
        return {"form": "exponents", "odds": text(form.odds), "powers": form.powers.tolist()}
    return {
        "form": "noise-then-map",
        "noise": law_json(form.noise),
        "clamp": None if form.clamp is None else list(form.clamp),
        "map": None if form.map is None else encode(form.map),
    }


def form_of_json(value: Mapping[str, Json]) -> Form:
    fields = {"weights": ("weights", "denominator"), "exponents": ("odds", "powers")}
    kind = value.get("form")
    if set(value) != {"form", *fields.get(str(kind), ("noise", "clamp", "map"))}:
        raise Damaged(".form", "its fields do not fit it")
    if kind == "weights":
        if sum(len(weight) + WRITTEN_APART for row in value["weights"] for weight in row) > LARGEST_WRITTEN:
            raise Damaged(".weights", f"they are longer than {LARGEST_WRITTEN >> 20} MiB")
        rows = tuple(tuple(_whole(weight) for weight in row) for row in value["weights"])
        if not rows or not rows[0]:
            raise Damaged(".weights", "there are none")
        return Weights(rows, _whole(value["denominator"]))
    if kind == "exponents":
        return Exponents(decode(Fraction, value["odds"], ".odds"), _powers(value["powers"]))
    if kind != "noise-then-map":
        raise Damaged(".form", f"there is no form {kind!r}")
    clamp = decode(tuple[int, int] | None, value["clamp"], ".clamp")
    return NoiseThenMap(law_of_json(value["noise"]), clamp, decode(PublicMap | None, value["map"], ".map"))


def _whole(written: Json) -> int:
    if not isinstance(written, str) or len(written) > LONGEST_WEIGHT or not WHOLE.fullmatch(written):
        raise Damaged(".weights", f"{shown(written)} is not a whole number")
    return int(written)


def _powers(rows: Json) -> Any:
    if not isinstance(rows, list) or not rows or {type(entry) for row in rows for entry in row} != {int}:
        raise Damaged(".powers", "they are not lists of whole numbers")
    return np.array(rows, dtype=np.int64)


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
                "form": {"enum": ["weights", "exponents", "noise-then-map"]},
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
                "clamp": {"type": ["array", "null"], "items": {"type": "integer"}},
                "map": {"type": ["object", "null"]},
            },
            "required": ["form", "noise", "clamp", "map"],
        },
    ]
}
KEPT_SCHEMA = {"type": ["string", "object"]}

special(
    Loss,
    Special(loss_json, loss_of_json, ("epsilon", "alpha", "delta", "rho"), LOSS_SCHEMA),
    (Pure, Approximate, Concentrated),
)
special(
    Form,
    Special(
        form_json,
        form_of_json,
        ("form", "weights", "denominator", "odds", "powers", "noise", "clamp", "map"),
        FORM_SCHEMA,
    ),
    (Weights, Exponents, NoiseThenMap),
)
special(Kept, Special(kept_json, kept_of, (), KEPT_SCHEMA), (Total, Margin, SumWhere, Sums))
special(NoiseLaw, Special(law_json, law_of_json, (), LAW_SCHEMA), ())
