"""AGI, the "Amoyman Gobang Interface": lines to an engine, and reading of its lines.

Source: docs/agi.md, our reading of the AGI draft of 2016.

An engine is in one of the phases below. `_STEPS` maps a phase and a word to the next step. Other words are
ignored with a note.

    phase      what the judge waits for         left by
    GREETING   AGIOK to AGI                     AGIOK: the options, the rules and ISREADY follow
    OPENING    READYOK to the first ISREADY     READYOK: the engine is ready
    IDLE       nothing                          a request: ISREADY follows
    SYNCING    READYOK to ISREADY               READYOK: the position and GO follow
    THINKING   BESTMOVE to GO                   BESTMOVE, with any text after it
    ENDING     the exit                         -

Input read before a question was written does not answer it: lines after the one that ends a phase, in the same read,
are discarded.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, ClassVar, Literal

from pydantic import Field

from judge.base.parsing import FrozenModel
from judge.base.text import decode, sentence
from judge.games.gomoku.requests import (
    AnswerSwap,
    ChooseFifth,
    ColoursSettled,
    OfferFifths,
    PlaceStone,
    Square,
    StonePlaced,
    StonesRequest,
)
from judge.games.types import Event, Request
from judge.protocols.agi_words import (
    CHANGES,
    ID_KEYS,
    INFO_KEYS,
    OPTION_KEYS,
    RULES,
    AgiWord,
    by_keyword,
    classify,
    objection,
    read_answer,
    write_squares,
)
from judge.protocols.checks import BLOCK, END, ENDING, GAMES, MEMORY, OPENING, QUIET, RULE, START, TIME, WIN, Check
from judge.protocols.entry import ProtocolEntry
from judge.protocols.lines import LineReader, discarded
from judge.protocols.squares import intended_square
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
    Note,
    Open,
    Ponder,
    Ready,
    Search,
    Stimulus,
    Tell,
    Wait,
    WakeAt,
    Write,
)


class AgiOptions(FrozenModel):
    """Protocol options of a contest or an agent's manifest."""

    line_ending: Literal["lf", "crlf"] = "lf"
    line_bytes: int = Field(default=65536, ge=1024)
    """Longer lines are truncated; the game continues."""
    own_book: bool = True
    """SETOPTION OWNBOOK ON or OFF, for engines that announce a book."""
    ponder: bool = False
    """SETOPTION PONDER ON for engines that announce it, as with `clock.ponder`. Otherwise all engines get OFF."""
    resync: Literal["domove", "position"] = "domove"
    """Send only new stones, or the whole game with every request."""
    stop_before_ms: int = Field(default=0, ge=0)
    """When to send STOP before a turn's deadline; 0: never. The clock's tolerance: exactly at the limit."""
    multi_count: bool = False
    """Extension: FIVEMULITY is followed by the number of fifths that black must offer."""


class AgiPhase(StrEnum):
    """See the module."""

    GREETING = "greeting"
    OPENING = "opening"
    IDLE = "idle"
    SYNCING = "syncing"
    THINKING = "thinking"
    ENDING = "ending"


