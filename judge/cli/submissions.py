"""`judge submissions`: what came in, what became of it, and what an organiser decides about it."""

import json
import logging
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.cells import cell_len, set_cell_size
from rich.console import Console

from judge.cli.desk import HERE, ContestFile, by_hand, open_desk, processor
from judge.cli.submit import CHARACTERS, document, findings_of, line_of, report_of, tell_end
from judge.cli.text import note
from judge.errors import InputError
from judge.logs import set_level
from judge.store.register import Register
from judge.store.submission import ENTERS, Submission
from judge.store.tokens import Tokens
from judge.submissions.service import IntakeDirectory, at_work, process_taken
from judge.text import printable

app = typer.Typer(help="Submissions of a contest: what came in, what became of it, who may send.", no_args_is_help=True)

Id = Annotated[int, typer.Argument(metavar="ID", help="The number of a submission.")]
Author = Annotated[str, typer.Argument(metavar="AUTHOR", help="As the tables shall call them.")]
Why = Annotated[str, typer.Option(help="The reason; it stands in the journal for good.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


_WIDTH = 80
"""The cells of a listing that has no room to spare."""
_BELOW = " " * 5


@contextmanager
def _opened(contest: Path) -> Iterator[tuple[IntakeDirectory, Register]]:
    desk = open_desk(contest)
    with closing(desk.register()) as register:
        yield desk, register


@app.command("list", epilog="Example: judge submissions list --contest cup --entries")
def list_submissions(
    contest: ContestFile = HERE,
    entries: Annotated[bool, typer.Option("--entries", help="Only those that would play if it began now.")] = False,
    as_json: Json = False,
) -> None:
    """List the submissions, newest first."""
    with _opened(contest) as (desk, register):
        found = register.entries() if entries else register.submissions()
        if as_json:
            print(json.dumps([document(desk, register, one) for one in found], indent=2))
            return
    for line in _listing(found, Console().width):
        print(line)


def _listing(found: Sequence[Submission], width: int) -> Iterator[str]:
    """A line for each submission, of at most so many cells, and below it why it is in its state."""
    room = max(0, width - _WIDTH) // 3
    widths = (4, 10, 16 + room, 12 + room, 16 + room, 16)
    rows = [
        (
            str(one.id),
            one.state.value,
            printable(one.name) + (f" v{one.version}" if one.version else ""),
            printable(one.author),
            printable(one.filename),
            one.received_at[:16].replace("T", " "),
        )
        for one in found
    ]
    yield _in_cells(("id", "state", "agent", "author", "file", "received"), widths)
    for one, row in zip(found, rows, strict=True):
        yield _in_cells(row, widths)
        if one.why:
            why = printable(one.why, CHARACTERS)
            yield from textwrap.wrap(why, width - 1, initial_indent=_BELOW, subsequent_indent=_BELOW)


def _in_cells(row: Sequence[str], widths: Sequence[int]) -> str:
    """A row of columns so wide; what is longer is cut."""
    cells = [
        set_cell_size(text, wide) if cell_len(text) <= wide else f"{set_cell_size(text, wide - 1)}…"
        for text, wide in zip(row, widths, strict=True)
    ]
    return " ".join(cells).rstrip()


@app.command(epilog="Example: judge submissions show 3 --contest cup")
def show(number: Id, contest: ContestFile = HERE, as_json: Json = False) -> None:
    """Show a submission: its steps, what the check found, and its journal."""
    with _opened(contest) as (desk, register):
        one = register.get(number)
        if as_json:
            print(json.dumps(document(desk, register, one), indent=2))
            return
        print(f"{_called(one)} by {printable(one.author)}: {one.state.value}")
        print(f"{printable(one.filename)}, {one.size} bytes, SHA-256 {one.upload}")
        if one.digest:
            print(f"agent {one.digest}")
        for step in register.steps(number):
            if step.attempt == one.attempt:
                print(line_of(step))
        for line in findings_of(report_of(desk, one)):
            print(line)
        for change in register.journal(number):
            why = f": {printable(change.why, CHARACTERS)}" if change.why else ""
            print(f"{change.at}  {change.state.value} by {printable(change.who)}{why}")


@app.command("log", epilog="Example: judge submissions log 3 --contest cup")
def show_log(number: Id, contest: ContestFile = HERE) -> None:
    """Print what was said while a submission was processed; strangers wrote it, so it is escaped."""
    with _opened(contest) as (desk, register):
        one = register.get(number)
        if one.log is None:
            raise InputError(f"submission {number} is {one.state.value}: it has no log (yet)")
        for line in desk.files.get(one.log).decode("utf-8", "replace").split("\n"):
            print(printable(line.removesuffix("\r"), 4000))


@app.command(epilog='Example: judge submissions withdraw 3 --why "their wish" --contest cup')
def withdraw(number: Id, why: Why, contest: ContestFile = HERE) -> None:
    """Take a submission out: it will not be an entry. What has played stays in the records."""
    with _opened(contest) as (_, register):
        _say(register.withdraw(number, by_hand(), _reasoned(why)))


@app.command(epilog='Example: judge submissions approve 3 --why "our host was busy" --contest cup')
def approve(number: Id, why: Why, contest: ContestFile = HERE) -> None:
    """Let in what the gate refused."""
    with _opened(contest) as (_, register):
        _say(register.approve(number, by_hand(), _reasoned(why)))


@app.command(epilog='Example: judge submissions retry 3 --why "the Engine is back" --contest cup')
def retry(number: Id, contest: ContestFile = HERE, why: Why = "tried again by the organiser") -> None:
    """Process a failed or refused submission again, here and now."""
    set_level(logging.ERROR)  # a line of the log would come between this command's own
    with _opened(contest) as (desk, register), at_work(desk) as worker:
        register.retry(number, by_hand(), _reasoned(why))
        taken = register.take(worker, number)
        if taken is None:
            note("the intake has taken it up: judge submissions show tells what comes of it")
            return
        ended = process_taken(desk, register, taken, processor(desk), lambda step: print(line_of(step), flush=True))
        tell_end(desk, register, ended, contest)
    if ended.state not in ENTERS:
        raise SystemExit(1)


@app.command(epilog='Example: judge submissions token "Ada L." --contest cup')
def token(author: Author, contest: ContestFile = HERE) -> None:
    """Make a token with which AUTHOR may submit by HTTP, beside those that hold already."""
    desk = open_desk(contest)
    with closing(Tokens(desk.store_url, desk.contest)) as tokens:
        print(tokens.make(author, by_hand()))
    note("it is shown this once: give it to the author by a way that nobody else reads")


@app.command(epilog='Example: judge submissions revoke "Ada L." --contest cup')
def revoke(author: Author, contest: ContestFile = HERE) -> None:
    """End every token of AUTHOR; their submissions stay."""
    desk = open_desk(contest)
    with closing(Tokens(desk.store_url, desk.contest)) as tokens:
        print(f"{tokens.revoke(author, by_hand())} revoked")


def _reasoned(why: str) -> str:
    if not why.strip():
        raise InputError("--why: say why; the reason stands in the journal")
    return why.strip()


def _say(one: Submission) -> None:
    print(f"{_called(one)}: {one.state.value}")


def _called(one: Submission) -> str:
    version = f" version {one.version}" if one.version else ""
    return f"submission {one.id}, {printable(one.name) or 'no name yet'}{version}"
