"""The table of names: which game is meant by a word in a policy, a spec or a command line."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from judge.errors import InputError
from judge.games.gomoku import Gomoku
from judge.games.quantum_chess import QuantumChess
from judge.games.stratego import Stratego
from judge.games.types import Game
from judge.text import quote

GAMES: dict[str, Callable[[Mapping[str, Any]], Game]] = {
    "gomoku": Gomoku.from_options,
    "quantum-chess": QuantumChess.from_options,
    "stratego": Stratego.from_options,
}
"""From a game's name to what makes one from its options, given as plain values."""


def new_game(name: str, options: Mapping[str, Any]) -> Game:
    """A game called `name`, before its first request; InputError for a wrong name or option."""
    try:
        make = GAMES[name]
    except KeyError:
        raise InputError(f"no game is called {quote(name)}; {_suggestion(name)}") from None
    return make(options)


def _suggestion(name: str) -> str:
    near = get_close_matches(name, GAMES, n=1)
    return f"did you mean {near[0]}?" if near else f"there is {', '.join(sorted(GAMES))}"
