"""The noise laws by name. A law registers itself; everything else finds it here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, TypeVar, cast

from discreet.errors import BadInput, choose
from discreet.laws.law import NoiseLaw
from discreet.numbers import text

LawClass = TypeVar("LawClass", bound=type[NoiseLaw])
_LAWS: dict[str, type[NoiseLaw]] = {}


def register(law: LawClass) -> LawClass:
    """Make a law known under its name. A decorator, or a call."""
    if not is_dataclass(law):
        raise BadInput(f"the law {law.__name__} was to be registered", "a law is a frozen dataclass of exact numbers")
    if _LAWS.get(law.name, law) is not law:
        raise BadInput(f"the law {law.name!r} was to be registered", "there is another law of that name")
    _LAWS[law.name] = law
    return law


def laws() -> dict[str, type[NoiseLaw]]:
    """Every registered law by name."""
    return dict(_LAWS)


def law_named(name: str) -> type[NoiseLaw]:
    """The law of that name, or an error that suggests the nearest one."""
    return _LAWS[choose(name, _LAWS, "noise law")]


def law_json(law: NoiseLaw) -> dict[str, str]:
    """Its name and its parameters, exactly."""
    return {"law": law.name, **law_parameters(law)}


def law_parameters(law: NoiseLaw) -> dict[str, str]:
    return {name: text(getattr(law, name)) for name in _field_names(type(law))}


def law_of_json(value: Mapping[str, object]) -> NoiseLaw:
    """The law that `law_json` wrote."""
    law = law_named(str(value.get("law")))
    names = _field_names(law)
    if set(value) != {"law", *names} or not all(isinstance(value[name], str) for name in names):
        raise BadInput("a noise law was to be read", f"{law.name} has the fields {', '.join(names)}, each a text")
    try:
        numbers = [Fraction(str(value[name])) for name in names]
    except (ValueError, ZeroDivisionError) as error:
        raise BadInput("a noise law was to be read", "a parameter is not an exact number") from error
    made: NoiseLaw = cast(Any, law)(*numbers)  # a protocol does not know the fields of its classes
    return made


def _field_names(law: type[NoiseLaw]) -> list[str]:
    return [field.name for field in fields(law)]  # type: ignore[arg-type]
