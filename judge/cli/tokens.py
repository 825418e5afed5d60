"""`judge tokens`: with them authors and organisers use `judge serve`."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.durable_files import open_regular
from judge.base.errors import InputError
from judge.base.text import printable, suggest
from judge.cli.lazy import lazy_group
from judge.cli.options import HERE, ContestArgument, ContestOrCupArgument, checked_address, cup_at, operator
from judge.terminal.output import note

if TYPE_CHECKING:
    from judge.submissions.service import IntakeDirectory

app = lazy_group(
    {
        "make": "judge.cli.tokens:make",
        "make-all": "judge.cli.tokens:make_all",
        "revoke": "judge.cli.tokens:revoke",
        "list": "judge.cli.tokens:list_tokens",
    },
    help="Manage the tokens of authors and organisers.",
)

EXAMPLES = {
    "make": """
judge tokens make "Ada L." cup --url https://example.org/cup
judge tokens make "Olga K." cup --role organiser
""",
    "make-all": """
judge tokens make-all authors.txt cup --url https://example.org/cup > tokens.csv
judge tokens make-all authors.txt spring --url https://example.org > links.csv

FILE has an author's name on each line; - means stdin.
""",
    "revoke": 'Example: judge tokens revoke "Ada L." cup',
    "list": "Example: judge tokens list cup",
}

MAX_AUTHORS_BYTES = 1 << 16

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of an author or organiser, as the pages show it.")]
UrlOption = Annotated[str, typer.Option(help="The address of judge serve: also print sign-in links.")]


def author_link(address: str, token: str) -> str:
    """Signs in an author. `address` has no final slash. Browsers never send the part after # to a server."""
    return f"{address}/author/index.html#{token}"


def organiser_link(address: str, token: str) -> str:
    """Signs in an organiser, as `author_link`."""
    return f"{address}/organiser/index.html#{token}"


def make(
    name: Name,
    contest: ContestArgument = HERE,
    role: Annotated[
        str, typer.Option(help="author: submit agents; watch: see everything; organiser: also give orders.")
    ] = "author",
    url: UrlOption = "",
) -> None:
    """Create a token with which NAME can sign in to the pages, and submit by HTTP. Earlier tokens stay valid."""
    from judge.cli.submit import open_intake
    from judge.store.tokens import TokenRole

    if role not in list(TokenRole):
        raise InputError(f"--role {printable(role, 20)}: {suggest(role, list(TokenRole))}")
    address, chosen = checked_address(url) if url else "", TokenRole(role)
    directory = open_intake(contest)
    with closing(directory.tokens()) as tokens:
        made = tokens.make(name, operator(), chosen)
    if chosen is TokenRole.AUTHOR:
        note_lookalikes([name], directory)
    print(made)
    if address:
        print((author_link if chosen is TokenRole.AUTHOR else organiser_link)(address, made))
    note("the token is shown only once: send it by a private channel; judge tokens revoke ends it")


def make_all(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A text file with an author's name on each line.")],
    contest: ContestOrCupArgument = HERE,
    url: UrlOption = "",
) -> None:
    """Create a token for each author of FILE, and print them as CSV: author, token, link.

    Of a cup, one in each league: author, league, link.
    """
    address, authors = checked_address(url) if url else "", authors_in(file)
    cup = cup_at(contest)
    rows = _of_contest(contest, authors, address) if cup is None else _of_cup(cup, authors, address)
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
    note("the tokens are shown only once: send each author only one line, by a private channel")


def _of_contest(contest: Path, authors: Sequence[str], address: str) -> Iterator[Sequence[str]]:
    from judge.cli.submit import open_intake

    directory = open_intake(contest)
    yield ("author", "token", *(("link",) if address else ()))
    for author, token in make_tokens(directory, authors):
        yield (author, token, *((author_link(address, token),) if address else ()))
    note_lookalikes(authors, directory)


def _of_cup(path: Path, authors: Sequence[str], address: str) -> Iterator[Sequence[str]]:
    from judge.cli.submit import LEAGUE_COLUMNS, open_intake
    from judge.cup.plan import load_cup

    if not address:
        raise InputError("--url is missing: give the address at which judge serve has the cup")
    planned = load_cup(path)
    yield LEAGUE_COLUMNS
    for league in planned.cup.leagues:
        contest = planned.write(league.name, is_complete=not league.after)
        directory = open_intake(contest.path)
        for author, token in make_tokens(directory, authors):
            yield (author, league.name, author_link(f"{address}/{contest.name}", token))
    note_lookalikes(authors, directory)


def make_tokens(directory: IntakeDirectory, authors: Sequence[str]) -> list[tuple[str, str]]:
    """Authors with their new tokens."""
    with closing(directory.tokens()) as tokens:
        return [(author, tokens.make(author, operator())) for author in authors]


def revoke(name: Name, contest: ContestArgument = HERE) -> None:
    """Revoke every token of NAME. Submissions and orders stay."""
    from judge.cli.submit import open_intake

    with closing(open_intake(contest).tokens()) as tokens:
        print(f"{tokens.revoke(name, operator())} revoked")


def list_tokens(contest: ContestArgument = HERE) -> None:
    """List the holders of valid tokens, with their roles."""
    from judge.cli.submit import open_intake

    with closing(open_intake(contest).tokens()) as tokens:
        for holder in tokens.holders():
            made = f"made {holder.made_at[:16].replace('T', ' ')} by {printable(holder.made_by)}"
            print(f"{holder.role.value:<6} {printable(holder.name)}  {made}")


def note_lookalikes(authors: Sequence[str], directory: IntakeDirectory) -> None:
    """Note authors of a contest that look like one of `authors`."""
    from judge.store.lookalikes import lookalikes

    with closing(directory.notices()) as notices:
        known = notices.authors()
    for first, second in lookalikes(authors, known):
        names = f"{printable(first)} and {printable(second)}"
        note(f"judge: the authors {names} look alike: if they are one person, use one name")


def authors_in(file: str) -> list[str]:
    """The names in a text file, without lines that begin with #; - means stdin. Raises InputError with the line."""
    from judge.store.tokens import checked_author

    try:
        if file == "-":
            text = sys.stdin.read(MAX_AUTHORS_BYTES + 1)
        else:
            with open_regular(Path(file)) as stream:
                text = stream.read(MAX_AUTHORS_BYTES + 1).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: {getattr(error, 'strerror', None) or 'not a UTF-8 text file'}") from None
    if len(text) > MAX_AUTHORS_BYTES:
        raise InputError(f"{file}: more than {MAX_AUTHORS_BYTES} characters; split it")
    authors: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        author = line.strip()
        if not author or author.startswith("#"):
            continue
        if "@" in author:
            raise InputError(f"{file}:{number}: {printable(author, 60)}: give the name alone, because pages show it")
        if author in authors:
            raise InputError(f"{file}:{number}: {printable(author, 60)} is also on line {authors[author]}; remove one")
        try:
            checked_author(author)
        except InputError as error:
            raise InputError(f"{file}:{number}: {error}") from None
        authors[author] = number
    if not authors:
        raise InputError(f"{file}: no names; write an author's name on each line")
    return list(authors)
