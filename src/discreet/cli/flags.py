"""Flags of the command line, made from the options of the values they fill."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from discreet.cli.common import say
from discreet.errors import BadInput, DiscreetError, Say, by_flags
from discreet.options import Option, options_of

Given = Mapping[str, Any]  # what typer hands over: the flags of one call, whatever their kinds
Flags = Mapping[str, tuple[Option, Any]]  # options by name, with their defaults


def flags_of(*kinds: type) -> Flags:
    """The options of several values together; where two share a name, both say what it is."""
    found: dict[str, tuple[Option, Any]] = {}
    for kind in kinds:
        for name, (option, default) in options_of(kind).items():
            if option.flag == "":
                continue
            if name in found and option.values is not None:
                first = found[name][0]
                option = replace(first, help=f"{first.help}; or {option.help}", values=_joined(first, option))
            elif name in found:
                continue
            panel = found[name][0].panel if name in found else title_of(kind)
            found[name] = replace(option, panel=panel), found.get(name, (option, default))[1]
    return found


def some(flags: Flags, *names: str) -> Flags:
    """Those that a command takes; a name that there is not is a mistake of ours."""
    return {name: flags[name] for name in names}


def title_of(kind: type) -> str:
    """Under which the help lists the options of a value: the first sentence that is said of it."""
    return (kind.__doc__ or "").partition("\n")[0].partition(". ")[0].rstrip(".")


def _joined(one: Option, other: Option) -> Callable[[], tuple[str, ...]]:
    return lambda: tuple(dict.fromkeys((*one.known, *other.known)))


def command(
    run: Callable[..., Any], before: Iterable[inspect.Parameter], flags: Flags,
    after: Iterable[inspect.Parameter] = (),
) -> Callable[..., Any]:  # fmt: skip
    """`run` with a signature that typer can read: its own parameters, and one for every flag."""

    def with_flags(**given: Any) -> Any:
        _refuse_both(option.flag for option, _ in flags.values())
        return run(**given)

    made = [_parameter(name, option, default) for name, (option, default) in flags.items()]
    with_flags.__signature__ = inspect.Signature([*before, *made, *after])  # type: ignore[attr-defined]
    return with_flags


def _refuse_both(flags: Iterable[str | None]) -> None:
    """The parser takes the last of --this and --not-this; whoever says both has not decided."""
    for pair in flags:
        if pair is not None and "/" in pair and set(pair.split("/")) <= set(sys.argv[1:]):
            one, other = pair.split("/")
            raise BadInput(f"{one} and {other} were given together", "they contradict each other", "Give one of them")


class FlagCommand(TyperCommand):
    """A command whose flags stand once each: the parser takes the last of several, and the others would be lost.
    Our own errors become one message, which calls options by these flags, and their exit status."""

    @property
    def reader(self) -> Say:
        """Who reads its errors knows options by the flags of this command, if it has any for them."""
        flags: dict[str, str] = {}
        for item in self.params:
            if item.param_type_name == "option":
                long = max(item.opts, key=len)
                flag = "/".join((long, *item.secondary_opts))
                flags |= {str(item.name): flag, long.lstrip("-").replace("-", "_"): flag}
        return by_flags(flags)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except DiscreetError as error:
            say(f"discreet: {error.said(self.reader)}")
            raise typer.Exit(error.exit_status) from error

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:  # a shell that completes a line
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            several = Counter(item for item in order if _takes_one(item))
            twice = [item.opts[-1] for item, times in several.items() if times > 1]
            if twice:
                raise BadInput(f"{', '.join(twice)} was given more than once", "it takes one value", "Give it once")
        return super().parse_args(ctx, args)


def _takes_one(item: Any) -> bool:
    return item.param_type_name == "option" and not item.multiple and not item.is_flag and not item.count


def parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    """One that is no option of a value: an argument, or what all commands share."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _parameter(name: str, option: Option, default: Any) -> inspect.Parameter:
    """Not given means None, so that only what was said is passed on; the default is shown all the same."""
    values = f" ({', '.join(option.known)})" if option.known else ""
    shown = str(default) if default not in (None, "", (), False) else False
    about = typer.Option(
        option.flag_of(name), help=option.help + values, metavar=option.metavar, show_default=shown,
        rich_help_panel=option.panel,
    )  # fmt: skip
    kind: Any = list[str] if option.kind is list else option.kind
    return parameter(name, Annotated[kind | None, about], None)


def said(given: Given, flags: Flags) -> dict[str, Any]:
    """What was given on the command line, as values."""
    out = {}
    for name, (option, _) in flags.items():
        value = given.get(name)
        if value is None or value == []:
            continue
        out[name] = option.read(value) if option.read is not None and isinstance(value, str) else value
    return out
