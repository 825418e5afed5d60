"""The commands of `judge` with the names of their arguments and options."""

import textwrap
from collections.abc import Iterator
from typing import Any

import typer
from typer.main import get_command

from judge.cli import app

WIDTH = 100
"""Columns of the text."""


def commands_text() -> str:
    """A paragraph for each command: its path with its arguments, and its options in the order of its help."""
    return "".join(map(_section, all_commands()))


def all_commands() -> Iterator[typer.Context]:
    """`judge`, its commands and their subcommands; a context has the command and its path."""
    return _commands(get_command(app), "judge", None)


def _section(context: typer.Context) -> str:
    command = context.command
    names = [
        name
        for each in command.get_params(context)
        if each.param_type_name == "option" and each.name != "help" and not getattr(each, "hidden", False)
        for name in (*each.opts, *each.secondary_opts)
    ]
    indent = 4 * " "
    lines = textwrap.wrap(
        " ".join(names), WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    usage = (each for each in command.collect_usage_pieces(context) if each != "[OPTIONS]")
    return "\n".join((" ".join((context.command_path, *usage)), *lines, ""))


def _commands(command: Any, name: str, parent: typer.Context | None) -> Iterator[typer.Context]:
    context = typer.Context(command, parent=parent, info_name=name)
    yield context
    if hasattr(command, "list_commands"):
        for inner in command.list_commands(context):
            # A lazy group imports the command; its `get_command` has only the first paragraph of the help.
            found = command.load(inner) if hasattr(command, "load") else command.get_command(context, inner)
            yield from _commands(found, inner, context)
