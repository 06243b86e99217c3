"""The routes: every screen is a URL, with a JSON twin under the same name and .json."""

from __future__ import annotations

import hmac
import io
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from discreet.errors import BadInput, Damaged, DiscreetError
from discreet.io import EXPLORE, REPORT
from discreet.shown.terse import in_digits
from discreet.web import screens
from discreet.web.answers import Answers, Form, over
from discreet.web.forms import FORMS, refused, to
from discreet.web.guard import REPORT_POLICY, Keys, TooLarge
from discreet.web.words import plainly, problem, status_of
from discreet.web.work import Work, Works, again, find_epsilon, make_plan

PLAIN_NAME = r"[^/\\\0]{1,200}"
MECHANISM = "mechanism.json"  # a mechanism that was made, to be put beside release.toml
STATIC = {"style.css": "text/css", "script.js": "text/javascript", "icon.svg": "image/svg+xml"}
MOST_FIELDS = 2000  # of a form: a table with as many columns is no table for a page


class Pages:
    """The screens of one run: its secrets, its uploads, and the folder that releases go to."""

    def __init__(self, keys: Keys, uploads: Path, folder: Path) -> None:
        self.keys, self.uploads, self.folder, self.works = keys, uploads, folder, Works()
        self.problems: dict[str, str] = {}  # by page: what is wrong with a form of it, until it is shown
        self.environment = Environment(loader=PackageLoader("discreet", "web/pages"), autoescape=True)
        self.environment.filters["digits"] = in_digits

    @property
    def ledger_file(self) -> Path:
        return self.folder / "ledger.db"

    def app(self) -> Starlette:
        get, post = ["GET"], ["POST"]
        each = "/table/{key}"
        routes = [
            Route("/", self.start, methods=get), Route("/start.json", self.start, methods=get),
            Route("/table", self.take, methods=post), Route("/demo", self.demo, methods=post),
            Route("/ledger", self.ledger, methods=get), Route("/ledger.json", self.ledger, methods=get),
            Route("/ledger", self.create, methods=post),
            Route("/folder/{name}", self.analyst, methods=get),
            Route("/folder/{name}/report.html", self.report, methods=get),
            Route("/folder/{name}/explore.html", self.explore, methods=get),
            Route("/folder/{name}/zip", self.zipped, methods=get),
            Route("/folder/{name}/{file}", self.file, methods=get),
            Route("/static/{name}", self.static, methods=get),
            Route(f"{each}/{MECHANISM}", self.mechanism, methods=get),
            Route(each + "/again", self.again, methods=post),
            *(Route(f"{each}/{name}{end}", self.show(name), methods=get) for name in SCREENS for end in ("", ".json")),
            *(Route(f"{each}/{name}", self.said(name), methods=post) for name in FORMS),
        ]  # fmt: skip
        handlers: Any = dict.fromkeys((HTTPException, TooLarge, DiscreetError, Exception), self.refused)
        return Starlette(routes=routes, exception_handlers=handlers)

    async def start(self, request: Request) -> Response:
        return self._told(request, await run_in_threadpool(screens.start, self.folder))

    async def take(self, request: Request) -> Response:
        """A file that was uploaded or picked becomes a table on its way."""
        form, files = await self._form(request)
        upload = files.get("file")
        if upload is not None and upload.filename:
            name = _plain_name(upload.filename)
            path = await run_in_threadpool(self._kept, upload, name)
        else:
            name = form.get("pick", [""])[0]
            offered = screens.start(self.folder)["files"]
            if not isinstance(offered, list) or name not in offered:
                return self._back_to("/", "No file was chosen. Choose one, or pick one of the folder.")
            try:
                path = await run_in_threadpool(self._copied, self.folder / name)
            except DiscreetError as error:
                return self._back_to("/", plainly(error))
        work = self.works.add(name, await run_in_threadpool(_begun, path))
        return to(work, "table")

    async def demo(self, request: Request) -> Response:
        """The example table, as a file of its own."""
        await self._form(request)
        from importlib.resources import as_file, files

        path = self.uploads / "us_county_murders_1996.csv"
        with as_file(files("discreet") / "data" / path.name) as source:
            shutil.copyfile(source, path)
        work = self.works.add(path.name, Answers(path, count=("murders",), keys=("county",)))
        return to(work, "table")

    def _kept(self, upload: UploadFile, name: str) -> Path:
        import tempfile

        place = Path(tempfile.mkdtemp(dir=self.uploads)) / name
        with place.open("xb") as file:
            shutil.copyfileobj(upload.file, file)
        return place

    def _copied(self, picked: Path) -> Path:
        """As it is now: what is released is what was looked at and confirmed, whatever becomes of the file."""
        import tempfile

        from discreet.io.counted import copied

        place = Path(tempfile.mkdtemp(dir=self.uploads))
        try:
            return copied(picked, place)
        except OSError as error:
            shutil.rmtree(place, ignore_errors=True)  # half a copy may have filled the disk
            raise BadInput(f"{picked.name} was to be read", error.strerror or "it cannot be copied") from None

    def show(self, name: str) -> Callable[[Request], Any]:
        async def shown(request: Request) -> Response:
            work = self._work(request)
            try:
                return await run_in_threadpool(SCREENS[name], self, request, work)
            except DiscreetError as error:
                return self._problem(request, work.told(error))

        return shown

    def said(self, name: str) -> Callable[[Request], Any]:
        async def saved(request: Request) -> Response:
            work = self._work(request)
            form, files = await self._form(request)
            if "preview" not in form:
                work.refused.clear()
            try:
                universe = files.get("universe")
                if universe is not None and universe.filename:
                    kept = await run_in_threadpool(self._kept, universe, _plain_name(universe.filename))
                    form = {**form, " universe": [str(kept)]}
                return await run_in_threadpool(FORMS[name], self, request, work, form)
            except DiscreetError as error:
                if name == "release":
                    return refused(work, "plan", work.told(error))
                return refused(work, name, work.told(error), form)

        return saved

    async def ledger(self, request: Request) -> Response:
        return self._told(request, await run_in_threadpool(screens.ledger, self.ledger_file))

    async def create(self, request: Request) -> Response:
        form, _ = await self._form(request)
        name, epsilon = (form.get(field, [""])[0].strip() for field in ("dataset", "epsilon"))

        def made() -> Response:
            from discreet.ledger import ledger

            try:
                ledger(str(self.ledger_file)).create(name, epsilon=epsilon)
            except DiscreetError as error:
                return self._back_to("/ledger", plainly(error))
            return RedirectResponse("/ledger", 303)

        return await run_in_threadpool(made)

    async def again(self, request: Request) -> Response:
        work = self._work(request)
        await self._form(request)
        return to(again(work, self.works), "contents")

    async def mechanism(self, request: Request) -> Response:
        """The mechanism that was made for a table, as discreet design writes it."""
        work = self._work(request)
        if not work.answers.designs:
            raise HTTPException(404)
        made = await run_in_threadpool(work.answers.made)
        headers = {"content-disposition": f'attachment; filename="{MECHANISM}"'}
        return JSONResponse(made.as_json(), headers=headers)

    async def analyst(self, request: Request) -> Response:
        """A folder alone; with .json after its name, its values."""
        folder = self._folder(request, ".json")
        return self._drawn(request, await run_in_threadpool(screens.analyst, folder))

    async def report(self, request: Request) -> Response:
        path = _plain_file(self._folder(request) / REPORT)
        return FileResponse(path, headers={"content-security-policy": REPORT_POLICY})

    async def explore(self, request: Request) -> Response:
        """The analyst's page of a folder, if what runs in it is ours: its own policy lets nothing else run."""
        from discreet.io.folder import LARGEST_PAGE, read_plain
        from discreet.report.explore import data_of, policy_of

        try:
            page = read_plain(self._folder(request) / EXPLORE, LARGEST_PAGE).decode()
            data_of(page)
        except (Damaged, OSError, UnicodeDecodeError) as error:
            raise BadInput(f"the page {EXPLORE} of that folder was asked for", f"it is not shown: {error}") from None
        headers = {"content-security-policy": f"{policy_of(page)}; frame-ancestors 'none'"}
        return HTMLResponse(page, headers=headers)

    async def file(self, request: Request) -> Response:
        """A file of a release, to be kept: the pages link to them."""
        from discreet.io import RECORD
        from discreet.io.folder import OURS

        name = request.path_params["file"]
        if name not in {*OURS, RECORD}:
            raise HTTPException(404)
        path = _plain_file(self._folder(request) / str(name))
        return FileResponse(path, media_type="application/octet-stream", filename=name)

    async def zipped(self, request: Request) -> Response:
        folder = self._folder(request)
        content = await run_in_threadpool(_zip, folder)
        headers = {
            "content-disposition": f'attachment; filename="{folder.name.encode("ascii", "replace").decode()}.zip"'
        }
        return Response(content, media_type="application/zip", headers=headers)

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            raise HTTPException(404)
        text = (Path(__file__).parent / "pages" / name).read_text(encoding="utf-8")
        return Response(text, media_type=STATIC[name])

    def _folder(self, request: Request, ending: str = "") -> Path:
        """A release in the folder of this page, and nothing else of it; an ending may follow its name."""
        name, releases = str(request.path_params["name"]), screens.start(self.folder)["releases"]
        known = [one for one in (name, name.removesuffix(ending)) if isinstance(releases, list) and one in releases]
        if not known:
            raise HTTPException(404)
        return self.folder / known[0]

    def _work(self, request: Request) -> Work:
        work = self.works.find(request.path_params["key"])
        if work is None:
            raise HTTPException(404)
        return work

    async def _form(self, request: Request) -> tuple[Form, dict[str, UploadFile]]:
        """The fields of a form of ours: it holds what only our pages know."""
        sent = await request.form(max_files=4, max_fields=MOST_FIELDS)
        fields: dict[str, list[str]] = {}
        files: dict[str, UploadFile] = {}
        for name, value in sent.multi_items():
            if isinstance(value, UploadFile):
                files[name] = value
            else:
                fields.setdefault(name, []).append(value)
        token = fields.pop("csrf", [""])[0]
        if not hmac.compare_digest(token.encode(), self.keys.form.encode()):
            raise HTTPException(403)
        return fields, files

    async def refused(self, request: Request, error: Exception) -> Response:
        """Whatever went wrong, as a page like the others; what was not foreseen may quote the data, and is not told."""
        return self._drawn(request, problem(error), status_of(error))

    def _problem(self, request: Request, problem: str, status: int = 422) -> Response:
        return self._drawn(request, screens.start(self.folder) | {"problem": problem}, status)

    def _back_to(self, page: str, problem: str) -> Response:
        """The page that a form was on is asked for anew, and tells."""
        self.problems[page] = problem
        return RedirectResponse(page, 303)

    def _told(self, request: Request, view: screens.View) -> Response:
        """A page of no table, with what is wrong with a form of it, once."""
        problem = self.problems.pop(request.url.path, None)
        return self._drawn(request, view) if problem is None else self._drawn(request, view | {"problem": problem}, 422)

    def _of_work(self, request: Request, work: Work, view: screens.View) -> Response:
        """A screen of a table, with what is wrong with its form and what stood in it."""
        refused = work.refused.get(str(view["screen"]))
        if refused is None:
            return self._drawn(request, view)
        given = view if refused.form is None else over(view, refused.form)
        return self._drawn(request, given | {"problem": refused.problem}, 422)

    def _drawn(self, request: Request, view: screens.View, status: int = 200) -> Response:
        if request.url.path.endswith(".json"):
            return JSONResponse(view, status)
        page = self.environment.get_template(f"{view['screen']}.html.jinja")
        return HTMLResponse(page.render(view=view, csrf=self.keys.form), status)