class Agi:
    """The judge's side."""

    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset(
        {PlaceStone, AnswerSwap, OfferFifths, ChooseFifth, StonePlaced, ColoursSettled}
    )

    def __init__(self, options: AgiOptions) -> None:
        self._options = options
        self._end = "\r\n" if options.line_ending == "crlf" else "\n"
        self._lines = LineReader(options.line_bytes)
        self._phase = AgiPhase.IDLE
        self._about: dict[str, str] = {}
        self._known: list[Square] | None = None
        self._stones: list[Square] = []
        self._swap = "none"
        self._ponders = self._is_pondering = False

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        match stimulus:
            case Bytes(data, clock):
                self._clock = clock
                return self._read(data)
            case Ask(PlaceStone() | AnswerSwap(adds=0) | OfferFifths() | ChooseFifth() as request):
                return self._ask(request)
            case Tell(ColoursSettled()) if self._swap != "none":
                # Otherwise engines may still answer CHANGE.
                self._swap = "none"
                return [self._say(*self._stop_pondering(), self._set_rule())]
            case Tell(StonePlaced(x=x, y=y)):
                self._stones.append((x, y))
                return ()
            case Tell():
                return ()
            case Ponder():
                return self._ponder()
            case Open(game=game, limits=limits):
                self._ponders = limits.ponder
                return self._open(game)
            case Alarm():
                return [self._say("STOP")] if self._phase is AgiPhase.THINKING else ()
            case Close():
                self._phase = AgiPhase.ENDING
                return [self._say("QUIT"), Await(Wait.CLOSE)]
            case _:
                raise TypeError(f"AGI has no words for {stimulus!r}")

    def _open(self, game: Mapping[str, Any]) -> Sequence[Effect]:
        self._rule: str = game["rule"]
        self._swap = game.get("swap", "none")
        self._fifths: int = game.get("fifths", 1)
        self._lines.clear()
        self._about, self._known, self._stones = {}, None, []
        self._phase, self._is_pondering = AgiPhase.GREETING, False
        return [self._say("AGI"), Await(Wait.START)]

    def _ask(self, request: StonesRequest) -> Sequence[Effect]:
        self._asked = request
        self._phase = AgiPhase.SYNCING
        self._stones = [(x, y) for x, y, _ in request.stones]
        return [self._say(*self._stop_pondering(), "ISREADY"), Await(Wait.SYNC)]

    def _ponder(self) -> Sequence[Effect]:
        if self._is_pondering or not self._ponders or self._about.get("ponder") != "true":
            return ()
        self._is_pondering = True
        return [self._say(*self._set_position(), "GO PONDER")]

    def _stop_pondering(self) -> Sequence[str]:
        was_pondering, self._is_pondering = self._is_pondering, False
        return ["STOP"] if was_pondering else []

    def _read(self, data: bytes) -> Sequence[Effect]:
        if self._phase is AgiPhase.ENDING:
            return ()
        lines = self._lines.feed(data.replace(b"\r", b"\n"))
        effects: list[Effect] = [*self._lines.take_cut()]
        asked = self._phase
        for number, line in enumerate(lines):
            if self._phase is not asked or asked is AgiPhase.IDLE:
                effects += discarded(lines[number:])
                break
            if line.strip():
                effects += self._line(line)
        if self._phase is not asked or asked is AgiPhase.IDLE:
            self._lines.clear()
        return effects

    def _line(self, line: bytes) -> Sequence[Effect]:
        word, rest = classify(line)
        step = _STEPS[self._phase].get(word)
        return [Note(sentence(f"ignored: {decode(line[:80])!r}"))] if step is None else step(self, rest)

    def _named(self, rest: bytes) -> Sequence[Effect]:
        values, _ = by_keyword(rest, ID_KEYS)
        self._about |= values
        return ()

    def _announced(self, rest: bytes) -> Sequence[Effect]:
        values, _ = by_keyword(rest, OPTION_KEYS)
        self._about |= {key: value.lower() for key, value in values.items()}
        return ()

    def _greeted(self, _rest: bytes) -> Sequence[Effect]:
        self._phase = AgiPhase.OPENING
        return [self._say(*self._set_options(), self._set_rule(), "ISREADY"), Await(Wait.START)]

    def _opened(self, _rest: bytes) -> Sequence[Effect]:
        self._phase = AgiPhase.IDLE
        return [Ready(self._about)]

    def _synced(self, _rest: bytes) -> Sequence[Effect]:
        request = self._asked
        self._phase = AgiPhase.THINKING
        effects: list[Effect] = [self._say(*self._set_position(), _go(request, self._clock)), Await(Wait.TURN)]
        if self._options.stop_before_ms:
            effects.append(WakeAt(self._options.stop_before_ms))
        return effects

    def _searched(self, rest: bytes) -> Sequence[Effect]:
        values, unknown = by_keyword(rest, INFO_KEYS)
        effects: list[Effect] = [Search(values)] if values else []
        if unknown:
            effects.append(Note(f"INFO {unknown[:80]!r}"))
        return effects

    def _decided(self, rest: bytes) -> Sequence[Effect]:
        self._phase = AgiPhase.IDLE
        reply, ponder = read_answer(rest)
        effects: list[Effect] = [Search({"ponder": ponder})] if ponder else []
        return [*effects, Answer(reply)]

    def _say(self, *lines: str) -> Write:
        return Write((self._end.join(lines) + self._end).encode())

    def _set_options(self) -> Sequence[str]:
        lines = []
        if self._about.get("ownbook") == "true":
            lines.append(f"SETOPTION OWNBOOK {'ON' if self._options.own_book else 'OFF'}")
        if not (self._options.ponder or self._ponders):
            lines.append("SETOPTION PONDER OFF")
        elif self._about.get("ponder") == "true":
            lines.append("SETOPTION PONDER ON")
        return lines

    def _set_rule(self) -> str:
        fifths = ""
        if self._fifths == 2:
            fifths = "FIVETWINE"
        elif self._fifths > 2:
            fifths = f"FIVEMULITY {self._fifths}" if self._options.multi_count else "FIVEMULITY"
        return " ".join(filter(None, ["SETRULE", RULES[self._rule], CHANGES[self._swap], fifths]))

    def _set_position(self) -> Sequence[str]:
        known = self._known
        self._known = squares = [*self._stones]
        if known is None or self._options.resync == "position" or known != squares[: len(known)]:
            return [f"POSITION MOVES {write_squares(squares)}" if squares else "POSITION"]
        return [f"DOMOVE {write_squares([square])}" for square in squares[len(known) :]]


