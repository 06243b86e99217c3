"""Stage one, the distribution of counts: privatizers, projections, a bought max_count, the split, and refinement."""

from discreet.distribution.max_count import MaxCount, private_max_count
from discreet.distribution.private import PrivateDistribution, private_distribution
from discreet.distribution.privatizer import privatizers
from discreet.distribution.refine import refine
from discreet.distribution.split import default_split, kl_split

__all__ = [
    "MaxCount",
    "PrivateDistribution",
    "default_split",
    "kl_split",
    "private_distribution",
    "private_max_count",
    "privatizers",
    "refine",
]
