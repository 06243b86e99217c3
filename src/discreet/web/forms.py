"""The forms of a table: what was said is kept, and answered by the address of a screen."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, RedirectResponse, Response

from discreet.errors import BadInput
from discreet.web import screens
from discreet.web.answers import Answers, Form, with_contents, with_keeping, with_place, with_price
from discreet.web.work import Chore, Refused, Work, make_release

if TYPE_CHECKING:
    from starlette.requests import Request

    from discreet.web.app import Pages


def to(work: Work, screen: str) -> Response:
    return RedirectResponse(f"/table/{work.key}/{screen}", 303)


def refused(work: Work, screen: str, problem: str, form: Form | None = None) -> Response:
    """The screen is asked for anew, and tells: whoever goes back in the browser sends nothing twice."""
    work.refused[screen] = Refused(problem, form)
    return to(work, screen)


def _said_table(pages: Pages, request: Request, work: Work, form: Form) -> Response:
    with work.lock:
        answers = with_place(work.answers, form)
        same = answers == work.answers
        work.change(answers)
        work.described = work.described and same
    problem = screens.table(work)["problem"]
    return to(work, "contents") if problem is None else refused(work, "table", str(problem))


def _said_contents(pages: Pages, request: Request, work: Work, form: Form) -> Response:
    """Saved, and looked at: whether every key and every count can be read. No count is kept or shown."""
    if "preview" in form:
        return JSONResponse(_preview(work.answers, form))
    universe = form.get(" universe")
    with work.lock:
        answers = with_contents(work.answers, form, Path(universe[0]) if universe else None)
        work.change(answers)
        work.described = False
    answers.table().read()
    with work.lock:
        work.described = work.described or work.answers == answers  # not where another tab said otherwise meanwhile
    return to(work, "keep")


def _preview(answers: Answers, form: Form) -> screens.View:
    """Who is protected, with what is said so far; as before, where that is no description of a table yet."""
    with contextlib.suppress(BadInput):
        answers = with_contents(answers, form, None)
    return {"protected": screens.protected(answers), "published": screens.published(answers)}


def _said_keep(pages: Pages, request: Request, work: Work, form: Form) -> Response:
    screens.must_be_described(work)
    with work.lock:  # what another tab says meanwhile is not lost
        answers = with_keeping(work.answers, form)
        answers.spec()
        work.change(answers)
    problem = screens.keeping(work)["problem"]
    if problem is not None:
        return refused(work, "keep", str(problem))
    return to(work, "keep?looked" if "look" in form else "plan")


def _said_plan(pages: Pages, request: Request, work: Work, form: Form) -> Response:
    screens.must_be_described(work)
    with work.lock:  # another tab sees the answers and the plan of before, or those of after
        before = work.planned
        answers = with_price(work.answers, form)
        same = before is not None and (before.answers.epsilon, before.answers.guess) == (answers.epsilon, answers.guess)
        curves, suggested = dict(work.curves), dict(work.suggested)
        work.change(answers)
        if same and before is not None:
            work.planned, work.curves, work.suggested = before, curves, suggested
    return to(work, "release" if "go" in form and same else "plan")


def _said_release(pages: Pages, request: Request, work: Work, form: Form) -> Response:
    """Once: whoever confirms again, here or in another tab, finds the release that is under way or made."""
    with work.lock:
        begun = work.tasks.get("release")
        if work.made is None and (begun is None or begun.problem is not None):
            _require_confirmed(work, form)
            accepted = _accepted(begun, form)
            work.start("release", make_release(work, pages.folder, pages.ledger_file, accepted))
    return to(work, "release")


def _accepted(refused: Chore | None, form: Form) -> str | None:
    """What somebody accepts that kept sums give away: what the refusal said that stood on their page."""
    given = form.get("accept_disclosure", ())
    if not given:
        return None
    if refused is None or refused.disclosure != given[0]:
        found = "it is not what the ledger refused last: that was looked at in another tab, or nothing was refused"
        raise BadInput("what kept sums give away was accepted", found, "Look at the release again")
    return refused.disclosure


def _require_confirmed(work: Work, form: Form) -> None:
    """What is released is what the page showed that was confirmed, not what another tab made of it since."""
    if work.planned is None or form.get("confirms", [""])[0] != work.answers.fingerprint:
        found = "it is not planned, or the answers changed since, in another tab"
        raise BadInput("a release was confirmed", found, "Look at the plan again")


FORMS = {
    "table": _said_table, "contents": _said_contents, "keep": _said_keep, "plan": _said_plan, "release": _said_release,
}  # fmt: skip
