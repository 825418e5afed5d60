"""The Universal Chess Interface, the GUI's side.

    phase      what the judge waits for     a line of the engine                left by
    GREETING   uciok                        id, option: kept                    uciok
    SETTING    readyok                      ignored                             readyok
    IDLE       nothing                      ignored with a note                 a request or the end
    SYNCING    readyok                      ignored                             readyok
    THINKING   bestmove                     info: search data                   bestmove
    PONDERING  nothing                      info: kept; bestmove: discarded     a request or the end
    STOPPING   bestmove to stop             ignored                             bestmove, which is discarded
    ENDING     the exit                     ignored                             -

Each request has the complete position. `ucinewgame` and `isready` are sent before the first request of another game.
Where the policy lets agents ponder, the option Ponder is true, and `go ponder` follows an answer that names the
expected move. If the opponent plays it, the request is `ponderhit`; otherwise `stop`, then the position.

Lines end with LF. Before `uciok` other text is ignored, because many engines print a banner.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise, takewhile
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from judge.base.text import decode, quote
from judge.games.types import Event, Reply, ReplyKind, Request, decided
from judge.protocols.checks import END, GAMES, MEMORY, QUIET, START, TIME, Check
from judge.protocols.entry import ProtocolEntry
from judge.protocols.lines import LineReader
from judge.protocols.types import (
    UNLIMITED_MS,
    Alarm,
    Answer,
    Ask,
    Await,
    Bytes,
    Clock,
    Close,
    Effect,
    Note,
    Open,
    Ponder,
    Ready,
    Search,
    Stimulus,
    ToldLimits,
    Wait,
    WakeAt,
    Write,
)
from judge_chess.positions import START as START_FEN
from judge_chess.rules import ChooseMove, Move, Moved

MATE_CP = 100_000
"""Score of a mate, less its number of moves."""
MAX_OPTIONS = 500
MAX_ABOUT_CHARACTERS = 200
MAX_FIGURE_CHARACTERS = 400
MOVETIME_MARGIN = 50
"""A movetime is this part shorter than the limit of a turn."""
TURNS_IN_TIME = 4
"""The time sent is at most this number of turn limits, because UCI cannot express both limits. Engines spend up to a
quarter of the time on a move.
"""
MAX_NOTES = 100
"""Notes per process; later ones are dropped."""


class UciOptions(BaseModel):
    """Protocol options of a policy."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hash_mb: int = Field(default=16, ge=0, le=1 << 20)
    """Sent as the option Hash, if the engine has it. 0: the engine's default."""
    threads: int = Field(default=1, ge=0, le=1024)
    """Sent as the option Threads, if the engine has it. 0: the engine's default."""
    options: dict[str, str | int | bool] = Field(default_factory=dict)
    """More options by name. An engine that lacks one does not play."""
    agent_options: dict[str, str | int | bool] = Field(default_factory=dict)
    """From the agent's `[options]`. `options` of the policy take precedence."""
    overhead_ms: int = Field(default=30, ge=0)
    """Subtracted from the times that are sent."""
    stop_before_ms: int = Field(default=0, ge=0)
    """Sends `stop` this long before the deadline. 0: never."""
    line_bytes: int = Field(default=4096, ge=256, le=65536)
    """Longer lines are truncated."""


class UciPhase(StrEnum):
    """See the module."""

    GREETING = "greeting"
    SETTING = "setting"
    IDLE = "idle"
    SYNCING = "syncing"
    THINKING = "thinking"
    PONDERING = "pondering"
    STOPPING = "stopping"
    ENDING = "ending"


@dataclass(frozen=True, slots=True)
class EngineOption:
    """An option that the engine announced."""

    name: str
    kind: str
    least: int | None
    most: int | None


_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qrbnk]?", re.ASCII)
_FIGURES = frozenset({"depth", "seldepth", "nodes", "nps", "time", "hashfull", "tbhits"})
_NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)


