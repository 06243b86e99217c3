"""stub"""

from __future__ import annotations

from typing import Any, Protocol

from discreet.encode import noise_json as law_json  # noqa
from discreet.encode import noise_of as law_of_json
from discreet.sample.laws import Gaussian, Geometric, Staircase  # noqa


class NoiseLaw(Protocol):
    def below(self, k: int, bits: int) -> tuple[int, int]: ...
