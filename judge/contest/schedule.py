"""How a contest goes: from what it was frozen with and what was played to the games to come and the table.

All of it is pure: the same document, pairings and results give the same games and the same standings, anywhere.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from judge.catalog import game_entry
from judge.catalog.entry import NOT_TURNED, Opening, Turn
from judge.contest.chance import commitment_to, contest_key, game_seed
from judge.contest.formats import all_rounds
from judge.contest.openings import schedule
from judge.contest.pairings import Competitor, Fixture, Pairing, Status, fixtures
from judge.contest.points import Scoring, points_table, score
from judge.contest.results import GameResult, PlayedPairing, failure_shares, without
from judge.contest.snapshot import Frozen
from judge.contest.standings import Cell, TableLine, crosstable, records_of, standings
from judge.errors import InputError
from judge.games.types import Verdict
from judge.referee.chance import Key, Seed
from judge.referee.spec import MatchSpec
from judge.store.types import Brief, Paired, Result, Scheduled


@dataclass(frozen=True, slots=True)
class DrawnRound:
    """Games to be scheduled, and the pairings that they are of."""

    pairings: tuple[Paired, ...]
    games: tuple[Scheduled, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Where everybody stands: lines best first, the names of their criteria, and everybody against everybody.

    `crosstable` has rows and columns in the order of `lines`.
    """

    ranking: tuple[str, ...]
    lines: tuple[TableLine, ...]
    crosstable: tuple[tuple[Cell | None, ...], ...]


class Tournament:
    """The course of one contest."""

    def __init__(self, frozen: Frozen, secret: Key | None = None) -> None:
        """`secret` is what the contest has committed to; None: not known yet, then nothing is told that hangs on it.

        InputError for another secret, and where its policy scores not every word that a game can end with.
        """
        if secret is not None and commitment_to(secret) != frozen.commitment:
            raise InputError("the secret of the contest's chance is not the one that it committed to")
        self.frozen = frozen
        self.seed: Seed | None = frozen.seed if secret is None else contest_key(secret, frozen.name)
        """What all chance of the contest follows from; None where that is not known."""
        self._scoring = Scoring(points_table(frozen.policy), frozen.duel)
        self._turns = _turns(frozen)
        self._entries = frozen.by_name()

    # --- what comes ---------------------------------------------------------------------------------

    def next(
        self,
        paired: Sequence[Paired],
        results: Iterable[Result | Brief],
        out: Collection[str] = (),
        lots: Seed | None = None,
    ) -> DrawnRound:
        """The next round, or all of them where none depends on a result; nothing when the contest is over.

        `paired` are all pairings so far, played as far as they ever will be; `out` are the disqualified. `lots` decides
        what is drawn by lot where the contest's own seed is not known: never how many games there are.
        """
        frozen, entries = self.frozen, self.entries(out)
        seed = self.seed if self.seed is not None else lots or 0
        if frozen.format.in_advance and not paired:
            rounds = all_rounds(frozen.format, entries, seed)
        else:
            played = self.played(paired, results)
            rounds = [frozen.format.next_round(entries, played, seed)]
        return self._drawn([pairing for each in rounds for pairing in each], len(paired))

    def games(self, paired: Iterable[Paired]) -> tuple[Scheduled, ...]:
        """Every game of `paired`, which are all pairings from the first on."""
        return self._drawn(list(map(_pairing, paired)), 0).games

    def _drawn(self, pairings: Sequence[Pairing], earlier: int) -> DrawnRound:
        """`earlier` pairings have their numbers already."""
        found = [self._scheduled(*each) for each in self._fixtures(pairings, earlier)]
        return DrawnRound(tuple(map(_stored, pairings)), tuple(found))

    def _fixtures(self, pairings: Iterable[Pairing], earlier: int) -> Iterator[tuple[Fixture, int]]:
        """Every game with its number."""
        games = self.frozen.format.games
        for place, pairing in enumerate(pairings, earlier):
            for fixture in fixtures(pairing, games):
                yield fixture, place * games + fixture.game + 1

    def _scheduled(self, fixture: Fixture, number: int) -> Scheduled:
        spec = self.spec(fixture, number)
        # Everybody is told the id before the game: a hidden opening could be tried out from it.
        told = spec.model_copy(update={"opening": ()}) if self.frozen.hides_openings else spec
        return Scheduled(
            id=told.id_as_read,
            number=number,
            round=fixture.round,
            table=fixture.table,
            game=fixture.game,
            first=fixture.first,
            second=fixture.second,
            spec=spec.model_dump_json(),
        )

    def spec(self, fixture: Fixture, number: int) -> MatchSpec:
        """The match that a game of the schedule is, but for the states of its agents' folders.

        Where the contest has committed to its chance, the commitment stands for the seed, which each attempt has of its
        own (`seed_of`); an opening that is not known yet is left out.
        """
        frozen = self.frozen
        possible = self._openings(fixture)
        return MatchSpec(
            seats=(self._entries[fixture.first].seat, self._entries[fixture.second].seat),
            policy=frozen.policy,
            opening=possible[0] if len(possible) == 1 else (),
            seed=frozen.commitment or _fixed_seed(frozen, fixture),
            number=number,
            box=frozen.box,
        )

    def seed_of(self, match: Scheduled, attempt: int) -> Seed | None:
        """The seed of one attempt of a game; None where the contest's own is not known."""
        if isinstance(self.seed, str):
            return game_seed(self.seed, match.round, match.table, match.game, attempt)
        return None if self.seed is None else _fixed_seed(self.frozen, match)

    def openings(self, paired: Iterable[Paired]) -> Mapping[int, Sequence[Opening]]:
        """For each game by its number the openings that it may begin from: one, unless the order is not known."""
        return {number: self._openings(fixture) for fixture, number in self._fixtures(map(_pairing, paired), 0)}

    def _openings(self, fixture: Fixture) -> Sequence[Opening]:
        frozen = self.frozen
        if frozen.hides_openings and self.seed is None:
            pass_, count = fixture.opening // len(frozen.openings), len(frozen.openings)
            return [schedule(frozen.openings, pass_ * count + place, None, self._turns) for place in range(count)]
        seed = self.seed if frozen.shuffle else None
        return [schedule(frozen.openings, fixture.opening, seed, self._turns)]

    # --- what was -----------------------------------------------------------------------------------

    def entries(self, out: Collection[str] = ()) -> list[Competitor]:
        """Everybody as the formats know them."""
        return [
            Competitor(entry.name, entry.rank, Status.DISQUALIFIED if entry.name in out else Status.PLAYING)
            for entry in self.frozen.entries
        ]

    def played(self, paired: Iterable[Paired], results: Iterable[Result | Brief]) -> list[PlayedPairing]:
        """Each pairing with its games so far and their points; InputError for a game that no pairing has."""
        pairings = list(map(_pairing, paired))
        games = [game_result(each) for each in results]
        return score(pairings, games, self._scoring, self.frozen.format.games)

    def table(self, played: Sequence[PlayedPairing], out: Collection[str] = ()) -> Table:
        """The standings; the games of who is disqualified count for nobody, and it stands last whatever it reached."""
        entries = self.entries(out)
        order = self.frozen.format.order(entries, played)
        tiers = [[agent for agent in tier if agent not in out] for tier in order]
        tiers = [tier for tier in (*tiers, sorted(out)) if tier]
        counted = without(played, out)
        ranking = self.frozen.format.ranking
        records = records_of([entry.id for entry in entries], counted)
        lines = standings(tiers, records, ranking)
        cells = crosstable([line.agent for line in lines], counted)
        return Table(tuple(ranking), tuple(lines), tuple(map(tuple, cells)))

    def failed(self, results: Iterable[Result | Brief], out: Collection[str] = ()) -> Mapping[str, float]:
        """Who is to be disqualified for failing by itself, with the share of its games; they are not `out` yet."""
        games = [game_result(each) for each in results]
        failures = self.frozen.failures
        counts: dict[str, int] = {}
        for game in games:
            for agent in game.agents:
                counts[agent] = counts.get(agent, 0) + 1
        return {
            agent: share
            for agent, share in failure_shares(games).items()
            if share > failures.limit and counts[agent] >= failures.after and agent not in out
        }