class Uci:
    """One engine's conversation."""

    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset({ChooseMove, Moved})

    def __init__(self, options: UciOptions) -> None:
        self._options = options
        self._lines = LineReader(options.line_bytes)
        self._phase = UciPhase.IDLE
        self._about: dict[str, str] = {}
        self._known: dict[str, EngineOption] = {}
        self._limits = ToldLimits(0, 0, 0)
        self._is_chess960 = False
        self._asked = self._next = ChooseMove(0)
        self._opponent: Clock | None = None
        self._score_cp: int | None = None
        self._ponders = False
        self._expected: tuple[str, str] | None = None
        """The engine's last move and the answer that it expects."""
        self._figures: dict[str, str] = {}
        """Of the current ponder search."""
        self._notes = 0

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        """Return the effects of a stimulus."""
        match stimulus:
            case Bytes(data, clock):
                return self._read(data, clock)
            case Ask(ChooseMove() as request, clock, opponent):
                self._opponent = opponent
                return self._ask(request, clock)
            case Open(game=game, limits=limits):
                self._is_chess960, self._limits = game.get("variant") == "chess960", limits
                self._phase = UciPhase.GREETING
                self._asked, self._expected = ChooseMove(0), None
                return [_say("uci"), Await(Wait.START)]
            case Ponder(clock, opponent) if self._ponders and self._phase is UciPhase.IDLE and self._expected:
                self._opponent = opponent
                return self._ponder(self._expected, clock)
            case Alarm() if self._phase is UciPhase.THINKING:
                return [_say("stop"), Await(Wait.TURN)]
            case Close():
                is_thinking = self._phase in (UciPhase.THINKING, UciPhase.PONDERING, UciPhase.STOPPING)
                self._phase = UciPhase.ENDING
                return [_say("stop", "quit") if is_thinking else _say("quit"), Await(Wait.CLOSE)]
            case _:
                return ()

    # --- lines to the engine -----------------------------------------------------------------------------------------

    def _ask(self, request: ChooseMove, clock: Clock) -> Sequence[Effect]:
        if self._phase is not UciPhase.PONDERING:
            return self._begin(request, clock)
        before = self._asked
        is_next = request.start == before.start and request.played == before.played + 2
        if is_next and request.moves[-2:] == self._expected:
            self._asked, self._phase = request, UciPhase.THINKING
            figures: list[Effect] = [Search(self._figures)] if self._figures else []
            return [*figures, _say("ponderhit"), *self._await_move()]
        self._next, self._phase = request, UciPhase.STOPPING
        return [_say("stop"), Await(Wait.TURN)]

    def _begin(self, request: ChooseMove, clock: Clock) -> Sequence[Effect]:
        before, self._asked = self._asked, request
        if request.start == before.start and request.played >= before.played:
            return self._go(clock)
        self._phase = UciPhase.SYNCING
        return [_say("ucinewgame", "isready"), Await(Wait.SYNC)]

    def _go(self, clock: Clock) -> Sequence[Effect]:
        self._phase, self._score_cp = UciPhase.THINKING, None
        return [_say(self._position(()), f"go {self._times(clock)}"), *self._await_move()]

    def _ponder(self, expected: tuple[str, str], clock: Clock) -> Sequence[Effect]:
        self._phase, self._score_cp, self._figures = UciPhase.PONDERING, None, {}
        return [_say(self._position(expected), f"go ponder {self._times(clock)}")]

    def _await_move(self) -> Sequence[Effect]:
        self._expected = None
        before_ms = self._options.stop_before_ms
        return [Await(Wait.TURN), WakeAt(before_ms)] if before_ms else [Await(Wait.TURN)]

    def _position(self, more: Sequence[str]) -> str:
        request = self._asked
        first = "startpos" if request.fen == START_FEN else f"fen {request.fen}"
        moves = " ".join((*request.moves, *more))
        return f"position {first} moves {moves}" if moves else f"position {first}"

    def _times(self, clock: Clock) -> str:
        def shown(ms: int) -> int:
            return max(1, ms - self._options.overhead_ms)

        if clock.time_left_ms >= UNLIMITED_MS:
            # Engines spend all of it, and some look at the clock rarely.
            return f"movetime {shown(clock.turn_ms - clock.turn_ms // MOVETIME_MARGIN)}"
        both = (clock, self._opponent or clock)
        white, black = map(_time_of, both if self._asked.is_white else both[::-1])
        words = f"wtime {shown(white[0])} btime {shown(black[0])} winc {white[1]} binc {black[1]}"
        moves_to_go = (white if self._asked.is_white else black)[2]
        return words if moves_to_go is None else f"{words} movestogo {moves_to_go}"

    def _settings(self) -> tuple[list[str], str]:
        """The lines, or why the engine cannot play."""
        chosen = self._options
        wanted: dict[str, str | int | bool] = {}  # by the name in lower case, for which the last value counts
        if chosen.hash_mb and "hash" in self._known:
            wanted["hash"] = chosen.hash_mb
        if chosen.threads and "threads" in self._known:
            wanted["threads"] = chosen.threads
        if self._limits.ponder and "ponder" in self._known:
            wanted["ponder"] = True
        names_of: dict[str, str] = {}
        for name, value in (chosen.agent_options | chosen.options).items():
            wanted[name.lower()], names_of[name.lower()] = value, name
        if self._is_chess960:
            wanted["uci_chess960"], names_of["uci_chess960"] = True, "UCI_Chess960"
        lines = []
        for key, value in wanted.items():
            option, name = self._known.get(key), names_of.get(key, key)
            if option is None:
                names = ", ".join(sorted(each.name for each in self._known.values())) or "none"
                return [], f"the engine has no option {name}; its options: {names}"
            if why := self._objection(option, value):
                return [], why
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if key == "ponder":
                self._ponders = self._limits.ponder and text == "true"
            lines.append(f"setoption name {option.name}" if option.kind == "button" else _setting(option.name, text))
        return lines, ""

    def _objection(self, option: EngineOption, value: str | int | bool) -> str:
        if option.kind == "check" and str(value).lower() not in ("true", "false"):
            return f"{option.name} = {value} is neither true nor false"
        if option.kind != "spin":
            return ""
        if isinstance(value, bool) or not _NUMBER.fullmatch(str(value)):
            return f"{option.name} = {value} is no whole number"
        if option.least is not None and int(value) < option.least:
            return f"{option.name} = {value} is below the engine's minimum of {option.least}"
        if option.most is not None and int(value) > option.most:
            return f"{option.name} = {value} is above the engine's maximum of {option.most}"
        limit = self._limits.memory_bytes
        if option.name.lower() == "hash" and limit and int(value) << 20 > limit:
            return f"Hash = {value} MiB is above the memory limit of {limit >> 20} MiB"
        return ""

    # --- lines of the engine -----------------------------------------------------------------------------------------

    def _read(self, data: bytes, clock: Clock) -> Sequence[Effect]:
        effects: list[Effect] = []
        figures: dict[str, str] = {}
        searches = (UciPhase.THINKING, UciPhase.PONDERING)
        for line in self._lines.feed(data):
            words = line.split(None, 1)
            first = words[0] if words else b""
            if not words or self._phase is UciPhase.ENDING:
                continue
            if first == b"info" and self._phase in searches:
                found = self._figures if self._phase is UciPhase.PONDERING else figures
                self._searched(decode(line), found, effects)
            elif first == b"bestmove" and self._phase is UciPhase.THINKING:
                effects.append(self._decided(decode(line), figures))
            elif first == b"bestmove" and self._phase is UciPhase.PONDERING:
                self._phase, self._expected = UciPhase.IDLE, None
                self._note("discarded: bestmove before ponderhit or stop", effects)
            elif first == b"bestmove" and self._phase is UciPhase.STOPPING:
                effects += self._begin(self._next, clock)
            elif first == b"readyok" and self._phase is UciPhase.SETTING:
                self._phase = UciPhase.IDLE
                effects.append(Ready(self._about))
            elif first == b"readyok" and self._phase is UciPhase.SYNCING:
                effects += self._go(clock)
            elif self._phase is UciPhase.GREETING:
                effects += self._greeting(decode(line).strip())
            elif first != b"info":
                self._note(f"discarded: {quote(decode(line), 80)}", effects)
        if figures:
            effects.insert(0, Search(figures))
        return effects

    def _greeting(self, text: str) -> Sequence[Effect]:
        if text == "uciok":
            lines, why = self._settings()
            if why:
                return [Answer(Reply(ReplyKind.REFUSED, why))]
            self._phase = UciPhase.SETTING
            return [_say(*lines, "ucinewgame", "isready"), Await(Wait.START)]
        if text.startswith("option name "):
            name, _, rest = text.removeprefix("option name ").partition(" type ")
            kind, *words = rest.split() or [""]
            ends = {key: int(value) for key, value in pairwise(words) if _NUMBER.fullmatch(value)}
            if len(self._known) < MAX_OPTIONS:
                self._known[name.strip().lower()] = EngineOption(name.strip(), kind, ends.get("min"), ends.get("max"))
        elif text.startswith(("id name ", "id author ")):
            _, key, value = text.split(None, 2)
            self._about[key] = value[:MAX_ABOUT_CHARACTERS]
        return ()

    def _searched(self, text: str, figures: dict[str, str], effects: list[Effect]) -> None:
        if text.startswith("info string"):
            self._note(text[len("info string") :].strip()[:200], effects)
            return
        head, _, line = text.partition(" pv ")
        words = head.split()
        values = {key: value for key, value in pairwise(words) if _NUMBER.fullmatch(value)}
        if values.get("multipv", "1") != "1":
            return
        figures |= {key: value for key, value in values.items() if key in _FIGURES}
        if "score" in words and ("cp" in values or "mate" in values):
            kind = "cp" if "cp" in values else "mate"
            value = max(-MATE_CP, min(MATE_CP, int(values[kind])))
            is_mate = kind == "mate"
            figures["score"] = f"{'-' if value < 0 else '+'}M{abs(value)}" if is_mate else f"{value / 100:+.2f}"
            self._score_cp = (MATE_CP - abs(value)) * (1 if value > 0 else -1) if is_mate else value
        moves = " ".join(takewhile(_MOVE.fullmatch, line.split()))
        if moves:
            figures["pv"] = moves[:MAX_FIGURE_CHARACTERS]

    def _decided(self, text: str, figures: dict[str, str]) -> Answer:
        self._phase = UciPhase.IDLE
        words = text.split()
        move = words[1].lower() if len(words) > 1 else ""
        if len(words) > 3 and words[2] == "ponder" and _MOVE.fullmatch(words[3]):
            figures["ponder"] = words[3]
            self._expected = move, words[3].lower()
        if move in ("(none)", "0000") or _MOVE.fullmatch(move):
            return Answer(decided(Move(move, self._score_cp), move))
        return Answer(Reply(ReplyKind.UNREADABLE, text.strip()))

    def _note(self, text: str, effects: list[Effect]) -> None:
        self._notes += 1
        if self._notes <= MAX_NOTES:
            effects.append(Note(text if self._notes < MAX_NOTES else "more lines are not recorded"))


