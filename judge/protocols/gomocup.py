"""The Gomocup (Piskvork pipe) protocol: what a brain is told and how its lines are read. Source: seeds 002 and 003.

Theory of operation. A brain is in one of the phases below. What it may say is one of a few words; the table gives, for
each phase and word, the step to take. A word that a phase does not list is set aside with a note and the wait goes on:
brains in the wild print far more than they should, and the deadline is the referee's.

    phase       what the manager waits for     left by
    STARTING    OK to START or RECTSTART       OK, or ERROR/UNKNOWN (refused)
    GREETING    any answer to ABOUT            an answer, or the alarm: many brains never answer
    IDLE        nothing                        a request
    RESTARTING  OK to RESTART                  OK, or ERROR/UNKNOWN (END and a new process)
    THINKING    a move                         a move, a mangled move, or one UNKNOWN/ERROR too many
    ENDING      the exit                       -

Three rules keep the two sides in step. What arrives while nothing is asked is discarded (it can not be the answer to
what comes later). One UNKNOWN or ERROR is forgiven for each INFO line sent since the last answer, because brains answer
lines that the protocol says have no answer; the next one is about the command itself and refuses it. A line is ended by
CR, LF or CRLF; the end of the stream does not end one.
"""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from judge.games.stones import PlaceStone, Stone, StonePlaced
from judge.games.types import Event, Reply, ReplyKind, Request, decided
from judge.protocols.lines import LineReader
from judge.protocols.types import (
    Alarm,
    Answer,
    Ask,
    Await,
    Bytes,
    Clock,
    Close,
    Effect,
    Eof,
    Limits,
    Note,
    Open,
    Ready,
    Respawn,
    Stimulus,
    Tell,
    Wait,
    Write,
)

INT32_MAX = 2147483647
RULES = {"freestyle": 0, "standard": 1}
"""INFO rule (seed 002): 1 = exactly five in a row win."""

ABOUT_CHARACTERS = 512
"""How much of an answer to ABOUT is kept."""


class GomocupOptions(BaseModel):
    """What a contest or an agent's manifest may choose about the protocol."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    line_ending: Literal["crlf", "lf"] = "crlf"
    line_bytes: int = Field(default=8192, ge=64)
    """A longer line of the brain is cut to this; play goes on."""
    game_type: int = Field(default=1, ge=0, le=3)
    """INFO game_type: 0 human opponent, 1 brain, 2 tournament, 3 network tournament."""


class Phase(StrEnum):
    """Where the conversation is; see the theory of operation."""

    STARTING = "starting"
    GREETING = "greeting"
    IDLE = "idle"
    RESTARTING = "restarting"
    THINKING = "thinking"
    ENDING = "ending"


UNWAITED = frozenset({Phase.IDLE, Phase.ENDING})
"""The phases in which nobody waits for the brain."""


class Word(StrEnum):
    """What a line of a brain is."""

    OK = "OK"
    ERROR = "ERROR"
    UNKNOWN = "UNKNOWN"
    MESSAGE = "MESSAGE"
    DEBUG = "DEBUG"
    SUGGEST = "SUGGEST"
    MOVE = "move"
    MANGLED = "mangled"
    TEXT = "text"


_MOVE = re.compile(rb"\s*([+-]?\d{1,9})\s*,\s*([+-]?\d{1,9})\s*")
_LIKE_A_MOVE = re.compile(rb"\s*[+-]?\d+\s*,")
_KEYWORD = re.compile(
    rb"\s*(OK|ERROR|UNKNOWN|MESSAGE|DEBUG|SUGGEST)(?![A-Za-z0-9_])\s*", re.IGNORECASE
)
_ABOUT_PAIR = re.compile(r'([A-Za-z]+)\s*=\s*"([^"]*)"')


def classify(line: bytes) -> tuple[Word, bytes]:
    """What a line is, and what stands behind its keyword (the whole line where it has none).

    A line that begins like a pair of coordinates and is not one is MANGLED: it was meant as a move, so it is judged at
    once and not ignored until the time is over.
    """
    if _MOVE.fullmatch(line):
        return Word.MOVE, line
    keyword = _KEYWORD.match(line)
    if keyword:
        return Word[keyword[1].decode().upper()], line[keyword.end() :]
    return (Word.MANGLED if _LIKE_A_MOVE.match(line) else Word.TEXT), line


def parse_about(text: str) -> dict[str, str]:
    """An answer to ABOUT by keyword (`name="X", version="1.0"`); older brains' free text stands under `text`."""
    pairs = {key.lower(): value for key, value in _ABOUT_PAIR.findall(text)}
    return pairs or ({"text": text} if text else {})


