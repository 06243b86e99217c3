"""The digests of what runs in a release folder, for src/discreet/report/known.py: `python tools/scripts.py`."""

from __future__ import annotations

from discreet.report import analysis
from discreet.report.explore import digest_of_shell, shell
from discreet.report.known import digest_of

if __name__ == "__main__":
    print(f"KNOWN_SHELLS    {digest_of_shell(*shell())}")
    print(f"KNOWN_ANALYSES  {digest_of(analysis())}")
