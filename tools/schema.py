"""Write the JSON Schema of release.json into the package: `python tools/schema.py`, after a change of the record."""

from __future__ import annotations

import json
from pathlib import Path

import discreet
from discreet.record.schema import release_schema

if __name__ == "__main__":
    path = Path(discreet.__file__).parent / "release.schema.json"
    path.write_text(json.dumps(release_schema(), indent=1) + "\n")
