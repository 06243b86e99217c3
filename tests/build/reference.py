"""The slow obvious version: every entry a variable, every rule a row, solved by scipy."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from discreet.costs import cost_matrix
from discreet.requirements import parse_requirement


def plain_program(max_count, odds, cost="wrong", require=(), prior=None, delta=0.0, minimax=False):
    """(least cost, matrix), or None if infeasible."""
    n = max_count + 1
    shares = np.full(n, 1 / n) if prior is None else np.asarray(prior, float)
    costs = cost_matrix(cost, n)
    extra = 2 * (n - 1) * n if delta else 0
    width = n * n + extra + 1
    equal, equal_to, below, below_to = [], [], [], []

    def line(terms):
        row = np.zeros(width)
        for column, value in terms:
            row[column] += float(value)
        return row

    for i in range(n):
        equal.append(line((i * n + j, 1) for j in range(n)))
        equal_to.append(1.0)
    for item in require:
        for row in parse_requirement(item, prior).rows(n):
            terms = line((i * n + j, c) for (i, j), c in zip(row.cells, row.coefficients))
            (equal if row.sense == "==" else below).append(terms)
            (equal_to if row.sense == "==" else below_to).append(float(row.bound))
    column = n * n
    for i in range(n - 1):
        for one, other in ((i, i + 1), (i + 1, i)):
            start = column
            for j in range(n):
                terms = [(one * n + j, 1), (other * n + j, -float(odds))]
                if delta:
                    terms.append((column, -1))
                    column += 1
                below.append(line(terms))
                below_to.append(0.0)
            if delta:
                below.append(line((k, 1) for k in range(start, column)))
                below_to.append(float(delta))
    if minimax:
        price = line([(width - 1, 1)])
        for i in range(n):
            below.append(line([*((i * n + j, n * shares[i] * costs[i, j]) for j in range(n)), (width - 1, -1)]))
            below_to.append(0.0)
    else:
        price = np.concatenate([(shares[:, None] * costs).ravel(), np.zeros(extra + 1)])
    answer = linprog(price, np.array(below), below_to, np.array(equal), equal_to, bounds=(0, None), method="highs")
    return (answer.fun, answer.x[: n * n].reshape(n, n)) if answer.status == 0 else None
