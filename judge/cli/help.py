"""`judge help`: all commands, also those that `judge --help` leaves out."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from judge.base.errors import InputError
from judge.base.text import printable, suggest
from judge.cli.lazy import LazyGroup, first_paragraph

EXAMPLES = """
judge help all
judge help contest run
"""


def help_(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND...", help="A command; all: every command on a line.")
    ] = None,
) -> None:
    """Explain a command, or list every command of judge with `judge help all`."""
    root = ctx.find_root()
    name = root.info_name or "judge"
    if words == ["all"]:
        for path, about in _commands(root.command, name, root):
            print(f"{path:<32} {printable(about, 400)}")
        return
    command, context = root.command, root
    for word in words or ():
        known = command.list_commands(context) if isinstance(command, TyperGroup) else ()
        if word not in known:
            raise InputError(f"{context.command_path} has no command {printable(word, 40)}: {suggest(word, known)}")
        command = _inner(command, word, context)
        context = type(context)(command, info_name=word, parent=context)
    print(command.get_help(context))


def _inner(group: Any, name: str, context: Any) -> Any:
    return group.load(name) if isinstance(group, LazyGroup) else group.get_command(context, name)


def _commands(command: Any, path: str, context: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(command, TyperGroup):
        yield path, first_paragraph(command.help)
        return
    for name in command.list_commands(context):
        yield from _commands(_inner(command, name, context), f"{path} {name}", context)
