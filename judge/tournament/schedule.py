"""Later games and standings from a contest's document, pairings and results."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from judge.base.errors import InputError
from judge.catalog import game_entry
from judge.catalog.entry import NOT_TURNED, Turn
from judge.contest_games import GameResult, Pairing, ScheduledGame
from judge.games.types import Opening
from judge.record.policy import Policy
from judge.record.seeds import Key, Seed, numbers
from judge.record.spec import GameSpec
from judge.tournament.formats.base import Competitor
from judge.tournament.results import PlayedPairing, Scoring, failure_shares, points_table, score, without
from judge.tournament.snapshot import Snapshot, commitment_to, contest_key, game_seed
from judge.tournament.standings import RATINGS, Crosstable, TableLine, crosstable, records_of, standings


@dataclass(frozen=True, slots=True)
class PendingPairing:
    """Number of later games; a minimum unless `is_exact`."""

    games: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Table:
    """Standings, best first, and crosstable in the same order."""

    ranking: tuple[str, ...]
    lines: tuple[TableLine, ...]
    crosstable: Crosstable

    @property
    def is_by_rating(self) -> bool:
        return bool(self.ranking) and self.ranking[0] in RATINGS


class Tournament:
    """Games and standings of a contest."""

    def __init__(self, snapshot: Snapshot, secret: Key | None = None) -> None:
        """`secret` None: results that depend on it are missing.

        Raises InputError for another secret, or a result word without points.
        """
        if secret is not None and commitment_to(secret) != snapshot.commitment:
            raise InputError("the secret does not match the contest's commitment")
        self.snapshot = snapshot
        self.seed: Seed | None = (
            snapshot.seed if secret is None else contest_key(secret, snapshot.name, snapshot.freeze)
        )
        self._scoring = Scoring(points_table(snapshot.policy), snapshot.duel)
        self._turns = turns_of(snapshot.policy) if snapshot.transform else NOT_TURNED
        self._entries = snapshot.by_name()

    def next(
        self,
        earlier: Sequence[Pairing],
        results: Iterable[GameResult],
        absent: Collection[str] = (),
        out: Collection[str] = (),
        lots: Seed | None = None,
    ) -> list[Pairing]:
        """Pairings that follow the results; empty at the end.

        `earlier`: all pairings so far, `absent`: agents that are not paired, `out`: those of them whose results do not
        count. `lots` replaces an unknown seed; it never decides the number of games.
        """
        seed = self.seed if self.seed is not None else lots or 0
        return self.snapshot.format.next(self.entries(absent, out), self.played(earlier, results), seed)

    def goes_on(self, earlier: Sequence[Pairing], results: Iterable[GameResult], absent: Collection[str] = ()) -> bool:
        seed = self.seed if self.seed is not None else 0
        return self.snapshot.format.goes_on(self.entries(absent), self.played(earlier, results), seed)

    def to_come(
        self, pairings: Sequence[Pairing], results: Iterable[GameResult], absent: Collection[str] = ()
    ) -> PendingPairing:
        """Number of games after `pairings`, some without results."""
        form = self.snapshot.format
        count = form.to_come(self.entries(absent), self.played(pairings, results))
        return PendingPairing(count * form.games, form.counts_games)

    def games(self, pairings: Iterable[Pairing], earlier: int = 0) -> tuple[ScheduledGame, ...]:
        """Games of pairings; `earlier` pairings have numbers."""
        return tuple(self._game(*place) for place in self._places(pairings, earlier))

    def _places(self, pairings: Iterable[Pairing], earlier: int = 0) -> Iterator[tuple[Pairing, int, int]]:
        games = self.snapshot.format.games
        for before, pairing in enumerate(pairings, earlier):
            if pairing.second is not None:
                for game in range(games):
                    yield pairing, game, before * games + game + 1

    def _game(self, pairing: Pairing, game: int, number: int) -> ScheduledGame:
        """Without folder states. A commitment replaces the seed, as each attempt has its own; unknown openings are left
        out.
        """
        snapshot = self.snapshot
        possible = self._openings(pairing, game)
        first, second = seats(pairing, game)
        spec = GameSpec(
            seats=(self._entries[first].seat, self._entries[second].seat),
            policy=snapshot.policy_of(first, second),
            opening=possible[0] if len(possible) == 1 else (),
            seed=snapshot.commitment or _fixed_seed(snapshot, pairing.round, pairing.table, game),
            number=number,
            box=snapshot.box,
        )
        # The id is public before the game: a hidden opening could be guessed from it.
        public = spec.model_copy(update={"opening": ()}) if snapshot.hides_openings else spec
        return ScheduledGame(
            id=public.id_as_read,
            number=number,
            round=pairing.round,
            table=pairing.table,
            leg=game,
            first=first,
            second=second,
            spec=spec.model_dump_json(),
        )

    def seed_of(self, game: ScheduledGame, attempt: int) -> Seed | None:
        """An attempt's seed; None if the contest's is unknown."""
        if isinstance(self.seed, str):
            return game_seed(self.seed, game.round, game.table, game.leg, attempt)
        return None if self.seed is None else _fixed_seed(self.snapshot, game.round, game.table, game.leg)

    def openings(self, pairings: Iterable[Pairing]) -> Mapping[int, Sequence[Opening]]:
        """Possible openings by game number."""
        return {number: self._openings(pairing, game) for pairing, game, number in self._places(pairings)}

    def _openings(self, pairing: Pairing, game: int) -> Sequence[Opening]:
        snapshot = self.snapshot
        number = opening_number(pairing, game, snapshot.format.games)
        if snapshot.hides_openings and self.seed is None:
            count = len(snapshot.openings)
            start = number // count * count
            return [opening_of_pair(snapshot.openings, pair, None, self._turns) for pair in range(start, start + count)]
        seed = self.seed if snapshot.shuffle else None
        return [opening_of_pair(snapshot.openings, number, seed, self._turns)]

    def entries(self, absent: Collection[str] = (), out: Collection[str] = ()) -> list[Competitor]:
        """Entries; those in `absent` are inactive, and the results of those in `out` do not count."""
        return [
            Competitor(entry.name, entry.rank, active=entry.name not in absent, counts=entry.name not in out)
            for entry in self.snapshot.entries
        ]

    def played(self, pairings: Iterable[Pairing], results: Iterable[GameResult]) -> list[PlayedPairing]:
        """Each pairing with results and points. Raises InputError."""
        return score(pairings, results, self._scoring, self.snapshot.format.games)

    def stages(self, played: Sequence[PlayedPairing], out: Collection[str] = ()) -> Mapping[str, str]:
        """Current group or league by agent."""
        form = self.snapshot.format
        return {agent: form.stage_name(group) for agent, group in form.groups_now(self.entries(out), played).items()}

    def table(self, played: Sequence[PlayedPairing], out: Collection[str] = ()) -> Table:
        """The standings; disqualified agents are last, in order of entry."""
        entries = self.entries(out)
        form = self.snapshot.format
        order, values = form.rank(entries, played)
        tiers = [[agent for agent in tier if agent not in out] for tier in order]
        tiers = [tier for tier in (*tiers, [entry.id for entry in entries if not entry.active]) if tier]
        counted = without(played, out)
        records = records_of([entry.id for entry in entries], counted)
        lines = standings(tiers, records, values)
        return Table(tuple(form.ranking), tuple(lines), crosstable([line.agent for line in lines], counted))

    def failed(self, results: Sequence[GameResult], out: Collection[str] = ()) -> Mapping[str, float]:
        """Agents to disqualify, with their shares of failures."""
        terms = self.snapshot.failures
        shares = failure_shares(results, terms.after)
        return {agent: share for agent, share in shares.items() if share > terms.limit and agent not in out}


def bare(spec: GameSpec) -> GameSpec:
    """A played spec without chance, folder states and id."""
    seats = tuple(seat.model_copy(update={"folders": None}) for seat in spec.seats)
    return spec.model_copy(update={"seats": seats, "seed": 0, "opening": (), "scheduled_as": None})


def _fixed_seed(snapshot: Snapshot, round_number: int, table: int, game: int) -> int:
    """Differs per contest; below 2**53 for JSON."""
    text = f"{snapshot.name} {snapshot.seed} {round_number} {table} {game}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])


def seats(pairing: Pairing, game: int) -> tuple[str, str]:
    """Agents of seats 0 and 1 in a game (from 0). Raises ValueError for a bye."""
    if pairing.second is None:
        raise ValueError("a bye has no games")
    return (pairing.second, pairing.first) if game % 2 else (pairing.first, pairing.second)


def opening_number(pairing: Pairing, game: int, games: int) -> int:
    """The `pair` of `opening_of_pair`.

    Two consecutive games share one, also across meetings. All pairings use the same openings.
    """
    return (pairing.meeting * games + game) // 2


def opening_of_pair(openings: Sequence[Opening], pair: int, seed: Seed | None, turns: Sequence[Turn]) -> Opening:
    """The opening of pair `pair` (from 0).

    Each is used once before a repeat, with the next symmetry of `turns`; positions as text are not turned. `seed`
    shuffles each pass.
    """
    number, place = divmod(pair, len(openings))
    opening = openings[place if seed is None else _order(len(openings), seed, number)[place]]
    if isinstance(opening, str):
        return opening
    turn = turns[number % len(turns)]
    return tuple(turn(x, y) for x, y in opening)


@lru_cache(maxsize=8)
def _order(count: int, seed: Seed, number: int) -> tuple[int, ...]:
    order = list(range(count))
    numbers(seed, number).shuffle(order)
    return tuple(order)


def turns_of(policy: Policy) -> Sequence[Turn]:
    """Symmetries for repeated openings."""
    written = game_entry(policy.game.name).openings(policy.game.options)
    return NOT_TURNED if written is None else written.turns
