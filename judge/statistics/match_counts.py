"""The results of one side against another, counted: games one by one, or the pairs that share an opening.

Two games of an opening with colours changed hang together: an opening that wins for whoever sits first gives a win and
a loss, never two wins. So the games of a pair are no independent evidence, and pairs are: five counts by the points of
the two games (pentanomial) in place of three (trinomial).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from judge.base.errors import InputError
from judge.contest_games import GameResult

GAME_SCORES = (0.0, 0.5, 1.0)
"""Of a game: lost, drawn, won."""

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Of two games, a game's worth: from two losses to two wins."""

_GAMES_OF_PAIRS = ((2, 0, 0), (1, 1, 0), (0, 2, 0), (1, 0, 1), (0, 1, 1), (0, 0, 2))
"""For two losses, a loss and a draw, two draws, a win and a loss, a win and a draw, two wins: lost, drawn, won."""


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """How often each kind of result came, the worst first: three counts of games, or five of pairs.

    `games` are the single games of the pairs, lost, drawn and won; None if the counts do not tell, because two draws
    and a win with a loss were counted as one kind.
    """

    counts: tuple[int, ...]
    games: tuple[int, int, int] | None

    @classmethod
    def of_games(cls, lost: int, drawn: int, won: int) -> Self:
        """Games one by one."""
        return cls((lost, drawn, won), (lost, drawn, won))

    @classmethod
    def of_numbers(cls, numbers: Sequence[int]) -> Self:
        """From three, five or six numbers, the worst result first; InputError for others.

        Three are games: lost, drawn, won. Five are pairs by their points: LL, LD, WL+DD, WD, WW. Six have DD and WL
        apart: LL, LD, DD, WL, WD, WW.
        """
        if any(number < 0 for number in numbers):
            raise InputError(f"{min(numbers)} is no number of games: counts are not negative")
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
                    " (LL LD WL+DD WD WW); six have DD and WL apart (LL LD DD WL WD WW)"
                )

    @classmethod
    def of_results(cls, results: Iterable[GameResult], agent: str) -> Self:
        """What `agent` did in `results`, in pairs (games 0 and 1 of a pairing, 2 and 3, ...) if one is complete.

        Then games without their other one are not counted.
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

    @property
    def scores(self) -> tuple[float, ...]:
        """What each kind of result scores a game."""
        return GAME_SCORES if len(self.counts) == len(GAME_SCORES) else PAIR_SCORES

    @property
    def are_pairs(self) -> bool:
        """Whether pairs are counted and not games."""
        return self.scores is PAIR_SCORES

    @property
    def total(self) -> int:
        """How many were counted."""
        return sum(self.counts)
