"""Both errors of a release, by every method, over many tables and budgets: paired, with intervals, and judged.

    python studies/frontier.py --data DIR --repeats 20 --write

DIR holds the real tables (us_county_murders_2012.csv, nc_sids_counties.csv, us_vtd_race_2010_long.csv.gz); without it
the example table and stand-ins take their place. Releases that were made are remembered in --runs, so a study that was
stopped goes on where it was, and more repeats are added to those there are.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from discreet.evaluate.pool import outcomes
from discreet_lab.frontier.page import picture, verdict_words, written
from discreet_lab.frontier.runs import EPSILONS, append, cells_of, jobs_of, remembered, run_job
from discreet_lab.frontier.tables import some_tables
from discreet_lab.frontier.verdicts import judged, verdicts

REPEATS, QUICK = 20, 4


def main(given: list[str] | None = None) -> None:
    asked, _ = arguments().parse_known_args(given)
    tables = some_tables(tuple(asked.shapes), asked.data)
    repeats = QUICK if asked.quick else asked.repeats
    asked.runs.parent.mkdir(parents=True, exist_ok=True)
    jobs = jobs_of(cells_of(tables, asked.epsilons), repeats, remembered(asked.runs))
    for _, runs in outcomes(run_job, jobs, "releasing", asked.workers):
        append(runs, asked.runs)
    cells = judged(remembered(asked.runs), tables)
    for verdict in verdicts(cells):
        print(f"{verdict.name}: {verdict_words(verdict)}")
    if asked.write:
        page = asked.out / "frontier.md"
        page.write_text(written(page.read_text(encoding="utf-8"), cells, tables), encoding="utf-8")
        picture(cells, asked.out / "pictures" / "frontier.svg")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, help="the folder with the real tables")
    parser.add_argument("--out", type=Path, default=Path("docs"), help="where frontier.md and pictures are")
    parser.add_argument("--runs", type=Path, default=Path("out/frontier.jsonl"), help="releases that were made")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--workers", type=int, default=None, help="processes; as many as there are cores")
    parser.add_argument("--shapes", nargs="*", default=[], help="only these tables")
    parser.add_argument("--epsilons", nargs="*", default=EPSILONS, help="only these budgets")
    parser.add_argument("--write", action="store_true", help="write frontier.md and its picture anew")
    parser.add_argument("--quick", action="store_true", help="four repeats: whether it works, not what comes out")
    return parser


if __name__ == "__main__":
    main()
