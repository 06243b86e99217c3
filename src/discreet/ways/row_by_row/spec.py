"""The options of a release row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.errors import BadInput, choose
from discreet.numbers import whole
from discreet.options import option
from discreet.ways import WaySpec
from discreet.ways.keep_distribution.spec import AUTO, count_or_word

MATRICES = ("uniform", "randomized-response", "explicit-fair", "exponential")
LAWS = ("geometric", "discrete-gaussian", "staircase")  # ours; a law that is registered is one too
SIGNED = "signed-geometric"  # without an end, so that sums stay unbiased
FILES = (".json", ".csv", ".txt", ".npz")


def names() -> tuple[str, ...]:
    """Every mechanism that is known by name: exact noise of a registered law, clamped, or a matrix."""
    from discreet.laws import laws

    return (*laws(), SIGNED, *MATRICES)


@dataclass(frozen=True)
class RowByRow(WaySpec):
    """Every row by itself, through one mechanism: by name, or of your own."""

    name: ClassVar[str] = "row-by-row"

    mechanism: Any = option(
        "geometric",
        "a name; or a design, a mechanism, a matrix of probabilities, or a file with one, certified before use",
        values=lambda: (*LAWS, SIGNED, *MATRICES), metavar="NAME|FILE",
    )  # fmt: skip
    max_count: int | None = option(None, "the largest count, larger ones are treated as it", read=count_or_word)

    @classmethod
    def knows(cls, mechanism: str) -> bool:
        return mechanism in names() or is_file(mechanism)

    def __post_init__(self) -> None:
        if isinstance(self.mechanism, str) and not self.file:
            choose(self.mechanism, names(), "mechanism")
        if str(self.max_count) == AUTO and self.mechanism in ("geometric", SIGNED):
            object.__setattr__(self, "max_count", None)
        if str(self.max_count) == AUTO:
            raise BadInput(
                f"the mechanism {self.shown!r} was asked for with max_count 'auto'",
                "it has no stage that could measure the largest count",
                "Give max_count as a number, or use mechanism 'transport'",
            )
        if self.max_count is not None:
            object.__setattr__(self, "max_count", whole(self.max_count, "max_count", 1))

    @property
    def file(self) -> bool:
        """Whether the mechanism is in a file."""
        return isinstance(self.mechanism, str) and is_file(self.mechanism)

    @property
    def own(self) -> bool:
        """Whether it is a mechanism of the user's."""
        return self.file or not isinstance(self.mechanism, str)

    @property
    def shown(self) -> str:
        return self.mechanism if isinstance(self.mechanism, str) else "of your own"


def is_file(word: str) -> bool:
    return word.lower().endswith(FILES)
