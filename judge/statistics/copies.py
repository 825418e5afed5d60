"""Games that repeat others."""

from collections.abc import Iterator

from judge.base.text import sentence


def copies_sentences(copies: int, games: int) -> Iterator[str]:
    """Empty without copies."""
    if copies == 1:
        yield sentence(f"One of {games} games is a copy of another one: the same agents, seats, opening and moves.")
    elif copies:
        yield sentence(f"{copies} of {games} games are copies of others: the same agents, seats, opening and moves.")
    if copies:
        yield sentence("A copy scores points. For ratings and certainty, identical games count once.")
