"""The Go Text Protocol, version 2, the controller's side, without a game.

    phase      what the judge waits for                  left by
    OPENING    the answers to the opening commands       the last answer; ? to a required command is a refusal
    IDLE       nothing                                   a request or the end
    ASKED      the answers to play, time_left, genmove   the answer to genmove
    ENDING     the exit                                  -

One command is sent at a time, each with an id. An answer begins with `=ID` or `?ID` and ends with an empty line. Text
outside an answer is ignored with a note. An answer with another id, or without one, is unreadable.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pydantic import Field

from judge.base.parsing import FrozenModel
from judge.base.text import decode, quote
from judge.games.types import Decision, Reply, ReplyKind, Request, decided
from judge.protocols.lines import LineReader
from judge.protocols.time_control import NO_LIMIT, UNLIMITED_MS
from judge.protocols.types import (
    Answer,
    Ask,
    Await,
    Bytes,
    Clock,
    Close,
    Effect,
    Note,
    Open,
    Ready,
    SeatLimits,
    Stimulus,
    Wait,
    Write,
)
from judge_go.board import COLOURS

GTP_VERSION = "2"
MAX_ANSWER_LINES = 2000
"""Further lines of an answer are dropped."""
MAX_NOTES = 100
"""Notes per process; later ones are dropped."""
MAX_ABOUT_CHARACTERS = 200
MAX_SAID_CHARACTERS = 400
"""Of a refusal; the rest is cut."""
TURNS_IN_TIME = 5
"""The time sent is at most this number of turn limits, because GTP cannot express both limits."""

NEEDED = ("boardsize", "clear_board", "play", "genmove")
"""Commands without which no game can be played."""

Placing = tuple[int, str]
"""Colour, and the point's name in GTP."""


class GtpOptions(FrozenModel):
    """Protocol options of a policy."""

    commands: tuple[str, ...] = ()
    """Sent after the opening commands. An engine that answers ? to one does not play."""
    overhead_ms: int = Field(default=100, ge=0, le=UNLIMITED_MS)
    """Subtracted from the times that are sent; the rest is rounded down to seconds."""
    line_bytes: int = Field(default=4096, ge=256, le=65536)
    """Longer lines are truncated."""


class GtpPhase(StrEnum):
    """See the module."""

    OPENING = "opening"
    IDLE = "idle"
    ASKED = "asked"
    ENDING = "ending"


@dataclass(frozen=True, slots=True)
class GtpCommand:
    """A command and the kind of its wait. `read` gets the answer and may return an objection to it."""

    text: str
    wait: Wait
    read: Callable[[str], str | None] | None = None
    is_optional: bool = False
    """Whether ? is accepted, and the command left out for engines that do not list it."""
    has_time: bool = False
    """The time that is left follows, as of when it is sent."""


_HEAD = re.compile(r"([=?])([0-9]{0,9})(?:\s+|$)(.*)", re.ASCII | re.DOTALL)
_NO_NUMBER = re.compile(r"[=?](?![-=?\d])")