def _go(request: StonesRequest, clock: Clock) -> str:
    time = f"TIME {max(1, min(clock.turn_ms, clock.time_left_ms, UNLIMITED_MS))}"
    match request:
        case OfferFifths(offered=offered, free=free) if offered:
            return f"GO SEARCH {write_squares(free)} {time}"
        case ChooseFifth(offers=offers):
            return f"GO SEARCH {write_squares(offers)} {time}"
        case _:
            return f"GO {time}"


_STEPS: dict[AgiPhase, dict[AgiWord, Callable[[Agi, bytes], Sequence[Effect]]]] = {
    AgiPhase.GREETING: {AgiWord.ID: Agi._named, AgiWord.OPTION: Agi._announced, AgiWord.AGIOK: Agi._greeted},
    AgiPhase.OPENING: {AgiWord.READYOK: Agi._opened},
    AgiPhase.SYNCING: {AgiWord.READYOK: Agi._synced},
    AgiPhase.THINKING: {AgiWord.INFO: Agi._searched, AgiWord.BESTMOVE: Agi._decided},
}


_ANSWER = re.compile(r"(?i)\W*(?:best ?move|move)?\W*\b([0-9a-e])[ :]?([1-9a-f])\b(?:\s+[a-z_]{2,}.*|\W*)")
_BEST_MOVE = re.compile(r"(?i)best ?move")


def _probable_answer(said: str) -> str:
    if found := _ANSWER.fullmatch(said):
        is_clear = found[1].isdigit() or _BEST_MOVE.search(said)
        return f"BESTMOVE {found[1]}{found[2]}".upper() if is_clear else ""
    x, y = intended_square(_BEST_MOVE.sub("", said)) or (15, 15)
    return f"BESTMOVE {y:X}{x + 1:X}" if max(x, y) < 15 else ""


ENTRY = ProtocolEntry(
    AgiOptions,
    Agi,
    objection=objection,
    games=("gomoku",),
    has_ponder_commands=True,
    checks=(
        START,
        Check("about", sentence("reports its name"), sentence("send ID NAME name before AGIOK")),
        Check("begin", sentence("POSITION and GO on an empty board"), sentence("answer GO with BESTMOVE and a square")),
        Check(
            "turn", sentence("DOMOVE and GO"), sentence("add each stone of DOMOVE, which also sends your own stones")
        ),
        Check(
            "board",
            sentence("POSITION MOVES with an even and an odd number of stones"),
            sentence("set the stones in the order given, black first; then you play the colour that is to move"),
        ),
        WIN,
        BLOCK,
        RULE,
        OPENING,
        Check(
            "stop",
            sentence("answers STOP"),
            sentence("read stdin while you think (in a thread, or by looking now and then), and answer at once"),
        ),
        TIME,
        MEMORY,
        QUIET,
        ENDING,
        END,
        *GAMES,
    ),
    answer_forms={
        "": sentence("BESTMOVE with row 0 to E from the top and column 1 to F from the left, such as BESTMOVE 78"),
        "AGI": sentence("ID NAME name, then AGIOK, each on a line"),
        "ISREADY": sentence("READYOK, alone on the line"),
    },
    probable_answer=_probable_answer,
    coordinate_order=sentence("are row and column exchanged? the row (0 to E) comes first, then the column (1 to F)"),
)
