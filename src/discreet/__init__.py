"""discreet: tables of counts, published with exact differential privacy.

The contents, in the order of the story: a table comes in, is released, saved, verified and used.
"""

from discreet.build.explicit import explicit
from discreet.certify import Certificate, Witness, certify
from discreet.errors import BadInput, DiscreetError, Infeasible, MissingExtra, NotProven, OverBudget, SolverFailed
from discreet.guarantee import Guarantee
from discreet.io.example import example
from discreet.io.tables import read_table, table
from discreet.lattice.invariants import margin, sum_where, sums, total
from discreet.mechanism import Mechanism
from discreet.release import Release, release
from discreet.table import Schema, Table
from discreet.verify import Verification, verify

__all__ = [
    "BadInput",
    "Certificate",
    "DiscreetError",
    "Guarantee",
    "Infeasible",
    "Mechanism",
    "MissingExtra",
    "NotProven",
    "OverBudget",
    "Release",
    "Schema",
    "SolverFailed",
    "Table",
    "Verification",
    "Witness",
    "certify",
    "example",
    "explicit",
    "margin",
    "read_table",
    "release",
    "sum_where",
    "sums",
    "table",
    "total",
    "verify",
]
