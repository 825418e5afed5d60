"""Rating lists from the records of many years."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.base.errors import InputError
from judge.contest.earlier_contests import read_contest
from judge_gomocup.league_records import LeagueRecords
from judge_gomocup.rating_lists import ListRow, rating_list


@dataclass(frozen=True, slots=True)
class VersionRatings:
    """A list, best first, and the inconsistencies of its records."""

    rows: Sequence[ListRow]
    warnings: Sequence[str]


def ratings(directory: Path, name: str, *, added: Iterable[tuple[str, Path]] = ()) -> VersionRatings:
    """Rate the results in `directory`/records by the rule `name` of `directory`/names/rules.csv.

    `added` are contests or exports of this judge with their year and league, such as `2027_c`. Raises InputError, with
    file and line, for an unreadable record.
    """
    read = LeagueRecords(directory)
    rule = read.rule(name)
    for league, contest in added:
        read.add(league, str(contest), read_contest(contest).counted)
    rows = rating_list(read.records, read.names, rule)
    if not rows:
        raise InputError(f"{directory}: the list {name} has no games; add records of its leagues")
    return VersionRatings(tuple(rows), tuple(read.warnings))
