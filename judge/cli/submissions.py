"""`judge submissions`: the submissions of a contest, and the organiser's decisions about them."""

import logging
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.cells import cell_len, set_cell_size
from rich.console import Console

from judge.base.errors import InputError
from judge.base.logs import set_level
from judge.base.text import printable, suggest
from judge.cli.options import HERE, ContestArgument, JsonOption, WhyOption, operator, required_reason
from judge.cli.submission_output import step_line
from judge.cli.submit import (
    open_intake,
    print_problems,
    print_result,
    processor,
    submission_json,
)
from judge.contest.orders.order import Order
from judge.contest.orders.submission_orders import (
    SUBMISSION_ORDERS,
    AuthorsOrder,
    Message,
    RegisterOrder,
    Retry,
    TakeOut,
)
from judge.store.orders import OrganiserOrder
from judge.store.submissions import Register
from judge.store.tokens import checked_author
from judge.store.types import ENTERS, Submission
from judge.submissions.service import IntakeDirectory, process_claimed, state_line, working
from judge.terminal.output import SENTENCE_CHARACTERS, note, print_json

app = typer.Typer(help="List and decide submissions.", no_args_is_help=True)

Id = Annotated[int, typer.Argument(metavar="ID", help="The number of a submission.")]
Author = Annotated[str, typer.Argument(metavar="AUTHOR", help="The author's name, as the tables show it.")]

MESSAGE_CHARACTERS = 1000

_WIDTH = 80
_INDENT = " " * 5


@contextmanager
def _opened(contest: Path) -> Iterator[tuple[IntakeDirectory, Register]]:
    directory = open_intake(contest)
    with closing(directory.register()) as register:
        yield directory, register


