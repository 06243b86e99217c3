"""Exact numbers. Privacy never rests on a float: epsilon is a rational, e^epsilon is enclosed by rationals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, InvalidOperation
from fractions import Fraction
from numbers import Real
from operator import index
from typing import TYPE_CHECKING, Any, Union

from discreet.errors import BadInput, called, short

if TYPE_CHECKING:
    from flint import arb

Number = Union[int, float, str, Fraction, Decimal]
Interval = tuple[Fraction, Fraction]

LARGEST_EXPONENT = 4000  # of a number as it is written: Python reads no more digits than that
LONGEST_BITS = LARGEST_EXPONENT * 10 // 3  # of a number as it is given: Python writes no more digits than that, either
LONGEST_QUOTED = 60  # characters of what was given, in an error: nobody reads more digits
LARGEST_EPSILON = 1000  # above, it protects nobody
SMALLEST_EPSILON = Fraction(1, 10**9)  # below, the noise would drown every count
MOST_CONTRIBUTIONS = 10**12  # rows of one person: no table has so many
FAR = 64  # bits before the point: what stands behind it is beyond the digits of a logarithm
MOST_BITS = 1 << 20  # no rational equals e^epsilon: far fewer tell them apart


def exact(value: Number, what: str = "the number") -> Fraction:
    """The rational the user wrote: 0.1 is one tenth, "1/3" is one third."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Fraction, Decimal)):
        value = _plain_number(value, what)
    if isinstance(value, (str, Decimal)) and _absurd(str(value)):
        raise BadInput(
            f"{called(what)} was given", f"its exponent is beyond {LARGEST_EXPONENT}", "Write a smaller number"
        )
    try:
        number = Fraction(float.__repr__(value)) if isinstance(value, float) else Fraction(value)
    except (ValueError, OverflowError, InvalidOperation, ZeroDivisionError) as error:
        asked = f"{called(what)} was given as {quoted(str(value) if isinstance(value, Decimal) else repr(value))}"
        raise BadInput(asked, "that is not a finite number", 'Write it like 1, 0.1, "0.1" or "1/3"') from error
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > LONGEST_BITS:
        raise BadInput(
            f"{called(what)} was given", f"it has more than {LARGEST_EXPONENT} digits", "Write a shorter number"
        )
    return number


def quoted(written: str) -> str:
    """What was given, for an error: on one line, and the beginning, where it is long."""
    written = written if written.isprintable() else repr(written)
    return written if len(written) <= LONGEST_QUOTED else f"{written[:LONGEST_QUOTED]}..."


def _absurd(written: str) -> bool:
    """Whether writing the number out would take digits that nobody could want: 1e-40000000 fills the memory."""
    before, mark, exponent = written.lower().replace("_", "").partition("e")
    digits = exponent.strip().lstrip("+-").lstrip("0")
    return bool(mark) and digits.isdecimal() and (len(digits) > 6 or len(before) + int(digits) > LARGEST_EXPONENT)


def _plain_number(value: Any, what: str) -> int | float:
    """numpy's scalars, by way of their `item`."""
    try:
        plain = value.item() if hasattr(value, "item") and not isinstance(value, bool) else value
    except Exception:  # several numbers: every library has an error of its own
        plain = None
    if isinstance(plain, bool) or not isinstance(plain, (int, float)):
        raise BadInput(f"{called(what)} was given as {short(value)}", f"a {type(value).__name__} is not a number")
    return plain


def positive(value: Number, what: str) -> Fraction:
    number = exact(value, what)
    if number <= 0:
        raise BadInput(f"{called(what, quoted(str(value)))} was asked for", "it must be greater than zero")
    return number


def probability(value: Number, what: str, *, open_ends: bool = False) -> Fraction:
    number = exact(value, what)
    if not 0 <= number <= 1 or (open_ends and number in (0, 1)):
        asked = f"{called(what, quoted(str(value)))} was asked for"
        raise BadInput(asked, "it must lie between 0 and 1" + (", both excluded" * open_ends))
    return number


def level_of(value: Number) -> float:
    """Of a confidence interval."""
    return float(probability(exact(value, "the level"), "the level", open_ends=True))


def percent(share: float) -> str:
    """With as many digits as it has, so that 0.995 is not said to be all."""
    return f"{format(Decimal(repr(float(share))) * 100, 'f').rstrip('0').rstrip('.')}%"


def share_of(value: Any, name: object) -> Fraction:
    """A part of a budget that something is given."""
    share = exact(value, f"the share of {name}")
    if not 0 < share <= 1:
        found = "a share is above 0 and at most 1; what is asked must be measured"
        raise BadInput(f"a share of {value} was given to {name}", found, "Give it a part of the budget, or drop it")
    return share


