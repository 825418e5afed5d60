"""One contest: what follows from its terms, pairings, games and journal."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from judge.base.text import sentence
from judge.contest_games import (
    OPEN_STATES,
    GameResult,
    GameState,
    Pairing,
    PublishedGame,
    ScheduledGame,
    copies,
    without_copied_pairs,
    without_copies,
)
from judge.contest_view.joined import Joined
from judge.contest_view.ladder import LadderAgent, LadderLog, LadderRatings
from judge.contest_view.values import Ending, FirstMove, Participant, Stream, minute
from judge.formats.search_figures import EvaluatedGame
from judge.games.types import FAILURES
from judge.journal.events import Accepted, Disqualified, Entered, Started, Withdrawn
from judge.journal.state import ContestState, EntryChange, JournalLine, state_after
from judge.record.seeds import Key
from judge.statistics.match_estimate import Candidate, compare_candidates, interval_of_mean
from judge.statistics.rating_model import RatingModel
from judge.statistics.ratings import RatedContest, Rating, RatingList, Version, join_contests, rate
from judge.statistics.sprt import SprtState
from judge.tournament.formats.base import skip_of
from judge.tournament.formats.sequential import Sequential
from judge.tournament.results import PlayedPairing, PointsTable, points_table, without
from judge.tournament.schedule import PendingPairing, Table, Tournament
from judge.tournament.snapshot import Snapshot
from judge.tournament.standings import TableLine

if TYPE_CHECKING:
    from judge.statistics.cycles import RatingsCheck
    from judge.statistics.fairness import FairnessTest
    from judge.tournament.certain_places import StageCertainty


@dataclass(frozen=True)
class ContestView:
    """A contest from a store or an export; all else is computed from these fields at its first use.

    `document` is the JSON of `snapshot`. `pairings` include byes. `disqualified` and `withdrawn`: reasons.
    `secret` is None until the contest is over.
    """

    snapshot: Snapshot
    document: str
    pairings: Sequence[Pairing]
    games: Sequence[PublishedGame]
    disqualified: Mapping[str, str]
    journal: Sequence[JournalLine]
    secret: Key | None = None
    moments: Sequence[tuple[str, datetime]] = ()
    """Deadlines in UTC: `opens`, `closes`, `starts`."""
    stream: Stream | None = None
    """None for static pages."""
    joined: Joined | None = None
    above: str = ""
    """Name of the cup with pages in the folder above, or empty."""
    withdrawn: Mapping[str, str] = field(default_factory=dict)
    entered: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Reason and JSON of entries after the start."""
    evaluated: Mapping[int, EvaluatedGame | None] = field(default_factory=dict)
    boards: Mapping[int, str] = field(default_factory=dict, compare=False)
    """Both by game number, if known: what the agents' evaluations show, and the last position as a small SVG."""
    ladder_ratings: LadderRatings | None = field(default=None, compare=False)
    """Of earlier views of the same ladder."""
    added_pages: Sequence[tuple[str, str]] = ()
    """Path and title of pages of other packages."""

    @property
    def name(self) -> str:
        return self.snapshot.name

    @cached_property
    def out(self) -> Mapping[str, str]:
        """Agents whose results do not count, and reasons."""
        annulled = self.withdrawn if self.snapshot.format.withdrawal == "annuls" else {}
        return {**annulled, **self.disqualified}

    @cached_property
    def state(self) -> ContestState:
        """After the journal."""
        return state_after(self.journal)

    @cached_property
    def changes(self) -> Sequence[EntryChange]:
        """Disqualifications, withdrawals and late entries of the tables, in the order of the journal."""
        entered = {agent: why for agent, (why, _) in self.entered.items()}
        tables: Mapping[type[EntryChange], Mapping[str, str]]
        tables = {Disqualified: self.disqualified, Withdrawn: self.withdrawn, Entered: entered}
        listed = dict.fromkeys(kind(agent, why) for kind, table in tables.items() for agent, why in table.items())
        return [change for change in dict.fromkeys(self.state.changes) | listed if change in listed]

    @property
    def absent(self) -> frozenset[str]:
        """Agents that are no longer paired."""
        return frozenset(self.disqualified.keys() | self.withdrawn.keys())

    def absent_after(self, changes: int) -> frozenset[str]:
        """Agents that were not paired after that number of changes."""
        made = self.changes[:changes]
        coming = self.entered.keys() - {each.agent for each in made if isinstance(each, Entered)}
        return frozenset(coming | {each.agent for each in made if not isinstance(each, Entered)})

    def out_after(self, changes: int) -> frozenset[str]:
        """Agents whose results did not count after that number of changes."""
        kinds = (Disqualified, Withdrawn) if self.snapshot.format.withdrawal == "annuls" else Disqualified
        return frozenset(each.agent for each in self.changes[:changes] if isinstance(each, kinds))

    # --- the schedule ------------------------------------------------------------------------------------------------

    @cached_property
    def tournament(self) -> Tournament:
        """Raises InputError if the secret does not match the commitment."""
        return Tournament(self.snapshot, self.secret)

    @cached_property
    def participants(self) -> Sequence[Participant]:
        """In order of entry."""
        entries = enumerate(self.snapshot.entries, 1)
        return [
            Participant(number, entry, self.out.get(entry.name, ""), self.withdrawn.get(entry.name, ""))
            for number, entry in entries
        ]

    @cached_property
    def by_name(self) -> Mapping[str, Participant]:
        return {participant.name: participant for participant in self.participants}

    @cached_property
    def byes(self) -> Mapping[int, Sequence[str]]:
        """Agents without an opponent, by round."""
        byes: dict[int, list[str]] = {pairing.round: [] for pairing in self.pairings}
        for pairing in self.pairings:
            if pairing.second is None:
                byes[pairing.round].append(pairing.first)
        return byes

    @property
    def has_rounds(self) -> bool:
        """False for a ladder."""
        return self.snapshot.format.has_rounds

    @cached_property
    def rounds(self) -> Mapping[int, Sequence[PublishedGame]]:
        """By round, in schedule order."""
        rounds: dict[int, list[PublishedGame]] = {number: [] for number in self.byes}
        for game in self.games:
            rounds.setdefault(game.round, []).append(game)
        return dict(sorted(rounds.items()))

    @cached_property
    def meetings(self) -> Mapping[frozenset[str], Sequence[PublishedGame]]:
        """By pair, in schedule order."""
        meetings: dict[frozenset[str], list[PublishedGame]] = {}
        for game in self.games:
            meetings.setdefault(frozenset(game.agents), []).append(game)
        return meetings

    @cached_property
    def left_out(self) -> Mapping[str, Sequence[str]]:
        """Opponents left out because of ratings, by agent, in order of entry."""
        skip = skip_of(self.snapshot.format)
        if skip is None:
            return {}
        groups: dict[str, set[str]] = {}
        for pairing in self.pairings:
            groups.setdefault(pairing.group, set()).update(pairing.agents)
        if "" in groups:
            groups[""] = set(self.by_name)
        found: dict[str, list[str]] = {agent: [] for agent in self.by_name}
        for group, members in groups.items():
            ordered = [agent for agent in self.by_name if agent in members]
            for agent in ordered:
                found[agent] += [other for other in ordered if other != agent and skip.leaves_out(agent, other, group)]
        return found

    # --- results -----------------------------------------------------------------------------------------------------

    @cached_property
    def results(self) -> Sequence[GameResult]:
        """In schedule order."""
        return [game.result for game in self.games if game.result is not None]

    @property
    def played(self) -> Sequence[PublishedGame]:
        """Games with results."""
        return [game for game in self.games if game.result is not None]

    @cached_property
    def failed(self) -> Sequence[GameResult]:
        """Results with a fault."""
        return [result for result in self.results if any(result.faults)]

    @cached_property
    def failures(self) -> Mapping[str, int]:
        """Number of failures in games that count by agent, most first."""
        found = Counter(
            agent
            for result in self.failed
            if self.out.keys().isdisjoint(result.agents)
            for agent, fault in zip(result.agents, result.faults, strict=True)
            if fault in FAILURES
        )
        return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))

    @cached_property
    def counts(self) -> Mapping[GameState, int]:
        """Number of games by state."""
        found = Counter(game.state for game in self.games)
        return {state: found[state] for state in GameState}

    @property
    def left(self) -> int:
        """Number of scheduled games that have not ended."""
        return sum(self.counts[state] for state in OPEN_STATES)

    @property
    def unfinished(self) -> Sequence[PublishedGame]:
        return [game for game in self.games if game.state in OPEN_STATES]

    @property
    def has_ended(self) -> bool:
        """Whether a ladder's season ended early."""
        return not self.has_rounds and self.state.has_ended

    @cached_property
    def to_come(self) -> PendingPairing:
        """Games to be scheduled later."""
        if self.has_ended:
            return PendingPairing(0, is_exact=True)
        return self.tournament.to_come(self.pairings, self._decisive, self.absent)

    @property
    def _decisive(self) -> Sequence[GameResult]:
        # There may be 100,000 results. The number of games of most formats does not depend on them.
        return () if self.snapshot.format.counts_games else self.results

    @property
    def all_games(self) -> int:
        """With future ones."""
        return self.counts[GameState.DONE] + self.left + self.to_come.games

    @cached_property
    def is_over(self) -> bool:
        if self.left or self.has_ended:
            return not self.left
        return not self._has_failed_agents and not self.tournament.goes_on(self.pairings, self._decisive, self.absent)

    @property
    def _has_failed_agents(self) -> bool:
        """Whether agents have to be disqualified: the run was stopped before, and does it when it continues."""
        terms = self.snapshot.failures
        sides = ((agent, fault) for each in self.failed for agent, fault in zip(each.agents, each.faults, strict=True))
        failures = Counter(agent for agent, fault in sides if fault in FAILURES and agent not in self.out)
        suspects = [agent for agent, count in failures.items() if count > terms.limit * terms.after]
        found = self.tournament.failed(self._results_of(suspects), self.out) if suspects else {}
        return not found.keys().isdisjoint(suspects)

    def _results_of(self, agents: Collection[str]) -> Sequence[GameResult]:
        return [result for result in self.results if not set(result.agents).isdisjoint(agents)]

    @cached_property
    def ending(self) -> Ending | None:
        """Winners and dates; None while the contest runs, or without results."""
        if not self.is_over or not self.results:
            return None
        first = [line for line in self.table.lines if line.place == 1 and line.agent not in self.out]
        return Ending(tuple(line.agent for line in first), first[0].points if first else 0.0, *self.period)

    @cached_property
    def decisive_game(self) -> PublishedGame | None:
        """The winner's last win against the best placed agent that it beat, without a failure if there is one.

        None before the end.
        """
        if self.ending is None:
            return None
        places = {line.agent: at for at, line in enumerate(self.table.lines)}

        def weight(each: tuple[PublishedGame, GameResult]) -> tuple[bool, int, int]:
            game, result = each
            return result.verdict not in FAILURES, -max(places[agent] for agent in result.agents), game.number

        wins = [
            (game, game.result)
            for game in self.games
            if game.result is not None and game.result.winner in self.ending.winners and not self.exclusion(game)
        ]
        return max(wins, key=weight)[0] if wins else None

    @property
    def period(self) -> tuple[str, str]:
        """UTC minutes of the first start and of the last result; empty before."""
        begun = [line.at for line in self.journal if isinstance(line.change, Started)]
        ended = [line.at for line in self.journal if isinstance(line.change, Accepted)]
        return minute(begun[0]) if begun else "", minute(ended[-1]) if ended else ""

    @cached_property
    def paired(self) -> Sequence[PlayedPairing]:
        """Each pairing with its results and points."""
        return self.tournament.played(self.pairings, self.results)

    @cached_property
    def table(self) -> Table:
        return self.tournament.table(self.paired, self.out)

    @cached_property
    def stages(self) -> Mapping[str, str]:
        """Each agent's last group or league; empty for other formats."""
        return self.tournament.stages(self.paired, self.out)

    def stage_of(self, game: ScheduledGame | GameResult) -> str:
        """A game's group or league, or ""."""
        return self.stage_at.get((game.round, game.table), "")

    @cached_property
    def stage_at(self) -> Mapping[tuple[int, int], str]:
        """Group or league by round and table; empty without groups."""
        name = self.snapshot.format.stage_name
        return {(each.round, each.table): name(each.group) for each in self.pairings if each.group}

    @cached_property
    def lines(self) -> Mapping[str, TableLine]:
        """By agent."""
        return {line.agent: line for line in self.table.lines}

    @cached_property
    def counted(self) -> Sequence[GameResult]:
        """Results without disqualified agents."""
        return [game for pairing in without(self.paired, self.out) for game in pairing.games]

    @cached_property
    def evidence(self) -> Sequence[GameResult]:
        """Results that count, without copies."""
        return without_copies(self.counted)

    @cached_property
    def copies(self) -> Mapping[int, int]:
        """Number of the original by number of each copy."""
        return copies(self.counted)

    @property
    def copies_words(self) -> Iterator[str]:
        """Sentences about copies; empty without copies."""
        copies, games = len(self.copies), len(self.counted)
        if copies == 1:
            yield sentence(f"One of {games} games is a copy of another one: the same agents, seats, opening and moves.")
        elif copies:
            yield sentence(
                f"{copies} of {games} games are copies of others: the same agents, seats, opening and moves."
            )
        if copies:
            yield sentence("A copy scores points. For ratings and certainty, identical games count once.")

    @property
    def uncounted(self) -> int:
        """Number of results that do not count."""
        return len(self.results) - len(self.counted)

    def exclusion(self, game: ScheduledGame) -> Participant | None:
        """The agent because of which a game does not count."""
        agents = [self.by_name[name] for name in game.agents]
        return next((agent for agent in agents if agent.out), None)

    @cached_property
    def game_points(self) -> PointsTable | None:
        """Points of single games; None if the games of a pairing score together."""
        return None if self.snapshot.duel is not None else points_table(self.snapshot.policy)

    @cached_property
    def certainty(self) -> "Sequence[StageCertainty]":
        """Certainty of places by stage; may be empty."""
        if not self.snapshot.format.orders_by_strength:
            return ()
        from judge.tournament.certain_places import certain_places

        return certain_places(
            self.table,
            self.stages,
            self.paired,
            self.out,
            points=self.game_points,
            is_running=not self.is_over,
            has_rounds=self.has_rounds,
        )

    @cached_property
    def place_ranges(self) -> Mapping[str, str]:
        """Each agent's possible places, such as `2-5`."""
        return {agent: places for stage in self.certainty for agent, places in stage.places.items()}

    @cached_property
    def first_move(self) -> FirstMove | None:
        """None without results that count."""
        if not self.evidence:
            return None
        counts = Counter(game.end for game in self.evidence)
        games, won, drawn = len(self.evidence), counts[0], counts[1]
        ends = interval_of_mean([games - won - drawn, drawn, won], (0.0, 0.5, 1.0))
        return FirstMove(games, *(100 * end for end in ends))

    @cached_property
    def ratings(self) -> RatingList | None:
        """Ratings (Rao-Kupper); None if no results count."""
        return rate(self.evidence) if self.evidence else None

    @cached_property
    def davidson(self) -> RatingList | None:
        """By Davidson's model."""
        return rate(self.evidence, RatingModel(draws="davidson")) if self.evidence else None

    @cached_property
    def ratings_check(self) -> "RatingsCheck":
        """A test whether ratings explain the results."""
        from judge.statistics.cycles import check_ratings

        return check_ratings(self.evidence)

    @cached_property
    def rated(self) -> Mapping[str, Rating]:
        return {rating.agent: rating for rating in self.ratings.ratings} if self.ratings else {}

    @cached_property
    def ladder(self) -> Mapping[str, LadderAgent]:
        """A ladder's agents by name."""
        if self.has_rounds:
            return {}
        log = LadderLog(self.snapshot, self.entered, self.journal, self.pairings, self.games)
        return (self.ladder_ratings or LadderRatings()).agents(log)

    @cached_property
    def base(self) -> str | None:
        """The agent that all others are compared with."""
        return self.snapshot.format.base(self.tournament.entries())

    @cached_property
    def compared(self) -> Sequence[Candidate]:
        """Comparison of base and opponents."""
        return [] if self.base is None else compare_candidates([self.paired_evidence], self.base)

    @cached_property
    def paired_evidence(self) -> Sequence[GameResult]:
        """Results that count, without copied pairs."""
        return without_copied_pairs(self.counted)

    @cached_property
    def test(self) -> SprtState | None:
        """The sequential test's state; None for other formats."""
        chosen, entries = self.snapshot.format, self.tournament.entries()
        if not isinstance(chosen, Sequential):
            return None
        return chosen.state(entries, self.paired)

    @property
    def programs(self) -> Mapping[str, str]:
        """SHA-256 of each agent's files."""
        return {entry.name: entry.seat.digest for entry in self.snapshot.entries}

    @property
    def as_rated(self) -> RatedContest:
        return RatedContest(self.name, self.snapshot.frozen_at, self.evidence, self.programs)

    @cached_property
    def histories(self) -> Mapping[str, Sequence[Version]]:
        """Ratings by agent in all joined contests, oldest first.

        Raises InputError unless each anchor names one agent.
        """
        if self.joined is None:
            return {}
        former = [contest.rated for contest in self.joined.contests]
        return join_contests([*former, self.as_rated], self.joined.anchors).histories

    @cached_property
    def fairness(self) -> "Sequence[FairnessTest]":
        """Fairness tests over all games with known conditions."""
        from judge.statistics.fairness import fairness_tests

        known = [
            (game.result, game.conditions)
            for game in self.games
            if game.result is not None and game.conditions is not None
        ]
        return fairness_tests([result for result, _ in known], [conditions for _, conditions in known])
