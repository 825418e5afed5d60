"""`judge contest publish`: the live pages of a contest as static files."""

from pathlib import Path
from typing import Annotated

import typer

from judge.cli.contest.options import ArchiveOption, checked_archive
from judge.cli.options import HERE, ContestArgument, of_web_extra
from judge.contest.plan import load_plan

EXAMPLES = """
Examples:

judge contest publish public cup

judge contest publish public cup --follow --archive https://example.org/cup.tar.gz

While the contest runs, copy the directory to a file server repeatedly, or let the server read it: the pages poll it
every few seconds. After the end the command writes the final pages. These pages are never signed: judge contest export
writes the signed results that everybody can verify.
"""


def publish(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new directory, or one that this command created.")
    ],
    contest: ContestArgument = HERE,
    follow: Annotated[bool, typer.Option("--follow", help="Keep it current until the contest is over.")] = False,
    archive: ArchiveOption = "",
) -> None:
    """Write the live pages as files, unsigned; after the end the final pages. For verifiable results: export."""
    with of_web_extra():
        from judge.web.live.serve import follow as write
    planned = load_plan(contest)
    if write(planned, directory, once=not follow, archive=checked_archive(archive)):
        print(f"{directory}: the final pages of {planned.name}")
    else:
        print(f"{directory}: pages of {planned.name}, which is not over; --follow keeps them current")
