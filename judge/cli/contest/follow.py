"""`judge contest publish`: the live pages of a contest as files, which any file server can carry."""

from pathlib import Path
from typing import Annotated

import typer

from judge.cli.options import ContestArgument
from judge.contest.plan import load_plan
from judge.errors import InputError

EXAMPLES = """
Examples:

judge contest publish cup public

judge contest publish cup public --follow

Copy the directory to a file server as often as you like, or let the server have it: the pages ask it every few seconds
for what is new. They are not signed: judge contest export writes what can be verified.
"""


def publish(
    contest: ContestArgument,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new directory, or one that this command made.")],
    follow: Annotated[bool, typer.Option("--follow", help="Keep it current until the contest is over.")] = False,
) -> None:
    """Write the live pages and events of a contest as files, for any file server; --follow keeps them current."""
    try:
        from judge.live.serve import follow as write
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed: pip install 'judge[web]'") from None
    write(load_plan(contest), directory, once=not follow)
