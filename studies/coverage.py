"""How often the intervals of `estimate` cover the truth, for every question and way, and how wide they are.

    python studies/coverage.py --repeats 200 --write

--write puts what is found into docs/estimating.md.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.progress import track

from discreet_lab.coverage import EPSILONS, WAYS, lines_of, of_one_setting, shapes
from discreet_lab.frontier.page import between

REPEATS, QUICK = 200, 2
MARKS = "study of coverage"


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path, default=Path("docs/estimating.md"), help="the page to write into")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--epsilons", nargs="*", default=EPSILONS, help="only these budgets")
    parser.add_argument("--ways", nargs="*", default=list(WAYS), help="only these ways")
    parser.add_argument("--questions", nargs="*", default=(), help="only these questions")
    parser.add_argument("--write", action="store_true", help="write the page anew")
    parser.add_argument("--quick", action="store_true", help="two repeats: whether it works, not what comes out")
    asked, _ = parser.parse_known_args(given)
    repeats = QUICK if asked.quick else asked.repeats
    every = enumerate(product(WAYS, shapes(), EPSILONS))  # numbered, so that a part of the study is a part of the whole
    settings = [(number, one) for number, one in every if one[0] in asked.ways and one[2] in asked.epsilons]
    covered, gained = [], []
    for number, one in track(settings, "coverage", console=Console(stderr=True), transient=True):
        rows, gain = of_one_setting(*one, repeats, number, asked.questions)
        covered += rows
        gained.append(gain)
        for row in rows:
            print(row, flush=True)
    lines = list(lines_of(covered, gained, repeats))
    print("\n".join(lines))
    if asked.write:
        page = asked.page.read_text(encoding="utf-8")
        asked.page.write_text(between(page, MARKS, lines), encoding="utf-8")


if __name__ == "__main__":
    main()