class Gtp(ABC):
    """One engine's conversation."""

    def __init__(self, options: GtpOptions) -> None:
        self._options = options
        self._lines = LineReader(options.line_bytes)
        self._phase = GtpPhase.IDLE
        self._begin()

    def _begin(self) -> None:
        self._lines.begin()
        self._id = 0
        self._queue: list[GtpCommand] = []
        self._answer: list[str] = []
        self._about: dict[str, str] = {}
        self._listed: frozenset[str] = frozenset()
        self._known: list[Placing] = []
        self._limits = SeatLimits(NO_LIMIT, 0)
        self._notes = 0

    # --- the game ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def set_up(self, game: dict[str, object]) -> Sequence[str]:
        """Return the commands that begin a game."""

    @abstractmethod
    def position(self, request: Request) -> tuple[Sequence[Placing], int]:
        """Return all stones and moves in order, and the colour to move."""

    @abstractmethod
    def decision(self, text: str) -> tuple[Decision, str]:
        """Return the move, and its text for records. Raises ValueError for unreadable text."""

    # --- stimuli -----------------------------------------------------------------------------------------------------

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        """Return the effects of a stimulus."""
        match stimulus:
            case Bytes(data, clock):
                self._clock = clock
                return self._read(data)
            case Ask(request, clock):
                self._clock = clock
                return self._ask(request)
            case Open(game=game, limits=limits):
                return self._open(game, limits)
            case Close():
                self._phase = GtpPhase.ENDING
                self._id += 1
                return [Write(f"{self._id} quit\n".encode()), Await(Wait.CLOSE)]
            case _:
                return ()

    def _open(self, game: dict[str, object], limits: SeatLimits) -> Sequence[Effect]:
        self._begin()
        self._phase = GtpPhase.OPENING
        self._queue = [
            GtpCommand("protocol_version", Wait.START, _check_version),
            GtpCommand("name", Wait.START, self._keep("name"), is_optional=True),
            GtpCommand("version", Wait.START, self._keep("version"), is_optional=True),
            GtpCommand("list_commands", Wait.START, self._list),
            *(GtpCommand(text, Wait.START) for text in [*self.set_up(game), *self._options.commands]),
        ]
        self._limits = limits
        return self._send()

    def _ask(self, request: Request) -> Sequence[Effect]:
        placings, colour = self.position(request)
        effects: list[Effect] = []
        if self._lines.clear() or self._answer:
            self._answer.clear()
            self._note("discarded: unfinished output that came before the request", effects)
        self._phase = GtpPhase.ASKED
        wait = Wait.TURN
        if self._known != placings[: len(self._known)]:
            self._known, wait = [], Wait.SYNC
            self._queue.append(GtpCommand("clear_board", wait))
        for each, name in placings[len(self._known) :]:
            self._queue.append(GtpCommand(f"play {COLOURS[each]} {name}", wait))
        self._known = list(placings)
        self._colour = colour
        self._queue.append(GtpCommand(f"time_left {COLOURS[colour]}", Wait.TURN, is_optional=True, has_time=True))
        self._queue.append(GtpCommand(f"genmove {COLOURS[colour]}", Wait.TURN))
        return [*effects, *self._send()]

    def _send(self) -> list[Effect]:
        """Send the next command, or end the phase."""
        while self._queue and self._queue[0].is_optional and not self._is_known(self._queue[0]):
            self._queue.pop(0)
        if not self._queue:
            self._phase = GtpPhase.IDLE
            return [Ready(self._about)]
        self._id += 1
        command = self._queue[0]
        if command.has_time:
            text = f"{command.text} {self._time_left(self._clock)}"
            command = self._queue[0] = replace(command, text=text, has_time=False)
        return [Write(f"{self._id} {command.text}\n".encode()), Await(command.wait)]

    def _is_known(self, command: GtpCommand) -> bool:
        return not self._listed or command.text.split()[0] in self._listed

    # --- times -------------------------------------------------------------------------------------------------------

    def _time_settings(self) -> GtpCommand:
        """GTP has Canadian byo-yomi only: Japanese byo-yomi is sent as one move per period, so that further periods are
        a reserve. KGS's command has the number of periods.
        """
        control = self._limits.control
        first, overtime, turn_ms = next(iter(control.periods), None), control.overtime(0), control.announced_turn_ms
        if overtime is not None and control.turn_ms is None:
            main, period = self._main(control.main_ms), self._seconds(overtime.time_ms)
            if self._sends_periods:
                return _optional(f"kgs-time_settings byoyomi {main} {period} {overtime.periods}")
            return _optional(f"time_settings {main} {period} {overtime.answers or 1}")
        if first is not None and first.answers and control.turn_ms is None:
            return _optional(f"time_settings 0 {self._seconds(first.time_ms)} {first.answers}")
        if control.total_ms:
            return _optional(f"time_settings {self._seconds(_game_time(control.total_ms, turn_ms))} 0 0")
        return _optional(f"time_settings 0 {self._seconds(turn_ms)} 1")

    @property
    def _sends_periods(self) -> bool:
        overtime = self._limits.control.overtime(0)
        return overtime is not None and overtime.periods > 0 and "kgs-time_settings" in self._listed

    def _time_left(self, clock: Clock) -> str:
        if clock.time_left_ms >= UNLIMITED_MS:
            return f"{self._seconds(clock.turn_ms)} 1"
        if clock.main_ms is None or clock.turn_ms < UNLIMITED_MS:
            return f"{self._seconds(_game_time(clock.time_left_ms, clock.turn_ms))} 0"
        if clock.main_ms > 0 or not clock.period_ms:
            return f"{self._seconds(clock.main_ms)} {clock.moves_to_go or 0}"
        periods = clock.periods_left if self._sends_periods else 1
        return f"{self._seconds(clock.period_ms)} {clock.moves_to_go or periods}"

    def _main(self, ms: int | None) -> int:
        return self._seconds(ms) if ms else 0

    def _seconds(self, ms: int) -> int:
        return max(1, (ms - self._options.overhead_ms) // 1000)

    # --- lines of the engine -----------------------------------------------------------------------------------------

    def _read(self, data: bytes) -> Sequence[Effect]:
        effects: list[Effect] = []
        for line in self._lines.feed(data):
            text = decode(line).replace("\r", "").replace("\t", " ").strip()
            if self._phase is GtpPhase.ENDING or not (text or self._answer):
                continue
            if self._answer and not text:
                effects += self._answered(effects)
            elif self._answer:
                if len(self._answer) < MAX_ANSWER_LINES:
                    self._answer.append(text)
            elif self._phase is GtpPhase.IDLE or text[0] not in "=?":
                self._note(f"discarded: {quote(text, 80)}", effects)
            else:
                self._answer.append(text)
        return effects

    def _answered(self, effects: list[Effect]) -> Sequence[Effect]:
        first, text = self._answer[0], "\n".join(self._answer)
        self._answer.clear()
        command = self._queue.pop(0)
        head = _HEAD.fullmatch(text)
        if head is None or head[2].lstrip("0") != str(self._id):
            due = f"{first[:60]}, but ={self._id} was due"
            if _NO_NUMBER.match(first):
                due += ": repeat its number after = or ?"
            return self._give_up(ReplyKind.UNREADABLE, command, due)
        mark, said = head[1], head[3].strip()
        if mark == "?" and command.is_optional:
            self._note(f"{command.text}: {said[:80]}", effects)
            return self._send()
        if mark == "?":
            return self._give_up(ReplyKind.REFUSED, command, said)
        if self._phase is GtpPhase.ASKED and not self._queue:
            return self._moved(first, said)
        why = command.read(said) if command.read else None
        return self._give_up(ReplyKind.REFUSED, command, why) if why else self._send()

    def _give_up(self, kind: ReplyKind, command: GtpCommand, said: str) -> Sequence[Effect]:
        is_opening = self._phase is GtpPhase.OPENING
        self._phase = GtpPhase.IDLE
        self._queue.clear()
        self._known = [(-1, "")]  # the next request clears the board
        if kind is ReplyKind.UNREADABLE and not is_opening:
            return [Answer(Reply(kind, said))]
        return [Answer(Reply(ReplyKind.REFUSED, f"{command.text}: {said}"[:MAX_SAID_CHARACTERS]))]

    def _moved(self, first: str, said: str) -> Sequence[Effect]:
        self._phase = GtpPhase.IDLE
        if said.lower() == "resign":
            return [Answer(Reply(ReplyKind.RESIGNED, "resign"))]
        try:
            decision, text = self.decision(said)
        except ValueError:
            return [Answer(Reply(ReplyKind.UNREADABLE, first[:200]))]
        self._known.append((self._colour, said.lower() if said.lower() == "pass" else said.upper()))
        return [Answer(decided(decision, text))]

    def _keep(self, key: str) -> Callable[[str], None]:
        def keep(said: str) -> None:
            if said:
                self._about[key] = " ".join(said.split())[:MAX_ABOUT_CHARACTERS]

        return keep

    def _list(self, said: str) -> str | None:
        self._listed = frozenset(said.split())
        self._queue.append(self._time_settings())
        missing = [name for name in NEEDED if name not in self._listed]
        return f"the engine lacks {', '.join(missing)}" if missing else None

    def _note(self, text: str, effects: list[Effect]) -> None:
        self._notes += 1
        if self._notes <= MAX_NOTES:
            effects.append(Note(text if self._notes < MAX_NOTES else "more lines are not recorded"))


def _check_version(said: str) -> str | None:
    return None if said == GTP_VERSION else f"version {quote(said, 20)}; the judge needs version {GTP_VERSION}"


def _optional(text: str) -> GtpCommand:
    return GtpCommand(text, Wait.START, is_optional=True)


def _game_time(match_ms: int, turn_ms: int) -> int:
    return min(match_ms, TURNS_IN_TIME * turn_ms) if turn_ms else match_ms
