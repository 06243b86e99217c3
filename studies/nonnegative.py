"""Kept sums without negative counts, every way of it: errors, biases, zeros and time, on real tables.

    python studies/nonnegative.py --data DIR --repeats 20 --write

DIR holds the real tables (us_vtd_race_2010_long.csv.gz, us_county_murders_2012.csv, adult_six.csv,
nc_sids_counties.csv); stand-ins take the place of those that are not there. --write puts what is found into
docs/invariants.md.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.progress import track

from discreet_lab.frontier.page import between
from discreet_lab.nonnegative import EPSILONS, METHODS, lines_of, studied, tables

REPEATS, QUICK = 20, 2
MARKS = "study of not being negative"


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, help="the folder with the real tables")
    parser.add_argument("--page", type=Path, default=Path("docs/invariants.md"), help="the page to write into")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--epsilons", nargs="*", default=EPSILONS, help="only these budgets")
    parser.add_argument("--tables", nargs="*", default=[], help="only these tables")
    parser.add_argument("--write", action="store_true", help="write the page anew")
    parser.add_argument("--quick", action="store_true", help="two repeats: whether it works, not what comes out")
    asked, _ = parser.parse_known_args(given)
    chosen = [one for one in tables(asked.data) if not asked.tables or one.name in asked.tables]
    cells = list(product(chosen, asked.epsilons, METHODS))
    repeats = QUICK if asked.quick else asked.repeats
    progress = track(cells, "releasing", console=Console(stderr=True), transient=True)
    found = [studied(table, epsilon, method, repeats) for table, epsilon, method in progress]
    lines = list(lines_of(found, chosen))
    print("\n".join(lines))
    if asked.write:
        page = asked.page.read_text(encoding="utf-8")
        asked.page.write_text(between(page, MARKS, lines), encoding="utf-8")


if __name__ == "__main__":
    main()