def _plain_file(path: Path) -> Path:
    """A file that is there, and in no other place."""
    if path.is_symlink() or not path.is_file():
        raise HTTPException(404)
    return path


def _plain_name(given: str) -> str:
    """What an upload is called, without folders; a name that could be none becomes one."""
    name = Path(given.replace("\\", "/")).name
    return name if re.fullmatch(PLAIN_NAME, name) and name not in (".", "..") else "table" + Path(name[-20:]).suffix


def _begun(path: Path) -> Answers:
    """Of a workbook with several sheets, its first: the page shows what stands there, and another can be chosen."""
    answers = Answers(path)
    try:
        named = screens.sheets(answers)
    except DiscreetError:  # the page of the table tells what is wrong
        return answers
    return Answers(path, sheet=named[0]) if len(named) > 1 else answers


def _zip(folder: Path) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(
            path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()
        ):  # parts stand in folders of their own
            archive.write(path, f"{folder.name}/{path.relative_to(folder).as_posix()}")
    return out.getvalue()


def _table(pages: Pages, request: Request, work: Work) -> Response:
    return pages._of_work(request, work, screens.table(work))


def _contents(pages: Pages, request: Request, work: Work) -> Response:
    return pages._of_work(request, work, screens.contents(work))


def _keep(pages: Pages, request: Request, work: Work) -> Response:
    screens.must_be_described(work)
    view = screens.keeping(work, work.refused["keep"].problem if "keep" in work.refused else None)
    return pages._of_work(request, work, view | {"looked": "looked" in request.query_params})


