"""Counts the results of one side: single games, or pairs with the same opening.

The two games of an opening are not independent: it may favour the first seat. Pairs are independent, with five counts
(pentanomial) instead of three (trinomial).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from judge.base.errors import InputError
from judge.contest_games import GameResult

GAME_SCORES = (0.0, 0.5, 1.0)
"""Scores of a game: lost, drawn, won."""

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Scores per game of two games, from two losses to two wins."""

_GAMES_OF_PAIRS = ((2, 0, 0), (1, 1, 0), (0, 2, 0), (1, 0, 1), (0, 1, 1), (0, 0, 2))
"""(lost, drawn, won) of LL, LD, DD, WL, WD, WW."""


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """Results of each kind, worst first: three counts of games or five of pairs.

    `games` are the pairs' lost, drawn and won games; None if unknown, because DD and WL are one count.
    """

    counts: tuple[int, ...]
    games: tuple[int, int, int] | None

    @classmethod
    def of_games(cls, lost: int, drawn: int, won: int) -> Self:
        """Count single games."""
        return cls((lost, drawn, won), (lost, drawn, won))

    @classmethod
    def of_numbers(cls, numbers: Sequence[int]) -> Self:
        """Three, five or six counts, worst first. Raises InputError for others.

        Games: lost, drawn, won. Pairs: LL, LD, WL+DD, WD, WW. Pairs with DD apart: LL, LD, DD, WL, WD, WW.
        """
        if any(number < 0 for number in numbers):
            raise InputError(f"count {min(numbers)} is negative")
        match len(numbers):
            case 3:
                return cls.of_games(*numbers)
            case 5:
                return cls(tuple(numbers), None)
            case 6:
                lost_both, lost_drawn, drawn_both, split, won_drawn, won_both = numbers
                lost, drawn, won = (
                    sum(count * games[kind] for count, games in zip(numbers, _GAMES_OF_PAIRS, strict=True))
                    for kind in range(3)
                )
                return cls((lost_both, lost_drawn, drawn_both + split, won_drawn, won_both), (lost, drawn, won))
            case _:
                raise InputError(
                    f"{len(numbers)} counts: write three of games (lost drawn won) or five of pairs"
                    " (LL LD WL+DD WD WW); six with DD and WL apart (LL LD DD WL WD WW)"
                )

    @classmethod
    def of_results(cls, results: Iterable[GameResult], agent: str) -> Self:
        """Count complete pairs (games 0 and 1 of a pairing, 2 and 3, ...) of `agent` if there are any, otherwise single
        games.
        """
        pairs: dict[tuple[int, int, int], list[float]] = {}
        for result in results:
            scored = result.scores[result.agents.index(agent)]
            pairs.setdefault((result.round, result.table, result.leg // 2), []).append(scored)
        kinds = [0] * len(_GAMES_OF_PAIRS)
        singles = [0, 0, 0]
        for scores in pairs.values():
            lost, drawn, won = (scores.count(score) for score in GAME_SCORES)
            if len(scores) == 2:
                kinds[_GAMES_OF_PAIRS.index((lost, drawn, won))] += 1
            else:
                singles = [singles[0] + lost, singles[1] + drawn, singles[2] + won]
        return cls.of_numbers(kinds if any(kinds) else singles)

    def plus(self, other: Self) -> Self:
        """Both results. Raises ValueError unless both count games or both count pairs."""
        games = None
        if self.games is not None and other.games is not None:
            games = (self.games[0] + other.games[0], self.games[1] + other.games[1], self.games[2] + other.games[2])
        return type(self)(tuple(map(sum, zip(self.counts, other.counts, strict=True))), games)

    @property
    def scores(self) -> tuple[float, ...]:
        """Score per game of each kind."""
        return GAME_SCORES if len(self.counts) == len(GAME_SCORES) else PAIR_SCORES

    @property
    def are_pairs(self) -> bool:
        """Whether pairs are counted."""
        return self.scores is PAIR_SCORES

    @property
    def total(self) -> int:
        """Number of results."""
        return sum(self.counts)
