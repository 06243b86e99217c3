"""Mechanisms as JSON and back. Whatever privacy depends on is written exactly, as strings."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.mechanism import Exponents, Form, Mechanism, Noise, NoiseThenMap, PublicMap, Weights
from discreet.numbers import text
from discreet.sample.laws import Gaussian, Geometric, Staircase


def mechanism_json(mechanism: Mechanism) -> dict[str, Any]:
    return {"name": mechanism.name, "parameters": dict(mechanism.parameters), **_form_json(mechanism.form)}


def mechanism_of(value: Mapping[str, Any]) -> Mechanism:
    try:
        return Mechanism(value["name"], _form_of(value), value.get("parameters", {}))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise BadInput("a mechanism was to be read", f"its description is damaged ({error})") from error


def _form_json(form: Form) -> dict[str, Any]:
    if isinstance(form, Weights):
        rows = [[str(weight) for weight in row] for row in form.rows]
        return {"form": "weights", "weights": rows, "denominator": str(form.total)}
    if isinstance(form, Exponents):
        return {"form": "exponents", "odds": text(form.odds), "powers": form.powers.tolist()}
    return {
        "form": "noise-then-map",
        "noise": noise_json(form.noise),
        "clamp": None if form.clamp is None else list(form.clamp),
        "map": None if form.map is None else map_json(form.map),
    }


def _form_of(value: Mapping[str, Any]) -> Form:
    if value["form"] == "weights":
        rows = tuple(tuple(int(weight) for weight in row) for row in value["weights"])
        return Weights(rows, int(value["denominator"]))
    if value["form"] == "exponents":
        return Exponents(Fraction(value["odds"]), np.array(value["powers"], dtype=np.int64))
    if value["form"] != "noise-then-map":
        raise ValueError(f"unknown form {value['form']!r}")
    clamp = None if value["clamp"] is None else (int(value["clamp"][0]), int(value["clamp"][1]))
    return NoiseThenMap(noise_of(value["noise"]), clamp, None if value["map"] is None else map_of(value["map"]))


def noise_json(noise: Noise) -> dict[str, str]:
    if isinstance(noise, Gaussian):
        return {"law": "discrete-gaussian", "variance": text(noise.variance)}
    if isinstance(noise, Staircase):
        return {"law": "staircase", "odds": text(noise.odds), "gamma": text(noise.gamma)}
    return {"law": "geometric", "odds": text(noise.odds)}


def noise_of(value: Mapping[str, str]) -> Noise:
    if value["law"] == "discrete-gaussian":
        return Gaussian(Fraction(value["variance"]))
    if value["law"] == "staircase":
        return Staircase(Fraction(value["odds"]), Fraction(value["gamma"]))
    if value["law"] != "geometric":
        raise ValueError(f"unknown noise {value['law']!r}")
    return Geometric(Fraction(value["odds"]))


def map_json(public_map: PublicMap) -> dict[str, Any]:
    return {
        "first": public_map.first,
        "bits": public_map.bits,
        "keys": public_map.keys.tolist(),
        "outputs": public_map.outputs.tolist(),
    }


def map_of(value: Mapping[str, Any]) -> PublicMap:
    keys = np.array(value["keys"], dtype=np.uint64)
    return PublicMap(int(value["first"]), int(value["bits"]), keys, np.array(value["outputs"], dtype=np.int64))
