"""AGI, the "Amoyman Gobang Interface": lines to an engine, and reading of its lines.

Source: docs/agi.md, our reading of the AGI draft of 2016.

An engine is in one of the phases below. `Agi._line` has the step of each phase and keyword. Other lines are ignored
with a note.

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
from collections.abc import Collection, Iterable, Mapping, Sequence
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
    Stone,
    StonePlaced,
    Stones,
    StonesRequest,
    Swap,
)
from judge.games.types import Event, Reply, ReplyKind, Request, decided
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

SIDE = 15
"""One hexadecimal digit per coordinate (AGI draft, II)."""

RULES = {"renju": "FORBIDDEN", "freestyle": "UNFORBIDDEN", "standard": "UNFORBIDDEN"}
"""There is no word for exactly five: a contest informs its authors."""

CHANGES = {"none": "", "first": "FIRSTCHANGE", "third": "THIRDCHANGE"}

ID_KEYS = frozenset({b"NAME", b"AUTHOR"})
OPTION_KEYS = frozenset({b"OWNBOOK", b"PONDER"})
INFO_KEYS = frozenset({b"DEPTH", b"PV", b"SCORE", b"NPS", b"SEARCH", b"WIN", b"LOSE"})

VALUE_CHARACTERS = 2 * SIDE * SIDE

_ANSWER = re.compile(rb"(CHANGE|(?:[0-9A-F]{2}){1,225})(?:\s+PONDER(?:\s+(.*))?)?", re.IGNORECASE)


def by_keyword(text: bytes, keys: Collection[bytes]) -> tuple[dict[str, str], str]:
    """Text after each of `keys`, by lower-case keyword, and the text before the first.

    Only a keyword's first use counts: a program may be called `No Name`.
    """
    before: list[bytes] = []
    said: dict[bytes, list[bytes]] = {}
    words = before
    for word in text.split():
        key = word.upper()
        if key in keys and key not in said:
            words = said[key] = []
        else:
            words.append(word)
    values = {decode(key).lower(): _joined(words) for key, words in said.items()}
    return values, _joined(before)


def read_answer(text: bytes) -> tuple[Reply, str]:
    """Reply after BESTMOVE and the text of PONDER."""
    match = _ANSWER.fullmatch(text)
    if match is None:
        return Reply(ReplyKind.UNREADABLE, decode(text[:200])), ""
    ponder = _joined((match[2] or b"").split())
    if match[1].upper() == b"CHANGE":
        return decided(Swap(), "SWAP"), ponder
    squares = read_squares(match[1])
    said = " ".join(f"{x},{y}" for x, y in squares)
    decision = Stone(*squares[0]) if len(squares) == 1 else Stones(squares)
    return Reply(ReplyKind.DECIDED, said, decision, spoken=f"BESTMOVE {decode(match[1])}"), ponder


def write_squares(squares: Iterable[Square]) -> str:
    """`7879` for (7, 7), (8, 7): row 0-E from the top, then column 1-F from the left (AGI draft, II)."""
    return "".join(f"{y:X}{x + 1:X}" for x, y in squares)


def read_squares(digits: bytes) -> tuple[Square, ...]:
    """Invert `write_squares`; accepts squares off the board."""
    values = [int(digits[at : at + 1], 16) for at in range(len(digits))]
    return tuple((column - 1, row) for row, column in zip(values[::2], values[1::2], strict=True))


def _joined(words: Iterable[bytes]) -> str:
    return decode(b" ".join(words))[:VALUE_CHARACTERS]


def objection(game: Mapping[str, Any]) -> str | None:
    """Why AGI cannot express this game, or None."""
    width, height, swap = game["width"], game["height"], game.get("swap", "none")
    if (width, height) != (SIDE, SIDE):
        return f"can only name the squares of a {SIDE}x{SIDE} board, not of {width}x{height}"
    if game.get("other_sizes"):
        return f"has boards of {SIDE}x{SIDE} only, but this game may continue with another size"
    if game["rule"] not in RULES:
        return f"has no words for the rule {game['rule']}, only for {', '.join(RULES)}"
    if game.get("continuous", False):
        return "cannot play on after a five (continuous)"
    if swap not in CHANGES:
        return f"has no words for the swap {swap}, only for {', '.join(CHANGES)}"
    return None


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
                if self._is_pondering or not self._ponders or self._about.get("ponder") != "true":
                    return ()
                self._is_pondering = True
                return [self._say(*self._set_position(), "GO PONDER")]
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
        keyword, *more = line.strip().split(None, 1)
        rest = more[0] if more else b""
        match self._phase, keyword.upper():
            case AgiPhase.THINKING, b"INFO":
                values, unknown = by_keyword(rest, INFO_KEYS)
                found: list[Effect] = [Search(values)] if values else []
                return [*found, Note(f"INFO {unknown[:80]!r}")] if unknown else found
            case AgiPhase.THINKING, b"BESTMOVE":
                self._phase = AgiPhase.IDLE
                reply, ponder = read_answer(rest)
                return [Search({"ponder": ponder}), Answer(reply)] if ponder else [Answer(reply)]
            case AgiPhase.SYNCING, b"READYOK":
                return self._think()
            case AgiPhase.GREETING, b"ID":
                self._about |= by_keyword(rest, ID_KEYS)[0]
                return ()
            case AgiPhase.GREETING, b"OPTION":
                options, _ = by_keyword(rest, OPTION_KEYS)
                self._about |= {key: value.lower() for key, value in options.items()}
                return ()
            case AgiPhase.GREETING, b"AGIOK":
                self._phase = AgiPhase.OPENING
                return [self._say(*self._set_options(), self._set_rule(), "ISREADY"), Await(Wait.START)]
            case AgiPhase.OPENING, b"READYOK":
                self._phase = AgiPhase.IDLE
                return [Ready(self._about)]
            case _:
                return [Note(sentence(f"ignored: {decode(line[:80])!r}"))]

    def _think(self) -> Sequence[Effect]:
        self._phase = AgiPhase.THINKING
        asked: list[Effect] = [self._say(*self._set_position(), _go(self._asked, self._clock)), Await(Wait.TURN)]
        return [*asked, WakeAt(self._options.stop_before_ms)] if self._options.stop_before_ms else asked

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


_PROBABLE_ANSWER = re.compile(r"(?i)\W*(?:best ?move|move)?\W*\b([0-9a-e])[ :]?([1-9a-f])\b(?:\s+[a-z_]{2,}.*|\W*)")
_BEST_MOVE = re.compile(r"(?i)best ?move")


def _probable_answer(said: str) -> str:
    if found := _PROBABLE_ANSWER.fullmatch(said):
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
