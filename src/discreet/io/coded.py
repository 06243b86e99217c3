"""Key columns as numbers, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.arrays import Integers


def coded(column: Any) -> tuple[Integers, Any]:
    """The number of each row's value, and the values, sorted as text: a file holds nothing else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.dictionary_encode(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
    found = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
    order = pc.sort_indices(found.dictionary.cast(pa.string())).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[found.indices.to_numpy().astype(np.int64)], found.dictionary.take(pa.array(order))


def picked(columns: Mapping[str, tuple[Any, Integers]]) -> Any:
    """An Arrow table of some values of each column, by their places."""
    import pyarrow as pa

    return pa.table({name: values.take(pa.array(places)) for name, (values, places) in columns.items()})
