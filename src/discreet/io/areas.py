"""Areas of a map: polygons from GeoJSON, matched with the names of groups."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import BadInput, did_you_mean, unread

MOST_NAMED = 3  # groups that have no area


@dataclass(frozen=True, eq=False)
class Area:
    """The outlines of one area, each a list of points; and the place of its group among all, if it has one."""

    rings: tuple[Floats, ...]
    place: int | None


def areas_of(geojson: Any, key: str, names: Sequence[str]) -> list[Area]:
    """Every area of a GeoJSON file, or of what it holds. Each group must have one; areas without a group are empty."""
    content = _content(geojson)
    features = content.get("features") if isinstance(content, Mapping) else None
    if not isinstance(features, list) or not features:
        raise BadInput("a map was asked for", "there are no features in the GeoJSON", "Give a FeatureCollection")
    known = sorted({name for one in features for name in (one.get("properties") or {})})
    if key not in known:
        raise BadInput("a map was asked for", f"no area has a property {key!r}", did_you_mean(key, known))
    places = {name: k for k, name in enumerate(names)}
    found = [_area(one, places.get(str((one.get("properties") or {}).get(key)))) for one in features]
    missing = sorted(set(range(len(names))) - {area.place for area in found if area.place is not None})
    if missing:
        more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        said = f"no area is called {'; '.join(names[k] for k in missing[:MOST_NAMED])}{more}"
        raise BadInput("a map was asked for", said, f"The property {key!r} must hold the names of all groups")
    return found


def _content(geojson: Any) -> Any:
    if not isinstance(geojson, (str, Path)):
        return geojson
    try:
        return json.loads(Path(geojson).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{geojson} was to be read as GeoJSON", unread(error)) from error


def _area(feature: Mapping[str, Any], place: int | None) -> Area:
    """Polygon or MultiPolygon; nothing else has an inside."""
    shape = feature.get("geometry") or {}
    points: Any = shape.get("coordinates")
    kind = shape.get("type")
    if kind not in ("Polygon", "MultiPolygon"):
        return Area((), place)
    try:
        several = [points] if kind == "Polygon" else points
        rings = tuple(np.array([at[:2] for at in ring], dtype=float) for polygon in several for ring in polygon)
    except (TypeError, ValueError, IndexError) as error:
        raise BadInput("a map was asked for", "the outline of an area is not a list of points", "Mend it") from error
    return Area(rings, place)
