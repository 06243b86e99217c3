"""Run every benchmark of this folder: `make bench`, or `python benchmarks/run.py core design`.

Figures are ratios measured in one run, since machines differ: `ours` and `other` are in the unit that is named, and
`ratio` = other / ours, so larger is better, unless a row says otherwise.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def main(names: list[str]) -> None:
    found = sorted(path.stem for path in HERE.glob("*.py") if path.stem != "run")
    for name in names or found:
        print(f"\n## {name}\n")
        for row in importlib.import_module(name).run():
            print(line(row), flush=True)


def line(row: dict[str, object]) -> str:
    cells = [f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()]
    return "- " + "; ".join(cells)


if __name__ == "__main__":
    main(sys.argv[1:])
