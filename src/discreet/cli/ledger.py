"""`discreet ledger`: budgets, what was spent, and what is left."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from discreet.cli import common
from discreet.privacy.price import Relation

app = typer.Typer(no_args_is_help=True)

Address = Annotated[str, typer.Argument(metavar="URL", help="path of an SQLite file, or postgresql://...")]
Dataset = Annotated[str | None, typer.Option("--dataset", help="name of the data set")]
NamedDataset = Annotated[str, typer.Option("--dataset", help="name of the data set")]


@app.command(help="give a data set its budget; makes the ledger if there is none")
def create(
    url: Address,
    dataset: NamedDataset,
    epsilon: common.Epsilon = None,
    alpha: common.Alpha = None,
    delta: common.Delta = "0",
    rho: common.Rho = None,
    relation: Annotated[
        str, typer.Option("--relation", help="what one person may do: added-or-removed, or moved")
    ] = "added-or-removed",
    json: common.Json = False,
) -> None:
    from discreet.ledger import ledger

    kind = cast(Relation, relation)  # checked there
    statement = ledger(url).create(dataset, epsilon=epsilon, alpha=alpha, delta=delta, rho=rho, relation=kind)
    common.emit(json, statement.as_json(), [statement.sentence])


@app.command(help="budget, spent and left")
def status(url: Address, dataset: Dataset = None, json: common.Json = False) -> None:
    from discreet.ledger import ledger

    if dataset is not None:
        statement = ledger(url).status(dataset)
        common.emit(json, statement.as_json(), [statement.sentence])
        return
    statements = ledger(url).status()
    value = {"datasets": [statement.as_json() for statement in statements]}
    common.emit(json, value, [statement.sentence for statement in statements] or ["The ledger holds no data sets."])


@app.command(help="every recorded spending, oldest first")
def history(
    url: Address,
    dataset: Dataset = None,
    csv: Annotated[str | None, typer.Option("--csv", help="write it to this file", metavar="FILE")] = None,
    json: common.Json = False,
) -> None:
    from discreet.ledger import ledger
    from discreet.ledger.words import as_csv, history_line

    entries = ledger(url).history(dataset)
    if csv is not None:
        from discreet.io.files import write_text

        write_text(csv, as_csv(entries))
        common.say(f"Wrote {csv}")
    lines = [history_line(entry) for entry in entries]
    common.emit(json, {"history": [entry.as_json() for entry in entries]}, lines or ["Nothing was spent yet."])


@app.command(help="a page for people: what is protected and what is not, and every release")
def statement(
    url: Address,
    dataset: NamedDataset,
    exact: Annotated[
        bool, typer.Option("--exact", help="also what all releases cost together, from the noise of each")
    ] = False,
    at_delta: Annotated[
        str | None, typer.Option("--at-delta", help="the delta of --exact; 1e-6 if none is given", metavar="D")
    ] = None,
    json: common.Json = False,
) -> None:
    from discreet.errors import BadInput
    from discreet.ledger import ledger
    from discreet.ledger.exactly import AT_DELTA

    if at_delta is not None and not exact:
        raise BadInput(f"--at-delta {at_delta} was given", "it belongs to --exact", "Give --exact too, or leave it out")
    book = ledger(url)
    delta = (at_delta or AT_DELTA) if exact else None
    page = book.statement(dataset, delta)
    value: dict[str, object] = {**book.status(dataset).as_json(), "statement": page} if json else {}
    if json and delta is not None:
        value["exact"] = book.exactly(dataset, delta).as_json()
    common.emit(json, value, page.splitlines())


@app.command(help="whether a release folder was paid for here, and whether a head that was seen is still there")
def check(
    url: Address,
    folder: Annotated[str | None, typer.Argument(metavar="DIR", help="a release folder")] = None,
    head: Annotated[str | None, typer.Option("--head", help="a head of the chain, from a statement")] = None,
    record: Annotated[
        bool, typer.Option("--record", help="tell the entry that the release was saved, if it fits")
    ] = False,
    json: common.Json = False,
) -> None:
    from discreet.errors import BadInput
    from discreet.ledger import ledger
    from discreet.ledger.words import NO_SUCH_HEAD

    if folder is None and head is None:
        raise BadInput("something was to be checked", "neither a folder nor a head was given", "Give DIR or --head HEX")
    book = ledger(url)
    problems = () if folder is None else book.check(folder, record=record)
    if head is not None and not book.holds(head):
        problems = (*problems, NO_SUCH_HEAD)
    value = {"valid": not problems, "problems": list(problems)}
    common.emit(json, value, problems or ["Nothing is missing: what was asked about is there, and fits."])
    if problems:
        raise typer.Exit(1)


@app.command(help="everything in the ledger, as JSON")
def export(
    url: Address,
    out: Annotated[str | None, typer.Option("-o", "--out", help="file to write instead of printing")] = None,
    json: common.Json = False,
) -> None:
    from discreet.io.files import write_json
    from discreet.ledger import ledger

    value = ledger(url).export()
    if out is None:
        common.emit(True, value, [])
        return
    write_json(out, value)
    common.emit(json, {"out": out, **value}, [f"Wrote {out}"])
