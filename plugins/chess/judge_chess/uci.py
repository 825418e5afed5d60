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

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise, takewhile

from judge.base.text import decode, quote
from judge.games.types import Reply, ReplyKind, decided
from judge.protocols.checks import END, GAMES, MEMORY, QUIET, START, TIME, Check
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
    Ponder,
    Ready,
    Search,
    Stimulus,
    Wait,
)
from judge_chess.engine import (
    MATE_CP,
    MAX_ABOUT_CHARACTERS,
    MAX_FIGURE_CHARACTERS,
    MAX_MATE_MOVES,
    MAX_SAID_CHARACTERS,
    MOVE,
    NUMBER,
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
from judge_chess.rules import ChooseMove, Move


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


_FIGURES = frozenset({"depth", "seldepth", "nodes", "nps", "time", "hashfull", "tbhits"})


class Uci(Engine):
    """One engine's conversation."""

    def __init__(self, options: EngineOptions) -> None:
        super().__init__(options)
        self._phase = UciPhase.IDLE
        self._asked = self._next = ChooseMove(0)
        self._score_cp: int | None = None
        self._expected: tuple[str, str] | None = None
        """The engine's last move and the answer that it expects."""
        self._figures: dict[str, str] = {}
        """Of the current ponder search."""

    def setting(self, option: EngineOption, value: str) -> str:
        """Buttons have no value."""
        name = f"setoption name {option.name}"
        return name if option.kind == "button" else f"{name} value {' '.join(value.split())}"

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
                return [say("uci"), Await(Wait.START)]
            case Ponder(clock, opponent) if self._ponders and self._phase is UciPhase.IDLE and self._expected:
                self._opponent = opponent
                return self._ponder(self._expected, clock)
            case Alarm() if self._phase is UciPhase.THINKING:
                return [say("stop"), Await(Wait.TURN)]
            case Close():
                is_thinking = self._phase in (UciPhase.THINKING, UciPhase.PONDERING, UciPhase.STOPPING)
                self._phase = UciPhase.ENDING
                return [say("stop", "quit") if is_thinking else say("quit"), Await(Wait.CLOSE)]
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
            return [*figures, say("ponderhit"), *self._await_move()]
        self._next, self._phase = request, UciPhase.STOPPING
        return [say("stop"), Await(Wait.TURN)]

    def _begin(self, request: ChooseMove, clock: Clock) -> Sequence[Effect]:
        before, self._asked = self._asked, request
        if request.start == before.start and request.played >= before.played:
            return self._go(clock)
        self._phase = UciPhase.SYNCING
        return [say("ucinewgame", "isready"), Await(Wait.SYNC)]

    def _go(self, clock: Clock) -> Sequence[Effect]:
        self._phase, self._score_cp = UciPhase.THINKING, None
        return [say(self._position(()), f"go {self._times(clock)}"), *self._await_move()]

    def _ponder(self, expected: tuple[str, str], clock: Clock) -> Sequence[Effect]:
        self._phase, self._score_cp, self._figures = UciPhase.PONDERING, None, {}
        return [say(self._position(expected), f"go ponder {self._times(clock)}")]

    def _await_move(self) -> Sequence[Effect]:
        self._expected = None
        return self._await_answer()

    def _position(self, more: Sequence[str]) -> str:
        request = self._asked
        first = "startpos" if request.fen == START_FEN else f"fen {request.fen}"
        moves = " ".join((*request.moves, *more))
        return f"position {first} moves {moves}" if moves else f"position {first}"

    def _times(self, clock: Clock) -> str:
        if clock.time_left_ms >= UNLIMITED_MS:
            return f"movetime {self._shown(movetime(clock))}"
        both = (clock, self._opponent or clock)
        white, black = map(time_of, both if self._asked.is_white else both[::-1])
        words = f"wtime {self._shown(white[0])} btime {self._shown(black[0])} winc {white[1]} binc {black[1]}"
        moves_to_go = (white if self._asked.is_white else black)[2]
        return words if moves_to_go is None else f"{words} movestogo {moves_to_go}"

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
            lines, why = self._settings(*["UCI_Chess960"] * self._is_chess960)
            if why:
                return [Answer(Reply(ReplyKind.REFUSED, why))]
            self._phase = UciPhase.SETTING
            return [say(*lines, "ucinewgame", "isready"), Await(Wait.START)]
        if text.startswith("option name "):
            name, _, rest = text.removeprefix("option name ").partition(" type ")
            kind, *words = rest.split() or [""]
            ends = {key: int(value) for key, value in pairwise(words) if NUMBER.fullmatch(value)}
            self._learn(EngineOption(name.strip(), kind, ends.get("min"), ends.get("max")))
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
        values = {key: value for key, value in pairwise(words) if NUMBER.fullmatch(value)}
        if values.get("multipv", "1") != "1":
            return
        figures |= {key: value for key, value in values.items() if key in _FIGURES}
        is_bound = "lowerbound" in words or "upperbound" in words
        if "score" in words and ("cp" in values or "mate" in values):
            is_mate = "cp" not in values
            most = MAX_MATE_MOVES if is_mate else MATE_CP
            value = max(-most, min(most, int(values["mate" if is_mate else "cp"])))
            figures["score"] = score_text(value, is_mate=is_mate)
            # A bound is no agreement with a result.
            self._score_cp = self._score_cp if is_bound else score_cp(value, is_mate=is_mate)
        moves = " ".join(takewhile(MOVE.fullmatch, line.split()))
        if moves:
            figures["pv"] = moves[:MAX_FIGURE_CHARACTERS]

    def _decided(self, text: str, figures: dict[str, str]) -> Answer:
        self._phase = UciPhase.IDLE
        words = text.split()
        move = words[1].lower() if len(words) > 1 else ""
        if len(words) > 3 and words[2] == "ponder" and MOVE.fullmatch(words[3]):
            figures["ponder"] = words[3]
            self._expected = move, words[3].lower()
        if move in ("(none)", "0000") or MOVE.fullmatch(move):
            return Answer(decided(Move(move, self._score_cp), move))
        return Answer(Reply(ReplyKind.UNREADABLE, text.strip()[:MAX_SAID_CHARACTERS]))


ENTRY = ProtocolEntry(
    EngineOptions,
    Uci,
    games=("chess",),
    agent_options="agent_options",
    thread_options=frozenset({"threads"}),
    memory_options={"hash": 1 << 20},
    has_ponder_commands=True,
    checks=(
        START._replace(fix="answer uci with uciok and isready with readyok, at once; flush stdout after each line"),
        Check("about", "reports its name", "print `id name NAME` before uciok"),
        Check("begin", "plays from the first position, with both colours", "answer go with one line: bestmove e2e4"),
        Check("mate", "mates in one move", "set up the position that was sent: FEN first, then the moves"),
        Check("castling", "castles, and accepts castling of the opponent", "castling is the king's move: e1g1"),
        Check(
            "en-passant",
            "captures en passant, and accepts it from the opponent",
            "a pawn that captures en passant moves to an empty square: remove the other pawn",
        ),
        Check("repetition", "plays on in a repeated position", "answer until the judge ends the game"),
        Check("promotion", "promotes, also to a knight", "append the piece in lower case: e7e8q, e7e8n"),
        TIME,
        MEMORY,
        QUIET,
        END,
        *GAMES,
    ),
)
