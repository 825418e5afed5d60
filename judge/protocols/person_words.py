"""What a person is asked and told, and how what a person types is read. No state.

Squares of five in a row are typed as they stand beside the board (`h8`) or as programs say them (`7,7`), half-moves of
Stratego as the field writes them (`3 6 UP 2`, in any case of letters) or from square to square (`3 6 3 4`), squares of
Quantum Chess as `x y`. The reply says all of them as the field does, whatever was typed.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from judge.games.gomoku.requests import (
    COLOURS,
    AnswerSwap,
    ChooseFifth,
    ColoursSettled,
    LayStones,
    OfferFifths,
    PlaceStone,
    Square,
    Stone,
    StonePlaced,
    Stones,
    Swap,
    square_at,
    square_name,
)
from judge.games.quantum_chess.words import Destination, Moved, OnSquare, Selected, Selection, TurnLost, announcement
from judge.games.stratego.notation import NO_MOVE, read_reply, write_move
from judge.games.stratego.types import COLOURS as ARMIES
from judge.games.stratego.types import (
    SETUP_ROWS,
    SIZE,
    Confirmed,
    Direction,
    HalfMove,
    Move,
    SetUpRow,
    SetupRow,
    Started,
)
from judge.games.types import Event, Reply, ReplyKind, Request, decided
from judge.text import quote

RESIGN = "resign"

PIECES = "F 1 2 33 444 5555 6666 7777 88888 99999999 s BBBBBB"
"""A whole army of Stratego: flag, ranks, spy, bombs."""


class UnclearError(ValueError):
    """What was typed is no answer; the text says what would be."""


def read_answer(request: Request, typed: str) -> Reply:
    """The reply that `typed` gives to a request; UnclearError where it cannot be read as one."""
    text = typed.strip()
    if text.lower() == RESIGN:
        return Reply(ReplyKind.RESIGNED, RESIGN)
    return _READERS[type(request)](request, text)


def question(request: Request) -> str:
    """What a person must decide, in one line."""
    match request:
        case PlaceStone(colour=colour):
            return f"place a {COLOURS[colour]} stone"
        case LayStones(count=count):
            return f"lay the first {count} stones, black and white in turn"
        case AnswerSwap(adds=adds):
            more = f", or place {adds} stones and let the other choose" if adds else ""
            return f"swap (play black), or place a white stone (play white){more}"
        case OfferFifths(count=count, offered=offered):
            return f"offer {count - len(offered)} squares for black's fifth stone"
        case ChooseFifth():
            return "choose one of the squares that black offers"
        case SetupRow(row=row):
            return f"set up row {row + 1} of {SETUP_ROWS}, from the top"
        case HalfMove(seat=seat, turn=turn):
            return f"turn {turn}: move a {ARMIES[seat]} piece"
        case Selection():
            return "select a piece"
        case Destination(x=x, y=y):
            return f"move the piece on {x} {y}"
        case _:
            raise TypeError(f"a person has no words for {request!r}")


def how(request: Request) -> tuple[str, ...]:
    """How a request is answered, in short lines."""
    match request:
        case PlaceStone() | ChooseFifth():
            said: tuple[str, ...] = ("a square: h8 or 7,7",)
        case LayStones() | OfferFifths():
            said = ("squares: h8 i9 j7",)
        case AnswerSwap(adds=adds):
            said = ("swap", "or a square: h8 or 7,7")
            said += (f"or {adds} squares: h8 i9",) if adds else ()
        case SetupRow():
            said = (f"{SIZE} pieces: FB99444321", f"all in all {PIECES}", "or auto for a whole set-up")
        case HalfMove():
            said = ("X Y DIRECTION: 3 6 UP", "a scout farther: 3 6 UP 4", "or from to: 3 6 3 5")
        case _:
            said = ("a square: x y, such as 3 6",)
    return (*said, "resign gives the game up")


def told(event: Event, names: tuple[str, str]) -> str:
    """An event as it is told to a person."""
    match event:
        case StonePlaced(x=x, y=y, colour=colour):
            return f"{COLOURS[colour]} {square_name(x, y)}"
        case ColoursSettled(black=black):
            return f"{names[black]} plays black"
        case Started():
            return "both sides are set up"
        case Confirmed(seat=seat, text=text):
            return f"{ARMIES[seat]} {text}"
        case Selected() | Moved():
            return f"{('white', 'black')[event.seat]} {announcement(event)}"
        case TurnLost(words=words):
            return words
        case _:
            raise TypeError(f"a person has no words for {event!r}")


# --- five in a row ---------------------------------------------------------------------------------------------------

_SQUARE = re.compile(r"[\s;]*(?:([a-zA-Z]{1,2}[0-9]{1,2})|([0-9]{1,3})\s*[,\s]\s*([0-9]{1,3}))[\s;]*")


def _squares(text: str) -> tuple[Square, ...]:
    squares, at = [], 0
    while at < len(text):
        match = _SQUARE.match(text, at)
        if match is None:
            raise UnclearError(f"{quote(text)} is no square: type h8 or 7,7")
        squares.append(square_at(match[1].lower()) if match[1] else (int(match[2]), int(match[3])))
        at = match.end()
    if not squares:
        raise UnclearError("type a square: h8 or 7,7")
    return tuple(squares)


def _said(squares: tuple[Square, ...]) -> str:
    return " ".join(f"{x},{y}" for x, y in squares)


def _read_stones(_request: Request, text: str) -> Reply:
    squares = _squares(text)
    decision = Stone(*squares[0]) if len(squares) == 1 else Stones(squares)
    return decided(decision, _said(squares))


def _read_laid(_request: Request, text: str) -> Reply:
    squares = _squares(text)
    return decided(Stones(squares), _said(squares))


def _read_swap(request: Request, text: str) -> Reply:
    if text.lower() == "swap":
        return decided(Swap(), "SWAP")
    return _read_stones(request, text)


# --- Stratego --------------------------------------------------------------------------------------------------------

_FROM_TO = re.compile(r"([0-9])[\s,]+([0-9])[\s,]+([0-9])[\s,]+([0-9])")


def _read_row(_request: Request, text: str) -> Reply:
    """A row: the spy is a small letter, flag and bombs are capitals, whatever was typed."""
    row = text.replace(" ", "").upper().replace("S", "s")
    if len(row) != SIZE:
        raise UnclearError(f"{quote(text)} has {len(row)} pieces: a row has {SIZE}")
    return decided(SetUpRow(row), row)


def _read_half_move(_request: Request, text: str) -> Reply:
    squares = _FROM_TO.fullmatch(text)
    if squares is not None:
        move = _between(*map(int, squares.groups()))
        return decided(move, write_move(move))
    reply = read_reply(text.upper().replace(",", " "))
    match reply.decision:
        case Move() as move:
            return decided(move, write_move(move))
        case None:
            raise UnclearError(f"{quote(text)} is no move: type X Y DIRECTION, such as 3 6 UP")
        case decision:
            return decided(decision, NO_MOVE)


def _between(x: int, y: int, x2: int, y2: int) -> Move:
    """The move from one square to another in its row or column; UnclearError where there is none."""
    if (x == x2) == (y == y2):
        raise UnclearError(f"from {x} {y} no piece moves to {x2} {y2}")
    if x == x2:
        return Move(x, y, Direction.DOWN if y2 > y else Direction.UP, abs(y2 - y))
    return Move(x, y, Direction.RIGHT if x2 > x else Direction.LEFT, abs(x2 - x))


# --- Quantum Chess ---------------------------------------------------------------------------------------------------

_ON_SQUARE = re.compile(r"([0-9]{1,3})\s*[,\s]\s*([0-9]{1,3})")


def _read_on_square(_request: Request, text: str) -> Reply:
    match = _ON_SQUARE.fullmatch(text)
    if match is None:
        raise UnclearError(f"{quote(text)} is no square: type x y, such as 3 6")
    x, y = int(match[1]), int(match[2])
    return decided(OnSquare(x, y), f"{x} {y}")


_READERS: Mapping[type[Request], Callable[[Any, str], Reply]] = {
    PlaceStone: _read_stones,
    LayStones: _read_laid,
    AnswerSwap: _read_swap,
    OfferFifths: _read_stones,
    ChooseFifth: _read_stones,
    SetupRow: _read_row,
    HalfMove: _read_half_move,
    Selection: _read_on_square,
    Destination: _read_on_square,
}
"""What reads the answer to a request."""
