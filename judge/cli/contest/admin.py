"""What an organiser may order while a contest runs or rests: pause, resume, void a game, disqualify an agent."""

from typing import Annotated

import typer

from judge.cli.contest.options import opened
from judge.cli.options import HERE, ContestArgument, WhyOption, required_reason
from judge.contest.contest import find_match
from judge.matches import MatchState

EXAMPLES = {
    "void": "Example: judge contest void 17 cup --why 'the wrong opening file'",
    "disqualify": "Example: judge contest disqualify mybrain cup --why 'two entries of one author'",
}


def pause(contest: ContestArgument = HERE, why: WhyOption = "the organiser paused it") -> None:
    """Pause a contest: no game is started any more, and `run` ends when its running games are finished."""
    with opened(contest) as found:
        found.store.set_state(found.name, "paused", required_reason(why))
        running = found.store.counts(found.name)[MatchState.RUNNING]
    print(f"{found.name} is paused; {running} games are being finished")


def resume(contest: ContestArgument = HERE, why: WhyOption = "the organiser resumed it") -> None:
    """Resume a paused or stopped contest. Games that were stopped after too many voids are played again."""
    with opened(contest) as found:
        released = found.store.release(found.name, required_reason(why))
        found.store.set_state(found.name, "open", required_reason(why))
    print(f"{found.name} is open{f', {released} held games are played again' if released else ''};")
    print(f"  judge contest run {found.planned.path}       goes on")


def void(
    game: Annotated[str, typer.Argument(help="The number of the game in the schedule, or its id.")],
    contest: ContestArgument = HERE,
    why: WhyOption = "",
) -> None:
    """Withdraw the result of a game; it is played again when the contest runs."""
    with opened(contest) as found:
        match = find_match(found, game)
        state = found.store.annul(match.id, required_reason(why))
    game_said = f"game {match.number}, {match.first} - {match.second}: void"
    if state is MatchState.CANCELLED:
        print(f"{game_said}, and not played again: one of the two is disqualified")
        return
    print(f"{game_said}, to be played again;")
    print(f"  judge contest run {found.planned.path}       plays it")


def disqualify(
    agent: Annotated[str, typer.Argument(help="The agent's name, as the tables show it.")],
    contest: ContestArgument = HERE,
    why: WhyOption = "",
) -> None:
    """Disqualify an agent: its games do not count, and its future games are not played."""
    with opened(contest) as found:
        found.store.disqualify(found.name, agent, required_reason(why))
        cancelled = found.store.counts(found.name)[MatchState.CANCELLED]
    print(f"{agent} is disqualified; {cancelled} games of {found.name} are cancelled")
