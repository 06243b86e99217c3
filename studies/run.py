"""All slow studies, one after the other: python studies/run.py [--data DIR] [--repeats N] [--quick] [--write]

What one study does not know is left for the others.
"""

from __future__ import annotations

import runpy
from pathlib import Path

if __name__ == "__main__":
    for study in sorted(Path(__file__).parent.glob("*.py")):
        if study.name != Path(__file__).name:
            runpy.run_path(str(study), run_name="__main__")