def bare(spec: MatchSpec) -> MatchSpec:
    """What of a played spec is known before the game: no chance, and not the states of folders."""
    seats = tuple(seat.model_copy(update={"folders": None}) for seat in spec.seats)
    return spec.model_copy(update={"seats": seats, "seed": 0, "opening": ()})


def game_result(result: Result | Brief) -> GameResult:
    """A result of the store by agents' names; a brief one does not say why it ended so."""
    if isinstance(result, Result):
        return replace(game_result(result.brief), reason=result.ended.reason)
    first, second, winner = result.first, result.second, result.winner
    return GameResult(
        first=first,
        second=second,
        winner=None if winner is None else second if winner else first,
        verdict=_VERDICTS[result.verdict],
        result=result.outcome,
        faults=(_verdict(result.fault_0), _verdict(result.fault_1)),
        replies=(result.replies_0, result.replies_1),
        charged_ms=(result.charged_ms_0, result.charged_ms_1),
        round=result.round,
        table=result.table,
        game=result.game,
    )


# Looked up: an enum's own way from a word to its member takes ten times as long, three times a game.
_VERDICTS: Mapping[str, Verdict] = {each.value: each for each in Verdict}


def _verdict(fault: str | None) -> Verdict | None:
    return None if fault is None else _VERDICTS[fault]


def _stored(pairing: Pairing) -> Paired:
    return Paired(pairing.round, pairing.table, pairing.first, pairing.second, pairing.meeting, pairing.group)


def _pairing(paired: Paired) -> Pairing:
    return Pairing(
        first=paired.first,
        second=paired.second,
        round=paired.round,
        table=paired.table,
        meeting=paired.meeting,
        group=paired.league,
    )


def _turns(frozen: Frozen) -> Sequence[Turn]:
    if not frozen.transform:
        return NOT_TURNED
    game = frozen.policy.game
    openings = game_entry(game.name).openings(game.options)
    return NOT_TURNED if openings is None else openings.turns


def _fixed_seed(frozen: Frozen, game: Fixture | Scheduled) -> int:
    """A game's seed where the organiser fixed the contest's, which also tells it from the same game of another contest;
    below 2**53, for JSON's sake."""
    text = f"{frozen.name} {frozen.seed} {game.round} {game.table} {game.game}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])
