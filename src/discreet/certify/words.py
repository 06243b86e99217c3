"""The words of a certificate, for people: no code reads them, and they may change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from discreet.certify.profile import delta_text
from discreet.numbers import digits_above, text

if TYPE_CHECKING:
    from discreet.certify.profile import Floor
    from discreet.certify.prove import Certificate

PROVED = "Proved: epsilon = {epsilon}{delta} holds."
REFUTED = (
    "Refuted: output {output} is {times} as likely from {input} as from {neighbour}; {allowed} times is allowed{delta}."
)
NOT_CLAIMED = "No epsilon was claimed; this is what it has."
SMALLEST_EPSILON = "The smallest epsilon{delta}: {smallest}."
NO_EPSILON = "No epsilon is enough{delta}."
SMALLEST_DELTA = "The smallest delta at epsilon = {epsilon}: {smallest}."
FLOOR = (
    "At any epsilon, however large, delta is at least {delta}: with that chance a true count of {input} leads to an "
    "output that {neighbour} never leads to, and so gives itself away."
)
ZERO_STAYS = (
    "A count of 0 always stays 0 here: every other output says for certain that somebody is there. That costs a delta "
    "of {delta} at any epsilon."
)
CURVE_HEAD = ("epsilon", "delta")
DIGITS = 6  # of a delta on a page, rounded up


def lines(certificate: Certificate) -> Iterator[str]:
    """What a certificate says, line by line."""
    from discreet.certify.prove import for_people

    epsilon, delta = certificate.epsilon, f" with delta = {text(certificate.delta)}" if certificate.delta else ""
    witness = certificate.witness
    if certificate.holds is None:
        yield NOT_CLAIMED
    elif witness is None:
        yield PROVED.format(epsilon=epsilon, delta=delta)
    else:
        times = "infinitely" if witness.ratio is None else f"{for_people(witness.ratio):.6g} times"
        more = "" if witness.delta is None else f", and in all no more than a delta of {text(certificate.delta)} beyond"
        yield REFUTED.format(
            output=witness.output, times=times, input=witness.input, neighbour=witness.neighbour,
            allowed=f"{for_people(witness.allowed):.6g}", delta=more,
        )  # fmt: skip
    at = delta or " without a delta"
    smallest = certificate.smallest_epsilon
    yield NO_EPSILON.format(delta=at) if smallest is None else SMALLEST_EPSILON.format(delta=at, smallest=smallest)
    if certificate.smallest_delta is not None:
        yield SMALLEST_DELTA.format(epsilon=epsilon, smallest=certificate.smallest_delta)
    if certificate.curve is not None:
        if certificate.curve.floor is not None:
            yield floor(certificate.curve.floor)
        yield "{:>12}  {}".format(*CURVE_HEAD)
        for at_epsilon, least in certificate.curve.points:
            yield f"{text(at_epsilon):>12}  {digits_above(least, DIGITS) if least else 0}"


def floor(found: Floor) -> str:
    """What no epsilon mends."""
    words = ZERO_STAYS if found.neighbour == 0 and found.zero_stays else FLOOR
    return words.format(delta=delta_text(found.delta), input=found.input, neighbour=found.neighbour)
