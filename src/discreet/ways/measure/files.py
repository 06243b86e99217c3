"""The files of a release that measured margins: answers and measurements in long form, with a column `question`."""

from __future__ import annotations

from typing import Any

from discreet.levels.asked import What
from discreet.levels.layout import Layout, layout_of
from discreet.record.release import ReleaseRecord
from discreet.table import Schema
from discreet.ways import Entries, LongKeys
from discreet.ways.measure.facts import MeasureFacts


def long_keys(record: ReleaseRecord[MeasureFacts], categories: Any) -> LongKeys:
    """The keys of every entry of every question, one question after the other."""
    mechanism = record.facts.mechanism
    layout = layout_of(Schema(record.schema.keys, record.schema.count, len(categories), categories), mechanism.levels)
    return LongKeys(
        {str(one.question): _entries(layout, one.question) for one in mechanism.questions},
        {str(what): _entries(layout, what) for what in mechanism.answers},
    )


def _entries(layout: Layout, what: What) -> Entries:
    question = layout.question(what)
    return Entries(layout.design.entries(question), layout.frame(question))
