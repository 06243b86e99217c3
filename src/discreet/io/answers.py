"""Answers as frames, and files of them."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discreet.arrays import Flags, Floats, Integers
from discreet.errors import BadInput

BETWEEN = "\x1f"  # joins texts of several columns: a mark that no key has


def answer_frame(
    keys: Any, estimate: Floats, low: Floats, high: Floats, level: float, exact: Flags,
    more: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """The key columns, if any, and the numbers beside them, as an Arrow table."""
    import pyarrow as pa

    columns = {} if keys is None else {name: keys.column(name) for name in keys.column_names}
    numbers = {"estimate": estimate, "low": low, "high": high, "level": np.full(len(estimate), level), "exact": exact}
    for name, values in {**numbers, **(more or {})}.items():
        columns[beside(columns, name)] = pa.array(values)
    return pa.table(columns)


def beside(taken: Container[str], name: str) -> str:
    """The name of a column beside those of the keys, one of which may be called the same."""
    return beside(taken, f"{name}_") if name in taken else name


def stacked(frames: Mapping[str, Any]) -> Any:
    """Several frames of answers in one, with the name of the question in front."""
    import pyarrow as pa

    named = []
    for name, frame in frames.items():
        question = pa.array([name] * frame.num_rows, pa.string())
        named.append(frame.add_column(0, beside(frame.column_names, "question"), question))
    return pa.concat_tables(named, promote_options="permissive")


def write_frame(frame: Any, path: str | Path) -> None:
    """A frame of answers as a CSV file, whole or not at all."""
    import pyarrow as pa
    import pyarrow.csv as csv

    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        csv.write_csv(frame, part)
        part.replace(path)
    except (OSError, pa.ArrowException) as error:
        part.unlink(missing_ok=True)
        raise BadInput(f"answers were to be written to {path}", str(error).splitlines()[0]) from error


def places_of(keys: Any, others: Any) -> Integers:
    """Of each row of keys (Arrow) the row of the others with the same texts in the same columns, or -1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def joined(frame: Any) -> Any:
        texts = [frame.column(name).cast(pa.string()).combine_chunks() for name in keys.column_names]
        return pc.binary_join_element_wise(*texts, BETWEEN) if len(texts) > 1 else texts[0]

    found = pc.index_in(joined(keys), value_set=joined(others))
    return np.asarray(pc.fill_null(found, -1).to_numpy(zero_copy_only=False), dtype=np.int64)
