"""Organiser commands: announce, pause, resume, void, disqualify, withdraw, enter, and those of a ladder's season."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Annotated

import typer

from judge.base.text import duration, printable, titled
from judge.cli.contest.options import opened
from judge.cli.options import HERE, ContestArgument, WhyOption, checked_address, operator, required_reason
from judge.contest import orders
from judge.contest.begin import announce as announce_contest
from judge.contest.contest import find_game, open_store
from judge.contest.plan import Planned, load_plan
from judge.contest_games import GameState
from judge.journal.events import Announced
from judge.publish.before_export import export_problems
from judge.site.rules import format_text, games_of_pair
from judge.store.orders import OrganiserOrder
from judge.submissions.windows import moment_text
from judge.terminal.output import note
from judge.tournament.formats import AnyFormat
from judge.translations.language import ENGLISH
from judge.transparency.keys import fingerprint
from judge.transparency.log import KEY_FILE, ContestLog, organiser_key


def announcement_lines(planned: Planned, url: str) -> Iterator[str]:
    """Yield title, game, clocks, format, schedule, address and key of a contest."""
    plan, policy, windows = planned.plan, planned.policy, planned.plan.windows
    yield plan.about or plan.title or planned.name
    yield ""
    options = ", ".join(f"{key} {value}" for key, value in policy.game.options.items() if value not in ("", None))
    game = f"{policy.game.name}, {options}" if options else policy.game.name
    yield _fact("contest", titled(planned.name, plan.title))
    yield _fact("game", game)
    yield _fact("policy", ", ".join((plan.policy, *plan.change)))
    yield _fact("clocks", clock_words(planned))
    yield _fact("format", _format_words(plan.format))
    if windows.opens is not None:
        yield _fact("submit from", moment_text(windows.opens))
    if windows.closes is not None:
        yield _fact("submit until", moment_text(windows.closes))
    if windows.starts is not None:
        yield _fact("start", moment_text(windows.starts))
    if url:
        yield _fact("address", url)
    key = organiser_key(planned.folder)
    if key is not None:
        yield _fact("key", f"Ed25519, SHA-256 {fingerprint(key.public_key())}")


def _format_words(form: AnyFormat) -> str:
    if games_of_pair(form) is not None:
        return format_text(form, ENGLISH)
    return f"{form.name}, {form.games} games of each pairing"


def clock_words(planned: Planned) -> str:
    """The time and memory limits of a contest."""
    clock, limits = planned.policy.clock, planned.policy.limits
    turn = f"{duration(clock.turn_ms)} a move" if clock.turn_ms else "as fast as possible"
    game = f"{duration(clock.match_ms)} a game" if clock.match_ms else "no limit of a game"
    return f"{turn}, {game}, {limits.memory_bytes >> 20} MiB of memory"


def _fact(name: str, value: str) -> str:
    return f"{name:<12} {value}"


CHECKPOINT_HEADING = "Signed checkpoint of the log:"
"""The line before the checkpoint in the output of `announce`."""

EXAMPLES = {
    "announce": """
Example: judge contest announce cup