def _plan(pages: Pages, request: Request, work: Work) -> Response:
    screens.must_be_described(work)
    task = work.tasks.get("plan")  # once: another tab may take it away
    if work.planned is None and work.made is None and not (task and task.problem):
        task = work.start("plan", make_plan(work))
    problem = task.problem if task else None
    asked = screens.asked(work, {})
    try:
        asked = screens.asked(work, request.query_params)
        problem = problem or _errors_found(work, asked)
    except DiscreetError as error:
        problem = problem or work.told(error)
    return pages._of_work(request, work, screens.plan(work, pages.ledger_file, asked, problem))


def _errors_found(work: Work, asked: screens.ErrorAsked) -> str | None:
    """The errors that are asked for are looked for, if they are not known; what is wrong with that, if anything."""
    if work.planned is None or not work.planned.expected or work.made is not None:
        return None
    known = asked.shape in work.curves if asked.accepted is None else (asked.shape, asked.accepted) in work.suggested
    if known:
        return None
    task = work.tasks.get(asked.chore)
    if task is None or task.problem is None:
        task = work.start(asked.chore, find_epsilon(work, asked.shape, asked.accepted))
    return task.problem


def _release(pages: Pages, request: Request, work: Work) -> Response:
    if work.made is not None:
        return _json_or_to(pages, request, work)
    with work.lock:  # what is promised and what is confirmed are of the same answers
        if work.planned is None:
            raise BadInput("a release was asked for", "it is not planned yet", "Look at the plan first")
        view = screens.release(work, pages.ledger_file)
    return pages._drawn(request, view)


