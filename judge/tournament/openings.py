"""Assigns openings to the pairs of games of a contest."""

from collections.abc import Sequence

from judge.catalog import game_entry
from judge.catalog.entry import NOT_TURNED, Opening, Turn
from judge.referee.policy import Policy
from judge.referee.seeds import Seed, numbers


def schedule(openings: Sequence[Opening], pair: int, seed: Seed | None, turns: Sequence[Turn]) -> Opening:
    """Return the opening of pair number `pair` (from 0).

    Each is used once before a repeat, with the next of the symmetries `turns`. `seed` shuffles each pass.
    """
    number, place = divmod(pair, len(openings))
    order = list(range(len(openings)))
    if seed is not None:
        numbers(seed, number).shuffle(order)
    turn = turns[number % len(turns)]
    return tuple(turn(x, y) for x, y in openings[order[place]])


def turns_of(policy: Policy) -> Sequence[Turn]:
    """Return the symmetries for repeated openings."""
    written = game_entry(policy.game.name).openings(policy.game.options)
    return NOT_TURNED if written is None else written.turns
