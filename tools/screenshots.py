"""Take the screenshots of the documentation anew: `make screenshots`.

The tests of the page and of the notebook take them, in a real browser; here they get the names that the pages have."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
TAKEN = {  # in the documentation, and by the tests
    "page-contents.png": "desk-2-contents.png", "page-keep.png": "desk-3-keep.png", "page-plan.png": "desk-4-plan.png",
    "page-result.png": "desk-6-result.png", "notebook.png": "notebook.png",
}  # fmt: skip
TESTS = ("tests/web/test_browser.py::test_the_example_from_upload_to_a_verified_folder", "tests/web/test_notebook.py")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DISCREET_SCREENSHOTS": folder}
        command = [sys.executable, "-m", "pytest", "-q", *TESTS]
        subprocess.run(command, check=True, cwd=ROOT, env=environment)
        lacking = [taken for taken in TAKEN.values() if not (Path(folder) / taken).is_file()]
        if lacking:
            raise SystemExit(f"not taken (is there a Chromium?): {', '.join(lacking)}")
        for shown, taken in TAKEN.items():
            shutil.copyfile(Path(folder) / taken, PICTURES / shown)
    print(f"{len(TAKEN)} pictures in {PICTURES}")


if __name__ == "__main__":
    main()
