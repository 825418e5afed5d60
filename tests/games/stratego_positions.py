"""Games of Stratego that begin where a story needs them to, and stories as text:

stratego-2012 turn_limit=3              the rules, and options
RED 3@0,3 B@1,0; BLUE 6@0,6             the pieces of a side, and a flag in the corner; else all forty
0 3 DOWN; 0 6 UP                        replies; both are told of each, and OK
0 4 DOWN -> 0 4 DOWN KILLS 3 6          a reply, and what both are told
SURRENDER ->                            a reply of which nothing is told
toss 1 -> 0 5 DOWN DIES 5 5             nature's answer
= win RED; red RED VICTORY 2 8 0; why   verdict and seat, result and reason, each of which may be left out; or `goes on`
"""

import tomllib
from typing import Any

from judge.games.stratego import Stratego
from judge.games.stratego.types import Confirmed, SetUpRow, read_reply
from judge.games.types import AgentFault, Drawn, Event, RuleResult, Verdict, decided

FULL_RED = ("FB8sB479B8", "BB31555583", "6724898974", "967B669999")
FULL_BLUE = tuple(reversed(FULL_RED))
"""All forty pieces: the set-up that managers of 2012 offered to people, and its mirror image."""

SIDES = ("RED", "BLUE")


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
    confirmations: list[str] = []
    for said in replies:
        confirmations += texts(game.apply(read_reply(said)))
    return confirmations


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


def story(text: str) -> Stratego:
    """The game of a story, which must go as the story says."""
    first, *lines = filter(None, map(str.strip, text.splitlines()))
    rules, *options = first.split()
    game = new(rules, **tomllib.loads("\n".join(options)))
    armies = lines.pop(0).split("; ") if lines[0].startswith(SIDES) else []
    placed = dict(map(_army, armies))
    set_up(game, placed.get("RED", FULL_RED), placed.get("BLUE", FULL_BLUE))
    for each in lines:
        if each.startswith("= "):
            assert {*each[2:].split("; ")} <= _ends(game), (each, _ends(game))
            continue
        for move in each.split("; "):
            said, arrow, wanted = (part.strip() for part in move.partition("->"))
            confirmations = toss(game, int(said[5:])) if said.startswith("toss ") else say(game, said)
            assert ([wanted] if wanted else [] if arrow else [f"{said} OK"]) == confirmations, move
    return game


def _army(text: str) -> tuple[str, tuple[str, ...]]:
    side, *pieces = text.split()
    squares = {f"x{piece[2]}y{piece[4]}": piece[0] for piece in pieces}
    return side, red(**squares) if side == "RED" else blue(**squares)


def _ends(game: Stratego) -> set[str]:
    """What a story may say of the end."""
    if game.end is None:
        return {"goes on"}
    word, seat = verdict(game)
    return {line(game), f"{word} {'' if seat is None else SIDES[seat]}".strip(), game.reason}
