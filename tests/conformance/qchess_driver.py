"""Recorded games of the UCC manager of 2013, played again with our referee, rules and protocol.

A recording is a directory: `command.txt`, `game.log`, `manager.stdout`, sometimes `start.log`, and a `.wire` a seat:

    M> SELECTION?           a line from the manager
    A> 3 7                  a line from the agent
    A> 3 <EOF-no-newline>   the agent's last words, without a line end

The agents of a replay are functions in the scripted world of the referee's tests: at each question an agent says what
the recorded one said until the next question; where it then said nothing it was silent (a TIMEOUT) or had gone.
The kept selection has those whose names begin with edge_, pos_, replay_ or q0, and five of random agents.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from judge.formats.quantum_chess.log import (
    Logged,
    QchessLog,
    ReplayedLog,
    announcements,
    first_board,
    qchess_options,
    read_log,
    write_log,
)
from judge.games.quantum_chess import QuantumChess
from judge.games.quantum_chess.board import COLOURS
from judge.games.quantum_chess.words import MOVED, Destination, Selection
from judge.games.types import NATURE, SEATS, Event, Reply, ReplyKind, Request
from judge.protocols.qchess import Qchess, QchessOptions
from judge.protocols.time_control import TimeControl
from judge.protocols.types import Open, SeatLimits
from judge.record.policy import BytesPolicy, ClockPolicy
from judge.record.transcript import EntryKind
from judge.referee.observer import Observer
from judge.referee.referee import Referee
from judge.referee.requests import drive
from judge.testing import Act, Agent, Say, World, exits

RANDOM = "random_logs"
BUNDLE = Path(__file__).with_name("data") / "qchess-2013.json"
"""The selection: each file of a recording as a list of lines."""

QUESTIONS = ("SELECTION?", "MOVE?")
NO_NEWLINE = "<EOF-no-newline>"

Recording = Mapping[str, str]
"""The texts of a recording by the names of their files; lines end in LF, and a CR is the agent's."""


def bundled() -> dict[str, Recording]:
    """The recordings that are kept with the tests, by name; `random_logs` holds all random games."""
    texts: dict[str, dict[str, list[str]]] = json.loads(BUNDLE.read_text(encoding="ascii"))
    return {name: {file: "\n".join(lines) for file, lines in files.items()} for name, files in texts.items()}


@dataclass(frozen=True)
class Wire:
    """One seat's side of a recording: the lines it was sent, and what it said at each question."""

    sent: tuple[str, ...]
    said: tuple[bytes, ...]
    ignores_quit: bool

    @classmethod
    def parse(cls, text: str) -> "Wire":
        sent: list[str] = []
        said: list[bytes] = []
        for line in text.split("\n"):
            if line.startswith("M> "):
                sent.append(line[3:])
                said += [b""] if sent[-1] in QUESTIONS else []
            elif line.startswith("A> "):
                words = line[3:]
                whole = not words.endswith(NO_NEWLINE)
                said[-1] += (words + "\n" if whole else words.removesuffix(NO_NEWLINE)).encode("latin-1")
        return cls(tuple(sent), tuple(said), "exit status -9" in text)

    def agent(self, is_silent: bool) -> Agent:
        """The agent of this seat; where it has nothing left to say it is silent, or exits."""
        left = iter(self.said)

        def hear(line: str) -> Sequence[Act]:
            if line in QUESTIONS:
                said = next(left, b"")
                return [Say(said)] if said else [] if is_silent else exits(0)
            if line.startswith("QUIT"):
                return [] if self.ignores_quit else exits(0)
            return []

        return hear


@dataclass(frozen=True)
class Case:
    """A recording, ready to be played again."""

    wires: tuple[Wire, Wire]
    log: QchessLog
    log_bytes: bytes
    result: str
    options: dict[str, Any]
    replayed: ReplayedLog


def case_of(name: str, files: Recording) -> Case:
    """What is needed of a recording; InputError where its log contradicts the rules."""
    white, black = (
        Wire.parse(next(text for file, text in files.items() if file.startswith(f"{colour}_"))) for colour in COLOURS
    )
    log_bytes = files["game.log"].encode("latin-1")
    log = read_log(log_bytes, f"{name}/game.log")
    options = qchess_options(log)
    if "start.log" in files:
        start = read_log(files["start.log"].encode("latin-1"), f"{name}/start.log")
        options["position"] = [piece.model_dump() for piece in start.board]
    if "--retry-illegal" in files.get("command.txt", ""):
        options["illegal"] = "loses-turn"
    replayed = replay_with(log, options, f"{name}/game.log")
    result = files["manager.stdout"].strip("\n")
    return Case((white, black), log, log_bytes, result, options, replayed)


