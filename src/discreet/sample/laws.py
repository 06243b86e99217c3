"""Where the laws were: now in `discreet.laws`."""

# until the last caller has moved
from discreet.laws import Gaussian, Geometric, Staircase

__all__ = ["Gaussian", "Geometric", "Staircase"]
