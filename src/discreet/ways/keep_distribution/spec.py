"""The options of a release that keeps the distribution of counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

from discreet.errors import BadInput, called, choose, short
from discreet.numbers import Number, exact, whole, whole_of
from discreet.options import option, spelt_fields
from discreet.ways import WaySpec, mechanism_names

MAPPED = ("transport", "rank")  # noise, then a map onto the distribution
CONSTRUCTED = (
    "unfixed", "heuristic-max", "heuristic-min", "heuristic-sandwich", "heuristic-best", "fixed-point-simplex",
    "fixed-point-interior", "column-generation",
)  # fmt: skip  # a mechanism built for the distribution, for each row
BASES = ("geometric", "gaussian", "staircase")  # ours; a law that is registered is one too
PRIVATIZERS = ("cumulative", "cyclic-laplace", "hierarchical", "laplace", "privelet", "sorted")  # ours, too
AUTO = "auto"  # another word for leaving max_count out
CUMULATIVE = "cumulative"  # the privatizer whose measurements refinement understands
LARGEST_MAPPED = 100_000  # noisy counts beyond this are left as they are: no distribution is worth keeping so fine
SIGNED = "signed"  # the name of what leaves noisy values as they are
FAVORS = ("balance", "counts", "distribution")
WEIGHTS = {"counts": 0.0, "distribution": math.inf}  # of the distribution's error; `balance` weighs by what it sees
LARGEST_CONSTRUCTED = 800  # counts: with weights of 40 digits a matrix just fits what a record may hold


def bases() -> tuple[str, ...]:
    """Noise whose price can be split: pure, or in rho; that of any other is a delta of its own."""
    from discreet.laws import calibrated_laws, law_named

    gaussian = "discrete-gaussian"
    known = (name for name in calibrated_laws() if name == gaussian or law_named(name).pure)
    return tuple("gaussian" if name == gaussian else name for name in known)


def exact_privatizers() -> tuple[str, ...]:
    from discreet.distribution.privatizer import exact_privatizers

    return tuple(exact_privatizers())


def _check_privatizer(name: str) -> None:
    from discreet.distribution.privatizer import privatizers

    known = exact_privatizers()
    if isinstance(name, str) and name not in known and name in privatizers():
        found = "its noise is continuous: what it promises holds for real numbers, and no computer draws them"
        raise BadInput(
            f"the privatizer {name!r} was asked for in a release",
            found,
            f"Use one that is exact: {', '.join(known)}; rho or delta give them discrete Gaussian noise",
        )
    choose(name, known, "privatizer")


def count_or_word(word: str) -> int | str:
    """A whole number where it is one; anything else is left for the spec to judge."""
    number = whole_of(word)
    return word if number is None else number


def weight_of(word: object) -> float | Literal["inf"]:
    """A weight: a number that is not negative, or infinity."""
    if isinstance(word, (str, float, Decimal)) and str(word).strip().lower() in ("inf", "infinity", "+inf"):
        return "inf"
    try:
        number = float(exact(word, "lam"))  # type: ignore[arg-type]
    except OverflowError:
        return "inf"
    if number < 0:
        raise BadInput(
            f"{called('lam', word)} was asked for", "a weight is not negative", "Give 0, a positive number or 'inf'"
        )
    return number


@spelt_fields
@dataclass(frozen=True)
class KeepDistribution(WaySpec):
    """Noise on every row, then the counts that err least: themselves, and the distribution of all of them."""

    name: ClassVar[str] = "keep-distribution"

    max_count: int | str | None = option(
        None,
        "how far the distribution is kept, larger counts keep their own noise; 'auto' or left out: read off the noisy "
        "values",
        read=count_or_word,
    )
    favor: str | None = option(
        None,
        "which error to make small: balance (both, neither above that of the noisy counts by more than a hundredth), "
        "counts, or distribution (as the paper does, with a share of the budget)",
        values=lambda: FAVORS,
        usual="balance",
    )
    lam: Number | Literal["inf"] | None = option(
        None, "in place of favor: the weight of the distribution's error against that of the counts, or 'inf'"
    )
    signed: bool = option(False, "leave the noisy values as they are, negative ones too", kind=bool, flag="--signed")
    top_code: bool = option(
        False, "treat counts above max_count as max_count, before the noise", kind=bool, flag="--top-code"
    )
    mechanism: str = option(
        "transport",
        "how rows come to the distribution: noise and a map, or a mechanism constructed for it",
        values=lambda: (*MAPPED, *CONSTRUCTED),
        open=True,
    )
    consistent: bool | None = option(
        None, "follow the distribution so closely that the table has exactly the published one",
        kind=bool, flag="--consistent/--independent",
    )  # fmt: skip
    split: Number | None = option(None, "share of the budget for the distribution, at least 0 and below 1")
    refine: bool | None = option(
        None, "estimate the distribution from the noisy rows: free", kind=bool, flag="--refine/--no-refine"
    )
    base: str | None = option(
        None,
        "noise under the map; if not given, geometric for epsilon, gaussian for rho",
        values=lambda: BASES,
        open=True,
        usual="geometric",
    )
    privatizer: str = option(
        CUMULATIVE, "how the distribution is measured", values=lambda: PRIVATIZERS, open=True
    )  # fmt: skip

    def __post_init__(self) -> None:
        name = "transport" if self.mechanism is None else self.mechanism
        if not isinstance(name, str) or name not in (*MAPPED, *CONSTRUCTED):
            shown = choose(name, mechanism_names(), "mechanism") if isinstance(name, str) else "of your own"
            found = "it draws every row by itself and keeps no distribution"
            raise BadInput(f"the mechanism {shown!r} was asked for to keep the distribution", found, "Use RowByRow")
        self.check_options()
        if name == "rank":
            if self.consistent is False:
                found = "rank is another word for consistent"
                raise BadInput("the mechanism 'rank' was asked for, but not consistent", found, "Use 'transport'")
            name = "transport"
            object.__setattr__(self, "consistent", True)
        object.__setattr__(self, "mechanism", name)
        if self.base is not None:
            choose(self.base, bases(), "base noise")
        if not isinstance(self.privatizer, str) or self.privatizer != CUMULATIVE:
            _check_privatizer(self.privatizer)
        if self.split is not None:
            object.__setattr__(self, "split", _share(self.split))
        self._check_range()
        self._check_aim()
        if self.refine and self.privatizer != CUMULATIVE:
            found = "refinement takes the measurements of 'cumulative' only"
            asked = f"{called('refine')} was asked for with the privatizer {self.privatizer!r}"
            raise BadInput(asked, found, f"Leave {called('refine')} out")
        if name != "transport":
            self._refuse_for_constructed(name)

    def _check_range(self) -> None:
        if isinstance(self.max_count, str) and self.max_count == AUTO:
            object.__setattr__(self, "max_count", None)
        if isinstance(self.max_count, str):
            raise BadInput(
                f"{called('max_count', self.max_count)} was asked for", "it must be a whole number or 'auto'"
            )
        if self.max_count is not None:
            object.__setattr__(self, "max_count", whole(self.max_count, "max_count", 1))
            if self.max_count > LARGEST_MAPPED:
                raise too_fine(self.max_count)
        if self.cut is None and self.top_code:
            raise BadInput(
                f"{called('top_code')} was asked for", "nobody said where to cut", f"Give {called('max_count')}"
            )
        if self.top is None and self.privatizer != CUMULATIVE:
            found = "it measures the distribution over a known range"
            raise BadInput(
                f"the privatizer {self.privatizer!r} was asked for without {called('max_count')}",
                found,
                f"Give {called('max_count')}",
            )

    def _check_aim(self) -> None:
        if self.lam is not None:
            object.__setattr__(self, "lam", weight_of(self.lam))
        aims = [name for name in ("favor", "lam", "signed") if getattr(self, name)] + ["lam"] * (self.lam == 0)
        if len(aims) > 1:
            raise BadInput(
                f"{' and '.join(map(called, aims))} were asked for",
                "each says what becomes of the counts",
                "Give one of them",
            )
        self._refuse_for_signed()
        follows = self.mechanism == "transport" and (self.consistent or not self.refined)
        if self.weight != math.inf and follows and aims and not self.signed:
            found = "the table then follows the measured distribution, whatever that costs the counts"
            asked = f"{called(aims[0])} was asked for with {called('consistent')} or without refinement"
            raise BadInput(asked, found, f"Drop {called(aims[0])}")

    def _refuse_for_signed(self) -> None:
        """What makes no sense where noise is left as it is."""
        if not self.signed:
            return
        others = {
            called("consistent"): bool(self.consistent),
            called("refine", False): self.refine is False,
            f"the privatizer {self.privatizer!r}": self.privatizer != CUMULATIVE,
        }
        signed = called("signed")
        for word, asked in others.items():
            if asked:
                found = "nothing is mapped where noise is left as it is"
                raise BadInput(f"{signed} and {word} were asked for", found, f"Drop {signed}, or {word}")

    def _refuse_for_constructed(self, name: str) -> None:
        """What a constructed mechanism cannot do."""
        if self.max_count is None:
            raise BadInput(
                f"the mechanism {name!r} was asked for", f"it needs a {called('max_count')}", "Give a number"
            )
        for word in ("favor", "lam", "signed"):
            if getattr(self, word) is not None and getattr(self, word) is not False:
                asked = f"{called(word)} was asked for with {name!r}"
                raise BadInput(asked, "it draws rows by a matrix", "Use 'transport'")
        if name != "unfixed" and self.top is not None and self.top > LARGEST_CONSTRUCTED:
            found = f"it is a matrix, and larger ones than for counts up to {LARGEST_CONSTRUCTED} may not be verified"
            raise BadInput(
                f"the mechanism {name!r} was asked for",
                found,
                f"Give a smaller {called('max_count')}, or use 'transport'",
            )
        if self.refine:
            found = "only mapped noise can be refined"
            raise BadInput(f"refinement was asked for with {name!r}", found, "Use 'transport'")
        if self.base not in (None, "geometric"):
            asked = f"{called('base')} was asked for with {name!r}"
            raise BadInput(asked, "it is built for pure epsilon", "Use 'transport'")
        if self.consistent:
            asked = f"{called('consistent')} was asked for with {name!r}"
            raise BadInput(asked, "only ranks keep it", "Use 'transport'")

    @cached_property
    def top(self) -> int | None:
        """How far the distribution is kept, where it was said."""
        return self.max_count if isinstance(self.max_count, int) else None

    @cached_property
    def cut(self) -> int | None:
        """The count that larger ones are treated as, if they are."""
        return self.top if self.top_code or self.mechanism != "transport" else None

    @cached_property
    def refined(self) -> bool:
        """Refinement takes numbers of rows with a count of at most 0, 1, ...; other measurements stand alone."""
        if self.refine is None:
            return self.mechanism == "transport" and self.privatizer == CUMULATIVE
        return self.refine

    @cached_property
    def aim(self) -> str:
        """Which error is made small; `lam` where a weight was given."""
        if self.lam is not None:
            return "lam"
        follows = self.consistent or not self.refined
        return self.favor or ("distribution" if follows else "balance")

    @cached_property
    def weight(self) -> float | None:
        """Of the distribution's error; None: as balance finds it."""
        return float(self.lam) if self.lam is not None else WEIGHTS.get(self.aim)


def too_fine(top: int) -> BadInput:
    return BadInput(
        f"{called('max_count', short(top))} was asked for",
        f"the distribution of counts is kept up to {LARGEST_MAPPED:,} only",
        f"Leave {called('max_count')} out, or use mechanism 'geometric'",
    )


def _share(value: Number) -> Fraction:
    number = exact(value, "split")
    if not 0 <= number < 1:
        found = "the share of the distribution must be at least 0 and below 1"
        raise BadInput(f"{called('split', value)} was asked for", found)
    return number
