"""Assigns the openings of a contest to its pairs of games in turn."""

from collections.abc import Sequence

from judge.catalog import game_entry
from judge.catalog.entry import NOT_TURNED, Opening, Turn
from judge.referee.policy import Policy
from judge.referee.seeds import Seed, numbers


def schedule(openings: Sequence[Opening], pair: int, seed: Seed | None, turns: Sequence[Turn]) -> Opening:
    """The opening of the pair of games number `pair`, from 0.

    Balanced: each opening is played once before any is played again. With a `seed` every such pass
    has an order of its own; without one it is the order given. The passes go through the
    symmetries `turns`, so that the same opening comes back as another one.
    """
    number, place = divmod(pair, len(openings))
    order = list(range(len(openings)))
    if seed is not None:
        numbers(seed, number).shuffle(order)
    turn = turns[number % len(turns)]
    return tuple(turn(x, y) for x, y in openings[order[place]])


def turns_of(policy: Policy) -> Sequence[Turn]:
    """The symmetries in which the openings of a policy's game may come again."""
    written = game_entry(policy.game.name).openings(policy.game.options)
    return NOT_TURNED if written is None else written.turns
