"""Noise laws, one file each. A new one is a file with a frozen dataclass under `@register`; nothing else changes."""

from __future__ import annotations

from discreet.laws.bounded import Bounded
from discreet.laws.digit import one_sided_geometric
from discreet.laws.gaussian import Gaussian
from discreet.laws.geometric import Geometric
from discreet.laws.law import (
    NoiseLaw,
    calibrated_laws,
    draw_noise,
    ending_epsilon,
    law_json,
    law_named,
    law_of_json,
    law_parameters,
    laws,
    least_epsilon,
    register,
)
from discreet.laws.staircase import Staircase
from discreet.privacy import Loss, Pure

__all__ = [
    "Bounded",
    "Gaussian",
    "Geometric",
    "NoiseLaw",
    "Staircase",
    "calibrated_laws",
    "draw_noise",
    "ending_epsilon",
    "law_json",
    "law_named",
    "law_of_json",
    "law_parameters",
    "laws",
    "least_epsilon",
    "one_sided_geometric",
    "register",
    "standard_noise",
]  # fmt: skip


def standard_noise(loss: Loss, distance: int = 1, square: int = 1) -> NoiseLaw:
    """The usual noise for a loss, when answers change by `distance` in all and by `square` in squared length.

    Geometric for pure privacy, where the distance counts; discrete Gaussian for the rest, where the square does.
    """
    return Geometric.calibrated(loss, distance) if isinstance(loss, Pure) else Gaussian.of_square(loss, square)
