"""Certainty of a contest's places per stage (`judge.statistics.certainty`), and its sentences."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from judge.base.text import sentence
from judge.contest_games import GameResult, without_copies
from judge.statistics.certainty import MAX_RIVALS, Certainty, Reversal, assess_places, pair_results, reversed_games
from judge.tournament.results import DECIMALS, PlayedPairing, PointsTable, without
from judge.tournament.schedule import Table
from judge.tournament.standings import TableLine

_MAX_TIMES = 10
"""If more repetitions are needed, first and second are called nearly equal."""

_MAX_NAMES = 5

_LIKELY_PERCENT = 90

_MAX_CHANCE = 0.99
"""Larger probabilities depend on the model."""

_WHOLE = sentence("A place counts as certain only where all places together are correct with a confidence of 95 %.")

_EQUAL_ELO, _EQUAL_CHANCE = 0.01, 0.05


@dataclass(frozen=True, slots=True)
class Bracket:
    """Places `low` to `high`, which the games do not separate."""

    low: int
    high: int
    agents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StageCertainty:
    """Certainty within a stage, unnamed in a contest without stages.

    `above`: agents above the stage. `games` are those that count, in `rounds` rounds (0: unknown); `copies` of them
    repeat others. `changes_place`: reversed games change the first place, not only the best rating.
    """

    stage: str
    certainty: Certainty
    above: int
    games: Sequence[GameResult]
    rounds: int
    changes_place: bool = True
    copies: int = 0

    @property
    def places(self) -> Mapping[str, str]:
        """Each agent's place, or its range such as `2-5`."""
        return {agent: str(low) if low == high else f"{low}-{high}" for agent, (low, high) in self.ranges.items()}

    @property
    def ranges(self) -> Mapping[str, tuple[int, int]]:
        """Lowest and highest place by agent."""
        shown = ((rank.agent, rank.shown) for rank in self.certainty.ranks)
        return {agent: (low + self.above, high + self.above) for agent, (low, high) in shown}

    @property
    def brackets(self) -> Sequence[Bracket]:
        """Groups of two agents or more."""
        brackets, place = [], self.above + 1
        for group in self.certainty.strength.groups:
            if len(group) > 1:
                brackets.append(Bracket(place, place + len(group) - 1, group))
            place += len(group)
        return brackets

    @property
    def reversed_games(self) -> Sequence[GameResult]:
        """The fewest games that would change the first place."""
        return reversed_games(self.games, self.certainty.reversals)

    def sentences(self) -> Iterator[str]:
        """The result in plain words."""
        found = self.certainty
        certain, number = found.certain, len(found.ranks)
        for lead in found.known if certain < number else ():
            agent, other, chance = lead.agent, lead.other, math.floor(100 * min(lead.chance, _MAX_CHANCE))
            yield sentence(f"{agent} is stronger than {other}: {chance} %.")
        if certain == number:
            yield sentence("All places are certain.")
        elif certain == 0:
            yield sentence(f"None of the {number} places is certain.")
            if found.known:
                yield _WHOLE
        elif certain == 1:
            yield sentence(f"One of {number} places is certain.")
        else:
            yield sentence(f"{certain} of {number} places are certain.")
        if found.ranks[0].shown == (1, 1):
            first = found.first
            if certain < number:
                yield sentence(f"The first place of {first} is certain.")
        else:
            yield from self._first_sentences()
        yield from self._reversed_sentences(found.reversed_games)

    def _reversed_sentences(self, games: int) -> Iterator[str]:
        if self.changes_place and games == 1:
            yield sentence("One reversed game would change the first place.")
        elif self.changes_place and games > 1:
            yield sentence(f"{games} reversed games would change the first place.")
        elif games == 1:
            yield sentence("One reversed game would change the best rating.")
        elif games > 1:
            yield sentence(f"{games} reversed games would change the best rating.")

    def _first_sentences(self) -> Iterator[str]:
        found = self.certainty
        first, second, chance = found.first, found.second, round(100 * found.ranks[0].chance)
        shared = [rank for rank in found.ranks if rank.place == 1]
        number, chances = len(shared), [rank.chance for rank in shared]
        if number > 1:
            names = ", ".join([rank.agent for rank in shared[:_MAX_NAMES]] + ["…"] * (number > _MAX_NAMES))
            yield sentence(f"{number} agents share the first place: {names}.")
        if number < 3 and abs(found.gap) < _EQUAL_ELO:
            yield sentence(
                f"The games do not separate {first} and {second}: each is the stronger one with a probability of 50 %."
            )
            return
        if number > 1 and max(chances) - min(chances) < _EQUAL_CHANCE:
            chance = round(100 * sum(chances) / number)
            yield sentence(
                f"The games do not separate them: each is the strongest agent with a probability of about {chance} %."
            )
            return
        yield sentence(f"{first} is the strongest agent with a probability of {chance} %.")
        if chance >= _LIKELY_PERCENT:
            yield sentence("This probability is for the first place alone.")
            if found.certain or not found.known:
                yield _WHOLE
        if found.gap <= -_EQUAL_ELO:
            yield sentence(f"By rating {second} is above {first}.")
            return
        if found.further_share is None:
            yield sentence(f"The games do not show a difference between {first} and {second}.")
            return
        if not found.further_share:
            return
        rounds = 0 if self.copies else math.ceil(found.further_share * self.rounds)
        games = math.ceil(found.further_share * (len(self.games) - self.copies))
        if (rounds or games) and found.further_share <= _MAX_TIMES:
            if self.copies and games == 1:
                yield sentence(
                    "One more game that is no copy would separate first and second with a probability of 80 %."
                )
            elif self.copies:
                yield sentence(
                    f"{games} more games that are no copies would separate first and second with a probability of 80 %."
                )
            elif not self.rounds and games == 1:
                yield sentence("One more game would separate first and second with a probability of 80 %.")
            elif not self.rounds:
                yield sentence(f"{games} more games would separate first and second with a probability of 80 %.")
            elif rounds == 1:
                yield sentence("One more round would separate first and second with a probability of 80 %.")
            else:
                yield sentence(f"{rounds} more rounds would separate first and second with a probability of 80 %.")
            return
        times = math.ceil(1 + found.further_share)
        if self.copies:
            yield sentence(
                f"It takes {times} times as many different games to separate the first two with a probability of 80 %."
            )
            return
        yield sentence(f"It takes {times} times as many games to separate first and second with a probability of 80 %.")


