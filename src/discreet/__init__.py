"""discreet: tables of counts, published with exact differential privacy.

The contents, in the order of the story: a table comes in, is released, saved, verified and used; then the parts that
make it, from the design of mechanisms to the ledger.
"""

# isort: skip_file
from importlib import import_module
from typing import TYPE_CHECKING

from discreet.errors import BadInput, Discloses, DiscreetError, Infeasible, MissingExtra, NotProven
from discreet.errors import LedgerWarning, OverBudget, SolverFailed
from discreet.table import Schema, Table
from discreet.io.tables import read_table, table
from discreet.io.example import example
from discreet.count import count
from discreet.choose import choose
from discreet.plan import Plan, plan
from discreet.lattice.invariants import margin, sum_where, sums, total
from discreet.privacy import Approximate, Concentrated, Guarantee, Neighbours, Pure
from discreet.ways.by_size.spec import BySize
from discreet.ways.keep_distribution.spec import KeepDistribution
from discreet.ways.row_by_row.spec import RowByRow
from discreet.ways.keep_sums.spec import KeepSums
from discreet.ways.measure.spec import Measure
from discreet.levels.asked import cells
from discreet.release import release
from discreet.released import Release
from discreet.run import run
from discreet.spec.read import read_spec
from discreet.spec.values import LedgerSpec, Output, ReleaseSpec, TableSpec
from discreet.verify import Verification, verify
from discreet.estimate import Estimate, estimate
from discreet.ledger import ledger
from discreet.mechanism import Mechanism
from discreet.certify import Certificate, Witness, certify
from discreet.compare import Comparison, compare
from discreet.evaluate.study import Evaluation, evaluate

if TYPE_CHECKING:
    from discreet import plot
    from discreet.build.bounded_inputs import BoundedMechanism, bounded_mechanism, published_bounded_mechanism
    from discreet.build.bounded_noise import BoundedNoise, bounded_noise
    from discreet.build.construct import Construction, construct
    from discreet.build.design import Design, design, fixed_point, target
    from discreet.build.explicit import explicit
    from discreet.distribution.private import PrivateDistribution, private_distribution
    from discreet.io.files import read_mechanism
    from discreet.ledger.book import Ledger
    from discreet.many import release_many
    from discreet.parts.release import release_parts
    from discreet.parts.spark import Spark
    from discreet.record.release import About

    __version__: str

# loaded when first asked for: most users never need them
LATER = {
    "discreet.build.bounded_inputs": ("BoundedMechanism", "bounded_mechanism", "published_bounded_mechanism"),
    "discreet.build.bounded_noise": ("BoundedNoise", "bounded_noise"),
    "discreet.build.construct": ("Construction", "construct"),
    "discreet.build.design": ("Design", "design", "fixed_point", "target"),
    "discreet.build.explicit": ("explicit",),
    "discreet.distribution.private": ("PrivateDistribution", "private_distribution"),
    "discreet.io.files": ("read_mechanism",),
    "discreet.ledger.book": ("Ledger",),
    "discreet.many": ("release_many",),
    "discreet.parts.release": ("release_parts",),
    "discreet.parts.spark": ("Spark",),
    "discreet.record.release": ("About",),
}


def _version() -> str:
    """What is installed; read when asked for, because finding the metadata takes longer than it is worth to others."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("discreet")
    except PackageNotFoundError:  # the sources alone, never installed: nobody can say which version they are
        return "0+unknown"


def __dir__() -> list[str]:
    """The public names and nothing else: what `dc.<tab>` should offer."""
    return list(__all__)


def __getattr__(name: str) -> object:
    if name == "__version__":
        return _version()
    if name == "plot":
        return import_module("discreet.plot")
    for module, names in LATER.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"discreet has no {name!r}")


__all__ = [
    "About", "Approximate", "BadInput", "BoundedMechanism", "BoundedNoise", "BySize", "Certificate", "Comparison",
    "Concentrated", "Construction", "Design", "Discloses", "DiscreetError", "Estimate", "Evaluation", "Guarantee",
    "Infeasible", "KeepDistribution", "KeepSums", "Ledger", "LedgerSpec", "LedgerWarning", "Measure", "Mechanism",
    "MissingExtra", "Neighbours", "NotProven", "Output", "OverBudget", "Plan", "PrivateDistribution", "Pure",
    "Release", "ReleaseSpec", "RowByRow", "Schema", "SolverFailed", "Spark", "Table", "TableSpec", "Verification",
    "Witness", "bounded_mechanism", "bounded_noise", "cells", "certify", "choose", "compare", "construct", "count",
    "design", "estimate", "evaluate", "example", "explicit", "fixed_point", "ledger", "margin", "plan", "plot",
    "private_distribution", "published_bounded_mechanism", "read_mechanism", "read_spec", "read_table", "release",
    "release_many", "release_parts", "run", "sum_where", "sums", "table", "target", "total", "verify",
]  # fmt: skip