def replay_with(log: QchessLog, options: Mapping[str, Any], source: str = "log") -> ReplayedLog:
    """Replay with options that the log lacks: the limits and `illegal`."""
    replayer = RetriedLog if options.get("illegal") == "loses-turn" else ReplayedLog
    return replayer(log, source, qchess_options(log) | dict(options))


class RetriedLog(ReplayedLog):
    """Lost turns leave no line: they are inferred where the next line does not fit."""

    def _follow(self, said: Logged) -> None:
        while self.game.end is None:
            match self.game.pending():
                case Destination() if not MOVED.fullmatch(said.text):
                    pass
                case Selection(seat=seat) if self._mover(said) == 1 - seat:
                    pass
                case _:
                    break
            self._answer(Reply(ReplyKind.UNREADABLE))
        super()._follow(said)

    def _mover(self, said: Logged) -> int | None:
        x, y = said.text.split()[:2]
        piece = self.game.board.at(int(x), int(y))
        return None if piece is None else piece.colour


def replies_of(replayed: ReplayedLog, seat: int) -> list[Reply]:
    return [answered.reply for answered in replayed.answers if answered.seat == seat]


def chance_of(replayed: ReplayedLog) -> Callable[[Request], Reply]:
    """The random choices in order."""
    drawn = iter(replies_of(replayed, NATURE))
    return lambda _: next(drawn)


class _Events(Observer):
    """Of a game, once for each seat that sees them."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def see_event(self, seat: int, event: Event) -> None:
        self.events.append(event)


def log_of_events(
    game: QuantumChess,
    names: tuple[str, str],
    chance: Callable[[Request], Reply],
    timed_events: Sequence[tuple[datetime, Sequence[Event]]],
) -> QchessLog:
    """The log of a game that was played, with its events at their moments; `chance` draws its first board."""
    started, ended = timed_events[0][0], timed_events[-1][0]
    events = [Logged(when, text) for when, some in timed_events for text in announcements(some)]
    result = None if game.end is None else Logged(ended, game.result(names))
    return QchessLog(started, names, first_board(game.options, chance), tuple(events), result)


@dataclass(frozen=True)
class Outcome:
    """What our side made of a recording: the lines written to each seat, the result, the log."""

    sent: tuple[tuple[str, ...], tuple[str, ...]]
    result: str
    log: QchessLog
    killed: tuple[int, ...]


def play_again(case: Case) -> Outcome:
    """Let the recorded agents play under our referee, with nature's answers from the log."""
    loser, _, words = case.result.partition(" ")
    agents = [
        wire.agent(is_silent=words == "TIMEOUT" and loser == COLOURS[seat]) for seat, wire in enumerate(case.wires)
    ]
    world, heard = World(*agents), _Events()
    game = QuantumChess.from_options(case.options)
    referee = Referee(
        game,
        [Qchess(QchessOptions()) for _ in SEATS],
        [Open(seat, game.describe(), case.log.names, SeatLimits(TimeControl(turn_ms=0), 0)) for seat in SEATS],
        ClockPolicy(turn_ms=1000, match_ms=0, tolerance_ms=0, close_ms=2000),
        BytesPolicy(),
        chance_of(case.replayed),
        heard,
    )
    drive(referee.requests(), world)
    log = log_of_events(game, case.log.names, chance_of(case.replayed), [(case.log.started, heard.events)])
    sent = tuple(_lines_written(world, seat) for seat in SEATS)
    return Outcome((sent[0], sent[1]), game.result(case.log.names), log, tuple(world.killed))


def with_moments_of(ours: QchessLog, theirs: QchessLog) -> bytes:
    """Our log as a file, each line at the moment of theirs."""
    events = [replace(said, when=then.when) for said, then in zip(ours.events, theirs.events, strict=True)]
    result = ours.result
    if result is not None and theirs.result is not None:
        result = replace(result, when=theirs.result.when)
    return write_log(replace(ours, started=theirs.started, events=tuple(events), result=result))


def _lines_written(world: World, seat: int) -> tuple[str, ...]:
    data = b"".join(entry.data for entry in world.entries if (entry.seat, entry.kind) == (seat, EntryKind.WROTE))
    assert data.endswith(b"\n")
    return tuple(data.decode("latin-1")[:-1].split("\n"))
