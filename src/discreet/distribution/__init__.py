"""Stage one, the distribution of counts: privatizers, projections, a bought max_count, the split, and refinement."""

from importlib import import_module
from typing import TYPE_CHECKING

from discreet.distribution.max_count import MaxCount, private_max_count
from discreet.distribution.privatizer import privatizers
from discreet.distribution.refine import refine
from discreet.distribution.split import default_split, kl_split

if TYPE_CHECKING:
    from discreet.distribution.private import PrivateDistribution, private_distribution

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


def __getattr__(name: str) -> object:
    """Loaded when first asked for: it knows the ledger, and what proves a release must not."""
    if name in ("PrivateDistribution", "private_distribution"):
        return getattr(import_module("discreet.distribution.private"), name)
    raise AttributeError(f"discreet.distribution has no {name!r}")
