"""How a contest goes: from what it was frozen with and what was played to the games to come and the table.

All of it is pure: the same document, pairings and results give the same games and the same standings, anywhere.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from judge.base.errors import InputError
from judge.catalog.entry import NOT_TURNED, Opening
from judge.contest_games import GameResult, Pairing, ScheduledGame
from judge.referee.seeds import Key, Seed
from judge.referee.spec import GameSpec
from judge.tournament.crosstable import Cell, crosstable
from judge.tournament.openings import schedule, turns_of
from judge.tournament.pairings import Competitor, opening_number, seats
from judge.tournament.points import Scoring, points_table, score
from judge.tournament.results import PlayedPairing, failure_shares, without
from judge.tournament.seeds import commitment_to, contest_key, game_seed
from judge.tournament.snapshot import Snapshot
from judge.tournament.standings import TableLine, records_of, standings


@dataclass(frozen=True, slots=True)
class DrawnRounds:
    """Games to be scheduled, and the pairings that they are of."""

    pairings: tuple[Pairing, ...]
    games: tuple[ScheduledGame, ...]


@dataclass(frozen=True, slots=True)
class ToCome:
    """How many games will be scheduled later; `is_exact` is false if it may be more."""

    games: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Table:
    """The standings: lines best first, the names of their criteria, and the crosstable.

    `crosstable` has rows and columns in the order of `lines`.
    """

    ranking: tuple[str, ...]
    lines: tuple[TableLine, ...]
    crosstable: tuple[tuple[Cell | None, ...], ...]


class Tournament:
    """The games and the standings of one contest."""

    def __init__(self, snapshot: Snapshot, secret: Key | None = None) -> None:
        """`secret` is the one that the contest has committed to. None: it is not known yet, so nothing that depends on
        it is given.

        Raises InputError for another secret, and if the policy has no points for a word that a game can end with.
        """
        if secret is not None and commitment_to(secret) != snapshot.commitment:
            raise InputError("the secret of the contest's chance is not the one that it committed to")
        self.snapshot = snapshot
        self.seed: Seed | None = (
            snapshot.seed if secret is None else contest_key(secret, snapshot.name, snapshot.freeze)
        )
        """The seed of all chance of the contest; None if it is not known."""
        self._scoring = Scoring(points_table(snapshot.policy), snapshot.duel)
        self._turns = turns_of(snapshot.policy) if snapshot.transform else NOT_TURNED
        self._entries = snapshot.by_name()

    # --- what comes ---------------------------------------------------------------------------------

    def next(
        self,
        earlier: Sequence[Pairing],
        results: Iterable[GameResult],
        out: Collection[str] = (),
        lots: Seed | None = None,
    ) -> DrawnRounds:
        """The next round, and those after it that are the same whatever it brings; empty if the contest is over.

        `earlier` are all pairings so far, with all results that they will ever have; `out` are the disqualified. `lots`
        is the seed of what is drawn by lot if the contest's own is not known: it never decides the number of games.
        """
        rounds = self._next_rounds(earlier, results, out, lots)
        pairings = [pairing for each in rounds for pairing in each]
        return DrawnRounds(tuple(pairings), self.games(pairings, len(earlier)))

    def follows(
        self,
        earlier: Sequence[Pairing],
        results: Iterable[GameResult],
        out: Collection[str] = (),
        lots: Seed | None = None,
    ) -> Sequence[Pairing]:
        """The pairings that must come next: those of one round, or of all if the format knows them in advance.

        Of a league's later rounds agents may be missing that are disqualified: an earlier judge drew them one by one.
        The arguments are those of `next`.
        """
        rounds = self._next_rounds(earlier, results, out, lots)
        due = rounds if self.snapshot.format.in_advance else rounds[:1]
        return [pairing for each in due for pairing in each]

    def _next_rounds(
        self, earlier: Sequence[Pairing], results: Iterable[GameResult], out: Collection[str], lots: Seed | None
    ) -> Sequence[Sequence[Pairing]]:
        seed = self.seed if self.seed is not None else lots or 0
        return self.snapshot.format.next_rounds(self.entries(out), self.played(earlier, results), seed)

    def to_come(self, pairings: Sequence[Pairing], results: Iterable[GameResult], out: Collection[str] = ()) -> ToCome:
        """What will be scheduled after `pairings`, some of which may lack results; fewer if more are disqualified."""
        form = self.snapshot.format
        count = form.to_come(self.entries(out), self.played(pairings, results))
        return ToCome(count * form.games, form.counts_games)

    def games(self, pairings: Iterable[Pairing], earlier: int = 0) -> tuple[ScheduledGame, ...]:
        """Every game of some pairings, before which `earlier` pairings have their numbers already."""
        return tuple(self._game(*place) for place in self._places(pairings, earlier))

    def _places(self, pairings: Iterable[Pairing], earlier: int = 0) -> Iterator[tuple[Pairing, int, int]]:
        """Every game as its pairing, its place in it from 0, and its number in the schedule."""
        games = self.snapshot.format.games
        for before, pairing in enumerate(pairings, earlier):
            if pairing.second is not None:
                for game in range(games):
                    yield pairing, game, before * games + game + 1

    def _game(self, pairing: Pairing, game: int, number: int) -> ScheduledGame:
        spec = self.spec(pairing, game, number)
        # Everybody is told the id before the game: a hidden opening could be tried out from it.
        told = spec.model_copy(update={"opening": ()}) if self.snapshot.hides_openings else spec
        first, second = seats(pairing, game)
        return ScheduledGame(
            id=told.id_as_read,
            number=number,
            round=pairing.round,
            table=pairing.table,
            leg=game,
            first=first,
            second=second,
            spec=spec.model_dump_json(),
        )

    def spec(self, pairing: Pairing, game: int, number: int) -> GameSpec:
        """The spec of a game of the schedule, without the states of its agents' folders.

        If the contest has committed to its chance, the commitment is in the place of the seed, because each attempt has
        its own (`seed_of`); an opening that is not known yet is left out.
        """
        snapshot = self.snapshot
        possible = self._openings(pairing, game)
        first, second = seats(pairing, game)
        return GameSpec(
            seats=(self._entries[first].seat, self._entries[second].seat),
            policy=snapshot.policy,
            opening=possible[0] if len(possible) == 1 else (),
            seed=snapshot.commitment or _fixed_seed(snapshot, pairing.round, pairing.table, game),
            number=number,
            box=snapshot.box,
        )

    def seed_of(self, game: ScheduledGame, attempt: int) -> Seed | None:
        """The seed of one attempt of a game; None if the contest's own is not known."""
        if isinstance(self.seed, str):
            return game_seed(self.seed, game.round, game.table, game.leg, attempt)
        return None if self.seed is None else _fixed_seed(self.snapshot, game.round, game.table, game.leg)

    def openings(self, pairings: Iterable[Pairing]) -> Mapping[int, Sequence[Opening]]:
        """For each game by its number the openings that it may begin from: one, unless the order is not known."""
        return {number: self._openings(pairing, game) for pairing, game, number in self._places(pairings)}

    def _openings(self, pairing: Pairing, game: int) -> Sequence[Opening]:
        snapshot = self.snapshot
        number = opening_number(pairing, game, snapshot.format.games)
        if snapshot.hides_openings and self.seed is None:
            pass_, count = number // len(snapshot.openings), len(snapshot.openings)
            return [schedule(snapshot.openings, pass_ * count + place, None, self._turns) for place in range(count)]
        seed = self.seed if snapshot.shuffle else None
        return [schedule(snapshot.openings, number, seed, self._turns)]

    # --- what was -----------------------------------------------------------------------------------

    def entries(self, out: Collection[str] = ()) -> list[Competitor]:
        """Everybody as the formats know them."""
        return [Competitor(entry.name, entry.rank, active=entry.name not in out) for entry in self.snapshot.entries]

    def played(self, pairings: Iterable[Pairing], results: Iterable[GameResult]) -> list[PlayedPairing]:
        """Each pairing with its results so far and their points; InputError for a result that no pairing has."""
        return score(pairings, results, self._scoring, self.snapshot.format.games)

    def stages(self, played: Sequence[PlayedPairing], out: Collection[str] = ()) -> Mapping[str, str]:
        """What the group or league is called that each agent has reached; empty if the format has none."""
        form = self.snapshot.format
        groups = form.groups_now(self.entries(out), played)
        return {agent: form.stage_name(group) for agent, group in groups.items()}

    def table(self, played: Sequence[PlayedPairing], out: Collection[str] = ()) -> Table:
        """The standings. The games of a disqualified agent count for nobody, and it is last."""
        entries = self.entries(out)
        form = self.snapshot.format
        order = form.order(entries, played)
        tiers = [[agent for agent in tier if agent not in out] for tier in order]
        tiers = [tier for tier in (*tiers, sorted(out)) if tier]
        counted = without(played, out)
        records = records_of([entry.id for entry in entries], counted)
        lines = standings(tiers, records, form.compared(entries, played))
        cells = crosstable([line.agent for line in lines], counted)
        return Table(tuple(form.ranking), tuple(lines), tuple(map(tuple, cells)))

    def failed(self, results: Sequence[GameResult], out: Collection[str] = ()) -> Mapping[str, float]:
        """The agents to be disqualified because they fail too often, with their shares; none of them is `out` yet."""
        failures = self.snapshot.failures
        counts = Counter(agent for result in results for agent in result.agents)
        return {
            agent: share
            for agent, share in failure_shares(results).items()
            if share > failures.limit and counts[agent] >= failures.after and agent not in out
        }


def bare(spec: GameSpec) -> GameSpec:
    """The part of a played spec that its schedule has: without chance, the states of folders, and the id."""
    seats = tuple(seat.model_copy(update={"folders": None}) for seat in spec.seats)
    return spec.model_copy(update={"seats": seats, "seed": 0, "opening": (), "scheduled_as": None})


def _fixed_seed(snapshot: Snapshot, round_number: int, table: int, game: int) -> int:
    """The seed of a game if the organiser fixed the contest's, other than that of the same game of another contest;
    below 2**53, for JSON's sake."""
    text = f"{snapshot.name} {snapshot.seed} {round_number} {table} {game}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])