@app.command("list", epilog="Example: judge submissions list cup --entries")
def list_submissions(
    contest: ContestArgument = HERE,
    entries: Annotated[
        bool, typer.Option("--entries", help="Only those that would play if the contest began now.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the submissions, newest first."""
    with _opened(contest) as (directory, register):
        submissions = register.entries() if entries else register.submissions()
        if as_json:
            print_json([submission_json(directory, register, submission) for submission in submissions])
            return
    for line in _table(submissions, Console().width):
        print(line)


def _table(submissions: Sequence[Submission], width: int) -> Iterator[str]:
    room = max(0, width - _WIDTH) // 3
    widths = (4, 10, 16 + room, 12 + room, 16 + room, 16)
    rows = [
        (
            str(submission.id),
            submission.state.value,
            printable(submission.name) + (f" v{submission.version}" if submission.version else ""),
            printable(submission.author),
            printable(submission.filename),
            submission.received_at[:16].replace("T", " "),
        )
        for submission in submissions
    ]
    yield _in_cells(("id", "state", "agent", "author", "file", "received"), widths)
    for submission, row in zip(submissions, rows, strict=True):
        yield _in_cells(row, widths)
        if submission.why:
            why = printable(submission.why, SENTENCE_CHARACTERS)
            yield from textwrap.wrap(why, width - 1, initial_indent=_INDENT, subsequent_indent=_INDENT)


def _in_cells(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [
        set_cell_size(text, wide) if cell_len(text) <= wide else f"{set_cell_size(text, wide - 1)}…"
        for text, wide in zip(row, widths, strict=True)
    ]
    return " ".join(cells).rstrip()


@app.command(epilog="Example: judge submissions show 3 cup")
def show(
    number: Id,
    contest: ContestArgument = HERE,
    as_json: JsonOption = False,
    log: Annotated[bool, typer.Option("--log", help="Print what processing it printed.")] = False,
) -> None:
    """Show a submission: its steps, the problems that the check found, and its history."""
    with _opened(contest) as (directory, register):
        submission = register.get(number)
        if log:
            _print_log(directory, submission)
            return
        if as_json:
            print_json(submission_json(directory, register, submission))
            return
        title = state_line(submission).rpartition(": ")[0]
        print(f"{title} by {printable(submission.author)}: {submission.state.value}")
        print(f"{printable(submission.filename)}, {submission.size} bytes, SHA-256 {submission.upload}")
        if submission.title:
            print(f"display name {printable(submission.title)}")
        if submission.digest:
            print(f"agent {submission.digest}")
        for step in register.steps(submission):
            print(step_line(step))
        print_problems(directory, submission)
        for change in register.journal(number):
            why = f": {printable(change.why, SENTENCE_CHARACTERS)}" if change.why else ""
            print(f"{change.at}  {change.state.value} by {printable(change.who)}{why}")


def _print_log(directory: IntakeDirectory, submission: Submission) -> None:
    if submission.log is None:
        raise InputError(f"submission {submission.id} is {submission.state.value}: it has no log yet")
    for line in directory.files.get(submission.log).decode("utf-8", "replace").split("\n"):
        print(printable(line.removesuffix("\r"), 4000))


@app.command(epilog='Example: judge submissions email "Ada L." ada@example.org cup')
def email(
    author: Author,
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="Address for notices; '' for none.")],
    contest: ContestArgument = HERE,
) -> None:
    """Set the e-mail address for an author's notices: results, failures, disqualification and refusals."""
    if address and not re.fullmatch(r"[^\s@<>,;:\"]{1,64}@[^\s@<>,;:\"]{1,190}", address):
        raise InputError(f"address {address[:80]!r}: one address, such as ada@example.org")
    directory = open_intake(contest)
    with closing(directory.notices()) as notices:
        known = notices.authors()
        if checked_author(author) not in known:
            hint = printable(suggest(author, known), 300)
            raise InputError(f"no author {author!r} in {directory.contest}: {hint}; judge tokens make adds one")
        notices.set_email(author, address)
    if address and not directory.intake.notices.smtp:
        note("no mail server is configured: set smtp in [intake.notices] of the contest's file")


def _message(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The message, on one line.")],
    contest: ContestArgument = HERE,
) -> None:
    if not text.strip() or len(text) > MESSAGE_CHARACTERS:
        raise InputError(f"TEXT: 1 to {MESSAGE_CHARACTERS} characters")
    with closing(open_intake(contest).notices()) as notices:
        given = OrganiserOrder(operator(), Message.action, "", " ".join(text.split()))
        print(Message(notices, given).carry_out().done)


def _retry(number: Id, contest: ContestArgument = HERE, why: WhyOption = Retry.default_why) -> None:
    set_level(logging.ERROR)
    with _opened(contest) as (directory, register), working(directory) as worker:
        _order(Retry, register, number, why).carry_out()
        taken = register.take(worker, number)
        if taken is None:
            note(f"a judge serve processes it; see the result with: judge submissions show {number}")
            return
        ended = process_claimed(
            directory, register, taken, processor(directory), lambda step: print(step_line(step), flush=True)
        )
        print_result(directory, register, ended, contest)
    if ended.state not in ENTERS:
        raise SystemExit(1)


def _order(kind: type[RegisterOrder], register: Register, number: int, why: str) -> RegisterOrder:
    return kind(register, OrganiserOrder(operator(), kind.action, str(number), required_reason(why)))


def _notice(kind: type[AuthorsOrder]) -> Callable[..., None]:
    def notify(contest: ContestArgument = HERE, why: WhyOption = kind.default_why) -> None:
        with closing(open_intake(contest).notices()) as notices:
            order = OrganiserOrder(operator(), kind.action, "", required_reason(why))
            print(kind(notices, order).carry_out().done)

    return notify


def _decision(kind: type[RegisterOrder]) -> Callable[..., None]:
    def decide(number: Id, why: WhyOption = kind.default_why or _REQUIRED, contest: ContestArgument = HERE) -> None:
        with _opened(contest) as (_, register):
            order = _order(kind, register, number, why)
            print(order.carry_out().done)
            if isinstance(order, TakeOut) and order.entry is not None:
                name = order.entry.name
                note(f"{name} continues to take part; next: judge contest withdraw {name} {contest} --why …")

    return decide


_REQUIRED: Any = ...
_COMMANDS: Mapping[type[Order[Any]], Callable[..., None]] = {Message: _message, Retry: _retry}

for each in SUBMISSION_ORDERS.values():
    if name := each.command_name():
        command = _COMMANDS.get(each) or (_notice(each) if issubclass(each, AuthorsOrder) else _decision(each))
        app.command(name, epilog=f"Example: judge submissions {name} {each.example}", help=each.__doc__)(command)
