"""What all releases of a data set cost together, from what is known of the noise of each; not more than the sum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting.losses import together
from discreet.accounting.profiles import OfPrice, Profile, profile_of
from discreet.errors import BadInput, called
from discreet.ledger.accounts import Entry
from discreet.ledger.chain import compact
from discreet.ledger.spending import Amount
from discreet.mechanism import Form, NoiseThenMap
from discreet.numbers import Epsilon, Number, decimal_above, exact, text
from discreet.privacy import Grade
from discreet.privacy.convert import SMALLEST_DELTA, approximate
from discreet.privacy.price import Relation

LAWS = "laws"  # the section of a spending's spec that holds them
LONGEST_LAWS = 20_000  # letters of a line: a matrix of 40 counts, or so; longer ones are known by their price alone
MOST_KINDS = 200  # different releases whose losses are added up: each takes up to a second or so
AT_DELTA = "1e-6"  # where nobody says another


@dataclass(frozen=True)
class ExactSpending:
    """The epsilon of all releases together at a delta, never below the truth; and by basic composition."""

    delta: Fraction
    epsilon: Fraction | None  # None: at no epsilon
    basic: Amount
    by_law: int  # releases whose noise is known
    by_price: int  # those that count as the worst that costs what they cost
    grade: Grade = "enclosed"

    def as_json(self) -> dict[str, object]:
        return {
            "epsilon": None if self.epsilon is None else decimal_above(self.epsilon),
            "delta": text(self.delta),
            "basic": self.basic.as_json(),
            "by_law": self.by_law,
            "by_price": self.by_price,
            "grade": self.grade,
        }


def laws_section(laws: Sequence[Form]) -> dict[str, Any]:
    """Of a spending's spec: what every count goes through before it is published, if that is known and not too long."""
    from discreet.record.codec import form_json

    written = [form_json(law) for law in laws]
    return {LAWS: written} if written and len(compact(written)) <= LONGEST_LAWS else {}


def laws_of_mechanism(mechanism: Any) -> list[Form]:
    """What the counts of one person went through, by the record: one, or one of every column that has a share; none
    where rows are not drawn one by one.

    Of noise with a map it is the noise alone, which is published before its map.
    """
    forms = [one.form for one in getattr(mechanism, "shares", (mechanism,)) if hasattr(one, "form")]
    return [NoiseThenMap(form.noise) if isinstance(form, NoiseThenMap) else form for form in forms]


def exactly(entries: Sequence[Entry], basic: Amount, relation: Relation, at_delta: Number = AT_DELTA) -> ExactSpending:
    """Of all entries of a data set."""
    asked = "the exact price of all releases was asked for"
    delta = exact(at_delta, "the delta")
    if not SMALLEST_DELTA <= delta < 1:
        raise BadInput(
            asked, f"the delta {at_delta} is not between 1e-40 and 1", f"Give {called('at_delta')}, such as 1e-6"
        )
    if not entries:
        return ExactSpending(delta, Fraction(0), basic, 0, 0)
    found = [_profiles(entry, relation, delta / (4 * len(entries)), asked) for entry in entries]
    profiles = [profile for some, _ in found for profile in some]
    if len(set(profiles)) > MOST_KINDS:
        raise BadInput(asked, f"they are of more than {MOST_KINDS} different kinds", "Use the sum of their prices")
    by_law = sum(known for _, known in found)
    epsilon = together(profiles, delta).epsilon(delta)
    if epsilon is not None and basic.epsilon is not None and basic.delta <= delta:
        epsilon = min(epsilon, basic.epsilon)
    return ExactSpending(delta, epsilon, basic, by_law, len(entries) - by_law)


def _profiles(entry: Entry, relation: Relation, share: Fraction, asked: str) -> tuple[list[Profile], bool]:
    """One person in one release; and whether by its law. Who moves leaves one row and enters another, drawn apart."""
    spending = entry.spending
    laws = list(_laws(entry, asked))
    if laws and spending.neighbours.contributions == 1 and (relation == "added-or-removed" or spending.apart):
        known: list[Profile] = [found for law in laws if (found := profile_of(law)) is not None]
        if len(known) == len(laws):
            return known * (1 if relation == "added-or-removed" else 2), True
    return [_by_price(entry.charged, share)], False


def _by_price(charged: Amount, share: Fraction) -> Profile:
    if charged.rho is not None:
        loss = approximate(charged.rho, share)
        return OfPrice(loss.epsilon, loss.delta)
    assert charged.epsilon is not None
    return OfPrice(Epsilon(value=charged.epsilon), charged.delta)


def _laws(entry: Entry, asked: str) -> Iterator[Form]:
    from discreet.errors import Damaged
    from discreet.record.codec import decode

    written = entry.spending.spec.get(LAWS, [])
    try:
        if not isinstance(written, list):
            raise Damaged("", "they are no list")
        for one in written:
            yield decode(Form, one)
    except Damaged as error:
        found = f"the noise in its entry #{entry.number} cannot be read: {error}"
        raise BadInput(asked, f"the ledger was changed: {found}", "Restore a backup") from error
