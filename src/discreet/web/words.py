"""What the pages call things, and what they say where something does not work."""

from __future__ import annotations

from pathlib import Path

from discreet.errors import DiscreetError, in_python, in_the_shell
from discreet.web.guard import TOO_LARGE, UNKNOWN, TooLarge

STAGES = {
    "begin": "Beginning", "record": "Writing the spending into the ledger", "draw": "Drawing the noise",
    "publish": "Working out the counts",
    "seal": "Proving the guarantee", "save": "Saving the folder", "tell the ledger": "Telling the ledger",
}  # fmt: skip
SHAPES = {
    "mostly-zero": "mostly zeros, with a tail", "bell": "around a middle", "flat": "all sizes alike",
    "long-tail": "many small counts, a few at every size", "prior": "your guess",
}  # fmt: skip
WARNINGS = {
    "determined": "What is kept gives exact counts away (rows: {rows}). Keep less, unless they are public.",
    "residues": "What is kept gives away the remainders of counts (rows: {rows}).",
}  # fmt: skip
MECHANISMS = {
    "geometric": "geometric noise, never below 0", "signed-geometric": "geometric noise, negative counts possible",
    "explicit-fair": "fair: every count is right with the same chance", "staircase": "staircase noise",
    "designed": "one that is made for the properties below",
    "uniform": "uniform", "randomized-response": "randomized response", "exponential": "exponential mechanism",
}  # fmt: skip
TITLES = {404: "There is no such page", 403: "That form is too old", 413: "That file is too large"}
REFUSALS = {
    400: "A form came that cannot be read. Go back, and send it again.",
    403: "That form is not of this page, or of an earlier run. Go back to the beginning.",
    404: "It may be of an earlier run: what was uploaded is removed when discreet serve ends. Begin with a table, or "
    "look at the releases that are made.",
    405: "That is not done here.", 413: TOO_LARGE,
}  # fmt: skip

COSTS = {"absolute": "the mean error", "squared": "the mean squared error", "wrong": "the chance of any error"}

LABELS = {
    "sheet": "Sheet",
    "header_row": "Row with the names of the columns",
    "count": "Counts",
    "keys": "Key",
    "wide": "A crosstab",
    "universe": "All rows that there may be",
    "thousands": "Between thousands stands",
    "suppressed_as": "Counts up to this were suppressed",
    "keep_order": "The order of the rows is public: keep it",
    "contributions": "In how many rows may one person be counted?",
    "drop_totals": "Totals among the rows: Leave them out",
    "rows_are_disjoint": "Totals among the rows: Rows that read like totals are none",
    "max_count": "Largest count to expect",
    "favor": "Which error to make small",
    "signed": "Plain noise",
    "keep": "Kept exactly",
    "nonnegative": "No negative counts",
    "measure": "Measured",
    "levels": "Nested columns",
    "mechanism": "Every row goes through",
    "dataset": "Charge it to",
    "note": "What the release is for",
    "who": "Who makes it",
    "format": "Write the table as",
    "accept_disclosure": "I accept that this is given away",
}  # fmt: skip  (of fields, by the options that they are)


def plainly(error: DiscreetError, file: Path | None = None, name: str = "") -> str:
    """An error as the page has it: fields by their labels, and the upload by its own name."""
    text = error.said(_labelled)
    return text if file is None else text.replace(str(file), name)


def _labelled(option: str, value: str, like: str) -> str:
    """By its label; what only a terminal has, by its flag; and what neither has, such as epsilon, by its name."""
    from discreet.spec.read import sections_of

    if option in LABELS:
        return f"\u201c{LABELS[option]}\u201d{value and ' '}{value}"
    if sections_of(option) not in ([], ["privacy"]):
        return f"{in_the_shell(option, value, like)} in a terminal"
    return in_python(option, value, "")


def status_of(error: Exception) -> int:
    if isinstance(error, TooLarge):
        return 413
    return int(getattr(error, "status_code", 422 if isinstance(error, DiscreetError) else 500))


def problem(error: Exception) -> dict[str, object]:
    """What went wrong on no page of its own; of what nobody foresaw, nothing is said."""
    status = status_of(error)
    said = plainly(error) if isinstance(error, DiscreetError) else REFUSALS.get(status, UNKNOWN)
    return {"screen": "problem", "title": TITLES.get(status, "That did not work"), "status": status, "problem": said}
