"""Stratego: its entry, and the texts for a person.

A person types a set-up by rows, and half-moves as `3 6 UP 2` or `3 6 3 4`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judge.base.text import quote, sentence
from judge.catalog.entry import GameEntry, Partner, ResultWord, ResultWords
from judge.games.person import PersonWords, UnclearError
from judge.games.stratego import Stratego
from judge.games.stratego.types import (
    COLOURS,
    NO_MOVE,
    RED,
    SETUP_ROWS,
    SIZE,
    Confirmed,
    Direction,
    HalfMove,
    Move,
    SetUpRow,
    SetupRow,
    Started,
    read_reply,
    read_result,
    write_move,
)
from judge.games.types import SEATS, Event, Game, Reply, Request, decided

if TYPE_CHECKING:
    from judge.formats.registry import FileFormats
    from judge.formats.steps import Stepped
    from judge.formats.views import BoardView

PIECES = "F 1 2 33 444 5555 6666 7777 88888 99999999 s BBBBBB"

READY_SETUP = ("FB9B4596B9", "BB67859589", "7B48365978", "9612s79384")
"""The flag is in a corner of the last row; turned for the side with the lower rows."""

_FROM_TO = re.compile(r"([0-9])[\s,]+([0-9])[\s,]+([0-9])[\s,]+([0-9])")


class StrategoWords(PersonWords):
    """Texts for a set-up and half-moves."""

    speaks = frozenset({SetupRow, HalfMove, Started, Confirmed})

    def question(self, request: Request, typed: int = 0) -> str:
        match request:
            case SetupRow(row=row):
                return f"set up row {row + typed + 1} of {SETUP_ROWS}, from the top"
            case HalfMove(seat=seat, turn=turn):
                return f"turn {turn}: move a {COLOURS[seat]} piece"
            case _:
                raise TypeError(f"a person has no words for {request!r}")

    def tips(self, request: Request) -> Sequence[str]:
        if isinstance(request, SetupRow):
            return (f"{SIZE} pieces: FB99444321", f"in total {PIECES}", "or auto for a whole set-up")
        return ("X Y DIRECTION: 3 6 UP", "a scout farther: 3 6 UP 4", "or from to: 3 6 3 5")

    def tell(self, event: Event, names: tuple[str, str]) -> str:  # noqa: ARG002 sides have colours
        match event:
            case Started():
                return "both sides are set up"
            case Confirmed(seat=seat, text=text):
                return f"{COLOURS[seat]} {text}"
            case _:
                raise TypeError(f"a person has no words for {event!r}")

    def read(self, request: Request, text: str) -> Reply:
        if not isinstance(request, SetupRow):
            return _read_half_move(text)
        # The spy is a lower-case letter; flag and bombs are capitals.
        row = text.replace(" ", "").upper().replace("S", "s")
        if len(row) != SIZE:
            raise UnclearError(f"{quote(text)} has {len(row)} pieces: a row has {SIZE}")
        return decided(SetUpRow(row), row)

    def lines(self, request: Request, text: str) -> Sequence[str]:
        """`auto` is a whole set-up."""
        if not isinstance(request, SetupRow) or text.strip().lower() != "auto":
            return (text,)
        return (READY_SETUP if request.seat == RED else READY_SETUP[::-1])[request.row :]

    def together(self, request: Request) -> int:
        """A set-up is judged with its last row."""
        return SETUP_ROWS - request.row if isinstance(request, SetupRow) else 1

    def squares(self, request: Request) -> int:
        return 0 if isinstance(request, SetupRow) else 2

    def strict(self, game: Game) -> Game:
        stratego = _stratego(game)
        strict = {"tolerate_illegal": False, "tolerate_unreadable": False}
        stratego.options = stratego.options.model_copy(update=strict)
        return stratego


def _read_half_move(text: str) -> Reply:
    squares = _FROM_TO.fullmatch(text)
    if squares is not None:
        x, y, x2, y2 = map(int, squares.groups())
        if (x == x2) == (y == y2):
            raise UnclearError(f"no piece can move from {x} {y} to {x2} {y2}")
        if x == x2:
            move = Move(x, y, Direction.DOWN if y2 > y else Direction.UP, abs(y2 - y))
        else:
            move = Move(x, y, Direction.RIGHT if x2 > x else Direction.LEFT, abs(x2 - x))
        return decided(move, write_move(move))
    reply = read_reply(text.upper().replace(",", " "))
    match reply.decision:
        case Move() as move:
            return decided(move, write_move(move))
        case None:
            raise UnclearError(f"{quote(text)} is not a move: type X Y DIRECTION, such as 3 6 UP")
        case decision:
            return decided(decision, NO_MOVE)


_LOG = re.compile(rb"\S+ (RED|BLUE) SETUP|An illegal setup|Controller for Player")


class StrategoEntry(GameEntry):
    """Stratego as in UCC's contests."""

    name = "stratego"
    protocol = "stratego"
    policy = "stratego-seed"
    partners = (Partner("house-stratego-instant"),)
    practice = (Partner("house-stratego"), Partner("house-stratego-instant"))

    def new(self, options: Mapping[str, Any]) -> Stratego:
        return Stratego.from_options(options)

    def goal(self, options: Mapping[str, Any]) -> Sequence[str]:
        from judge.games.stratego.options import read_options

        rules = read_options(options)
        last = _NO_MOVE_LEFT if rules.no_move == "judged" else _NONE_MOVABLE[rules.attrition]
        return [sentence("The player who captures the opponent's flag wins."), *filter(None, [last])]

    def view(self, game: Game, seat: int | None = None) -> BoardView:
        from judge.formats.stratego.log import stratego_view

        return stratego_view(_stratego(game), seat)

    def public(self, game: Game) -> BoardView:
        """Without ranks; empty during the set-up."""
        views = [self.view(game, seat) for seat in SEATS]
        is_set_up = _stratego(game).turn > 0
        hidden = {
            square: token
            for seat, view in enumerate(views)
            for square, token in view.tokens.items()
            if token.side != seat and is_set_up
        }
        return replace(views[0], tokens=hidden)

    def formats(self) -> FileFormats[bytes]:
        """A game is its log's bytes."""
        from judge.formats.registry import FileFormat, FileFormats
        from judge.formats.stratego.log import log_of_record, read_log

        def read(data: bytes, source: str) -> Sequence[bytes]:
            read_log(data, source)
            return (data,)

        log = FileFormat(".log", bytes, read, lambda data: _LOG.match(data) is not None, is_export=True)
        return FileFormats(log_of_record, {"log": log})

    def read_log(self, data: bytes, source: str) -> Stepped:
        from judge.formats.stratego.log import read_log, stratego_steps

        return stratego_steps(read_log(data, source))

    def replay_log(self, data: bytes, source: str) -> str:
        from judge.formats.stratego.log import read_log, rules_of

        log = read_log(data, source)
        rules, game = rules_of(log)
        return f"{rules}, {game.result(log.names) if game.end else 'unfinished'}"

    def result_words(self, options: Mapping[str, Any]) -> ResultWords:
        from judge.games.stratego.options import read_options

        rules = read_options(options)
        words = {"VICTORY", "SURRENDER", "DRAW", "DRAW_DEFAULT", "ILLEGAL", "BOTH_ILLEGAL"}
        if rules.no_move == "judged":
            words.add("DEFEAT")
        if rules.quiet_limit:
            words.add("INTERNAL_ERROR")
        words.add("DEFAULT" if rules.setup_word == "blame" else rules.setup_word)
        return ResultWords(frozenset(words), _read_result)

    def has_chance(self, options: Mapping[str, Any]) -> bool:
        from judge.games.stratego.options import read_options

        return read_options(options).equal_ranks == "chance"

    def person(self) -> PersonWords:
        return StrategoWords()


_NO_MOVE_LEFT = sentence("If neither player can move, the higher value of the remaining pieces wins.")

_NONE_MOVABLE = {
    "none": "",
    "draw": sentence("If both players have only bombs and the flag left, the game is a draw."),
    "win": sentence("A player also wins when the opponent is left with only bombs and the flag."),
}


def _stratego(game: Game) -> Stratego:
    if not isinstance(game, Stratego):
        raise TypeError(f"not a game of Stratego: {game!r}")
    return game


def _read_result(text: str) -> ResultWord | None:
    line = read_result(text)
    if line is None:
        return None
    return ResultWord(line.points_word, {"RED": 0, "BLUE": 1}.get(line.colour))


ENTRY = StrategoEntry()
