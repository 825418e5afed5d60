"""`judge match`: play games between two agents, show them move by move, and leave a record of each."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from judge.cli.complete import agent_words, policy_words
from judge.cli.text import note, safe
from judge.contest.openings import (
    Opening,
    Turn,
    parse_opening,
    read_openings,
    schedule,
    symmetries,
)
from judge.errors import HostError, InputError
from judge.games import new_game
from judge.games.types import Verdict
from judge.records.exports import write_exports
from judge.referee.play import Slot, play
from judge.referee.policy import Policy, load_policy
from judge.referee.seating import check
from judge.referee.side import Ply
from judge.referee.spec import BoxKind, MatchRecord, MatchSpec, SeatSpec, write_record
from judge.sandbox.cores import available, place
from judge.sandbox.images import runtime_image
from judge.sandbox.owner import owned_directory
from judge.sandbox.reaper import reap
from judge.submissions.agents import Agent, stage_agent

NOT_TURNED: Sequence[Turn] = (lambda x, y: (x, y),)

EXAMPLES = """
Examples:

judge match ./my-agent house-strong --policy gomocup-standard:fast --games 2

judge match a.py b.py --policy gomocup-freestyle --opening h8i9j7 --set clock.turn_ms=1000

judge match mine house-agi --policy renju-15 --opening openings.txt --shuffle --seed 7 --games 24

