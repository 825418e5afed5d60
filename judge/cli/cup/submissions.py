"""`judge cup submit`: an author enters an agent in several leagues with one command."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.text import quote, suggest
from judge.cli.options import (
    CUP_HERE,
    AuthorOption,
    CupArgument,
    NameOption,
    SubmissionArgument,
    TitleOption,
)
from judge.cli.submit import submit
from judge.cli.tokens import LEAGUE_COLUMNS
from judge.cup.plan import load_cup
from judge.terminal.output import note

EXAMPLES = {
    "submit": """
Examples:

judge cup submit my-agent.zip cup-2026 --league fastgame --league renju --author 'Ada L.'

judge cup submit my-agent.zip --links my-links.csv --league fastgame --league renju --wait
""",
}

MAX_LINKS_BYTES = 1 << 20


def submit_to_leagues(
    file: SubmissionArgument,
    cup: CupArgument = CUP_HERE,
    league: Annotated[list[str] | None, typer.Option(help="A league that the agent enters. Repeatable.")] = None,
    name: NameOption = "",
    title: TitleOption = "",
    author: AuthorOption = "",
    links: Annotated[
        Path | None, typer.Option(help="Instead of CUP: your links to the leagues, from the organiser.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="With --links: print the steps and the results.")] = False,
) -> None:
    """Submit FILE to leagues of a cup: each league checks it under its own policy."""
    if links is None and wait:
        raise InputError("--links is missing: --wait is for services")
    if links is not None and author:
        raise InputError("--links: the services know the author; leave out --author")
    known = _read_links(links) if links is not None else {}
    planned = None if links is not None else load_cup(cup)
    names = list(known) if planned is None else list(planned.cup.by_name)
    chosen = list(dict.fromkeys(league or []))
    if not chosen:
        raise InputError(f"--league is missing: name one or more of {', '.join(names)}")
    for each in chosen:
        if each not in names:
            raise InputError(f"--league {quote(each)}: no such league; {suggest(each, names)}")
    failed = []
    for each in chosen:
        print(f"{each}:", flush=True)
        try:
            if planned is None:
                submit(file, url=known[each], name=name, title=title, wait=wait)
            else:
                contest = planned.write(each, is_complete=not planned.cup.by_name[each].after)
                submit(file, contest.path, name, title, author)
        except SystemExit:
            failed.append(each)
        except InputError as error:
            if len(chosen) == 1:
                raise
            note(f"judge: {error}")
            failed.append(each)
    if failed:
        print(f"refused by {', '.join(failed)}")
        raise SystemExit(1)


def _read_links(path: Path) -> Mapping[str, str]:
    data = read_bounded(path, MAX_LINKS_BYTES, "give the lines of judge tokens make-all", links=True)
    rows = [*csv.reader(data.decode("utf-8", "replace").splitlines())]
    if not rows or tuple(rows[0]) != LEAGUE_COLUMNS:
        raise InputError(f"{path}, line 1: write {','.join(LEAGUE_COLUMNS)}, as judge tokens make-all prints it")
    found: dict[str, str] = {}
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(LEAGUE_COLUMNS):
            raise InputError(
                f"{path}, line {number}: {len(row)} values; the first line has {len(LEAGUE_COLUMNS)} columns"
            )
        if row[1] in found:
            raise InputError(f"{path}, line {number}: the league {quote(row[1])} is listed twice; leave one line out")
        found[row[1]] = row[2]
    return found
