"""A format: its options in a contest file, and the pairings of the next rounds by the entries and the results.

`next_rounds` is pure. It is called when all games that were scheduled are played, and returns all rounds that depend
on no other result; none means that the contest is over.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from judge.contest_games import Pairing
from judge.referee.seeds import Seed
from judge.tournament.pairings import Competitor, next_number, set_tables
from judge.tournament.results import PlayedPairing, without
from judge.tournament.standings import BY_POINTS, Ranking, Tiers, Values, compared, records_of, tiers_of


class TournamentFormat(BaseModel, ABC):
    """The options that every format has, and the two questions that it answers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    in_advance: ClassVar[bool] = False
    """No pairing depends on a result: all rounds may be played at once."""

    agents: ClassVar[tuple[int, int | None]] = (2, None)
    """How many it takes at least, and at most."""

    counts_games: ClassVar[bool] = True
    """The number of games depends on no result, unless somebody is disqualified."""

    places_by: ClassVar[str] = ""
    """A sentence that says what decides places where it is not the points of all games; empty: those do."""

    games: int = Field(default=2, ge=1)
    """Games of a pairing, seats changing with each."""
    ranking: Ranking = BY_POINTS
    """By what agents are ranked, one criterion after another."""

    @abstractmethod
    def next_round(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> list[Pairing]:
        """The pairings of the round after `played`, on tables from 1; empty if the contest is over.

        All chance comes from `seed`: `numbers(seed, purpose)`, where the purpose names the format.
        """

    def next_rounds(
        self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed
    ) -> list[list[Pairing]]:
        """The round after `played`, and those after it that are the same whatever it brings; none if the contest is
        over."""
        if self.in_advance and not played:
            return all_rounds(self, entries, seed)
        pairings = self.next_round(entries, played, seed)
        return [pairings] if pairings else []

    def to_come(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> int:
        """How many pairings will be drawn after `played`, byes not counted; at least so many unless it
        `counts_matches`. Pairings in `played` may lack results."""
        if self.in_advance and played:
            return 0
        count, all_played = 0, list(played)
        while rounds := self.next_rounds(entries, all_played, 0):
            drawn = [pairing for pairings in rounds for pairing in pairings]
            count += sum(pairing.second is not None for pairing in drawn)
            all_played += [PlayedPairing(pairing, (), (0, 0)) for pairing in drawn]
        return count

    def base(self, entries: Sequence[Competitor]) -> str | None:  # noqa: ARG002 most formats have none
        """The agent that all others meet and are compared with; None if there is none."""
        return None

    def stage_name(self, group: str) -> str:  # noqa: ARG002 most formats have none
        """What people call the group or league of a pairing, such as `League 2`; empty if there are none."""
        return ""

    def groups_now(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> Mapping[str, str]:  # noqa: ARG002
        """The last group that each agent has reached, or the one that it will begin in; empty if there are none."""
        return {}

    def order(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> Tiers:
        """All entries by the results in `played`, best first; entries of one inner list share a place."""
        return ranked(entries, played, self.ranking)

    def compared(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> Values:
        """What each entry has by the criteria of the ranking, where `order` compares it."""
        return ranked_by(entries, played, self.ranking)


def ranked(entries: Sequence[Competitor], played: Sequence[PlayedPairing], ranking: Ranking) -> Tiers:
    """The entries in order of their results. The disqualified are last, and games against them do not count."""
    out = sorted(entry.id for entry in entries if not entry.active)
    values = ranked_by(entries, played, ranking)
    tiers = tiers_of({agent: found for agent, found in values.items() if agent not in out})
    return [*tiers, out] if out else tiers


def ranked_by(entries: Sequence[Competitor], played: Sequence[PlayedPairing], ranking: Ranking) -> Values:
    """What `ranked` compares the entries by; the disqualified have no game that counts."""
    out = [entry.id for entry in entries if not entry.active]
    others = [entry.id for entry in entries if entry.active]
    records = records_of([*others, *out], without(played, out))
    return {**compared(out, records, ranking), **compared(others, records, ranking)}


Pair = tuple[Competitor, Competitor]
"""Who meets whom; the first one has the first seat in the first game."""


def next_playable(rounds: Sequence[Sequence[Pair]], played: Sequence[PlayedPairing]) -> list[Pairing]:
    """The next round of a schedule without the withdrawn agents; a round that is empty without them is skipped."""
    earlier = [each.pairing for each in played]
    for number in range(next_number(earlier), len(rounds) + 1):
        pairs = [(first.id, second.id, "") for first, second in rounds[number - 1] if first.active and second.active]
        if pairs:
            return set_tables(pairs, number, earlier)
    return []


def all_rounds(chosen: TournamentFormat, entries: Sequence[Competitor], seed: Seed) -> list[list[Pairing]]:
    """Every round of a format that is `in_advance`."""
    rounds: list[list[Pairing]] = []
    played: list[PlayedPairing] = []
    while pairings := chosen.next_round(entries, played, seed):
        rounds.append(pairings)
        played += [PlayedPairing(pairing, (), (0, 0)) for pairing in pairings]
    return rounds
