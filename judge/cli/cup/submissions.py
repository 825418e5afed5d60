"""`judge cup submit` and `tokens`: an author enters an agent in several leagues with one command."""

import csv
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.text import quote, suggest
from judge.cli.links import author_link
from judge.cli.options import (
    CUP_HERE,
    AuthorOption,
    CupArgument,
    NameOption,
    SubmissionArgument,
    TitleOption,
    checked_address,
    operator,
)
from judge.cli.submissions import authors_in
from judge.cli.submit import open_intake, submit
from judge.cup.plan import load_cup
from judge.store.tokens import Tokens
from judge.terminal.output import note

EXAMPLES = {
    "submit": """
Examples:

judge cup submit my-agent.zip cup-2026 --league fastgame --league renju --author 'Ada L.'

judge cup submit my-agent.zip --links my-links.csv --league fastgame --league renju --wait
""",
    "tokens": """
Example: judge cup tokens authors.txt cup-2026 --url https://example.org > links.csv

FILE has an author's name on each line; - means stdin. Send each author the first line and the own lines of the output.
""",
}

COLUMNS = ("author", "league", "link")

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
    data = read_bounded(path, MAX_LINKS_BYTES, "give the lines of judge cup tokens", links=True)
    rows = [*csv.reader(data.decode("utf-8", "replace").splitlines())]
    if not rows or tuple(rows[0]) != COLUMNS:
        raise InputError(f"{path}, line 1: write {','.join(COLUMNS)}, as judge cup tokens prints it")
    found: dict[str, str] = {}
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(COLUMNS):
            raise InputError(f"{path}, line {number}: {len(row)} values; the first line has {len(COLUMNS)} columns")
        if row[1] in found:
            raise InputError(f"{path}, line {number}: the league {quote(row[1])} is listed twice; leave one line out")
        found[row[1]] = row[2]
    return found


def tokens(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A text file with an author's name on each line.")],
    cup: CupArgument = CUP_HERE,
    url: Annotated[str, typer.Option(help="The address at which judge serve has the cup.")] = "",
) -> None:
    """Create a token for each author of FILE in each league, and print the links as CSV: author, league, link."""
    if not url:
        raise InputError("--url is missing: give the address at which judge serve has the cup")
    address, authors, planned = checked_address(url), authors_in(file), load_cup(cup)
    print_rows = csv.writer(sys.stdout, lineterminator="\n").writerows
    print_rows([COLUMNS])
    for league in planned.cup.leagues:
        contest = planned.write(league.name, is_complete=not league.after)
        with closing(open_intake(contest.path).tokens()) as stored:
            print_rows(_links(stored, authors, league.name, f"{address}/{contest.name}"))
    note("the links are shown only once: send each author only the own ones, by a private channel")


def _links(stored: Tokens, authors: Sequence[str], league: str, address: str) -> list[tuple[str, str, str]]:
    made = [(author, stored.make(author, operator())) for author in authors]
    return [(author, league, author_link(address, token)) for author, token in made]
