"""What a value looks like: a line where there is one line, a few lines in print, a small page in a notebook.

A value says nothing of this itself. Its card (`cards.py`) holds what is to be seen, as text; here it is laid out, and
whatever came from a table or a file is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

MOST_ROWS = 12  # of a table on a card: more would bury the rest of a notebook
BOX = "border:1px solid #8886;border-radius:4px;padding:.6em .9em;max-width:58em;line-height:1.45"
CELL = "text-align:left;padding:.15em 1.2em .15em 0;vertical-align:top"
QUIET = "opacity:.75"
WARN = "border-left:4px solid #c0392b;padding-left:.6em;font-weight:600"


@dataclass(frozen=True)
class Listing:
    """Rows of text under their heads."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    rows_in_all: int | None = None  # where only the first are here


@dataclass(frozen=True)
class Card:
    """What is to be seen of a value, all of it text: a line that says what it is, and what there is beside it."""

    title: str
    lead: tuple[str, ...] = ()  # sentences
    facts: tuple[tuple[str, str], ...] = ()  # names and what they are
    grids: tuple[Listing, ...] = ()
    warning: str = ""
    after: tuple[str, ...] = ()  # what may be done with it
    lines: tuple[str, ...] | None = None  # in print, where sentences alone say it


class Shown:
    """A value that a cell of a notebook may end with."""

    def __repr__(self) -> str:
        return f"<{_card(self).title}>"

    def __str__(self) -> str:
        return as_text(_card(self))

    def _repr_html_(self) -> str:
        return as_html(_card(self))


def _card(value: Shown) -> Card:
    from discreet.shown.cards import card_of

    return card_of(value)


def as_text(card: Card) -> str:
    """Lines for a terminal."""
    return "\n".join(card.lines if card.lines is not None else _lines(card))


def _lines(card: Card) -> Iterator[str]:
    yield card.title
    if card.warning:
        yield card.warning
    yield from card.lead
    wide = max((len(name) for name, _ in card.facts), default=0)
    yield from (f"  {name:<{wide}}  {said}" for name, said in card.facts)
    for grid in card.grids:
        yield from ([grid.title] if grid.title else [])
        yield from _columns([grid.head, *grid.rows[:MOST_ROWS]])
        yield from _left_out(grid)


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    wide = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, wide)).rstrip()


def _left_out(grid: Listing) -> Iterator[str]:
    there = len(grid.rows) if grid.rows_in_all is None else grid.rows_in_all
    if there > MOST_ROWS:
        yield f"  ... and {there - MOST_ROWS:,} more"


def as_html(card: Card) -> str:
    """A fragment of a page that needs nothing beside it: no script, no style sheet, nothing from elsewhere."""
    parts = [f'<div style="{BOX}"><strong>{escape(card.title)}</strong>']
    if card.warning:
        parts.append(f'<p style="{WARN}">{escape(card.warning)}</p>')
    parts += [f'<p style="margin:.4em 0">{escape(sentence)}</p>' for sentence in card.lead]
    if card.facts:
        rows = "".join(
            f'<tr><th scope="row" style="{CELL}">{escape(name)}</th><td style="{CELL}">{escape(said)}</td></tr>'
            for name, said in card.facts
        )
        parts.append(f'<table style="margin:.4em 0">{rows}</table>')
    parts += [_grid_html(grid) for grid in card.grids]
    if card.after:
        parts.append(f'<p style="margin:.4em 0 0;{QUIET}">{" &middot; ".join(map(escape, card.after))}</p>')
    return "".join(parts) + "</div>"


def _grid_html(grid: Listing) -> str:
    caption = f'<caption style="text-align:left;caption-side:top;{QUIET}">{escape(grid.title)}</caption>'
    head = "".join(f'<th scope="col" style="{CELL}">{escape(name)}</th>' for name in grid.head)
    body = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{escape(cell)}</td>' for cell in row) + "</tr>"
        for row in grid.rows[:MOST_ROWS]
    )
    more = "".join(f'<p style="margin:0;{QUIET}">{escape(line.strip())}</p>' for line in _left_out(grid))
    named = caption if grid.title else ""
    return f'<table style="margin:.4em 0">{named}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}'
