"""How a contest goes: from what it was frozen with and what was played to the games to come and the table.

All of it is pure: the same document, pairings and results give the same games and the same standings, anywhere.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from judge.contest.formats import all_rounds
from judge.contest.frozen import Frozen
from judge.contest.openings import Turn, schedule, symmetries
from judge.contest.pairings import Entry, Fixture, Pairing, Status, fixtures
from judge.contest.points import Scoring, points_table, score
from judge.contest.results import GameResult, Played, failure_shares, without
from judge.contest.standings import Cell, Line, crosstable, records_of, standings
from judge.games import new_game
from judge.games.types import Verdict
from judge.referee.spec import MatchSpec
from judge.store.types import Brief, Paired, Result, Scheduled

NOT_TURNED: Sequence[Turn] = (lambda x, y: (x, y),)


@dataclass(frozen=True, slots=True)
class Drawn:
    """Games to be scheduled, and the pairings that they are of."""

    pairings: tuple[Paired, ...]
    games: tuple[Scheduled, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Where everybody stands: lines best first, the names of their criteria, and everybody against everybody.

    `crosstable` has rows and columns in the order of `lines`.
    """

    ranking: tuple[str, ...]
    lines: tuple[Line, ...]
    crosstable: tuple[tuple[Cell | None, ...], ...]


class Course:
    """The course of one contest."""

    def __init__(self, frozen: Frozen) -> None:
        """InputError where its policy scores not every word that a game can end with."""
        self.frozen = frozen
        self._scoring = Scoring(points_table(frozen.policy), frozen.duel)
        self._turns = _turns(frozen)
        self._entries = frozen.by_name()

    # --- what comes ---------------------------------------------------------------------------------

    def next(
        self, paired: Sequence[Paired], results: Iterable[Result | Brief], out: Collection[str] = ()
    ) -> Drawn:
        """The next round, or all of them where none depends on a result; nothing when the contest is over.

        `paired` are all pairings so far, played as far as they ever will be; `out` are the disqualified.
        """
        frozen, entries = self.frozen, self.entries(out)
        if frozen.format.in_advance and not paired:
            rounds = all_rounds(frozen.format, entries, frozen.seed)
        else:
            played = self.played(paired, results)
            rounds = [frozen.format.next_round(entries, played, frozen.seed)]
        return self._drawn([pairing for each in rounds for pairing in each], len(paired))

    def games(self, paired: Iterable[Paired]) -> tuple[Scheduled, ...]:
        """Every game of `paired`, which are all pairings from the first on."""
        return self._drawn(list(map(_pairing, paired)), 0).games

    def _drawn(self, pairings: Sequence[Pairing], earlier: int) -> Drawn:
        """`earlier` pairings have their numbers already."""
        games = self.frozen.format.games
        found = [
            self._scheduled(fixture, (earlier + place) * games + fixture.game + 1)
            for place, pairing in enumerate(pairings)
            for fixture in fixtures(pairing, games)
        ]
        return Drawn(tuple(map(_stored, pairings)), tuple(found))

    def _scheduled(self, fixture: Fixture, number: int) -> Scheduled:
        spec = self.spec(fixture, number)
        return Scheduled(
            id=spec.id,
            number=number,
            round=fixture.round,
            table=fixture.table,
            game=fixture.game,
            first=fixture.first,
            second=fixture.second,
            spec=spec.model_dump_json(),
        )

    def spec(self, fixture: Fixture, number: int) -> MatchSpec:
        """The match that a game of the schedule is, but for the states of its agents' folders."""
        frozen = self.frozen
        return MatchSpec(
            seats=(self._entries[fixture.first].seat, self._entries[fixture.second].seat),
            policy=frozen.policy,
            opening=schedule(
                frozen.openings,
                fixture.opening,
                frozen.seed if frozen.shuffle else None,
                self._turns,
            ),
            seed=_seed(frozen, fixture),
            number=number,
            box=frozen.box,
        )

    # --- what was -----------------------------------------------------------------------------------

    def entries(self, out: Collection[str] = ()) -> list[Entry]:
        """Everybody as the formats know them."""
        return [
            Entry(
                entry.name, entry.rank, Status.DISQUALIFIED if entry.name in out else Status.PLAYING
            )
            for entry in self.frozen.entries
        ]

    def played(self, paired: Iterable[Paired], results: Iterable[Result | Brief]) -> list[Played]:
        """Each pairing with its games so far and their points; InputError for a game that no pairing has."""
        pairings = list(map(_pairing, paired))
        games = [game_result(each) for each in results]
        return score(pairings, games, self._scoring, self.frozen.format.games)

    def table(self, played: Sequence[Played], out: Collection[str] = ()) -> Table:
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

    def failed(
        self, results: Iterable[Result | Brief], out: Collection[str] = ()
    ) -> Mapping[str, float]:
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


def match_id(spec: MatchSpec) -> str:
    """The id of the match that a played spec belongs to: the states of folders are no part of a schedule."""
    if all(seat.folders is None for seat in spec.seats):
        return spec.id
    bare = tuple(seat.model_copy(update={"folders": None}) for seat in spec.seats)
    return spec.model_copy(update={"seats": bare}).id


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
    return Paired(
        pairing.round,
        pairing.table,
        pairing.first,
        pairing.second,
        pairing.meeting,
        pairing.group,
    )


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
    game = new_game(frozen.policy.game.name, frozen.policy.game.options).describe()
    return symmetries(game["width"], game["height"])


def _seed(frozen: Frozen, fixture: Fixture) -> int:
    """The game's own seed, which also tells it from the same game of another contest; below 2**53, for JSON's sake."""
    text = f"{frozen.name} {frozen.seed} {fixture.round} {fixture.table} {fixture.game}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])
