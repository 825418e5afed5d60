"""`judge submissions`: the submissions of a contest, and the organiser's decisions about them."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import InputError
from judge.base.text import printable, suggest
from judge.cli.lazy import lazy_group
from judge.cli.options import HERE, ContestArgument, JsonOption, SubmissionIdArgument
from judge.terminal.output import SENTENCE_CHARACTERS, note, print_json

if TYPE_CHECKING:
    from judge.store.types import Submission

app = lazy_group(
    {
        "list": "judge.cli.submissions:list_submissions",
        "show": "judge.cli.submissions:show",
        "email": "judge.cli.submissions:email",
    },
    orders="judge.contest.orders.submission_orders",
    help="List and decide submissions.",
)

EXAMPLES = {
    "list": "Example: judge submissions list cup --entries",
    "show": "Example: judge submissions show 3 cup",
    "email": 'Example: judge submissions email "Ada L." ada@example.org cup',
}

_WIDTH = 80
_INDENT = " " * 5


def list_submissions(
    contest: ContestArgument = HERE,
    entries: Annotated[
        bool, typer.Option("--entries", help="Only those that would play if the contest began now.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the submissions, newest first."""
    from judge.cli.submit import opened_register

    with opened_register(contest) as (directory, register):
        submissions = register.entries() if entries else register.submissions()
        if as_json:
            from judge.cli.submission_output import submission_json  # a list needs no check

            print_json([submission_json(directory, register, submission) for submission in submissions])
            return
    for line in _table(submissions, shutil.get_terminal_size().columns):
        print(line)


def _table(submissions: Sequence[Submission], width: int) -> Iterator[str]:
    room = max(0, width - _WIDTH) // 3
    widths = (4, 10, 16 + room, 12 + room, 16 + room, 16)
    yield _in_cells(("id", "state", "agent", "author", "file", "received"), widths)
    for each in submissions:
        agent = printable(each.name) + (f" v{each.version}" if each.version else "")
        row = (str(each.id), each.state.value, agent, printable(each.author), printable(each.filename))
        yield _in_cells((*row, each.received_at[:16].replace("T", " ")), widths)
        if each.why:
            why = printable(each.why, SENTENCE_CHARACTERS)
            yield from textwrap.wrap(why, width - 1, initial_indent=_INDENT, subsequent_indent=_INDENT)


def _in_cells(row: Sequence[str], widths: Sequence[int]) -> str:
    from rich.cells import cell_len, set_cell_size

    cells = [
        set_cell_size(text, wide) if cell_len(text) <= wide else f"{set_cell_size(text, wide - 1)}…"
        for text, wide in zip(row, widths, strict=True)
    ]
    return " ".join(cells).rstrip()


def show(
    number: SubmissionIdArgument,
    contest: ContestArgument = HERE,
    as_json: JsonOption = False,
    log: Annotated[bool, typer.Option("--log", help="Print what processing it printed.")] = False,
) -> None:
    """Show a submission: its steps, the problems that the check found, and its history."""
    from judge.cli.submission_output import print_findings, print_step, report_of, submission_json
    from judge.cli.submit import opened_register
    from judge.submissions.service import state_line

    with opened_register(contest) as (directory, register):
        submission = register.get(number)
        if log:
            if submission.log is None:
                raise InputError(f"submission {number} is {submission.state.value}: it has no log yet")
            for line in directory.files.get(submission.log).decode("utf-8", "replace").split("\n"):
                print(printable(line.removesuffix("\r"), 4000))
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
            print_step(step)
        print_findings(report_of(directory, submission))
        for change in register.journal(number):
            why = f": {printable(change.why, SENTENCE_CHARACTERS)}" if change.why else ""
            print(f"{change.at}  {change.state.value} by {printable(change.who)}{why}")


def email(
    author: Annotated[str, typer.Argument(metavar="AUTHOR", help="The author's name, as the tables show it.")],
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="Address for notices; '' for none.")],
    contest: ContestArgument = HERE,
) -> None:
    """Set the e-mail address for an author's notices: results, failures, disqualification and refusals."""
    from judge.cli.submit import open_intake
    from judge.store.tokens import checked_author

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
