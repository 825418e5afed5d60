"""`judge contest announce` and `cosign`: the text to publish before the start, and witnesses' signatures of the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import HostError, InputError
from judge.base.text import printable, titled
from judge.cli.options import HERE, ContestArgument, ContestOrCupArgument, checked_address, cup_at, refuse_given
from judge.terminal.output import note

if TYPE_CHECKING:
    from judge.contest.plan import Planned


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
    from judge.site.rules import format_text, games_of_pair
    from judge.translations.language import ENGLISH
    from judge.transparency.keys import fingerprint
    from judge.transparency.log import organiser_key

    plan, policy, windows = planned.plan, planned.policy, planned.plan.windows
    yield plan.about or plan.title or planned.name
    yield ""
    options = (f"{key} {value}" for key, value in policy.game.options.items() if value not in ("", None))
    yield _fact("contest", titled(planned.name, plan.title))
    yield _fact("game", ", ".join((policy.game.name, *options)))
    yield _fact("policy", ", ".join((plan.policy, *plan.change)))
    yield _fact("clocks", clock_words(planned))
    form, games = plan.format, f"{plan.format.name}, {plan.format.games} games of each pairing"
    yield _fact("format", games if games_of_pair(form) is None else format_text(form, ENGLISH))
    for name, moment in (("submit from", windows.opens), ("submit until", windows.closes), ("start", windows.starts)):
        if moment is not None:
            yield _fact(name, moment_text(moment))
    if url:
        yield _fact("address", url)
    key = organiser_key(planned.folder)
    if key is not None:
        yield _fact("key", f"Ed25519, SHA-256 {fingerprint(key.public_key())}")


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
    "cosign": """
judge contest cosign cup
judge contest cosign cup --from cup.checkpoint

The first line is the public key of the log. The operator of a witness adds it before the witness signs.

judge contest run requests signatures every ten minutes, and judge contest export once more.

Exit codes: 0 all witnesses signed, 1 a witness did not sign.
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
        refuse_given("is not for a cup", url=url)
        _announce_cup(cup)
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


def _announce_cup(cup: Path) -> None:
    from judge.cup.plan import ANNOUNCEMENT, load_cup
    from judge.transparency.keys import fingerprint
    from judge.transparency.log import organiser_key

    planned = load_cup(cup)
    commitments = planned.announce()
    key = organiser_key(planned.folder)
    print(printable(planned.cup.about or planned.cup.name, 600))
    print()
    for league in planned.cup.leagues:
        policy = ", ".join((league.policy, *league.change))
        games = f"{league.format.name}, {league.format.games} games"
        print(printable(_fact("league", f"{league.name}: {policy}; {games}"), 600))
        print(_fact("commitment", commitments[league.name] or "none: the file fixes a seed"))
    if key is not None:
        print(_fact("key", f"Ed25519, SHA-256 {fingerprint(key.public_key())}"))
    print(_fact("announcement", planned.announcement.digest))
    note(f"judge: publish these lines now where only you can write; the last is the SHA-256 of {ANNOUNCEMENT}")


def cosign(
    contest: ContestArgument = HERE,
    from_: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="A checkpoint with the signature of a witness.")
    ] = None,
) -> None:
    """Ask the witnesses of a contest to sign its current log, or import a signature with --from."""
    from judge.contest.contest import open_store
    from judge.contest.plan import load_plan
    from judge.contest.witnesses import Witnesses
    from judge.transparency.log import ContestLog

    planned = load_plan(contest)
    witnesses = Witnesses(planned)
    if not witnesses.all:
        raise InputError(f"{planned.path}: there are no [[witnesses]]; add them to the file")
    if planned.has_no_store:
        raise InputError(f"{planned.name} has no log yet: judge contest announce {planned.path} begins it")
    print(f"log      {witnesses.log_key}")
    with closing(open_store(planned)) as store:
        log = ContestLog.stored(planned.name, store)
        if from_ is not None:
            for witness in witnesses.take(from_, log):
                print(f"{printable(witness.name)}: taken from {from_}")
            return
        refused = 0
        for witness, why in witnesses.ask(log):
            refused += bool(why)
            print(f"{printable(witness.name)}: {printable(why, 300) or f'signed {log.public_size} leaves'}")
    for witness in witnesses.all:
        if not witness.url:
            print(f"{printable(witness.name)}: has no url; import its signed checkpoint with --from")
    if refused:
        raise HostError(
            f"{refused} of the witnesses did not sign; the contest can continue, and the request is repeated"
        )