Exit codes: 0 the games were judged, 2 something in the command was wrong, 1 the judge or its host failed.
"""


def match(
    first: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="House agent, executable, or directory.",
            autocompletion=agent_words,
        ),
    ],
    second: Annotated[
        str,
        typer.Argument(metavar="B", help="The same for the opponent.", autocompletion=agent_words),
    ],
    policy: Annotated[
        str,
        typer.Option(
            help="Contest format: a name or a .toml file; judge policies list.",
            autocompletion=policy_words,
        ),
    ],
    games: Annotated[int, typer.Option(min=1, help="Games to play; colours alternate.")] = 1,
    opening: Annotated[
        str,
        typer.Option(
            help="File of openings, or one such as h8i9; each is played with both colours."
        ),
    ] = "",
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="Openings in an order that the seed decides.")
    ] = False,
    transform: Annotated[
        bool,
        typer.Option("--transform", help="Turn and mirror the openings when they come again."),
    ] = False,
    box: Annotated[str, typer.Option(help="docker, or process (isolates nothing).")] = "docker",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a number of the policy: clock.turn_ms=1000."),
    ] = None,
    seed: Annotated[int, typer.Option(help="All chance comes from it.")] = 0,
    out: Annotated[Path, typer.Option(help="Directory for the records.")] = Path("records"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document at the end.")
    ] = False,
) -> None:
    """Play games between agents A and B."""
    chosen = load_policy(policy, set_ or [])
    openings, turns = _openings(opening, chosen, transform)
    kind = _box_kind(box)
    presenter = _Presenter(quiet=as_json)
    played = []
    with owned_directory() as staging:
        agents = [stage_agent(named, staging) for named in (first, second)]
        seats = _seats(agents, chosen)
        programs = {agent.digest: agent.program for agent in agents}
        slot = make_slot(kind)
        _make_directory(out)
        make_ready(kind, [seat.runtime for seat in seats])
        for number in range(games):
            order = seats if number % 2 == 0 else (seats[1], seats[0])
            spec = MatchSpec(
                seats=order,
                policy=chosen,
                opening=schedule(openings, number // 2, seed if shuffle else None, turns),
                seed=seed + number,
                number=number,
                box=kind,
            )
            played.append(_play(spec, programs, slot, out, presenter))
    if as_json:
        print(json.dumps({"games": [_summary(record, path) for record, path in played]}, indent=2))
    else:
        presenter.score([record for record, _ in played], seats)
    if any(record.verdict is Verdict.VOID for record, _ in played):
        raise HostError("a game stayed void; its record says why")


def _play(
    spec: MatchSpec, programs: dict[str, Path], slot: Slot, out: Path, presenter: "_Presenter"
) -> tuple[MatchRecord, Path]:
    """One game, played again while it is void, as often as the policy says."""
    check(spec)
    presenter.begin(spec)
    for attempt in range(1, spec.policy.attempts + 1):
        file = play(spec, programs, attempt, slot, presenter.watch)
        path = out / f"{spec.id}-{attempt}.json"
        try:
            write_record(path, file)
            write_exports(file, path)
        except OSError as error:
            raise HostError(f"{path}: the record could not be written: {error.strerror}") from None
        presenter.end(file.record, path)
        if file.record.verdict is not Verdict.VOID:
            break
    return file.record, path


def _openings(
    text: str, policy: Policy, transform: bool
) -> tuple[Sequence[Opening], Sequence[Turn]]:
    """The openings to play, and the symmetries in which they come again."""
    if not text:
        return [()], NOT_TURNED
    game = new_game(policy.game.name, policy.game.options).describe()
    if not {"width", "height", "rule"} <= game.keys():
        raise InputError(f"--opening: {policy.game.name} has no openings of stones")
    board = (game["width"], game["height"], game["rule"])
    turns = symmetries(*board[:2]) if transform else NOT_TURNED
    if Path(text).is_file():
        return read_openings(Path(text), *board), turns
    try:
        return [parse_opening(text, *board)], turns
    except InputError as error:
        raise InputError(f"--opening {text}: neither a file nor an opening: {error}") from None


def _box_kind(text: str) -> BoxKind:
    if text == "docker":
        return "docker"
    if text == "process":
        note(
            "judge: WARNING: --box process isolates nothing. The agents run as you, with your files, your network "
            "and no limit on memory. Use it only for programs you trust."
        )
        return "process"
    raise InputError(f"--box {text}: it is docker or process")


def _seats(agents: Sequence[Agent], policy: Policy) -> tuple[SeatSpec, SeatSpec]:
    """Two agents of one name are told apart."""
    first, second = (agent.seat(policy) for agent in agents)
    if first.name == second.name:
        first = first.model_copy(update={"name": f"{first.name}-1"})
        second = second.model_copy(update={"name": f"{second.name}-2"})
    return first, second


def make_slot(kind: BoxKind) -> Slot:
    """The cores of a game; the judge moves to its own."""
    if kind == "process":
        return Slot()
    placement = place(available())
    os.sched_setaffinity(0, placement.judge)
    return Slot(cores=placement.slots[0], judge_cores=placement.judge)


def make_ready(kind: BoxKind, runtimes: Sequence[str]) -> None:
    """Clear away what a killed judge left, and find out before the first game whether one can be played."""
    for line in reap(containers=kind == "docker"):
        note(f"judge: removed what an earlier judge left: {line}")
    if kind == "docker":
        for runtime in set(runtimes):
            runtime_image(runtime)


def _make_directory(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {out}: {error.strerror}") from None


def _summary(record: MatchRecord, path: Path) -> dict[str, Any]:
    return {
        "seats": [
            {
                "name": seat.name,
                "fault": seat.fault,
                "charged_ms": seat.charged_ms,
                "peak_memory_bytes": seat.memory_peak_bytes,
            }
            for seat in record.seats
        ],
        "winner": record.winner,
        "verdict": record.verdict,
        "reason": record.reason,
        "moves": len(record.plies),
        "record": str(path),
    }


class _Presenter:
    """Shows games line by line: coloured on a terminal, plain in a pipe, nothing when `quiet`."""

    def __init__(self, quiet: bool) -> None:
        self.watch = None if quiet else self._ply
        self._console = Console(quiet=quiet, highlight=False, soft_wrap=True, file=sys.stdout)
        self._names = ("", "")
        self._count = 0

    def begin(self, spec: MatchSpec) -> None:
        self._names = (spec.seats[0].name, spec.seats[1].name)
        self._count = len(spec.opening)
        first, second = map(escape, self._names)
        self._print(
            f"[bold]game {spec.number + 1}[/]: {first} - {second}, {escape(spec.policy.name)}, {spec.id}"
        )

    def _ply(self, ply: Ply) -> None:
        self._count += 1
        said = escape(safe(ply.said, 60))
        name = escape(self._names[ply.seat])
        self._print(f"{self._count:4}. {name:<20} {said:<12} {ply.charged_ns / 1e6:10.1f} ms")

    def end(self, record: MatchRecord, path: Path) -> None:
        if record.verdict is Verdict.VOID:
            text, colour = "void: does not count", "yellow"
        elif record.winner is None:
            text, colour = "drawn", "cyan"
        else:
            text, colour = f"{escape(record.seats[record.winner].name)} wins", "green"
        reason = escape(safe(record.reason, 300))
        self._print(f"[{colour}]{text}[/] ({record.verdict}): {reason}")
        self._print(f"record {escape(str(path))}")

    def score(self, records: Sequence[MatchRecord], seats: Sequence[SeatSpec]) -> None:
        if len(records) < 2:
            return
        wins = [sum(_won(record, seat.name) for record in records) for seat in seats]
        draws = sum(record.verdict is Verdict.DRAW for record in records)
        first, second = (escape(seat.name) for seat in seats)
        self._print(f"[bold]score[/]: {first} {wins[0]} - {wins[1]} {second}, {draws} drawn")

    def _print(self, text: str) -> None:
        self._console.print(text)


def _won(record: MatchRecord, name: str) -> bool:
    return record.winner is not None and record.seats[record.winner].name == name
