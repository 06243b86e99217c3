"""How often the intervals of `estimate` cover the truth, for every question and way, and how wide they are.

    python studies/coverage.py --repeats 200 --write

--write puts what is found into docs/estimating.md. --runs FILE writes every setting down once it is done, and takes
those that are there already: so a study can be made in parts, and gone on with.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.progress import track

from discreet_lab.coverage import EPSILONS, WAYS, Covered, Gained, lines_of, of_one_setting, shapes
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
    parser.add_argument("--runs", type=Path, help="a file of what was found so far, to go on with")
    parser.add_argument("--write", action="store_true", help="write the page anew")
    parser.add_argument("--quick", action="store_true", help="two repeats: whether it works, not what comes out")
    asked, _ = parser.parse_known_args(given)
    repeats = QUICK if asked.quick else asked.repeats
    every = enumerate(product(WAYS, shapes(), EPSILONS))  # numbered, so that a part of the study is a part of the whole
    settings = [(number, one) for number, one in every if one[0] in asked.ways and one[2] in asked.epsilons]
    covered, gained, before = [], [], _found_before(asked.runs)
    for number, one in track(settings, "coverage", console=Console(stderr=True), transient=True):
        key = (number, repeats, *asked.questions)
        rows, gain = before.get(key) or of_one_setting(*one, repeats, number, asked.questions)
        if asked.runs is not None and key not in before:
            with asked.runs.open("a", encoding="utf-8") as file:
                print(json.dumps([key, [asdict(row) for row in rows], asdict(gain)]), file=file)
        covered += rows
        gained.append(gain)
        for row in rows:
            print(row, flush=True)
    lines = list(lines_of(covered, gained, repeats))
    print("\n".join(lines))
    if asked.write:
        page = asked.page.read_text(encoding="utf-8")
        asked.page.write_text(between(page, MARKS, lines), encoding="utf-8")


def _found_before(file: Path | None) -> dict[tuple[object, ...], tuple[list[Covered], Gained]]:
    """By the number of the setting, the repeats and the questions."""
    if file is None or not file.exists():
        return {}
    lines = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    return {tuple(key): ([Covered(**row) for row in rows], Gained(**gain)) for key, rows, gain in lines}


if __name__ == "__main__":
    main()
