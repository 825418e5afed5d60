"""Swiss: all agents play in each round, against a new opponent with a similar score.

A round is the matching of least cost. Costs are compared in this order, so later ones never outweigh an earlier one
(similar to FIDE Handbook C.04.3, the Dutch system):

1. a repeated pairing, or a second bye;
2. a seat used three times more than the other (if pairings have an odd number of games);
3. the squared distance of score groups; a bye is for the last group;
4. a seat that the agent had more often;
5. the same float, up or down, as in the previous round;
6. within a group the first of the upper half meets the first of the lower half, and so on; across groups, neighbours.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

from pydantic import Field

from judge.contest_games import Pairing
from judge.record.seeds import Seed, numbers
from judge.tournament.formats.base import Competitor, Rounds, TournamentFormat, Withdrawal, by_seed, next_number
from judge.tournament.results import DECIMALS, PlayedPairing, without
from judge.tournament.standings import BY_SWISS_POINTS, Ranking

Cost = tuple[int, ...]

_LEAN = 2
"""Difference between uses of seats (FIDE C.04.1)."""


class Swiss(TournamentFormat):
    """With an odd number of agents one has a bye, which scores like all wins."""

    agents: ClassVar[tuple[int, int]] = (2, 500)
    withdrawal: ClassVar[Withdrawal] = "keeps"

    name: Literal["swiss"] = "swiss"
    rounds: int = Field(ge=1)
    ranking: Ranking = BY_SWISS_POINTS

    def next(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> list[Pairing]:
        """The matching of least cost; `seed` draws one seat."""
        earlier = [each.pairing for each in played]
        number = next_number(earlier)
        active = [entry for entry in by_seed(entries) if entry.active]
        if number > self.rounds or len(active) < 2:
            return []
        out = [entry.id for entry in entries if not entry.counts]
        field = _Field(active, played, out, has_seats=self.games % 2 == 1)
        lot = numbers(seed, "swiss").randrange(2)
        pairs = [(*field.seats(one, other, lot), "") for one, other in field.pair()]
        return Rounds(earlier).add(pairs)

    def last_round(self, agents: int) -> int:
        return self.rounds

    def to_come(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> int:
        left = self.rounds + 1 - next_number(each.pairing for each in played)
        return max(0, left) * (sum(entry.active for entry in entries) // 2)


@dataclass(slots=True)
class _Standing:
    id: str
    place: int
    group: int
    place_in_group: int
    lean: int
    """First minus second seats."""
    last_seat: int | None
    floated: int
    """In the last round: 1 down or a bye, -1 up, 0 neither."""


class _Field:
    def __init__(
        self, active: Sequence[Competitor], played: Sequence[PlayedPairing], out: Collection[str], *, has_seats: bool
    ) -> None:
        """The results of agents in `out` do not count, but opponents do not meet again and keep their seats."""
        self._has_seats = has_seats
        self._met = Counter(each.pairing.agents for each in played)
        counted = without(played, out)
        scores = _scores(counted)
        floats = _last_floats(played, counted)
        ordered = sorted(active, key=lambda entry: (-scores[entry.id], entry.seed))
        levels = sorted({scores[entry.id] for entry in active}, reverse=True)
        self._sizes = [0] * len(levels)
        pairings = sorted((each.pairing for each in played), key=lambda pairing: pairing.round)
        self.standings: list[_Standing] = []
        for place, entry in enumerate(ordered):
            group = levels.index(scores[entry.id])
            seats = [
                int(pairing.first != entry.id)
                for pairing in pairings
                if entry.id in pairing.agents and pairing.second is not None
            ]
            self.standings.append(
                _Standing(
                    id=entry.id,
                    place=place,
                    group=group,
                    place_in_group=self._sizes[group],
                    lean=seats.count(0) - seats.count(1),
                    last_seat=seats[-1] if seats else None,
                    floated=floats.get(entry.id, 0),
                )
            )
            self._sizes[group] += 1

    def pair(self) -> list[tuple[_Standing, _Standing | None]]:
        costs = {(one.place, other.place): self._cost(one, other) for one, other in combinations(self.standings, 2)}
        import networkx as nx  # slow to import

        nobody = len(self.standings)
        if nobody % 2:
            costs |= {(one.place, nobody): self._bye_cost(one) for one in self.standings}
        graph: nx.Graph[int] = nx.Graph()
        for (one, other), weight in _weights(costs, len(self.standings)).items():
            graph.add_edge(one, other, weight=weight)
        matched = sorted(tuple(sorted(pair)) for pair in nx.min_weight_matching(graph))
        pairs = [(self.standings[one], self.standings[other] if other < nobody else None) for one, other in matched]
        return sorted(pairs, key=lambda pair: pair[1] is None)

    def seats(self, better: _Standing, other: _Standing | None, lot: int) -> tuple[str, str | None]:
        if other is None:
            return better.id, None
        first, second = self._unease(better, other), self._unease(other, better)
        alternates = (better.place_in_group + lot) % 2 == 0
        if first < second or (first == second and alternates):
            return better.id, other.id
        return other.id, better.id

    def _cost(self, one: _Standing, other: _Standing) -> Cost:
        beyond, unease, _ = min(self._unease(one, other), self._unease(other, one))
        distance = other.group - one.group
        floats_again = (one.floated == 1) + (other.floated == -1) if distance else 0
        if distance:
            apart = other.place - one.place
        else:
            apart = other.place_in_group - one.place_in_group - self._sizes[one.group] // 2
        again = self._met[frozenset({one.id, other.id})]
        return again, beyond, distance**2, unease, floats_again, apart**2

    def _bye_cost(self, one: _Standing) -> Cost:
        distance = len(self._sizes) - 1 - one.group
        last = len(self.standings) - 1 - one.place
        return self._met[frozenset({one.id})], 0, distance**2, 0, int(one.floated == 1), last**2

    def _unease(self, first: _Standing, second: _Standing) -> tuple[int, int, int]:
        if not self._has_seats:
            return 0, 0, 0
        leans = (first.lean + 1, second.lean - 1)
        beyond = sum(abs(lean) > _LEAN for lean in leans)
        unease = (first.lean > 0) * first.lean**2 + (second.lean < 0) * second.lean**2
        return beyond, unease, (first.last_seat == 0) + (second.last_seat == 1)


def _weights(costs: dict[tuple[int, int], Cost], agents: int) -> dict[tuple[int, int], int]:
    tables = (agents + 1) // 2
    units = [1]
    for most in reversed([max(parts) for parts in zip(*costs.values(), strict=True)][1:]):
        units.append(units[-1] * (most * tables + 1))
    units.reverse()
    return {pair: sum(part * unit for part, unit in zip(cost, units, strict=True)) for pair, cost in costs.items()}


def _scores(played: Sequence[PlayedPairing]) -> defaultdict[str, float]:
    sums: defaultdict[str, float] = defaultdict(float)
    for each in played:
        for agent in each.pairing.agents:
            sums[agent] = round(sums[agent] + each.points_of(agent), DECIMALS)
    return sums


def _last_floats(played: Sequence[PlayedPairing], counted: Sequence[PlayedPairing]) -> dict[str, int]:
    last = next_number(each.pairing for each in played) - 1
    before = _scores([each for each in counted if each.pairing.round < last])
    floats: dict[str, int] = {}
    for pairing in [each.pairing for each in played if each.pairing.round == last]:
        if pairing.second is None:
            floats[pairing.first] = 1
            continue
        lead = before[pairing.first] - before[pairing.second]
        floats[pairing.first] = (lead > 0) - (lead < 0)
        floats[pairing.second] = -floats[pairing.first]
    return floats
