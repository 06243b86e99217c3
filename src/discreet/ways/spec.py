"""From keywords to the way they mean. Each option belongs to the spec of a way; none is ignored in silence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.options import Option, known_only, options_of


@dataclass(frozen=True)
class WaySpec:
    """What every spec can do."""

    name: ClassVar[str]

    @classmethod
    def meant_by(cls, options: Mapping[str, Any]) -> bool:
        """Whether these keywords, of whatever way, mean this one."""
        return False

    def in_order(self, given_rows: Integers | None) -> WaySpec:
        """The same, for rows in published order: what names rows by their place was about the rows as given."""
        return self


def ways_by_keyword() -> tuple[type[WaySpec], ...]:
    """The ways that keywords can mean; the first that says so is it."""
    from discreet.ways.keep_distribution.spec import KeepDistribution
    from discreet.ways.keep_sums.spec import KeepSums
    from discreet.ways.row_by_row.spec import RowByRow

    return KeepSums, RowByRow, KeepDistribution


def spec_of(options: Mapping[str, Any]) -> WaySpec:
    """The way that keywords mean, in one value. A default said aloud is no contradiction."""
    kinds = ways_by_keyword()
    every = {name: known for kind in kinds for name, known in options_of(kind).items()}
    known_only(options, every, "the option")
    meant = next(kind for kind in kinds if kind.meant_by(options))
    own = options_of(meant)
    for name, value in options.items():
        if name not in own and not _said_aloud(value, every[name][1]):
            raise _foreign(name, meant, options)
    return meant(**{name: value for name, value in options.items() if name in own})


def _said_aloud(value: Any, default: Any) -> bool:
    if value is None or value is False:
        return True
    return isinstance(value, (str, tuple, list)) and (value == default or len(value) == 0)


def _foreign(name: str, meant: type[WaySpec], options: Mapping[str, Any]) -> BadInput:
    """An option that belongs to another way."""
    if meant.name == "keep-sums":
        return BadInput(f"{name} was asked for together with keep", "kept sums go another way", f"Drop {name}")
    from discreet.ways.keep_sums.spec import KeepSums

    if name in options_of(KeepSums):
        return BadInput(f"{name} was asked for without keep", "it belongs to kept sums", f"Drop {name}, or give keep")
    which = options.get("mechanism")
    return BadInput(
        f"{name} was asked for with the mechanism {which if isinstance(which, str) else 'of your own'!r}",
        "it draws every row by itself and keeps no distribution",
        "Use mechanism 'transport'",
    )


def mechanism_names() -> tuple[str, ...]:
    """Every mechanism that `release` knows by name."""
    kinds = reversed(ways_by_keyword())
    return tuple(name for kind in kinds for name in _values(options_of(kind).get("mechanism")))


def _values(known: tuple[Option, Any] | None) -> tuple[str, ...]:
    return () if known is None or known[0].values is None else known[0].values()
