"""The words of a certificate, for people: no code reads them, and they may change."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.certify.profile import delta_text
from discreet.numbers import digits_above, text

if TYPE_CHECKING:
    from discreet.certify.profile import Floor, PrivacyCurve
    from discreet.certify.prove import Certificate

PROVED = "Proved: epsilon = {epsilon}{delta} holds."
REFUTED = "Refuted: output {output} is {times} as likely from {input} as from {neighbour}; {allowed} is allowed{delta}."
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
UNBIASED = "Unbiased: on average the published count is the true one."
BIASED = "Biased for true counts of {counts}: on average off by {worst} at worst."
VARIANCE = "Variance of the noise: from {least} to {most}."
NEGLIGIBLE = 1e-6  # a bias that comes from rounding the probabilities
MOST_NAMED = 8  # counts in a sentence
PAGE = {
    "window": "{name}: how private it is",
    "title": "How private {name} is",
    "subtitle": "Worked out in exact arithmetic from the probabilities themselves; every delta is rounded up.",
    "verdict": "What it promises",
    "curve": "delta by epsilon",
    "curve-caption": "For every epsilon the least delta with which it holds between two neighbouring counts. With one "
    "person more in a row, any set of outcomes is at most e^epsilon times as likely as without, plus delta.",
    "noise": "Bias and variance",
    "noise-caption": "Of the published count, by true count. {goes_on}",
    "count": "true count",
    "bias": "bias",
    "variance": "variance",
    "one-table": "This is about one table, with fresh noise for every cell. Every further table of the same people "
    "adds to it; cell keys that are used again make the noise of different tables depend on each other, and "
    "subtracting such tables can take it out.",
    "footer": "Made with discreet.",
}
GOES_ON = "The last row stands for all larger counts."
CURVE_HEAD = ("epsilon", "delta")
DIGITS = 6  # of a delta on a page, rounded up


def lines(certificate: Certificate) -> Iterator[str]:
    """All that a certificate says, line by line."""
    yield from verdict(certificate)
    if certificate.curve is not None:
        yield "{:>12}  {}".format(*CURVE_HEAD)
        yield from (f"{epsilon:>12}  {delta}" for epsilon, delta in points(certificate.curve))


def points(curve: PrivacyCurve) -> Iterator[tuple[str, str]]:
    """Every epsilon of a curve with its delta, rounded up."""
    for epsilon, delta in curve.points:
        yield text(epsilon), digits_above(delta, DIGITS) if delta else "0"


def verdict(certificate: Certificate) -> Iterator[str]:
    """What holds, what would, and what the noise does."""
    epsilon, delta = certificate.epsilon, f" with delta = {text(certificate.delta)}" if certificate.delta else ""
    witness = certificate.witness
    if certificate.holds is None:
        yield NOT_CLAIMED
    elif witness is None:
        yield PROVED.format(epsilon=epsilon, delta=delta)
    else:
        more = "" if witness.delta is None else f", and in all no more than a delta of {text(certificate.delta)} beyond"
        yield REFUTED.format(
            output=witness.output, times=times(witness.ratio), input=witness.input, neighbour=witness.neighbour,
            allowed=times(witness.allowed), delta=more,
        )  # fmt: skip
    at = delta or " without a delta"
    smallest = certificate.smallest_epsilon
    yield (
        NO_EPSILON.format(delta=at)
        if smallest is None
        else SMALLEST_EPSILON.format(delta=at, smallest=_shortly(smallest))
    )
    if certificate.smallest_delta is not None:
        yield SMALLEST_DELTA.format(epsilon=epsilon, smallest=_shortly(certificate.smallest_delta))
    if certificate.curve is not None:
        if certificate.curve.floor is not None:
            yield floor(certificate.curve.floor)
        yield from _moments(certificate)


def _shortly(number: str) -> str:
    """A decimal that was rounded up, with few digits, rounded up again."""
    return number if len(number) <= DIGITS + 2 else digits_above(Fraction(number), DIGITS)


def times(ratio: Fraction | None) -> str:
    """How many times as likely."""
    from discreet.certify.prove import for_people

    return "infinitely" if ratio is None else f"{for_people(ratio):.6g} times"


def _moments(certificate: Certificate) -> Iterator[str]:
    """Where the noise is biased, and how wide it is."""
    if not certificate.moments:
        return
    biased = [i for i, one in enumerate(certificate.moments) if abs(one.bias) > NEGLIGIBLE]
    if biased:
        worst = max(certificate.moments, key=lambda one: abs(one.bias))
        shown = ", ".join(map(str, biased[:MOST_NAMED])) + (", ..." if len(biased) > MOST_NAMED else "")
        yield BIASED.format(counts=shown, worst=f"{float(worst.bias):+.4g}")
    else:
        yield UNBIASED
    variances = [float(one.variance) for one in certificate.moments]
    yield VARIANCE.format(least=f"{min(variances):.4g}", most=f"{max(variances):.4g}")


def floor(found: Floor) -> str:
    """What no epsilon mends."""
    words = ZERO_STAYS if found.neighbour == 0 and found.zero_stays else FLOOR
    return words.format(delta=delta_text(found.delta), input=found.input, neighbour=found.neighbour)
