"""What a mechanism may be required to promise. One file each; a file dropped into this package is a new requirement."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from discreet.errors import BadInput, did_you_mean, short
from discreet.requirements._base import Breach, Cell, Prior, Requirement, Row, exact_law

__all__ = [
    "STRUCTURAL",
    "Breach",
    "Cell",
    "Requirement",
    "Row",
    "exact_law",
    "kinds",
    "parse_requirement",
    "properties",
    "structural",
]

STRUCTURAL = ("row-honest", "row-monotone", "column-honest", "column-monotone", "fair", "weakly-honest", "symmetric")


@cache
def kinds() -> dict[str, type[Requirement]]:
    """Every requirement by name, read from the files of this package."""
    modules = sorted(module.name for module in iter_modules(__path__) if not module.name.startswith("_"))
    found = [import_module(f"{__name__}.{module}").REQUIREMENT for module in modules]
    return {requirement.kind: requirement for requirement in found}


def parse_requirement(item: Any, prior: Prior = None) -> Requirement:
    """From 'fair', 'F', 'truth=1/2', ('fixed-point', [..]) or a requirement itself.

    `prior` is the law of the input that a target law is meant for.
    """
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
        name, value = item
    elif isinstance(item, str):
        name, given, text = item.partition("=")
        value = text.strip() if given else None
    elif hasattr(item, "rows") and hasattr(item, "check"):
        requirement: Requirement = item
        return requirement
    else:
        raise BadInput(f"the requirement {short(item)} was asked for", "it is neither a name nor a name with a value")
    kind = _kind(name.strip())
    if value is None and not _takes_nothing(kind):
        raise BadInput(f"the requirement {name!r} was asked for", "it needs a value", f"Write it as {name}=VALUE")
    return kind.read(value, prior)


def _kind(name: str) -> type[Requirement]:
    aliases = {kind.alias: kind for kind in kinds().values() if kind.alias}
    if name in kinds() or name in aliases:
        return kinds().get(name) or aliases[name]
    raise BadInput(
        f"the requirement {name!r} was asked for",
        "there is none of that name",
        did_you_mean(name, [*kinds(), *aliases]),
    )


def _takes_nothing(kind: type[Requirement]) -> bool:
    from discreet.requirements._base import Plain

    return issubclass(kind, Plain)


def structural() -> list[Requirement]:
    """The seven structural requirements."""
    return [parse_requirement(name) for name in STRUCTURAL]


def properties(weights: Any, total: int) -> dict[str, Breach | None]:
    """Each structural requirement, and None where weights / total keep it or the place where they do not."""
    return {requirement.name: requirement.check(weights, total) for requirement in structural()}
