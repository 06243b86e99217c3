"""The default against the pipeline of Kohli and Laskowski, on their tables and over their whole grid of epsilons.

    python studies/published_grid.py --data DIR --repeats 20 --write

DIR holds us_county_murders_2012.csv and kl_histograms.csv; stand-ins take the place of what is not there. --write
puts the table into docs/frontier.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from discreet_lab.baselines.two_stage import EPSILONS
from discreet_lab.experiment import RunSetting
from discreet_lab.experiments.fixed_point import tables
from discreet_lab.frontier.page import between
from discreet_lab.published_grid import grid_runs, lines_of

REPEATS, QUICK = 20, 2
MARKS = "the published grid"


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, help="the folder with the real tables")
    parser.add_argument("--page", type=Path, default=Path("docs/frontier.md"), help="the page to write into")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--epsilons", nargs="*", type=float, default=EPSILONS, help="only these budgets")
    parser.add_argument("--write", action="store_true", help="write the page anew")
    parser.add_argument("--quick", action="store_true", help="two repeats: whether it works, not what comes out")
    asked, _ = parser.parse_known_args(given)
    repeats = QUICK if asked.quick else asked.repeats
    inputs = tables(RunSetting(data=asked.data))
    found = {name: grid_runs(bins, tuple(asked.epsilons), repeats) for name, (bins, _) in inputs.items()}
    lines = list(lines_of(found, [source for _, source in inputs.values()], repeats))
    print("\n".join(lines))
    if asked.write:
        page = asked.page.read_text(encoding="utf-8")
        asked.page.write_text(between(page, MARKS, lines), encoding="utf-8")


if __name__ == "__main__":
    main()
