"""A format: its options, and the next pairings from entries and results, with agents' ids."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from pydantic import Field

from judge.base.parsing import FrozenModel
from judge.contest_games import Pairing
from judge.record.seeds import Seed
from judge.tournament.results import PlayedPairing, without
from judge.tournament.skipped_pairs import Skip
from judge.tournament.standings import BY_POINTS, Ranking, Tiers, Values, compared, records_of, tiers_of

Withdrawal = Literal["refused", "annuls", "keeps"]


@dataclass(frozen=True, slots=True)
class Competitor:
    """`seed` is the unique rank before play, 1 for the best.

    An inactive one is not paired. If it is disqualified, its results do not count either.
    """

    id: str
    seed: int
    active: bool = True
    counts: bool = True


def by_seed(entries: Iterable[Competitor]) -> list[Competitor]:
    """Entries, best first."""
    return sorted(entries, key=lambda entry: entry.seed)


def next_number(pairings: Iterable[Pairing]) -> int:
    """Number of the next round."""
    return max((pairing.round for pairing in pairings), default=0) + 1


class Rounds:
    """Pairings of rounds, to which rounds are added."""

    def __init__(self, earlier: Iterable[Pairing]) -> None:
        self.pairings = list(earlier)
        self.next_number = next_number(self.pairings)
        self._last = {each.agents: each for each in sorted(self.pairings, key=lambda pairing: pairing.round)}

    def add(self, pairs: Iterable[tuple[str, str | None, str]]) -> list[Pairing]:
        """A round of (first, second, group) on tables from 1; repeated pairings change seats."""
        tables: list[Pairing] = []
        for table, (first, second, group) in enumerate(pairs, 1):
            pairing = Pairing(first, second, self.next_number, table, group=group)
            before = self._last.get(pairing.agents)
            if before is not None and second is not None:
                seats = (second, first) if before.first == first else (first, second)
                pairing = replace(pairing, first=seats[0], second=seats[1], meeting=before.meeting + 1)
            tables.append(pairing)
        self._last |= {pairing.agents: pairing for pairing in tables}
        self.pairings += tables
        self.next_number += 1
        return tables


class TournamentFormat(FrozenModel, ABC):
    """Options of all formats."""

    waits: ClassVar[bool] = True
    """Whether `next` is called only after all games of the earlier pairings."""

    has_rounds: ClassVar[bool] = True
    """False: agents join and leave at any time (`judge.tournament.ladder`)."""

    agents: ClassVar[tuple[int, int]] = (2, 1000)
    """Minimum and maximum, late entries included. Ratings and tables take time in proportion to its square and cube."""

    orders_by_strength: ClassVar[bool] = True
    """Whether places estimate an order of strength, so that their certainty is shown."""

    places_by: ClassVar[str] = ""
    """A sentence; empty: the points of all games decide."""

    withdrawal: ClassVar[Withdrawal] = "refused"
    """Effect of a withdrawal on the agent's results."""

    games: int = Field(default=2, ge=1)
    """Games of a pairing. Seats alternate."""
    ranking: Ranking = BY_POINTS
    """Criteria of the ranking, in order."""

    @abstractmethod
    def next(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> list[Pairing]:
        """All pairings that follow from the results so far, in order of rounds and tables; empty at the end.

        All chance comes from `numbers(seed, purpose)`; the purpose names the format.
        """

    def goes_on(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> bool:
        """Whether pairings follow after all scheduled games."""
        return bool(self.next(entries, played, seed))

    @property
    def counts_games(self) -> bool:
        """Whether the number of games does not depend on results (except disqualifications)."""
        return True

    def last_round(self, agents: int) -> int | None:
        """The number of the last round, if it does not depend on results."""
        return None

    def to_come(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> int:
        """The number of later pairings without byes; a minimum unless `counts_games`."""
        count, all_played = 0, list(played)
        while drawn := self.next(entries, all_played, 0):
            count += sum(pairing.second is not None for pairing in drawn)
            all_played += [PlayedPairing(pairing, (), (0, 0)) for pairing in drawn]
        return count

    def base(self, entries: Sequence[Competitor]) -> str | None:
        """The agent that all others are compared with."""
        return None

    def stage_name(self, group: str) -> str:
        """A displayed name, such as `League 2`, or ""."""
        return ""

    def groups_now(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> Mapping[str, str]:
        """Each agent's current or first group."""
        return {}

    def rank(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> tuple[Tiers, Values]:
        """All entries, best first, and their values of the criteria."""
        return rank(entries, played, self.ranking)


def rank(entries: Sequence[Competitor], played: Sequence[PlayedPairing], ranking: Ranking) -> tuple[Tiers, Values]:
    """Entries in order, disqualified ones last and without their games, and their values of the criteria."""
    active = [entry.id for entry in entries if entry.active]
    out = sorted(entry.id for entry in entries if not entry.active)
    records = records_of([*active, *out], without(played, out))
    values = compared(active, records, ranking)
    tiers = tiers_of(values)
    return [*tiers, out] if out else tiers, {**compared(out, records, ranking), **values}


Pair = tuple[Competitor, Competitor]
"""The first has seat 0 in the first game."""


class SkippingFormat(TournamentFormat):
    """A format of round robins that may leave out pairs. Withdrawals do not change other pairings."""

    withdrawal: ClassVar[Withdrawal] = "annuls"

    skip: Skip | None = None
    """Pairs that are left out because of their ratings."""

    def without_skipped(self, rounds: Sequence[Sequence[Pair]], group: str = "") -> list[list[Pair]]:
        """Rounds of a group without skipped pairs."""
        skip = self.skip
        return [
            [pair for pair in pairs if skip is None or not skip.leaves_out(pair[0].id, pair[1].id, group)]
            for pairs in rounds
        ]


def skip_of(form: TournamentFormat) -> Skip | None:
    """The pairs that a format leaves out."""
    return form.skip if isinstance(form, SkippingFormat) else None


def remaining(rounds: Sequence[Sequence[Pair]], played: Sequence[PlayedPairing]) -> list[Pairing]:
    """The pairings of all later rounds, without withdrawn agents."""
    drawn = Rounds(each.pairing for each in played)
    for pairs in rounds[drawn.next_number - 1 :]:
        drawn.add((first.id, second.id, "") for first, second in pairs if first.active and second.active)
    return drawn.pairings[len(played) :]