Publish its output (game, clocks, schedule, key, commitment) before entries close, in a place where only you can write.
The draw follows from the secret, which is fixed now, and from entries that are not known yet. With organiser.key in the
folder it prints a signed checkpoint.
""",
    "void": "Example: judge contest void 17 cup --why 'the wrong opening file'",
    "disqualify": "Example: judge contest disqualify mybrain cup --why 'two entries of one author'",
    "withdraw": "Example: judge contest withdraw mybrain cup --why 'the author asked for it'",
    "enter": "Example: judge contest enter mybrain cup --why 'the mail server was down'",
    "end-season": "Example: judge contest end-season friday --why 'the term is over'",
    "freeze-admissions": "Example: judge contest freeze-admissions friday --why 'the last week of the season'",
    "reopen-admissions": "Example: judge contest reopen-admissions friday --why 'the build machine works again'",
}


def announce(
    contest: ContestArgument = HERE,
    url: Annotated[str, typer.Option(help="The public address of the contest, for the text.")] = "",
) -> None:
    """Commit to the random draw, start the transparency log, and print a text to publish. Can be repeated."""
    if url:
        checked_address(url)
    planned = load_plan(contest)
    with closing(open_store(planned)) as store:
        announce_contest(store, planned)
        log = ContestLog(planned.name, partial(store.leaves, planned.name))
        first = log.line(0)
    commitment = first.digest if isinstance(first.change, Announced) else None
    for line in announcement_lines(planned, url):
        print(printable(line, 600))
    print(f"commitment   {commitment or 'none: the file fixes a seed'}")
    note("judge: publish these lines now where only you can write, send them to the authors, and keep them")
    for problem in export_problems(planned, planned.policy):
        note(f"judge: WARNING: judge contest export: {printable(problem, 2000)}")
    key = organiser_key(planned.folder)
    if key is None:
        note(
            f"judge: no signed checkpoint: {KEY_FILE} is missing in the contest's folder; "
            "create it with judge contest key"
        )
        return
    print(f"\n{CHECKPOINT_HEADING}")
    print(log.checkpoint().signed(key).note.decode(), end="")


def pause(contest: ContestArgument = HERE, why: WhyOption = "the organiser paused it") -> None:
    """Pause a contest: no more games are started, and `run` ends after the running games."""
    with opened(contest) as found:
        print(orders.pause(found, _order("pause", "", why)).done)


def resume(
    contest: ContestArgument = HERE,
    why: WhyOption = "the organiser resumed it",
    game: Annotated[str, typer.Option(help="Resume only this stopped game.", metavar="NUMBER")] = "",
) -> None:
    """Resume a paused or stopped contest. Games that were stopped after too many voids are played again."""
    with opened(contest) as found:
        done = (
            orders.replay(found, _order("replay", game, why))
            if game
            else orders.resume(found, _order("resume", "", why))
        )
        print(f"{done.done};")
    print(f"  judge contest run {found.planned.path}       continues it")


def void(
    game: Annotated[str, typer.Argument(help="The number of the game in the schedule, or its id.")],
    contest: ContestArgument = HERE,
    why: WhyOption = "",
) -> None:
    """Withdraw the result of a game; it is played again when the contest runs."""
    with opened(contest) as found:
        done = orders.void(found, _order("void", game, why)).done
        is_played_again = find_game(found, game).state is GameState.PENDING
    print(f"{done}{';' if is_played_again else ''}")
    if is_played_again:
        print(f"  judge contest run {found.planned.path}       plays it")


def disqualify(
    agent: Annotated[str, typer.Argument(help="The agent's name, as the tables show it.")],
    contest: ContestArgument = HERE,
    why: WhyOption = "",
) -> None:
    """Disqualify an agent: its games do not count, and its future games are not played."""
    with opened(contest) as found:
        print(orders.disqualify(found, _order("disqualify", agent, why)).done)


def withdraw(
    agent: Annotated[str, typer.Argument(help="The agent's name, as the tables show it.")],
    contest: ContestArgument = HERE,
    why: WhyOption = "",
) -> None:
    """Withdraw an agent after the start. Swiss, ladder: its games count; round robins and groups: they do not."""
    with opened(contest) as found:
        print(orders.withdraw(found, _order("withdraw-agent", agent, why)).done)


def enter(
    agent: Annotated[str, typer.Argument(help="The name of an agent with a passed submission.")],
    contest: ContestArgument = HERE,
    why: WhyOption = "",
) -> None:
    """Enter an agent in a ladder, or in a Swiss from its next round on with 0 points for missed rounds."""
    with opened(contest) as found:
        print(orders.enter(found, _order("enter", agent, why)).done)


def end_season(contest: ContestArgument = HERE, why: WhyOption = "") -> None:
    """End the season of a ladder: no game is drawn any more, and games that already run count."""
    with opened(contest) as found:
        print(orders.end_season(found, _order("end-season", "", why)).done)


def freeze_admissions(contest: ContestArgument = HERE, why: WhyOption = "") -> None:
    """Let no agent enter a ladder. Submissions that pass wait until admissions are open again."""
    with opened(contest) as found:
        print(orders.freeze_admissions(found, _order("freeze-admissions", "", why)).done)


def reopen_admissions(contest: ContestArgument = HERE, why: WhyOption = "") -> None:
    """Open the admissions of a ladder again. Submissions that passed join."""
    with opened(contest) as found:
        print(orders.reopen_admissions(found, _order("reopen-admissions", "", why)).done)


def _order(action: str, target: str, why: str) -> OrganiserOrder:
    return OrganiserOrder(operator(), action, target, required_reason(why))
