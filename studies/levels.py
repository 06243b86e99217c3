"""Margins at several levels, measured and combined: errors at every level, coverage, time and memory, and judged.

    python studies/levels.py --data DIR --repeats 10 --write

DIR holds the real tables (us_county_murders_2012.csv, us_vtd_race_2010_long.csv.gz, adult_targets.csv, adult_six.csv,
us_county_population_2010.csv, nc_sids_counties.csv); without it stand-ins take their place. Releases that were made are
remembered in --runs. mbi is compared with where it is installed (pip install mbi); it is no dependency.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.progress import track

from discreet_lab.levels.methods import BUDGETS, GROUPS, LevelsSetting
from discreet_lab.levels.page import verdict_lines, written
from discreet_lab.levels.runs import append, jobs_of, remembered
from discreet_lab.levels.scale import scale_of
from discreet_lab.levels.tables import study_tables
from discreet_lab.levels.verdicts import cells_of, verdicts

REPEATS, QUICK = 10, 2


def main(given: list[str] | None = None) -> None:
    asked, _ = arguments().parse_known_args(given)
    tables = study_tables(asked.data, asked.tables)
    settings = [LevelsSetting(table, budget) for table in tables for budget in asked.budgets]
    groups = [group for group in GROUPS if not asked.methods or set(group) & set(asked.methods)]
    asked.runs.parent.mkdir(parents=True, exist_ok=True)
    jobs = jobs_of(settings, QUICK if asked.quick else asked.repeats, remembered(asked.runs), groups)
    for job in track(jobs, "releasing", console=Console(stderr=True), transient=True):
        append(job.run(), asked.runs)
    if asked.only_run:
        return
    cells = cells_of(remembered(asked.runs), tables, asked.budgets)
    large = next((table for table in tables if table.large), None)
    scale = None if large is None else scale_of(large)
    print("\n".join(verdict_lines(verdicts(cells, scale))))
    if asked.write:
        page = asked.page.read_text(encoding="utf-8")
        asked.page.write_text(written(page, cells, tables, scale), encoding="utf-8")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, help="the folder with the real tables")
    parser.add_argument("--page", type=Path, default=Path("docs/levels.md"), help="the page to write into")
    parser.add_argument("--runs", type=Path, default=Path("out/levels.jsonl"), help="releases that were made")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--tables", nargs="*", default=[], help="only these tables")
    parser.add_argument("--budgets", nargs="*", default=list(BUDGETS), help="only these budgets")
    parser.add_argument("--methods", nargs="*", default=[], help="only these methods, and those made with them")
    parser.add_argument("--only-run", action="store_true", help="make releases, and judge nothing")
    parser.add_argument("--write", action="store_true", help="write the page anew")
    parser.add_argument("--quick", action="store_true", help="two repeats: whether it works, not what comes out")
    return parser


if __name__ == "__main__":
    main()
