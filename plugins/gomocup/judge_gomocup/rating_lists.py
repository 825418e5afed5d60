"""Rating lists over years from records of leagues and tables of names: Gomocup's lists since 2000.

A name in a record becomes a version, `RAPFI 2025`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from judge.contest_games import GameResult, PairResult, summed
from judge.statistics.certainty import pair_results
from judge.tournament.skipped_pairs import round_elo
from judge_gomocup.bayes_ratings import BayesRating, bayes_ratings

ACTIVE_YEARS = 5
"""A version that played in one of the last years is active."""

_FULL_NAME = re.compile(r"([A-Z_\\.-]+)([0-9]+)")
_BEGIN_OF_NAME = re.compile(r"([A-Z_\\-]+)([0-9]+)")


class RecordLine(NamedTuple):
    """A pair in a record; games that neither won are draws, if the pair met."""

    number: int
    """Of its line, from 1."""
    first: str
    second: str
    wins: int
    losses: int
    draws: int | None = None
    """Known for contests only."""

    @property
    def decided(self) -> int:
        """Number of decided games."""
        return self.wins + self.losses


@dataclass(frozen=True, slots=True)
class LeagueRecord:
    """Results of a league in a year."""

    year: int
    suffix: str
    lines: Sequence[RecordLine]

    @property
    def league(self) -> str:
        """Its name, such as `2026_c`."""
        return f"{self.year}_{self.suffix}"


@dataclass(frozen=True, slots=True)
class ListRule:
    """A list: its leagues, the games that a rank needs, and a shift in Elo."""

    name: str
    suffixes: frozenset[str]
    min_games: int
    extra_bias: int


@dataclass(frozen=True, slots=True)
class NameTables:
    """Tables of names."""

    nicknames: Mapping[str, str]
    """Version by name, or by name and year without a blank."""
    shown: Mapping[str, str]
    """Displayed name by version."""
    blacklist: frozenset[tuple[str, str]]
    """Name and league of disqualified programs."""
    anchors: Sequence[tuple[str, int]]
    """Ratings of versions; the first one in a list sets its scale."""
    rules: Sequence[ListRule]
    """The last one is the reference."""

    def version(self, name: str, year: int) -> str:
        """The version that a name means in a year."""
        for key in (f"{name}{year}", name):
            if key in self.nicknames:
                return self.nicknames[key]
        found = _FULL_NAME.fullmatch(name) or _BEGIN_OF_NAME.match(name)
        if found is None:
            return name
        digits = found[2]
        is_year = len(digits) == 2 and digits[0] in "012"
        return f"{found[1]} {'20' if is_year else ''}{digits}"

    def kept(self, record: LeagueRecord) -> list[RecordLine]:
        """Without disqualified programs."""
        out = {name for name, league in self.blacklist if league == record.league}
        return [line for line in record.lines if out.isdisjoint((line.first, line.second))]


@dataclass(frozen=True, slots=True)
class ListRow:
    """`rank` is None unless it is the best of its family, active, and has enough games."""

    version: str
    shown: str
    rank: int | None
    elo: int
    plus: int
    minus: int
    games: int
    score: int
    opponents: int
    draws: int
    is_active: bool
    first_year: int
    last_year: int


def family(version: str) -> str:
    """The name without the year."""
    return version.split(" ", 1)[0]


def rating_list(records: Sequence[LeagueRecord], names: NameTables, rule: ListRule) -> list[ListRow]:
    """The list, best version first. `records` are all records, by year."""
    rows = _anchored_list(records, names, rule)
    reference = names.rules[-1]
    if rule == reference:
        return rows
    there = {row.shown: row.elo for row in _anchored_list(records, names, reference)}
    differences = [there[row.shown] - row.elo for row in rows if row.shown in there]
    # A list without a common version keeps the scale of its anchor.
    bias = round(sum(differences) / len(differences)) if differences else 0
    return _shifted(rows, bias + rule.extra_bias)


def contest_list(results: Iterable[GameResult], year: int) -> list[ListRow]:
    """The list of one contest, best first. Each agent is a version; games that both lost do not count."""
    return [_row(rating, year, year, rank) for rank, rating in enumerate(bayes_ratings(pair_results(results)), 1)]


def record_lines(results: Iterable[GameResult]) -> list[RecordLine]:
    """The pairs of a contest; names are upper-case. Ignores games that both lost."""
    pairs = summed(
        PairResult(
            game.first.upper(),
            game.second.upper(),
            int(game.winner == game.first),
            int(game.is_draw),
            int(game.winner == game.second),
        )
        for game in results
    )
    return [
        RecordLine(number, pair.first, pair.second, pair.wins, pair.losses, pair.draws)
        for number, pair in enumerate(pairs, 1)
        if any(pair[2:])
    ]


def _anchored_list(records: Iterable[LeagueRecord], names: NameTables, rule: ListRule) -> list[ListRow]:
    chosen = [record for record in records if record.suffix in rule.suffixes]
    results: list[PairResult] = []
    first_year: dict[str, int] = {}
    last_year: dict[str, int] = {}
    for record in chosen:
        lines = names.kept(record)
        versions = {name: names.version(name, record.year) for line in lines for name in (line.first, line.second)}
        first_year = dict.fromkeys(versions.values(), record.year) | first_year
        last_year |= dict.fromkeys(versions.values(), record.year)
        results += _results(lines, versions)
    since = max((record.year for record in chosen), default=0) - ACTIVE_YEARS
    active_versions = {version for version, year in last_year.items() if year > since}
    active_families = {family(version) for version in active_versions}
    rows: list[ListRow] = []
    ranked: set[str] = set()
    for rating in bayes_ratings(summed(each for each in results if family(each.first) != family(each.second))):
        version, its_family = rating.player, family(rating.player)
        is_active = version in active_versions or its_family not in active_families
        has_rank = is_active and rating.games >= rule.min_games and its_family not in ranked
        if has_rank:
            ranked.add(its_family)
        row = _row(rating, first_year[version], last_year[version], len(ranked) if has_rank else None, is_active)
        rows.append(replace(row, shown=names.shown.get(version, version)))
    by_version = {row.version: row for row in rows}
    for version, elo in names.anchors:
        if version in by_version:
            return _shifted(rows, elo - by_version[version].elo)
    return rows


def _row(rating: BayesRating, first_year: int, last_year: int, rank: int | None, is_active: bool = True) -> ListRow:
    return ListRow(
        version=rating.player,
        shown=rating.player,
        rank=rank,
        elo=round_elo(rating.elo),
        plus=round_elo(rating.plus),
        minus=round_elo(rating.minus),
        games=rating.games,
        score=rating.score_percent,
        opponents=round_elo(rating.opponents),
        draws=rating.draw_percent,
        is_active=is_active,
        first_year=first_year,
        last_year=last_year,
    )


def _results(lines: Sequence[RecordLine], players: Mapping[str, str]) -> list[PairResult]:
    """The most decided games of a line are the games of a pairing."""
    games = max((line.decided for line in lines), default=0)
    return [
        PairResult(
            players[line.first],
            players[line.second],
            line.wins,
            games - line.decided if line.draws is None else line.draws,
            line.losses,
        )
        for line in lines
        if line.decided or line.draws
    ]


def _shifted(rows: Iterable[ListRow], bias: int) -> list[ListRow]:
    return [replace(row, elo=row.elo + bias, opponents=row.opponents + bias) for row in rows]
