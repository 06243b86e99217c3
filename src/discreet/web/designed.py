"""A mechanism with chosen properties, for one epsilon: made once, whichever page asks."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.errors import BadInput

LARGEST = 100  # beyond, a design takes minutes: discreet design does it
DESIGNED = "designed"  # the choice among mechanisms

PROPERTIES = {
    "fair": "fair: every count is right with the same chance",
    "weakly-honest": "the truth has at least the chance that guessing would give it",
    "column-honest": "nothing is more likely to be published than the truth",
    "column-monotone": "the further from the truth, the less likely",
    "row-honest": "a published number is likeliest where it is the truth",
    "row-monotone": "a published number is the less likely, the further the truth is from it",
    "symmetric": "small and large counts are treated alike",
}


@lru_cache(maxsize=64)
def designed(max_count: int | None, epsilon: str, people: int, require: tuple[str, ...], cost: str) -> Any:
    """The cheapest mechanism with these properties, for one unit of what one person may change."""
    from discreet.build.design import design
    from discreet.numbers import epsilon_of

    asked = "a mechanism with properties of its own was asked for"
    if max_count is None:
        raise BadInput(asked, "it needs to know the largest count", "Give the largest count to expect")
    if max_count > LARGEST:
        found = f"up to {max_count:,} it takes minutes; here it is made up to {LARGEST}"
        raise BadInput(asked, found, "Give a smaller one, or use discreet design in a terminal")
    each = epsilon_of(epsilon).times(Fraction(1, people))
    return design(max_count, each, objective=cost, require=list(require))
