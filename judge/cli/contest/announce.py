"""`judge contest announce`: publish a contest before its start."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.text import printable, titled
from judge.cli.options import HERE, ContestOrCupArgument, checked_address, cup_at, refuse_given
from judge.terminal.output import note

if TYPE_CHECKING:
    from judge.contest.plan import Planned
    from judge.tournament.formats import AnyFormat


def announcement(planned: Planned, url: str) -> Iterator[str]:
    """Commit to the draw and start the log. Yield the text to publish: title, game, clocks, format, schedule, address,
    key, commitment and the signed checkpoint.
    """
    from judge.contest.begin import announce as announce_contest
    from judge.contest.contest import open_store
    from judge.journal.events import Announced
    from judge.transparency.log import ContestLog, organiser_key

    with closing(open_store(planned)) as store:
        announce_contest(store, planned)
        log = ContestLog.stored(planned.name, store)
        first, key = log.line(0), organiser_key(planned.folder)
        yield from (printable(line, 4000) for line in _facts(planned, url))
        commitment = first.digest if isinstance(first.change, Announced) else None
        yield _fact("commitment", commitment or "none: the file fixes a seed")
        if key is not None:
            yield f"\n{CHECKPOINT_HEADING}"
            yield log.checkpoint(log.public_size).signed(key).note.decode().removesuffix("\n")


def _facts(planned: Planned, url: str) -> Iterator[str]:
    from judge.base.moments import moment_text
    from judge.transparency.keys import fingerprint
    from judge.transparency.log import organiser_key

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
    from judge.site.rules import format_text, games_of_pair
    from judge.translations.language import ENGLISH

    if games_of_pair(form) is not None:
        return format_text(form, ENGLISH)
    return f"{form.name}, {form.games} games of each pairing"


def clock_words(planned: Planned) -> str:
    """The time and memory limits of a contest."""
    from judge.site.rules import limit_facts
    from judge.translations.language import ENGLISH

    facts = limit_facts(planned.policy, planned.clocks, ENGLISH)
    return f"{facts['Time']}, {planned.policy.limits.memory_bytes >> 20} MiB of memory"


def _fact(name: str, value: str) -> str:
    return f"{name:<12} {value}"


CHECKPOINT_HEADING = "Signed checkpoint of the log:"
"""The line before the checkpoint in the output of `announce`."""

EXAMPLES = {
    "announce": """
judge contest announce cup
judge contest announce spring/cup.toml

Publish its output (game, clocks, schedule, key, commitment) before entries close, in a place where only you can write.
The draw follows from the secret, which is fixed now, and from entries that are not known yet. With organiser.key in the
folder it prints a signed checkpoint. Of an announced cup no league can be added, removed or changed; agents and times
can.
""",
}


def announce(
    contest: ContestOrCupArgument = HERE,
    url: Annotated[str, typer.Option(help="The public address of the contest, for the text.")] = "",
) -> None:
    """Commit to the random draw, start the transparency log, and print a text to publish. Can be repeated.

    Of a cup it also fixes the leagues.
    """
    from judge.contest.plan import load_plan
    from judge.publish.before_export import export_problems
    from judge.transparency.keys import KEY_FILE
    from judge.transparency.log import organiser_key

    if (cup := cup_at(contest)) is not None:
        from judge.cli.cup.plan import announce as announce_cup

        refuse_given("is not for a cup", url=url)
        announce_cup(cup)
        return
    if url:
        checked_address(url)
    planned = load_plan(contest)
    for line in announcement(planned, url):
        print(line)
    note("judge: publish these lines now where only you can write, send them to the authors, and keep them")
    for problem in export_problems(planned, planned):
        note(f"judge: WARNING: judge contest export: {printable(problem, 2000)}")
    if organiser_key(planned.folder) is None:
        note(
            f"judge: no signed checkpoint: {KEY_FILE} is missing in the contest's folder; "
            "create it with judge contest key"
        )
