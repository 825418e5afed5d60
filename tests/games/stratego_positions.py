"""Games of Stratego that begin where a story needs them to."""

from typing import Any

from judge.games.stratego import Stratego
from judge.games.stratego.types import Confirmed, SetUpRow, read_reply
from judge.games.types import AgentFault, Drawn, Event, RuleResult, Verdict, decided

FULL_RED = ("FB8sB479B8", "BB31555583", "6724898974", "967B669999")
FULL_BLUE = tuple(reversed(FULL_RED))
"""All forty pieces: the set-up that managers of 2012 offered to people, and its mirror image."""


def rows(red: bool, **squares: str) -> tuple[str, ...]:
    """Four rows with single pieces: `x0y3="9"` puts a scout on 0, 3."""
    grid = [["."] * 10 for _ in range(4)]
    for square, letter in squares.items():
        x, y = int(square[1]), int(square[3])
        grid[y if red else y - 6][x] = letter
    return tuple("".join(row) for row in grid)


def red(**squares: str) -> tuple[str, ...]:
    """RED's rows: a flag in the corner, and `squares`."""
    return rows(True, **({"x9y0": "F"} | squares))


def blue(**squares: str) -> tuple[str, ...]:
    """BLUE's rows: a flag in the corner, and `squares`."""
    return rows(False, **({"x9y9": "F"} | squares))


def new(rules: str = "stratego-seed", **options: Any) -> Stratego:
    return Stratego.from_options({"rules": rules} | options)


def set_up(game: Stratego, red_rows: tuple[str, ...] = FULL_RED, blue_rows: tuple[str, ...] = FULL_BLUE) -> Stratego:
    """Both sides set up."""
    for row in (*red_rows, *blue_rows):
        game.apply(decided(SetUpRow(row), row))
    return game


def say(game: Stratego, *replies: str) -> list[str]:
    """Give `replies` in turn; what both sides were told of them."""
    told: list[str] = []
    for said in replies:
        told += texts(game.apply(read_reply(said)))
    return told


def toss(game: Stratego, outcome: int) -> list[str]:
    """Nature's answer; what both sides were told."""
    return texts(game.apply(decided(Drawn(outcome))))


def texts(events: Any) -> list[str]:
    found: list[Event] = list(events)
    return [event.text for event in found if isinstance(event, Confirmed)]


def line(game: Stratego) -> str:
    """The result line of a game between red and blue."""
    return game.result(("red", "blue"))


def verdict(game: Stratego) -> tuple[Verdict, int | None]:
    """The verdict, and who won or, of a fault, whose it is."""
    match game.end:
        case RuleResult(verdict=word, winner=seat):
            return word, seat
        case AgentFault(verdict=word, seat=seat):
            return word, seat
    raise AssertionError(f"no such end: {game.end}")