def _json_or_to(pages: Pages, request: Request, work: Work) -> Response:
    if request.url.path.endswith(".json"):
        return pages._drawn(request, screens.release(work, pages.ledger_file))
    return to(work, "result")


def _result(pages: Pages, request: Request, work: Work) -> Response:
    if work.made is None:
        raise BadInput("the result was asked for", "nothing is released yet", "Look at the plan first")
    return pages._drawn(request, screens.result(work, _toml(pages, work)))


def _toml(pages: Pages, work: Work) -> str:
    """The same release as a file, to be put beside the table."""
    from dataclasses import replace

    from discreet.spec.values import ReleaseSpec
    from discreet.ways.row_by_row.spec import RowByRow

    answers = work.answers
    beside = pages.uploads / work.name
    universe = None if answers.universe is None else pages.uploads / answers.universe.name
    accepted = work.made is not None and work.made.accept_disclosure
    spec = answers.release(pages.uploads / "out", pages.uploads / "ledger.db", accepted)
    way = RowByRow(str(pages.uploads / MECHANISM), answers.max_count) if answers.designs else spec.way
    table = replace(answers, file=beside, universe=universe).table()
    place = pages.uploads / f"{work.key}.toml"
    ReleaseSpec(table, spec.privacy, way, spec.ledger, replace(spec.output, folder=None)).write(place)
    text = place.read_text(encoding="utf-8")
    place.unlink()
    return text


SCREENS = {
    "table": _table, "contents": _contents, "keep": _keep, "plan": _plan, "release": _release, "result": _result,
}  # fmt: skip
