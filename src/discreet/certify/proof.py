"""A claim of a release, proved or refused: nothing is published on one that fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from discreet.certify.prove import certify
from discreet.errors import NotProven
from discreet.mechanism import Mechanism
from discreet.numbers import text
from discreet.privacy.guarantee import Grade
from discreet.privacy.loss import Loss, odds_only


@dataclass(frozen=True)
class Proof:
    """The verdict on the mechanism of the rows, in the terms of one unit in one row."""

    epsilon: str
    delta: str
    smallest_epsilon: str | None
    grade: Grade
    holds: Literal[True] = True


def proof_of(mechanism: Mechanism, loss: Loss) -> Proof:
    """That the mechanism loses no more than this when one count changes by one; or an error with a witness."""
    claim = odds_only(loss, "a proof by likelihood ratios")
    found = certify(mechanism, claim.epsilon, claim.delta)
    if not found.holds:
        needed = found.smallest_epsilon or "without bound"
        raise NotProven(
            f"{claim} was asked for", f"the mechanism does not meet it: it would need epsilon {needed}",
            witness=found.witness,
        )  # fmt: skip
    return Proof(str(found.epsilon), text(found.delta), found.smallest_epsilon, found.grade)
