"""Keys that a spreadsheet would take for formulas: those that begin with =, +, -, @ (where Japanese is written, also in
full width), a tab or the end of a line.

They are published as they are, and said to be there; or, where that is asked for, with an apostrophe before them, which
readers of the folder take away again. Apostrophes before such a mark count as part of it, so that none is lost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.io.columns import beginning_with
from discreet.privacy.values import Remark

MARK = r"[=+\-@\t\r\n＝＋－＠]"
FORMULA = rf"^'*{MARK}"  # what gets one apostrophe more
LOOKED_AT = 1 << 16  # rows at the head of a column that tell whether its values are repeated
BEGINNINGS = np.isin(np.arange(256), list(b"'=+-@\t\r\n\xef"))  # of each byte, whether such a key may begin with it
ESCAPED = rf"^'('*{MARK})"


def distinct(column: Any) -> Any:
    """The values of a column (Arrow), each once; or all of them, where hardly any stands twice."""
    import pyarrow.compute as pc

    first = column.slice(0, LOOKED_AT)
    often = len(column) > LOOKED_AT and 2 * len(pc.unique(first)) < len(first)
    return pc.unique(column) if often else column


def formula_remarks(keys: Any, kind: str, excel_safe: bool) -> tuple[Remark, ...]:
    """Which key columns, as they will be written, hold such keys; names of columns, no value."""
    return formulas_in(formula_columns(keys, kind), excel_safe)


def formula_columns(keys: Any, kind: str) -> tuple[str, ...]:
    return tuple(name for name in keys.column_names if _any(keys.column(name), kind))


def formulas_in(names: Sequence[str], excel_safe: bool) -> tuple[Remark, ...]:
    """That these columns hold such keys."""
    if not names:
        return ()
    return (Remark.of("formula-keys-escaped" if excel_safe else "formula-keys", columns=", ".join(names)),)


def refuse_formula_names(names: Sequence[str]) -> None:
    """Columns go by their names, with nothing before them: one that reads as a formula cannot be made safe."""
    found = [name for name in names if re.match(FORMULA, name)]
    if found:
        told = f"the name of a column begins as a formula does: {', '.join(map(repr, found))}"
        raise BadInput("a table that is safe for spreadsheets was asked for", told, "Give it another name")


def is_escaped(remarks: tuple[Remark, ...]) -> bool:
    return any(one.code == "formula-keys-escaped" for one in remarks)


def escaped(keys: Any, kind: str) -> Any:
    """Key columns with an apostrophe before every such key."""
    import pyarrow.compute as pc

    return _changed(keys, kind, lambda text: pc.replace_substring_regex(text, f"({FORMULA})", r"'\1"))


def unescaped(keys: Any, kind: str) -> Any:
    """What `escaped` was made of."""
    import pyarrow.compute as pc

    return _changed(keys, kind, lambda text: pc.replace_substring_regex(text, ESCAPED, r"\1"))


def _changed(keys: Any, kind: str, change: Any) -> Any:
    for place, name in enumerate(keys.column_names):
        text = _text(keys.column(name), kind)
        if text is not None:
            keys = keys.set_column(place, name, change(text))
    return keys


def _any(column: Any, kind: str) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = _text(column, kind)
    if text is None:
        return False
    likely = beginning_with(text.cast(pa.string()), BEGINNINGS)
    return bool(pc.any(pc.match_substring_regex(likely, FORMULA)).as_py())


def _text(column: Any, kind: str) -> Any:
    """The column as readers of the file will see it: only Parquet has anything but text."""
    import pyarrow as pa

    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if kind == "parquet" and not text:
        return None
    return column if text else column.cast(pa.string())