def certain_places(
    table: Table,
    stages: Mapping[str, str],
    played: Sequence[PlayedPairing],
    out: Mapping[str, str],
    *,
    points: PointsTable | None,
    is_running: bool,
    has_rounds: bool = True,
) -> Sequence[StageCertainty]:
    """Certainty per stage, from games among its agents.

    With `points` of single games, reversed games are those that change a first place by points.
    """
    found = []
    counted = without(played, out)
    for stage in dict.fromkeys(stages.get(line.agent, "") for line in table.lines):
        lines = [line for line in table.lines if stages.get(line.agent, "") == stage and line.agent not in out]
        agents = {line.agent for line in lines}
        pairings = [each for each in counted if each.games and each.pairing.agents <= agents]
        games = [game for each in pairings for game in each.games]
        above = min((line.place for line in lines), default=1) - 1
        places = {line.agent: line.place - above for line in lines}
        evidence = without_copies(games)
        if (certainty := assess_places(pair_results(evidence), places, is_running)) is not None:
            rounds = len({each.pairing.round for each in pairings}) if has_rounds else 0
            changes_place = table.is_by_rating
            if points is not None and not stage and table.ranking[:1] == ("points",):
                reversals, new_first = _reversed_by_points(lines, games, points)
                certainty = replace(certainty, reversals=reversals, new_first=new_first)
                changes_place = True
            copies = len(games) - len(evidence)
            found.append(StageCertainty(stage, certainty, above, games, rounds, changes_place, copies))
    return found


def _reversed_by_points(
    lines: Sequence[TableLine], games: Sequence[GameResult], points: PointsTable
) -> tuple[tuple[Reversal, ...], str | None]:
    first, best, new_first = lines[0], None, None
    decided = []
    for game in games:
        if game.winner is not None:
            less, more = sorted(points.of(game))
            decided.append((more - less, game.winner, game.agents[game.winner == game.first]))
    for rival in lines[1 : 1 + MAX_RIVALS]:
        gains = []
        for gain, winner, loser in decided:
            sides = (winner == first.agent) + (loser == rival.agent)
            if sides and winner != rival.agent and loser != first.agent:
                gains.append((sides * gain, winner, loser))
        gains.sort(key=lambda gain: -gain[0])
        lead, reversed_pairs = first.points - rival.points, Counter[tuple[str, str]]()
        for gain, winner, loser in gains:
            lead -= gain
            reversed_pairs[winner, loser] += 1
            if round(lead, DECIMALS) <= 0:
                if best is None or reversed_pairs.total() < best.total():
                    best, new_first = reversed_pairs, rival.agent
                break
    pairs = [] if best is None else best.most_common()
    return tuple(Reversal(winner, loser, count) for (winner, loser), count in pairs), new_first
