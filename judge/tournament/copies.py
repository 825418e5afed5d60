"""Games that repeat others: sentences about them, and how many a contest's terms make likely."""

from collections.abc import Iterator

from judge.base.text import sentence
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.ladder import Ladder
from judge.tournament.formats.round_robin import DoubleRoundRobin
from judge.tournament.formats.sequential import Sequential


def copies_sentences(copies: int, games: int) -> Iterator[str]:
    """What copies among games that count are, if there are any."""
    if copies == 1:
        yield sentence(f"One of {games} games is a copy of another one: the same agents, seats, opening and moves.")
    elif copies:
        yield sentence(f"{copies} of {games} games are copies of others: the same agents, seats, opening and moves.")
    if copies:
        yield sentence("A copy scores points. For ratings and certainty, identical games count once.")


def games_of_two(form: AnyFormat) -> int:
    """Number of games that two agents can play with each other if they meet as often as the format plans."""
    if isinstance(form, Ladder):
        return form.total_games
    if isinstance(form, Sequential):
        return form.games * form.rounds
    if isinstance(form, DoubleRoundRobin):
        return form.games * 2
    return form.games * int(getattr(form, "cycles", 1))


def different_games(form: AnyFormat, starts: int) -> int:
    """Maximum number of different games of two agents without chance, with `starts` openings and both colours."""
    return min(games_of_two(form), 2 * starts)
