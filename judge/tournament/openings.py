"""Assigns openings to the pairs of games of a contest."""

from collections.abc import Sequence
from functools import lru_cache

from judge.catalog import game_entry
from judge.catalog.entry import NOT_TURNED, Turn
from judge.games.types import Opening
from judge.record.policy import Policy
from judge.record.seeds import Seed, numbers


def schedule(openings: Sequence[Opening], pair: int, seed: Seed | None, turns: Sequence[Turn]) -> Opening:
    """The opening of pair `pair` (from 0).

    Each is used once before a repeat, with the next symmetry of `turns`; positions as text are not turned. `seed`
    shuffles each pass.
    """
    number, place = divmod(pair, len(openings))
    opening = openings[place if seed is None else _order(len(openings), seed, number)[place]]
    if isinstance(opening, str):
        return opening
    turn = turns[number % len(turns)]
    return tuple(turn(x, y) for x, y in opening)


@lru_cache(maxsize=8)
def _order(count: int, seed: Seed, number: int) -> tuple[int, ...]:
    order = list(range(count))
    numbers(seed, number).shuffle(order)
    return tuple(order)


def turns_of(policy: Policy) -> Sequence[Turn]:
    """Symmetries for repeated openings."""
    written = game_entry(policy.game.name).openings(policy.game.options)
    return NOT_TURNED if written is None else written.turns
