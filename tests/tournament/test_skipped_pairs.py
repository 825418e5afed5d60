"""Pairs that are left out by ratings, against the records of Gomocup."""

import re
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.contest_games import GameResult
from judge.games.types import Verdict
from judge.statistics.rating_model import BAYESELO_MODEL
from judge.statistics.ratings import rate
from judge.tournament.skipped_pairs import PreviousTable, SourcedRating, is_left_out, league_ratings, round_elo
from tests.statistics.cup_records import data, rows

DIFFERENCE = 400


EXCEPTIONS = {"2022_t": 2, "2023_t": 1, "2024_p": 4, "2025_t": 6, "2026_p": 7}
"""Pairs of each league that the clauses predict wrongly; the organisers used other ratings there."""


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(2000, 1601, False), (2000, 1600, True), (1600, 2000, True), (0, 2000, False), (2000, 0, False), (0, 0, False)],
)
def test_pair_is_left_out_from_the_difference_on(first: float, second: float, *, expected: bool) -> None:
    assert expected is is_left_out(first, second, DIFFERENCE)


FAULTY = {"2024_2", "2025_2", "2026_f"}
"""Leagues with a faulty record, this year or the year before."""


def test_clauses_predict_the_pairs_from_the_games_of_the_year_before() -> None:
    """From records alone: rate last year's games, apply the clauses, compare with the pairs that met this year."""
    root = data()
    disqualified = {(row["name"], row["league"]) for row in rows(root / "names/blacklist.csv")}
    wrong: dict[str, int] = {}
    judged = 0
    for year in range(2022, 2027):
        for suffix, above in (("f", ""), ("2", "1"), ("p", "o"), ("t", "s")):
            league = f"{year}_{suffix}"
            if league in FAULTY or not (root / f"records/{league}.txt").exists():
                continue
            before = "21" if league == "2024_p" else f"{suffix}{above}"  # the first league on the small board
            tables = [
                PreviousTable(name, rated(root, name, disqualified)) for name in (f"{year - 1}_{s}" for s in before)
            ]
            record = record_of(root, league)
            agents = sorted({name for first, second, *_ in record for name in (first, second)})
            found = league_ratings(agents, tables)
            for first, second, *wins in record:
                judged += 1
                is_wrong = is_left_out(found[first].rating, found[second].rating, DIFFERENCE) is any(wins)
                wrong[league] = wrong.get(league, 0) + is_wrong
    assert EXCEPTIONS == {league: count for league, count in wrong.items() if count}
    assert 10_104 == judged


def record_of(root: Path, league: str) -> Sequence[tuple[str, str, int, int]]:
    """Pairs with the wins of each side."""
    text = (root / f"records/{league}.txt").read_text(encoding="utf-8-sig")
    lines = re.findall(r"^(.+?) - (.+?): *(\d+) *: *(\d+)", text, re.MULTILINE)
    return [(first, second, int(won), int(lost)) for first, second, won, lost in lines]


def rated(root: Path, league: str, disqualified: Set[tuple[str, str]]) -> Mapping[str, float]:
    record = record_of(root, league)
    games = max(won + lost for *_, won, lost in record)
    played: list[GameResult] = []
    for first, second, won, lost in record:
        if won + lost and disqualified.isdisjoint({(first, league), (second, league)}):
            played += [GameResult(first, second, first, Verdict.WIN)] * won
            played += [GameResult(first, second, second, Verdict.WIN)] * lost
            played += [GameResult(first, second, None, Verdict.DRAW)] * (games - won - lost)
    return {rating.agent: rating.elo for rating in rate(played, BAYESELO_MODEL).ratings}


LOWER = PreviousTable("II", {"A": 1700.4, "B": 1650.5, "C": 1500})
UPPER = PreviousTable("I", {"S": 1900, "A": 1400, "B": 1330.6, "T": 1300})


def test_relegated_agents_are_shifted_as_the_last_promoted_one() -> None:
    found = league_ratings(["A", "B", "C", "T", "N"], [LOWER, UPPER])
    assert found == {
        "A": SourcedRating(rating=1720, reason="Elo 1400 in I, shifted by +320 as B"),
        "B": SourcedRating(rating=1651, reason="Elo 1331 in I, shifted by +320 as B"),
        "C": SourcedRating(rating=1500, reason="Elo 1500 in II"),
        "T": SourcedRating(rating=1620, reason="Elo 1300 in I, shifted by +320 as B"),
        "N": SourcedRating(rating=0, reason="new: not ranked in II or I"),
    }
    assert 0 == league_ratings(["C"], [LOWER], updated={"C"})["C"].rating
    with pytest.raises(InputError, match=r"no agent is ranked in I .*format\.skip\.agents"):
        league_ratings(["A"], [LOWER, PreviousTable("I", {"S": 1900})])
    # Half away from zero.
    assert [1651, 1650, -1, 0] == [round_elo(elo) for elo in (1650.5, 1650.49, -0.5, 0.2)]