def is_private(line: bytes) -> bool:
    """Whether a line of a brain is only for its author: DEBUG (seed 002: not visible to the public)."""
    return classify(line)[0] is Word.DEBUG


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


class Gomocup:
    """The manager's side of one conversation with one brain."""

    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset({PlaceStone, StonePlaced})

    def __init__(self, options: GomocupOptions) -> None:
        self._options = options
        self._end = "\r\n" if options.line_ending == "crlf" else "\n"
        self._lines = LineReader(options.line_bytes)
        self._phase = Phase.IDLE
        self._excuses = 0
        """How many UNKNOWN or ERROR lines may still be answers to INFO."""
        self._known: list[tuple[int, int]] = []
        """The stones that the brain has on its board, in play order."""
        self._asked: tuple[PlaceStone, Clock] | None = None
        """The request that is being answered, or was answered last."""

    # --- stimuli -----------------------------------------------------------------------------------------------------

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        """Take what happened, return what to do."""
        match stimulus:
            case Bytes(data):
                return self._read(data)
            case Ask(PlaceStone() as request, clock):
                return self._ask(request, clock)
            case Tell() | Eof():
                # A brain hears of the other's stone with its next request (TURN), and of nothing else.
                return ()
            case Open():
                return self._open(stimulus)
            case Alarm():
                return self._alarm()
            case Close():
                self._phase = Phase.ENDING
                return [self._say("END"), Await(Wait.CLOSE)]
            case _:
                raise TypeError(f"the Gomocup protocol has no words for {stimulus!r}")

    def _open(self, stimulus: Open) -> Sequence[Effect]:
        self._start_line = self._start_command(stimulus.game)
        self._info_lines = self._info(stimulus.game, stimulus.limits)
        return self._start()

    def _start(self) -> list[Effect]:
        self._phase = Phase.STARTING
        self._known = []
        self._excuses = 0
        return [self._say(self._start_line), Await(Wait.START)]

    def _ask(self, request: PlaceStone, clock: Clock) -> Sequence[Effect]:
        effects: list[Effect] = []
        if self._lines.clear():
            effects.append(Note("discarded: an unfinished line that came before the request"))
        self._asked = (request, clock)
        if not self._is_continued_by(request):
            # Seed 002, BOARD: if there is any open match, RESTART comes before it.
            self._phase = Phase.RESTARTING
            return [*effects, self._say("RESTART"), Await(Wait.START)]
        return [*effects, *self._put_position(request, clock)]

    def _is_continued_by(self, request: PlaceStone) -> bool:
        """Whether the brain's board is empty, or one stone of the opponent's behind the position."""
        if not self._known:
            return True
        known = len(self._known)
        if len(request.stones) != known + 1:
            return False
        x, y, _ = request.stones[known - 1]
        return (x, y) == self._known[-1] and request.stones[known][2] != request.seat

    def _put_position(self, request: PlaceStone, clock: Clock) -> list[Effect]:
        """INFO time_left and BEGIN, TURN or BOARD: the brain thinks."""
        stones = request.stones
        self._phase = Phase.THINKING
        self._excuses += 1
        time_left = f"INFO time_left {min(clock.time_left_ms, INT32_MAX)}"
        if not stones:
            return [self._say(time_left, "BEGIN"), Await(Wait.TURN)]
        # The first stone of an opening is not a move of the opponent's: both brains then receive BOARD.
        if self._known or (len(stones) == 1 and request.opening == 0):
            x, y, _ = stones[-1]
            self._known.append((x, y))
            return [self._say(time_left, f"TURN {x},{y}"), Await(Wait.TURN)]
        self._known = [(x, y) for x, y, _ in stones]
        rows = [f"{x},{y},{1 if colour == request.seat else 2}" for x, y, colour in stones]
        return [self._say(time_left, "BOARD", *rows, "DONE"), Await(Wait.TURN)]

    def _alarm(self) -> Sequence[Effect]:
        if self._phase is not Phase.GREETING:
            return ()
        # ABOUT itself may still be answered by UNKNOWN, late.
        self._excuses += 1
        return self._greeted({})

    # --- lines of the brain ------------------------------------------------------------------------------------------

    def _read(self, data: bytes) -> Sequence[Effect]:
        cut = self._lines.cut_lines
        lines = self._lines.feed(data.replace(b"\r", b"\n") if b"\r" in data else data)
        effects: list[Effect] = []
        if self._lines.cut_lines > cut:
            effects.append(Note(f"cut: a line of more than {self._options.line_bytes} bytes"))
        for number, line in enumerate(lines):
            if self._phase in UNWAITED:
                return effects + self._set_aside(lines[number:])
            if line:
                effects += self._line(line)
        if self._phase in UNWAITED:
            self._lines.clear()
        return effects

    def _set_aside(self, lines: list[bytes]) -> list[Effect]:
        said = [line for line in lines if line.strip()]
        if not said:
            return []
        return [
            Note(
                f"discarded: {len(said)} line(s) that nobody asked for, first {_text(said[0][:80])!r}"
            )
        ]

    def _line(self, line: bytes) -> Sequence[Effect]:
        word, rest = classify(line)
        step = _STEPS[self._phase].get(word)
        if step is not None:
            return step(self, rest)
        if word in (Word.MESSAGE, Word.DEBUG):
            return [Note(_text(rest), private=word is Word.DEBUG)]
        return [Note(f"ignored: {_text(line[:80])!r}")]

    def _started(self, _rest: bytes) -> Sequence[Effect]:
        if self._asked is not None:
            # A new process in the middle of a game: no greeting, the position comes at once.
            self._excuses = len(self._info_lines)
            return [self._say(*self._info_lines), *self._put_position(*self._asked)]
        self._phase = Phase.GREETING
        self._excuses = len(self._info_lines)
        # INFO before ABOUT: a brain that answers ABOUT has by then done the work that INFO max_memory may cause,
        # outside its turn.
        return [self._say(*self._info_lines, "ABOUT"), Await(Wait.COURTESY)]

    def _start_refused(self, rest: bytes) -> Sequence[Effect]:
        self._phase = Phase.IDLE
        said = f"{self._start_line}: {_text(rest)}"
        return [Answer(Reply(ReplyKind.REFUSED, said))]

    def _about(self, rest: bytes) -> Sequence[Effect]:
        # Whoever answers ABOUT has read every INFO before it.
        self._excuses = 0
        return self._greeted(parse_about(_text(rest[:ABOUT_CHARACTERS]).strip()))

    def _about_excused(self, rest: bytes) -> Sequence[Effect]:
        return self._excused(rest) or self._greeted({})

    def _greeted(self, about: dict[str, str]) -> Sequence[Effect]:
        self._phase = Phase.IDLE
        return [Ready(about)]

    def _restarted(self, _rest: bytes) -> Sequence[Effect]:
        self._known = []
        return [] if self._asked is None else self._put_position(*self._asked)

    def _restart_refused(self, _rest: bytes) -> Sequence[Effect]:
        # Seed 002, RESTART: if the brain answers UNKNOWN, the manager sends END and executes the brain again.
        return [self._say("END"), Respawn(), *self._start()]

    def _moved(self, rest: bytes) -> Sequence[Effect]:
        x, y = map(int, rest.split(b","))
        self._phase = Phase.IDLE
        self._excuses = 0
        self._known.append((x, y))
        return [Answer(decided(Stone(x, y), f"{x},{y}"))]

    def _mangled(self, rest: bytes) -> Sequence[Effect]:
        self._phase = Phase.IDLE
        return [Answer(Reply(ReplyKind.UNREADABLE, _text(rest[:200])))]

    def _suggested(self, rest: bytes) -> Sequence[Effect]:
        # Seed 002, SUGGEST: in a tournament the manager always answers the move that the brain has suggested.
        move = _MOVE.fullmatch(rest)
        if move is None:
            return self._mangled(b"SUGGEST " + rest)
        return [self._say(f"PLAY {int(move[1])},{int(move[2])}"), Await(Wait.TURN)]

    def _move_refused(self, rest: bytes) -> Sequence[Effect]:
        excused = self._excused(rest)
        if excused:
            return excused
        self._phase = Phase.IDLE
        return [Answer(Reply(ReplyKind.REFUSED, _text(rest[:200])))]

    def _excused(self, rest: bytes) -> Sequence[Effect]:
        """A note, if this UNKNOWN or ERROR may be the answer to an INFO line."""
        if self._excuses == 0:
            return ()
        self._excuses -= 1
        return [
            Note(f"ignored: UNKNOWN or ERROR, taken for an answer to INFO: {_text(rest[:80])!r}")
        ]

    # --- what is said to the brain -----------------------------------------------------------------------------------

    def _say(self, *lines: str) -> Write:
        return Write((self._end.join(lines) + self._end).encode())

    @staticmethod
    def _start_command(game: dict[str, Any]) -> str:
        width, height = game["width"], game["height"]
        # Seed 002, RECTSTART: the manager must use START if the board is square.
        return f"START {width}" if width == height else f"RECTSTART {width},{height}"

    def _info(self, game: dict[str, Any], limits: Limits) -> list[str]:
        """INFO in the order of seed 003, its keys in lower case."""
        values: list[tuple[str, object]] = [
            ("timeout_turn", min(limits.turn_ms, INT32_MAX)),
            ("timeout_match", min(limits.match_ms, INT32_MAX)),
            # Brains read it into 32 bits.
            ("max_memory", min(limits.memory_bytes, INT32_MAX)),
            ("game_type", self._options.game_type),
            ("rule", RULES[game["rule"]]),
        ]
        if limits.folder is not None:
            values.append(("folder", limits.folder))
        return [f"INFO {key} {value}" for key, value in values]


_STEPS: dict[Phase, dict[Word, Callable[[Gomocup, bytes], Sequence[Effect]]]] = {
    Phase.STARTING: {
        Word.OK: Gomocup._started,
        Word.ERROR: Gomocup._start_refused,
        Word.UNKNOWN: Gomocup._start_refused,
    },
    Phase.GREETING: {
        Word.UNKNOWN: Gomocup._about_excused,
        Word.ERROR: Gomocup._about_excused,
        Word.OK: Gomocup._about,
        Word.TEXT: Gomocup._about,
    },
    Phase.RESTARTING: {
        Word.OK: Gomocup._restarted,
        Word.ERROR: Gomocup._restart_refused,
        Word.UNKNOWN: Gomocup._restart_refused,
    },
    Phase.THINKING: {
        Word.MOVE: Gomocup._moved,
        Word.MANGLED: Gomocup._mangled,
        Word.SUGGEST: Gomocup._suggested,
        Word.ERROR: Gomocup._move_refused,
        Word.UNKNOWN: Gomocup._move_refused,
    },
    Phase.IDLE: {},
    Phase.ENDING: {},
}
"""What to do with a word in a phase; every other word is set aside."""
