"""What UCI and CECP share: options of the engine, its lines, and times that its commands can express."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from judge.base.parsing import FrozenModel
from judge.games.types import Event, Request
from judge.protocols.lines import LineReader
from judge.protocols.time_control import NO_LIMIT, UNLIMITED_MS
from judge.protocols.types import Await, Clock, Effect, Note, SeatLimits, Wait, WakeAt, Write
from judge_chess.rules import ChooseMove, Moved

MATE_CP = 100_000
"""Score of a mate, less its number of moves."""
MAX_OPTIONS = 500
MAX_ABOUT_CHARACTERS = 200
MAX_FIGURE_CHARACTERS = 400
MAX_SAID_CHARACTERS = 400
"""Of an answer that is no move; the rest is cut."""
MAX_MATE_MOVES = 500
TURNS_IN_TIME = 4
"""The time sent is at most this number of turn limits, because the protocols cannot express both limits. Engines spend
up to a quarter of the time on a move.
"""
MAX_NOTES = 100
"""Notes per process; later ones are dropped."""
MOVETIME_MARGIN = 50
"""The time for a move is this part shorter than the limit of a turn."""
MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qrbnk]?", re.ASCII)
NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)

Value = str | Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)] | bool


class EngineOptions(FrozenModel):
    """Protocol options of a policy."""

    hash_mb: int = Field(default=16, ge=0, le=1 << 20)
    """Sent as the option Hash, if the engine has it. 0: the engine's default."""
    threads: int = Field(default=1, ge=0, le=1024)
    """Sent as the option Threads, if the engine has it. 0: the engine's default."""
    options: dict[str, Value] = Field(default_factory=dict)
    """More options by name. An engine that lacks one does not play."""
    agent_options: dict[str, Value] = Field(default_factory=dict)
    """From the agent's `[options]`. `options` of the policy take precedence."""
    overhead_ms: int = Field(default=30, ge=0, le=UNLIMITED_MS)
    """Subtracted from the times that are sent."""
    stop_before_ms: int = Field(default=0, ge=0, le=UNLIMITED_MS)
    """Sends `stop`, or `?` in CECP, this long before the deadline. 0: never."""
    line_bytes: int = Field(default=4096, ge=256, le=65536)
    """Longer lines are truncated."""


@dataclass(frozen=True, slots=True)
class EngineOption:
    """An option that the engine announced."""

    name: str
    kind: str
    least: int | None = None
    most: int | None = None


class Engine(ABC):
    """One engine's conversation."""

    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset({ChooseMove, Moved})

    def __init__(self, options: EngineOptions) -> None:
        self._options = options
        self._lines = LineReader(options.line_bytes)
        self._about: dict[str, str] = {}
        self._known: dict[str, EngineOption] = {}
        self._limits = SeatLimits(NO_LIMIT, 0)
        self._is_chess960 = False
        self._opponent: Clock | None = None
        self._ponders = False
        self._notes = 0

    @abstractmethod
    def setting(self, option: EngineOption, value: str) -> str:
        """Return the command that sets an option."""

    def _learn(self, option: EngineOption) -> None:
        if len(self._known) < MAX_OPTIONS:
            self._known[option.name.lower()] = option

    def _settings(self, *required: str) -> tuple[list[str], str]:
        """The lines, or why the engine cannot play. `required` options are true."""
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
        for name in required:
            wanted[name.lower()], names_of[name.lower()] = True, name
        lines = []
        for key, value in wanted.items():
            option, name = self._known.get(key), names_of.get(key, key)
            if option is None:
                names = ", ".join(sorted(each.name for each in self._known.values())) or "none"
                return [], f"the engine has no option {name}; its options: {names}"[:MAX_SAID_CHARACTERS]
            if why := self._objection(option, value):
                return [], why
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if key == "ponder":
                self._ponders = self._limits.ponder and text == "true"
            lines.append(self.setting(option, text))
        return lines, ""

    def _objection(self, option: EngineOption, value: str | int | bool) -> str:
        if option.kind == "check" and str(value).lower() not in ("true", "false"):
            return f"{option.name} = {value} is neither true nor false"
        if option.kind != "spin":
            return ""
        if isinstance(value, bool) or not NUMBER.fullmatch(str(value)):
            return f"{option.name} = {value} is no whole number"
        if option.least is not None and int(value) < option.least:
            return f"{option.name} = {value} is below the engine's minimum of {option.least}"
        if option.most is not None and int(value) > option.most:
            return f"{option.name} = {value} is above the engine's maximum of {option.most}"
        limit = self._limits.memory_bytes
        if option.name.lower() == "hash" and limit and int(value) << 20 > limit:
            return f"Hash = {value} MiB is above the memory limit of {limit >> 20} MiB"
        return ""

    def _await_answer(self) -> Sequence[Effect]:
        before_ms = self._options.stop_before_ms
        return [Await(Wait.TURN), WakeAt(before_ms)] if before_ms else [Await(Wait.TURN)]

    def _shown(self, ms: int) -> int:
        return max(1, ms - self._options.overhead_ms)

    def _note(self, text: str, effects: list[Effect]) -> None:
        self._notes += 1
        if self._notes <= MAX_NOTES:
            effects.append(Note(text if self._notes < MAX_NOTES else "more lines are not recorded"))


def time_of(clock: Clock) -> tuple[int, int, int | None]:
    """Return the time left, the increment and the moves to go, as far as engines can express the time control."""
    left = clock.time_left_ms if clock.main_ms is None else clock.main_ms
    moves_to_go = clock.moves_to_go
    if clock.main_ms == 0 and clock.period_ms:
        left, moves_to_go = clock.period_ms, moves_to_go or 1
    if left > TURNS_IN_TIME * clock.turn_ms:
        # Many engines spend a whole movetime even if the game's time ends soon, so it is not sent next to wtime.
        return TURNS_IN_TIME * clock.turn_ms, 0, None
    return left, clock.increment_ms + clock.delay_ms, moves_to_go


def score_cp(value: int, *, is_mate: bool) -> int:
    """Convert a score, or a mate in some moves, to centipawns."""
    return (MATE_CP - abs(value)) * (1 if value > 0 else -1) if is_mate else value


def score_text(value: int, *, is_mate: bool) -> str:
    """Return the score for records."""
    return f"{'+' if value > 0 else '-'}M{abs(value)}" if is_mate else f"{value / 100:+.2f}"


def movetime(clock: Clock) -> int:
    """Return the time for a move. Engines spend all of it, and some look at the clock rarely."""
    return clock.turn_ms - clock.turn_ms // MOVETIME_MARGIN


def say(*lines: str) -> Write:
    """Return lines for the engine."""
    return Write("".join(f"{line}\n" for line in lines).encode())
