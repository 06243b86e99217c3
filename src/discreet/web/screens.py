"""What each screen shows, as plain values: the page is drawn from them, and its JSON twin is them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import log10
from pathlib import Path
from typing import Any

from discreet.errors import BadInput, DiscreetError
from discreet.io.layout import COUNTED
from discreet.shown.terse import in_digits
from discreet.web.answers import Answers
from discreet.web.curves import error_of
from discreet.web.designed import PROPERTIES
from discreet.web.words import COSTS, MECHANISMS, SHAPES, STAGES, WARNINGS, plainly
from discreet.web.work import PRIOR, Chore, Work, usual_shape

View = dict[str, object]

STEPS = (
    ("table", "Table"), ("contents", "What is in it"), ("keep", "What to keep"), ("plan", "Plan"),
    ("release", "Release"), ("result", "Result"),
)  # fmt: skip
TABLES = (".csv", ".gz", ".txt", ".tsv", ".parquet", ".pq", ".xlsx")  # files that are offered

ROOM = 56  # between two numbers of the picture, of its 600


def headers(file: Path, sheet: str | None, header_row: int | None) -> tuple[tuple[str, ...], int]:
    """Names of the columns, and the number of rows that are not blank."""
    changed = file.stat().st_mtime_ns if file.exists() else 0
    return _headers(file, sheet, header_row, changed)


@lru_cache(maxsize=64)
def _headers(file: Path, sheet: str | None, header_row: int | None, changed: int) -> tuple[tuple[str, ...], int]:
    from discreet.io.layout import Arrangement, read_given

    frame = read_given(file, Arrangement(sheet, header_row)).frame
    return tuple(map(str, frame.column_names)), frame.num_rows


def sheets(answers: Answers) -> tuple[str, ...]:
    from discreet.io.workbooks import sheet_names

    return sheet_names(answers.file) if answers.file.suffix.lower() == ".xlsx" else ()


def start(folder: Path) -> View:
    """Files that can be picked, and folders of releases."""
    try:
        found = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix.lower() in TABLES)
        releases = sorted(path.name for path in folder.iterdir() if (path / "release.json").is_file())
    except OSError:
        found, releases = [], []
    return {"screen": "start", "files": [path.name for path in found], "releases": releases, "folder": str(folder)}


def table(work: Work) -> View:
    view = _of(work, "table")
    view |= {"sheets": list(sheets(work.answers)), "sheet": work.answers.sheet, "header_row": work.answers.header_row}
    try:
        columns, rows = headers(work.answers.file, work.answers.sheet, work.answers.header_row)
        view |= {"columns": list(columns), "rows": rows, "problem": None}
    except DiscreetError as error:
        view |= {"columns": [], "rows": None, "problem": work.told(error)}
    return view


def contents(work: Work, problem: str | None = None) -> View:
    answers = work.answers
    columns, rows = headers(answers.file, answers.sheet, answers.header_row)
    return _of(work, "contents") | {
        "columns": list(columns), "rows": rows, "count": list(answers.count),
        "shares": dict(zip(answers.count, answers.shares)), "keys": list(answers.keys),
        "wide": answers.wide, "contributions": answers.contributions, "totals": answers.totals,
        "thousands": answers.thousands, "suppressed_as": answers.suppressed_as, "keep_order": answers.keep_order,
        "universe": None if answers.universe is None else answers.universe.name,
        "published": published(answers), "protected": protected(answers), "problem": problem,
    }  # fmt: skip


def published(answers: Answers) -> list[str]:
    several = len(answers.count) > 1 and answers.wide is None
    more = [answers.wide] if answers.wide else (["counted"] if several else [])
    return [*answers.keys, *more]


def protected(answers: Answers) -> str:
    """In one sentence, who is protected, as far as was said."""
    times = len(answers.count) if answers.wide is None and len(answers.count) > 1 else 1
    rows = (answers.contributions or 1) * times
    if rows == 1:
        return "Protected is any one person who is counted in one row: whether they were counted, and in which row."
    why = f", once for each of the {times} kinds of counts" if times > 1 and rows == times else ""
    return f"Protected is any one person who is counted in at most {rows} rows{why}: whether they were, and where."


def keeping(work: Work, problem: str | None = None) -> View:
    answers = work.answers
    names = published(answers)
    margins = [f"margin:{name}" for name in names] if len(names) > 1 else []
    offered = ["total", *margins]
    promise: str | None = None
    discloses: list[str] = []
    if problem is None:
        try:
            promise, discloses = _promise(answers)
        except DiscreetError as error:
            problem = work.told(error)
    return _of(work, "keep") | {
        "way": answers.way, "favor": answers.favor, "max_count": answers.max_count, "signed": answers.signed,
        "offered": offered, "keep": list(answers.keep), "more": [one for one in answers.keep if one not in offered],
        "nonnegative": answers.nonnegative, "measure": list(answers.measure), "measured": [*offered, "cells"],
        "levels": list(answers.levels), "keys": names, "require": list(answers.require), "properties": PROPERTIES,
        "cost": answers.cost, "costs": COSTS, "mechanism": answers.mechanism, "mechanisms": MECHANISMS,
        "guarantee": promise, "discloses": discloses,
        "problem": problem,
    }  # fmt: skip


def _promise(answers: Answers) -> tuple[str, list[str]]:
    """The guarantee with these answers, and what is given away; nothing is simulated."""
    from discreet.privacy.parse import loss_of
    from discreet.ways import shared_out, way_named

    schema, rows = answers.table().read_schema()
    spec = shared_out(schema, answers.spec())
    placed = spec if rows is None else spec.in_order(rows)
    made = way_named(spec.name).plan(schema, loss_of(answers.epsilon), placed)
    found = [one for one in made.guarantee.remarks if one.code in WARNINGS]
    return made.guarantee.sentence, [
        WARNINGS[one.code].format(rows=dict(one.numbers).get("rows", "some")) for one in found
    ]


def plan(work: Work, place: Path, asked: ErrorAsked, problem: str | None = None) -> View:
    answers, planned = work.answers, work.planned
    budgets, unread = _budgets(place)
    view = _of(work, "plan") | {
        "epsilon": answers.epsilon, "dataset": answers.dataset, "datasets": budgets, "ledger_problem": unread,
        "note": answers.note, "who": answers.who,
        "format": answers.format, "guess": answers.guess, "task": _task(work.tasks.get("plan")),
        "problem": problem, "ready": planned is not None,
    }  # fmt: skip
    if planned is None:
        return view
    curve = work.curves.get(asked.shape, ())
    shapes = {name: text for name, text in SHAPES.items() if name != PRIOR or answers.guess}
    return view | {
        "planned_for": planned.answers.epsilon, "rows": planned.rows, "columns": list(planned.columns),
        "steps": list(planned.steps),
        "expected": [
            {"shape": SHAPES.get(one.shape, one.shape), "max_count": one.max_count, "count_error": one.count_error,
             "distribution_error": one.distribution_error} for one in planned.expected
        ],
        "curve": [dict(vars(one)) for one in curve], "picture": picture(curve, answers.epsilon),
        "shape": asked.shape, "shapes": shapes, "guarantee": planned.guarantee,
    } | _suggested(work, asked)  # fmt: skip


@dataclass(frozen=True)
class ErrorAsked:
    """What a page of a plan is asked for: a shape of the counts, and an error that can be accepted."""

    shape: str
    accepted: str | None = None

    @property
    def chore(self) -> str:
        return f"errors {self.shape} {self.accepted or ''}"


def asked(work: Work, given: Mapping[str, str]) -> ErrorAsked:
    """Of what stands in the address, what can be answered."""
    shape, accepted = given.get("shape", ""), given.get("accepted", "").strip()
    known = shape in SHAPES and (shape != PRIOR or bool(work.answers.guess))
    if accepted:
        error_of(accepted)
    return ErrorAsked(shape if known else usual_shape(work.answers), accepted or None)


def _suggested(work: Work, asked: ErrorAsked) -> View:
    found = None if asked.accepted is None else work.suggested.get((asked.shape, asked.accepted))
    task = work.tasks.get(asked.chore)
    said = {"epsilon": found.epsilon, "at": found.at.epsilon, "count_error": found.at.count_error} if found else None
    return {"accepted": asked.accepted, "suggested": said, "looking": _task(task) if task and not task.done else None}


def picture(curve: Any, chosen: str) -> View | None:
    """The curve as places in a drawing of 600 by 260, on scales of powers of ten."""
    from discreet.numbers import epsilon_of

    points = [(float(epsilon_of(one.epsilon)), one.count_error, one.epsilon) for one in curve if one.count_error > 0]
    if len(points) < 2:
        return None
    across, down = [log10(one[0]) for one in points], [log10(one[1]) for one in points]
    low, high = min(down), max(max(down), min(down) + 0.3)

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            round(60 + 510 * (x - across[0]) / (across[-1] - across[0]), 1),
            round(44 + 155 * (high - y) / (high - low), 1),
        )

    places = [place(x, y) for x, y in zip(across, down)]
    marks: list[View] = []
    for (x, y), (_, error, epsilon) in zip(places, points):
        mark = {"x": x, "y": y, "epsilon": epsilon, "error": in_digits(error, 2), "chosen": epsilon == chosen}
        before = next((one for one in reversed(marks) if one["named"]), None)
        room = before is None or x - float(str(before["x"])) >= ROOM
        if not room and before is not None and epsilon == chosen:
            before["named"], room = False, True
        marks.append({**mark, "named": room})
    said = "; ".join(f"epsilon {epsilon}: off by {in_digits(error, 2)}" for _, error, epsilon in points)
    return {
        "line": " ".join(f"{x},{y}" for x, y in places),
        "marks": marks,
        "text": f"Typical error of a count. {said}.",
    }


def release(work: Work, ledger: Path) -> View:
    planned = work.planned
    task = work.tasks.get("release")
    return _of(work, "release") | {
        "guarantee": None if planned is None else planned.guarantee, "dataset": work.answers.dataset,
        "epsilon": work.answers.epsilon, "charged": charged(work, ledger),
        "columns": [] if planned is None else list(planned.columns),
        "task": _task(task), "done": work.made is not None, "confirms": work.answers.fingerprint,
        "problem": None if task is None else task.problem, "disclosure": None if task is None else task.disclosure,
    }  # fmt: skip


def charged(work: Work, place: Path) -> str | None:
    """What the ledger will charge: what one person costs by its own rules, which may be more or less than epsilon."""
    if work.planned is None or work.answers.dataset is None or not place.exists():
        return None
    from discreet.ledger import ledger as opened
    from discreet.ledger.spending import charge

    try:
        found = [one for one in opened(str(place)).status() if one.dataset == work.answers.dataset]
        return _amount(charge(found[0].budget, found[0].relation, work.planned.spending)) if found else None
    except DiscreetError:
        return None  # it will be refused, and why is told then


def _task(task: Chore | None) -> View | None:
    if task is None:
        return None
    return {"stage": STAGES.get(task.stage, task.stage[:1].upper() + task.stage[1:]), "done": task.done,
            "problem": task.problem}  # fmt: skip


def result(work: Work, toml: str) -> View:
    assert work.made is not None
    out = work.made.folder
    return _of(work, "result") | analyst(out) | {
        "digest": work.made.digest, "toml": toml, "designs": work.answers.designs,
        "shell": f"discreet run release.toml --out {out.name}-again",
        "python": f'import discreet as dc\n\nmade, digest = dc.run("release.toml", out="{out.name}-again")',
    }  # fmt: skip


def analyst(folder: Path) -> View:
    """What a folder says, to whoever has nothing else."""
    from discreet.estimate import estimate
    from discreet.io import RECORD
    from discreet.io.folder import OURS
    from discreet.verify import verify

    checked, names = verify(folder), sorted(path.name for path in folder.iterdir())
    view: View = {
        "screen": "result", "folder": folder.name, "valid": checked.valid, "problems": list(checked.problems),
        "files": names, "downloads": [name for name in names if name in {*OURS, RECORD}], "estimates": [],
    }  # fmt: skip
    if not checked.valid:
        return view
    asked = estimate(folder)
    if asked.categories is not None and COUNTED in asked.categories.column_names:  # births and deaths have no total
        totals = asked.by(COUNTED).items()
        return view | {"estimates": [{"question": f"total, {name}", "answer": str(one)} for name, one in totals]}
    found = []
    for name, question in (("mean count of a row", "mean"), ("total", "total"), ("share of rows with 0", "share_zero")):
        try:
            found.append({"question": name, "answer": str(getattr(asked, question)())})
        except DiscreetError:
            continue
    return view | {"estimates": found}


def ledger(place: Path, problem: str | None = None) -> View:
    """Data sets, budgets, history."""
    budgets, unread = _budgets(place)
    history = _history(place) if unread is None and place.exists() else []
    return {"screen": "ledger", "file": str(place), "datasets": budgets, "history": history, "readable": unread is None,
            "problem": problem or unread}  # fmt: skip


def _history(place: Path) -> list[View]:
    from discreet.ledger import ledger as opened
    from discreet.ledger.words import given_away

    return [
        {"dataset": one.dataset, "number": one.number, "recorded": one.recorded[:19].replace("T", " "),
         "charged": _amount(one.charged), "columns": ", ".join((*one.spending.table.keys, one.spending.table.count))
         if one.spending.table else "", "note": one.spending.note, "who": one.spending.who,
         "released": bool(one.outcomes), "accepted": given_away(one.disclosure) if one.disclosure.refused else ""}
        for one in opened(str(place)).history()
    ]  # fmt: skip


def _budgets(place: Path) -> tuple[list[View], str | None]:
    """Every data set with what is left to it; or what is wrong with the ledger."""
    try:
        return datasets(place), None
    except DiscreetError as error:
        return [], plainly(error, place, place.name)


def datasets(place: Path) -> list[View]:
    if not place.exists():
        return []
    from discreet.ledger import ledger as opened

    return [
        {"dataset": one.dataset, "budget": _amount(one.budget), "spent": _amount(one.spent), "left": _amount(one.left)}
        for one in opened(str(place)).status()
    ]


def _amount(amount: Any) -> str:
    from discreet.numbers import text

    if amount.rho is not None:
        return f"rho {text(amount.rho)}"
    return f"epsilon {text(amount.epsilon)}" + (f", delta {text(amount.delta)}" if amount.delta else "")


def _of(work: Work, screen: str) -> View:
    reached = 1 + (2 if work.described else 0) + (1 if work.planned else 0) + (1 if work.made else 0)
    steps = [
        {"key": key, "title": title, "here": key == screen, "open": place <= reached and not (work.made and place < 5)}
        for place, (key, title) in enumerate(STEPS)
    ]
    return {
        "screen": screen,
        "work": work.key,
        "file": work.name,
        "way_through": steps,
        "released": work.made is not None,
        "begun": work.begun,
    }


def must_be_described(work: Work) -> None:
    if not work.described:
        raise BadInput("the next page was asked for", "what is in the table is not said yet", "Say it first")
