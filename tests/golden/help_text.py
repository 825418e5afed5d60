"""The help of every command of `judge`, as plain text at a fixed width."""

from collections.abc import Iterator
from typing import Any

import typer
from typer.main import get_command

from judge.cli import app

WIDTH = 100
"""Columns of the text. It does not depend on the terminal."""


def help_text() -> str:
    """The output of `--help` for `judge`, its commands and their subcommands, without Rich's frames."""
    return "\n".join(map(_section, all_commands()))


def all_commands() -> Iterator[typer.Context]:
    """`judge`, its commands and their subcommands; a context has the command and its path."""
    return _commands(get_command(app), "judge", None)


def _section(context: typer.Context) -> str:
    return f"$ {context.command_path} --help\n{context.command.get_help(context).rstrip()}\n"


def _commands(command: Any, name: str, parent: typer.Context | None) -> Iterator[typer.Context]:
    command.rich_markup_mode = None
    context = typer.Context(command, parent=parent, info_name=name, max_content_width=WIDTH, terminal_width=WIDTH)
    yield context
    if hasattr(command, "list_commands"):
        for inner in command.list_commands(context):
            # A lazy group imports the command; its `get_command` has only the first paragraph of the help.
            found = command.load(inner) if hasattr(command, "load") else command.get_command(context, inner)
            yield from _commands(found, inner, context)
