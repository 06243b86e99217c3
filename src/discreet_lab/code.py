"""Which code made the runs of a study that are remembered."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

import discreet
import discreet_lab


@cache
def version_of(deciding: tuple[str, ...], deciding_lab: tuple[str, ...]) -> str:
    """Of these files and folders of the package and of the lab; comments and the breaking of lines do not count."""
    digest = hashlib.sha256()
    for package, names in ((discreet, deciding), (discreet_lab, deciding_lab)):
        folder = Path(str(package.__file__)).parent
        for name in names:
            path = folder / name
            for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
                digest.update(ast.dump(ast.parse(file.read_text(encoding="utf-8"))).encode())
    return digest.hexdigest()[:12]
