"""The Chess Engine Communication Protocol (xboard, winboard), version 2, the interface's side.

    phase      what the judge waits for     a line of the engine                left by
    GREETING   feature done=1               feature: accepted or rejected       feature done=1
    SETTING    pong                         ignored with a note                 pong; at once without feature ping=1
    IDLE       nothing                      resign: kept for the next request   a request or the end
    SYNCING    pong                         Illegal move: a refusal             pong
    THINKING   move                         thinking output: search data        move, resign, a result, Illegal move
    ENDING     the exit                     ignored                             -

After its first move the engine plays on by itself: each request is the opponent's move. Another position begins with
`new`, `force`, `setboard` and the moves so far. Draw offers are recorded and are not sent to the opponent.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import takewhile

import chess
from judge_chess.engine import (
    MATE_CP,
    MAX_ABOUT_CHARACTERS,
    MAX_FIGURE_CHARACTERS,
    MAX_MATE_MOVES,
    MAX_OPTIONS,
    MAX_SAID_CHARACTERS,
    MOVE,
    NUMBER,
    TURNS_IN_TIME,
    Engine,
    EngineOption,
    EngineOptions,
    movetime,
    say,
    score_cp,
    score_text,
    time_of,
)
from judge_chess.positions import START as START_FEN
from judge_chess.rules import ChooseMove, ClaimDraw, Move, Moved
from judge_chess.uci import ENTRY as UCI

from judge.base.text import decode, quote
from judge.games.types import Reply, ReplyKind, decided
from judge.protocols.entry import ProtocolEntry
from judge.protocols.time_control import UNLIMITED_MS
from judge.protocols.types import (
    Alarm,
    Answer,
    Ask,
    Await,
    Bytes,
    Clock,
    Close,
    Effect,
    Open,
    Ready,
    Search,
    Stimulus,
    Tell,
    Wait,
)

LEAST_ST_MS = 5000
"""Shorter limits of a turn are sent as a time for the game, because `st` has whole seconds."""
MAX_CLAIM_CHARACTERS = 60
MAX_FEATURES = 100
"""Besides options; more features and options get no answer."""
COMMANDS = {"Hash": ("memory", "memory"), "Threads": ("smp", "cores")}
"""Feature and command of an option that the engine does not define itself."""
KINDS = {"check": "check", "spin": "spin", "slider": "spin", "button": "button", "save": "button", "reset": "button"}
"""Kinds of options that have rules, as in UCI."""

_FEATURE = re.compile(r'(?<![a-z])([a-z]{1,32})=("[^"]*"|[^\s"]+)', re.ASCII)
_OPTION = re.compile(r"(.+?) -([a-z]+) ?(.*)", re.ASCII)
_THINKING = re.compile(r"([0-9]{1,3})\S?\s+([+-]?[0-9]{1,9})\s+([0-9]{1,12})\s+([0-9]{1,18})\b(.*)", re.ASCII)
_RESULT = re.compile(r"(1-0|0-1|1/2-1/2)(\s|$)", re.ASCII)
_REFUSALS = ("illegal move", "tellusererror illegal position")
_PV = re.compile(r"[A-Za-z0-9.+#=()-]{1,12}", re.ASCII)


class CecpPhase(StrEnum):
    """See the module."""

    GREETING = "greeting"
    SETTING = "setting"
    IDLE = "idle"
    SYNCING = "syncing"
    THINKING = "thinking"
    ENDING = "ending"


class Cecp(Engine):
    """One engine's conversation."""

    def __init__(self, options: EngineOptions) -> None:
        super().__init__(options)
        self._phase = CecpPhase.IDLE
        self._features: dict[str, str] = {}
        self._pings = self._answered = 0
        self._asked = ChooseMove(0)
        self._last = self._pace = ""
        self._moves_to_go = self._period_moves = 0
        """The opponent's last move, and the kind of time control that the engine has."""
        self._is_new = self._has_resigned = False
        self._score_cp: int | None = None

    def setting(self, option: EngineOption, value: str) -> str:
        """The features memory and smp have their own commands."""
        if option.kind == "button":
            return f"option {option.name}"
        value = {"true": "1", "false": "0"}.get(value, value) if option.kind == "check" else " ".join(value.split())
        feature, command = COMMANDS.get(option.name, ("", ""))
        return f"{command} {value}" if self._has(feature) else f"option {option.name}={value}"

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        """Return the effects of a stimulus."""
        match stimulus:
            case Bytes(data, clock):
                return self._read(data, clock)
            case Tell(Moved(uci=uci)):
                self._last = uci
            case Ask(ChooseMove() as request, clock, opponent):
                self._opponent = opponent
                return self._ask(request, clock)
            case Open(game=game, limits=limits):
                self._is_chess960, self._limits = game.get("variant") == "chess960", limits
                self._ponders = limits.ponder
                self._phase, self._features, self._known = CecpPhase.GREETING, {}, {}
                self._answered = 0
                self._asked, self._pace, self._has_resigned = ChooseMove(0), "", False
                return [say("xboard", "protover 2"), Await(Wait.START)]
            case Alarm() if self._phase is CecpPhase.THINKING:
                return [say("?"), Await(Wait.TURN)]
            case Close(result=result):
                self._phase = CecpPhase.ENDING
                return [say(f"result {result or '*'} {{}}", "quit"), Await(Wait.CLOSE)]
        return ()

    # --- lines to the engine -----------------------------------------------------------------------------------------

    def _ask(self, request: ChooseMove, clock: Clock) -> Sequence[Effect]:
        before, self._asked, self._score_cp = self._asked, request, None
        has_resigned, self._has_resigned = self._has_resigned, False
        if not self._is_new and request.start == before.start and request.played == before.played + 2:
            if has_resigned:
                return [Answer(Reply(ReplyKind.RESIGNED, "resign"))]
            self._phase = CecpPhase.THINKING
            # A request without moves follows a capture or a pawn move, which has one notation.
            move = self._moves()[-1] if request.moves else self._usermove(self._last)
            return [say(*self._times(clock), move), *self._await_answer()]
        if request.fen != START_FEN and not self._has("setboard"):
            return [Answer(Reply(ReplyKind.REFUSED, "positions need feature setboard=1"))]
        lines = [] if self._is_new else self._new()
        lines += [f"setboard {request.fen}"] if request.fen != START_FEN else []
        lines += self._moves()
        self._is_new = False
        if lines and self._has("ping"):
            self._phase = CecpPhase.SYNCING
            return [say(*lines, self._ping()), Await(Wait.SYNC)]
        return self._go(clock, lines)

    def _new(self) -> list[str]:
        self._pace = ""
        variant = ["variant fischerandom"] if self._is_chess960 else []
        return ["new", *variant, "hard" if self._ponders else "easy", "post", "force"]

    def _go(self, clock: Clock, lines: Sequence[str] = ()) -> Sequence[Effect]:
        self._phase = CecpPhase.THINKING
        return [say(*lines, *self._times(clock), "go"), *self._await_answer()]

    def _ping(self) -> str:
        self._pings += 1
        return f"ping {self._pings}"

    def _has(self, feature: str) -> bool:
        return self._features.get(feature) == "1"

    def _usermove(self, text: str) -> str:
        return f"usermove {text}" if self._has("usermove") else text

    def _moves(self) -> list[str]:
        """The commands for the moves of the request. Castling of Chess960 is O-O or O-O-O."""
        request = self._asked
        if not self._is_chess960:
            return list(map(self._usermove, request.moves))
        board, lines = request.root(), []
        for uci in request.moves:
            move = board.parse_uci(uci)
            lines.append(self._usermove(board.san(move).rstrip("+#") if board.is_castling(move) else uci))
            board.push(move)
        return lines

    def _times(self, clock: Clock) -> list[str]:
        left, increment, moves = time_of(clock)
        if clock.time_left_ms >= UNLIMITED_MS:
            left, increment, moves = movetime(clock), 0, None
            pace, line = "st", f"st {self._shown(left) // 1000}"
            if left < LEAST_ST_MS:
                left *= TURNS_IN_TIME
                pace, line = "level", _level(0, left, 0)
        else:
            if moves is None or moves > self._moves_to_go:  # a new period, perhaps of another number of moves
                self._period_moves = moves or 0
            self._moves_to_go = moves or 0
            pace = f"level {increment} {self._period_moves}"
            line = _level(moves or 0, self._shown(left), increment)
        lines = [line] if pace != self._pace else []
        self._pace = pace
        if self._features.get("time") == "0":
            return lines
        other = left if self._opponent is None else min(time_of(self._opponent)[0], UNLIMITED_MS)
        return [*lines, f"time {_centiseconds(self._shown(left))}", f"otim {_centiseconds(self._shown(other))}"]

    # --- lines of the engine -----------------------------------------------------------------------------------------

    def _read(self, data: bytes, clock: Clock) -> Sequence[Effect]:
        effects: list[Effect] = []
        figures: dict[str, str] = {}
        for line in self._lines.feed(data):
            text = decode(line).strip()
            if not text or self._phase is CecpPhase.ENDING:
                continue
            if self._phase is CecpPhase.THINKING and (match := _THINKING.match(text)):
                self._searched(match, figures)
            elif self._phase is CecpPhase.GREETING:
                effects += self._greeting(text) if text.startswith("feature ") else ()
            elif text == f"pong {self._pings}" and self._phase is CecpPhase.SETTING:
                self._phase = CecpPhase.IDLE
                effects.append(Ready(self._about))
            elif text == f"pong {self._pings}" and self._phase is CecpPhase.SYNCING:
                effects += self._go(clock)
            elif (answer := self._answer(text)) is not None:
                self._phase = CecpPhase.IDLE
                effects.append(Answer(answer))
            else:
                self._has_resigned = self._has_resigned or (self._phase is CecpPhase.IDLE and text == "resign")
                self._note(quote(text, 80), effects)
        if figures:
            effects.insert(0, Search(figures))
        return effects

    def _greeting(self, text: str) -> Sequence[Effect]:
        found = [(name, value.strip('"')) for name, value in _FEATURE.findall(text)]
        answers = []
        for name, value in found[: MAX_FEATURES + MAX_OPTIONS - self._answered]:
            if name == "option" and (match := _OPTION.fullmatch(value)):
                numbers = [int(word) if NUMBER.fullmatch(word) else None for word in match[3].split()[1:3]]
                self._learn(EngineOption(match[1], KINDS.get(match[2], match[2]), *numbers))
            elif name in self._features or len(self._features) < MAX_FEATURES:
                self._features[name] = value
            answers.append(f"{'rejected' if (name, value) == ('san', '1') else 'accepted'} {name}")
        self._answered += len(answers)
        if ("done", "1") in found:
            return self._set_up(answers)
        return [say(*answers), Await(Wait.START)] if answers else ()

    def _set_up(self, answers: Sequence[str]) -> Sequence[Effect]:
        if name := self._features.get("myname"):
            self._about["name"] = name[:MAX_ABOUT_CHARACTERS]
        for option, (feature, _) in COMMANDS.items():
            if self._has(feature):
                self._learn(EngineOption(option, "spin", 1))
        lines, why = self._settings()
        variants = self._features.get("variants", "normal")
        if self._is_chess960 and "fischerandom" not in variants.split(","):
            why = f"the engine has no variant fischerandom; its variants: {quote(variants, 100)}"
        if why:
            return [Answer(Reply(ReplyKind.REFUSED, why))]
        lines = [*answers, *lines, *self._new()]
        self._is_new = True
        if self._has("ping"):
            self._phase = CecpPhase.SETTING
            return [say(*lines, self._ping()), Await(Wait.START)]
        self._phase = CecpPhase.IDLE
        return [say(*lines), Ready(self._about)]

    def _answer(self, text: str) -> Reply | None:
        is_thinking = self._phase is CecpPhase.THINKING
        if text.lower().startswith(_REFUSALS) and (is_thinking or self._phase is CecpPhase.SYNCING):
            return Reply(ReplyKind.REFUSED, text[:MAX_SAID_CHARACTERS])
        if not is_thinking:
            return None
        if text == "resign":
            return Reply(ReplyKind.RESIGNED, text)
        if match := _RESULT.match(text):
            if match[1] == "1/2-1/2":
                return decided(ClaimDraw(), text[:MAX_CLAIM_CHARACTERS])
            is_lost = match[1] == ("0-1" if self._asked.is_white else "1-0")
            return Reply(ReplyKind.RESIGNED if is_lost else ReplyKind.UNREADABLE, text[:MAX_SAID_CHARACTERS])
        return self._moved(text) if text.split()[0] == "move" else None

    def _moved(self, text: str) -> Reply:
        said = text.removeprefix("move").strip()
        move = said.lower()
        if not MOVE.fullmatch(move):
            board = self._asked.board()
            try:
                move = board.uci(board.parse_san(said))
            except chess.IllegalMoveError:
                move = said[:MAX_CLAIM_CHARACTERS]
            except ValueError:
                return Reply(ReplyKind.UNREADABLE, text[:MAX_SAID_CHARACTERS])
        return decided(Move(move, self._score_cp), move)

    def _searched(self, match: re.Match[str], figures: dict[str, str]) -> None:
        depth, score, time, nodes, rest = match.groups()
        value, moves = int(score), abs(int(score)) - MATE_CP
        if is_mate := 1 <= moves <= MAX_MATE_MOVES:
            value = moves if value > 0 else -moves
        self._score_cp = score_cp(value, is_mate=is_mate)
        figures |= {"depth": depth, "score": score_text(value, is_mate=is_mate)}
        figures |= {"time": str(10 * int(time)), "nodes": nodes}
        if pv := " ".join(takewhile(_PV.fullmatch, rest.rpartition("\t")[2].split())):
            figures["pv"] = pv[:MAX_FIGURE_CHARACTERS]


def _level(moves: int, ms: int, increment_ms: int) -> str:
    minutes, seconds = divmod(max(1, ms // 1000), 60)
    return f"level {moves} {minutes}:{seconds:02} {increment_ms / 1000:g}"


def _centiseconds(ms: int) -> int:
    return max(1, ms // 10)


FIXES = {
    "start": "answer protover 2 with feature lines and feature done=1, and ping N with pong N; flush stdout",
    "about": 'print feature myname="NAME"',
    "begin": "answer go and usermove with one line: move e2e4",
    "mate": "announce feature setboard=1, and set up the position of setboard",
}

ENTRY = ProtocolEntry(
    EngineOptions,
    Cecp,
    games=UCI.games,
    agent_options=UCI.agent_options,
    thread_options=UCI.thread_options,
    memory_options=UCI.memory_options,
    has_ponder_commands=True,
    checks=tuple(check._replace(fix=FIXES.get(check.name, check.fix)) for check in UCI.checks),
)