def whole(value: Any, what: str, least: int, most: int | None = None) -> int:
    """An integer from `least` to `most`; a float such as 5.0 is refused: whoever wrote it did not mean a count."""
    try:
        number = index(value) if not isinstance(value, bool) else None
    except TypeError:
        number = None
    if number is None:
        raise BadInput(f"{called(what)} was given as {short(value)}", "it must be a whole number")
    if number < least:
        raise BadInput(f"{called(what, short(number))} was asked for", f"it must be at least {least}")
    if most is not None and number > most:
        raise BadInput(f"{called(what, short(number))} was asked for", f"it must be at most {most:,}")
    return number


def whole_of(word: str) -> int | None:
    """The whole number that a word writes in plain digits; None where it writes none. (To Python ² is a digit, too.)"""
    digits = word.strip().removeprefix("-")
    plain = digits.isascii() and digits.isdecimal() and len(digits) <= LARGEST_EXPONENT
    return int(word) if plain else None


def lasting(seconds: Any) -> float:
    """How long something may take; it need not end."""
    number: Any = seconds if isinstance(seconds, Real) and not isinstance(seconds, bool) else 0
    if not number > 0:
        asked = f"{called('seconds')} was given as {short(seconds)}"
        raise BadInput(asked, "it must be a number above zero", "Leave it out for a minute")
    try:
        return float(number)
    except OverflowError:
        return math.inf


def text(number: Fraction) -> str:
    """Exact and short: a decimal where it terminates soon, otherwise p/q."""
    for digits in range(16):
        if (number * 10**digits).denominator == 1:
            scaled = abs(int(number * 10**digits))
            sign = "-" if number < 0 else ""
            return sign + (f"{scaled // 10**digits}.{scaled % 10**digits:0{digits}d}" if digits else str(scaled))
    return f"{number.numerator}/{number.denominator}"


def few_digits(value: float, digits: int) -> str:
    """A number for people: so many digits that count, and no powers of ten where it is large."""
    return f"{float(f'{value:.{digits}g}'):,.12g}"


def decimal_above(number: Fraction, digits: int = 12) -> str:
    """A decimal not below `number`."""
    return text(Fraction(math.ceil(number * 10**digits), 10**digits))


def digits_above(number: Fraction, digits: int) -> str:
    """A number not below `number` of so many digits, however small: 2.2e-27."""
    rounded = Context(prec=digits, rounding=ROUND_CEILING).divide(
        Decimal(number.numerator), Decimal(number.denominator)
    )
    return f"{rounded:f}" if rounded.adjusted() >= -6 else f"{rounded:e}"


def root_above(square: int) -> Fraction:
    """The square root, rounded up."""
    return Fraction(math.isqrt(square * 10**24) + 1, 10**12)


def enclose(compute: Callable[[], arb], bits: int) -> Interval:
    """Rational bounds on what `compute` returns when run in ball arithmetic at about `bits` bits."""
    from flint import ctx

    with ctx.workprec(bits + 32):
        ball = compute()
        if not ball.is_finite():
            raise BadInput("a rigorous enclosure was needed", "the computation lost all precision")
        return _rational(ball.lower()), _rational(ball.upper())


def _rational(point: arb) -> Fraction:
    mantissa, exponent = point.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def arb_of(number: Fraction) -> arb:
    from flint import arb, fmpq

    return arb(fmpq(number.numerator, number.denominator))


def exp_bounds(exponent: Fraction, bits: int = 64) -> Interval:
    """Rationals lo <= e^exponent <= hi, apart by about 2^-bits of the value."""
    return enclose(lambda: arb_of(exponent).exp(), bits)