def _time_of(clock: Clock) -> tuple[int, int, int | None]:
    """Return the time left, the increment and the moves to go, as far as UCI can express the time control."""
    left = clock.time_left_ms if clock.main_ms is None else clock.main_ms
    moves_to_go = clock.moves_to_go
    if clock.main_ms == 0 and clock.period_ms:
        left, moves_to_go = clock.period_ms, moves_to_go or 1
    if left > TURNS_IN_TIME * clock.turn_ms:
        # Many engines spend a whole movetime even if the game's time ends soon, so it is not sent next to wtime.
        return TURNS_IN_TIME * clock.turn_ms, 0, None
    return left, clock.increment_ms + clock.delay_ms, moves_to_go


def _setting(name: str, value: str) -> str:
    return f"setoption name {name} value {' '.join(value.split())}"


def _say(*lines: str) -> Write:
    return Write("".join(f"{line}\n" for line in lines).encode())


ENTRY = ProtocolEntry(
    UciOptions,
    Uci,
    games=("chess",),
    agent_options="agent_options",
    thread_options=frozenset({"threads"}),
    memory_options={"hash": 1 << 20},
    has_ponder_commands=True,
    checks=(
        START._replace(fix="answer uci with uciok and isready with readyok, at once; flush stdout after each line"),
        Check("about", "reports its name", "print `id name NAME` before uciok"),
        Check("begin", "position startpos and go, with both colours", "answer go with one line: bestmove e2e4"),
        Check("mate", "mates in one move", "set up the position that was sent: FEN first, then the moves"),
        Check("castling", "castles, and accepts castling of the opponent", "castling is the king's move: e1g1"),
        Check(
            "en-passant",
            "captures en passant, and accepts it from the opponent",
            "a pawn that captures en passant moves to an empty square: remove the other pawn",
        ),
        Check("promotion", "promotes, also to a knight", "append the piece in lower case: e7e8q, e7e8n"),
        TIME,
        MEMORY,
        QUIET,
        END,
        *GAMES,
    ),
)
