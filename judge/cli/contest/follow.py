"""`judge contest publish`: the live pages of a contest as static files."""

from pathlib import Path
from typing import Annotated

import typer

from judge.cli.options import HERE, ContestArgument, of_web_extra
from judge.contest.plan import load_plan

EXAMPLES = """
Examples:

judge contest publish public cup

judge contest publish public cup --follow

Copy the directory to a file server repeatedly, or let the server read it: the pages poll it every few seconds. They
are not signed; for verification use judge contest export.
"""


def publish(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new directory, or one that this command created.")
    ],
    contest: ContestArgument = HERE,
    follow: Annotated[bool, typer.Option("--follow", help="Keep it current until the contest is over.")] = False,
) -> None:
    """Write the live pages and events of a contest as files, for any file server; --follow keeps them current."""
    with of_web_extra():
        from judge.web.live.serve import follow as write
    write(load_plan(contest), directory, once=not follow)
