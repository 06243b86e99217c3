"""`discreet ledger`: budgets, what was spent, and what is left."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli import common

app = typer.Typer(no_args_is_help=True)

Address = Annotated[str, typer.Argument(metavar="URL", help="path of an SQLite file, or postgresql://...")]
Dataset = Annotated[str | None, typer.Option("--dataset", help="name of the data set")]


@app.command(help="give a data set its budget; makes the ledger if there is none")
def create(
    url: Address,
    dataset: Annotated[str, typer.Option("--dataset", help="name of the data set")],
    epsilon: common.Epsilon = None,
    delta: common.Delta = "0",
    rho: common.Rho = None,
    json: common.Json = False,
) -> None:
    from discreet.ledger import ledger

    statement = ledger(url).create(dataset, epsilon=epsilon, delta=delta, rho=rho)
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
def history(url: Address, dataset: Dataset = None, json: common.Json = False) -> None:
    from discreet.ledger import ledger

    entries = ledger(url).history(dataset)
    lines = [
        f"{entry.recorded}  {entry.dataset} #{entry.number}  {entry.charged}  {entry.spending.note}".rstrip()
        for entry in entries
    ]
    common.emit(json, {"history": [entry.as_json() for entry in entries]}, lines or ["Nothing was spent yet."])


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