def log_bounds(number: Fraction, bits: int = 64) -> Interval:
    return enclose(lambda: arb_of(number).log(), bits)


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of smallest denominator in [low, high], 0 < low <= high (Stern and Brocot's tree)."""
    floor = low.numerator // low.denominator
    if floor == low:
        return low
    if floor + 1 <= high:
        return Fraction(floor + 1)
    return floor + 1 / simplest_between(1 / (high - floor), 1 / (low - floor))


@dataclass(frozen=True)
class Epsilon:
    """A privacy parameter: likelihoods of neighbouring tables may differ by a factor e^epsilon at most.

    Exactly one field is set: `value` if epsilon is rational, `ratio` if e^epsilon is (it was given as alpha).
    """

    value: Fraction | None = None
    ratio: Fraction | None = None

    def bounds(self, bits: int = 64) -> Interval:
        """Rationals around e^epsilon."""
        if self.ratio is not None:
            return self.ratio, self.ratio
        assert self.value is not None
        return exp_bounds(self.value, bits)

    def odds(self, bits: int = 40) -> Fraction:
        """The simplest rational r <= e^epsilon with log r >= epsilon (1 - 2^-bits), nearly: rounded towards privacy."""
        if self.ratio is not None:
            return self.ratio
        low, _ = self.bounds(2 * bits + 64)
        if low <= 1:  # a share so small cannot be told from none
            raise BadInput(
                "a share of the budget was asked for", "so small the noise would drown every count", "Give more"
            )
        return simplest_between(low - (low - 1) / 2**bits, low)

    def compare(self, one: Fraction, other: Fraction) -> int:
        """The sign of one - other * e^epsilon, decided exactly."""
        bits = 64
        while bits <= MOST_BITS:
            low, high = self.bounds(bits)
            at_low, at_high = one - other * low, one - other * high
            if (at_low > 0) == (at_high > 0) and (at_low < 0) == (at_high < 0):
                return (at_low > 0) - (at_low < 0)
            bits *= 2
        raise ArithmeticError("a rational would have to equal a transcendental number")

    def allows(self, ratio: Fraction) -> bool:
        """Whether ratio <= e^epsilon."""
        return self.compare(ratio, Fraction(1)) <= 0

    def ball(self) -> arb:
        """Epsilon in ball arithmetic, at the precision in force."""
        if self.value is not None:
            return arb_of(self.value)
        assert self.ratio is not None
        return arb_of(self.ratio).log()

    def rational(self, bits: int = 80) -> Fraction:
        """Epsilon itself, or a rational just below it."""
        if self.value is not None:
            return self.value
        assert self.ratio is not None
        return log_bounds(self.ratio, bits)[0]

    def times(self, factor: Fraction | int) -> Epsilon:
        """factor * epsilon, rounded down if it has no exact form."""
        if self.ratio is not None and Fraction(factor).denominator == 1:
            return Epsilon(ratio=self.ratio ** int(factor))
        return Epsilon(value=self.rational() * factor)

    def __float__(self) -> float:
        if self.value is not None:
            return float(self.value)
        assert self.ratio is not None
        if abs(self.ratio - 1) < Fraction(1, 2):  # there the logarithm of a rounded ratio would have few digits
            return math.log1p(float(self.ratio - 1))
        whole = self.ratio.numerator // self.ratio.denominator  # of an integer there is a logarithm, however large
        return math.log(whole if whole.bit_length() > FAR else float(self.ratio))

    def __repr__(self) -> str:
        return f"Epsilon({str(self)!r})"

    def __str__(self) -> str:
        """Exact where epsilon is rational; otherwise a decimal not below it."""
        if self.value is not None:
            return text(self.value)
        assert self.ratio is not None
        return decimal_above(log_bounds(self.ratio)[1])


def epsilon_of(epsilon: Number | Epsilon | None = None, alpha: Number | None = None) -> Epsilon:
    """The privacy parameter, from epsilon or from alpha = e^-epsilon; exactly one must be given."""
    if isinstance(epsilon, Epsilon) and alpha is None:
        return epsilon
    if (epsilon is None) == (alpha is None):
        raise BadInput(
            "a privacy parameter was needed", f"exactly one of {called('epsilon')} and {called('alpha')} must be given"
        )
    found = part_of_epsilon(epsilon, alpha)
    if found.ratio is not None and 1 - 1 / found.ratio < SMALLEST_EPSILON:
        asked = f"{called('alpha', quoted(str(alpha)))} was asked for"
        raise BadInput(asked, "so near 1 the noise would drown every count", "Give less")
    if found.value is not None and found.value < SMALLEST_EPSILON:
        asked = f"{called('epsilon', quoted(str(epsilon)))} was asked for"
        raise BadInput(asked, "below 1e-9 the noise would drown every count", "Give more")
    return found


def part_of_epsilon(epsilon: Any, alpha: Any) -> Epsilon:
    """The same of a part of one, such as the price of a unit: it may be smaller than any that can be asked for."""
    if alpha is not None:
        found = Epsilon(ratio=1 / probability(alpha, "alpha", open_ends=True))
        if float(found) > LARGEST_EPSILON:
            asked = f"{called('alpha', quoted(str(alpha)))} was asked for"
            raise BadInput(asked, f"an epsilon above {LARGEST_EPSILON} protects nobody")
        return found
    number = positive(epsilon, "epsilon")
    if number > LARGEST_EPSILON:
        asked = f"{called('epsilon', quoted(str(epsilon)))} was asked for"
        raise BadInput(asked, f"above {LARGEST_EPSILON} it protects nobody")
    return Epsilon(value=number)
