"""Commands of `judge contest` that are made from the classes of orders."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from judge.api.contests import contest as contest_of
from judge.cli.options import HERE, ContestArgument, WhyOption, operator, required_reason
from judge.contest.orders.contest_orders import Replay, Resume
from judge.contest.orders.order import ContestOrder
from judge.store.orders import OrganiserOrder


def command_of(kind: type[ContestOrder]) -> Callable[..., None]:
    """The command that gives orders of this kind."""

    def for_contest(contest: ContestArgument = HERE, why: WhyOption = kind.default_why) -> None:
        _give(kind, "", contest, why)

    def for_target(
        target: Annotated[str, typer.Argument(metavar=kind.target.word, help=kind.target.about)],
        contest: ContestArgument = HERE,
        why: WhyOption = kind.default_why,
    ) -> None:
        _give(kind, target, contest, why)

    command = _resume if kind is Resume else for_target if kind.target.word else for_contest
    command.__doc__ = kind.__doc__
    return command


def example_of(kind: type[ContestOrder]) -> str:
    """The text after the command's help."""
    return kind.example and f"Example: judge contest {kind.command_name()} {kind.example}"


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
