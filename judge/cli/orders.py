"""Commands that are made from the classes of orders, for contests that have begun and for submissions."""

import logging
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from judge.api.contests import contest as contest_of
from judge.base.errors import InputError
from judge.base.logs import set_level
from judge.cli.options import HERE, ContestArgument, SubmissionIdArgument, WhyOption, operator, required_reason
from judge.cli.submission_output import print_result, print_step
from judge.cli.submit import open_intake, opened_register, processor
from judge.contest.orders.contest_orders import Replay, Resume
from judge.contest.orders.order import ContestOrder, Order
from judge.contest.orders.submission_orders import AuthorsOrder, Message, RegisterOrder, Retry, TakeOut
from judge.store.orders import OrganiserOrder
from judge.store.submissions import Register
from judge.store.types import ENTERS
from judge.submissions.service import process_claimed, working
from judge.terminal.output import note

MESSAGE_CHARACTERS = 1000

_REQUIRED: Any = ...


def command_of(kind: type[Order[Any]]) -> Callable[..., None]:
    """The command that gives orders of this kind."""
    if kind in _COMMANDS:
        command = _COMMANDS[kind]
    elif issubclass(kind, ContestOrder):
        command = _for_contest(kind)
    elif issubclass(kind, AuthorsOrder):
        command = _for_authors(kind)
    elif issubclass(kind, RegisterOrder):
        command = _for_submission(kind)
    else:
        raise TypeError(f"{kind.__name__} has no command")
    command.__doc__ = kind.__doc__
    return command


def example_of(kind: type[Order[Any]]) -> str:
    """The text after the command's help."""
    group = "contest" if issubclass(kind, ContestOrder) else "submissions"
    return kind.example and f"Example: judge {group} {kind.command_name()} {kind.example}"


def _for_contest(kind: type[ContestOrder]) -> Callable[..., None]:
    def for_contest(contest: ContestArgument = HERE, why: WhyOption = kind.default_why) -> None:
        _give(kind, "", contest, why)

    def for_target(
        target: Annotated[str, typer.Argument(metavar=kind.target.word, help=kind.target.about)],
        contest: ContestArgument = HERE,
        why: WhyOption = kind.default_why,
    ) -> None:
        _give(kind, target, contest, why)

    return for_target if kind.target.word else for_contest


def _resume(
    contest: ContestArgument = HERE,
    why: WhyOption = Resume.default_why,
    game: Annotated[str, typer.Option(help="Resume only this stopped game.", metavar="NUMBER")] = "",
) -> None:
    _give(Replay if game else Resume, game, contest, why)


def _give(kind: type[ContestOrder], target: str, contest: Path, why: str) -> None:
    with contest_of(contest).opened() as found:
        order = kind(found, OrganiserOrder(operator(), kind.action, target, required_reason(why)))
        done = order.carry_out().done
    if order.result_of_run:
        print(f"{done};\n  judge contest run {found.planned.path}       {order.result_of_run}")
    else:
        print(done)


def _message(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The message, on one line.")],
    contest: ContestArgument = HERE,
) -> None:
    if not text.strip() or len(text) > MESSAGE_CHARACTERS:
        raise InputError(f"TEXT: 1 to {MESSAGE_CHARACTERS} characters")
    with closing(open_intake(contest).notices()) as notices:
        given = OrganiserOrder(operator(), Message.action, "", " ".join(text.split()))
        print(Message(notices, given).carry_out().done)


def _retry(number: SubmissionIdArgument, contest: ContestArgument = HERE, why: WhyOption = Retry.default_why) -> None:
    set_level(logging.ERROR)
    with opened_register(contest) as (directory, register), working(directory) as worker:
        _order(Retry, register, number, why).carry_out()
        taken = register.take(worker, number)
        if taken is None:
            note(f"a judge serve processes it; see the result with: judge submissions show {number}")
            return
        ended = process_claimed(directory, register, taken, processor(directory), print_step)
        print_result(directory, register, ended, contest)
    if ended.state not in ENTERS:
        raise SystemExit(1)


def _order(kind: type[RegisterOrder], register: Register, number: int, why: str) -> RegisterOrder:
    return kind(register, OrganiserOrder(operator(), kind.action, str(number), required_reason(why)))


def _for_authors(kind: type[AuthorsOrder]) -> Callable[..., None]:
    def notify(contest: ContestArgument = HERE, why: WhyOption = kind.default_why) -> None:
        with closing(open_intake(contest).notices()) as notices:
            order = OrganiserOrder(operator(), kind.action, "", required_reason(why))
            print(kind(notices, order).carry_out().done)

    return notify


def _for_submission(kind: type[RegisterOrder]) -> Callable[..., None]:
    def decide(
        number: SubmissionIdArgument, why: WhyOption = kind.default_why or _REQUIRED, contest: ContestArgument = HERE
    ) -> None:
        with opened_register(contest) as (_, register):
            order = _order(kind, register, number, why)
            print(order.carry_out().done)
            if isinstance(order, TakeOut) and order.entry is not None:
                name = order.entry.name
                note(f"{name} continues to take part; next: judge contest withdraw {name} {contest} --why …")

    return decide


_COMMANDS: Mapping[type[Order[Any]], Callable[..., None]] = {Resume: _resume, Message: _message, Retry: _retry}
