"""Pairs that are left out by ratings, against the records of Gomocup."""

import csv
import os
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

DIFFERENCE = 400

Row = Mapping[str, str]

EXCEPTIONS = {"2022_t": 2, "2023_t": 1, "2024_p": 4, "2025_t": 6, "2026_p": 7}
"""Pairs of each league that the clauses predict wrongly; the organisers used other ratings there."""


def results() -> Path:
    path = Path(os.environ.get("JUDGE_DATA", "/nonexistent")) / "gomocup-results" / "expected"
    if not path.is_dir():
        pytest.skip("set JUDGE_DATA to the directory that holds gomocup-results")
    return path


def rows_of(path: Path) -> Sequence[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def wrong_pairs(pairs: Sequence[Row], ratings: Mapping[str, float]) -> tuple[int, int]:
    """Number of wrong predictions, and of predictions."""
    known = [pair for pair in pairs if pair["status"] != "lost"]
    judged = [pair for pair in known if pair["program1"] in ratings and pair["program2"] in ratings]
    wrong = sum(
        is_left_out(ratings[pair["program1"]], ratings[pair["program2"]], DIFFERENCE) != (pair["status"] == "left out")
        for pair in judged
    )
    return wrong, len(judged)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(2000, 1601, False), (2000, 1600, True), (1600, 2000, True), (0, 2000, False), (2000, 0, False), (0, 0, False)],
)
def test_pair_is_left_out_from_the_difference_on(first: float, second: float, *, expected: bool) -> None:
    assert expected is is_left_out(first, second, DIFFERENCE)


def test_every_pair_of_the_league_years_follows_from_the_ratings_used() -> None:
    expected = results()
    judged = 0
    for path in sorted((expected / "ratings-used").glob("*.csv")):
        ratings = {row["program"]: float(row["rating_used"]) for row in rows_of(path) if row["rating_used"]}
        wrong, count = wrong_pairs(rows_of(expected / "pairs" / path.name), ratings)
        assert 0 == wrong, path.name
        judged += count
    assert judged > 8000


def test_league_without_ratings_leaves_no_pair_out() -> None:
    expected = results()
    rated = {path.name for path in (expected / "ratings-used").glob("*.csv")}
    complete = [path for path in (expected / "pairs").glob("*.csv") if path.name not in rated]
    assert complete
    for path in complete:
        agents = {row[key]: 0.0 for row in rows_of(path) for key in ("program1", "program2")}
        assert 0 == wrong_pairs(rows_of(path), agents)[0], path.name


def test_clauses_predict_the_pairs_from_the_elo_of_the_year_before() -> None:
    """The columns of ratings-used have the Elo of this year's programs in last year's tables of II and I."""
    expected = results()
    for path in sorted((expected / "ratings-used").glob("*.csv")):
        league = path.stem
        if league == "2025_2":  # the record of the year before is faulty
            continue
        rows = [row for row in rows_of(path) if row["rating_used"]]
        tables = [PreviousTable(f"{league} before", elo_of(rows, "elo_II_last_year"))]
        if above := elo_of(rows, "elo_I_last_year"):
            tables.append(PreviousTable(f"above {league} before", above))
        found = league_ratings([row["program"] for row in rows], tables)
        assert {row["program"]: float(row["rating_by_rule"]) for row in rows} == {
            agent: each.rating for agent, each in found.items()
        }, league
        wrong, _ = wrong_pairs(
            rows_of(expected / "pairs" / path.name), {agent: each.rating for agent, each in found.items()}
        )
        assert EXCEPTIONS.get(league, 0) == wrong, league


@pytest.mark.parametrize(
    ("league", "before"), [("2023_f", ["2022_f"]), ("2023_t", ["2022_t", "2022_s"]), ("2026_f", ["2025_f"])]
)
def test_clauses_predict_the_pairs_from_the_tables_of_the_year_before(league: str, before: Sequence[str]) -> None:
    expected = results()
    tables = [
        PreviousTable(
            name,
            {row["program"]: float(row["elo"]) for row in rows_of(expected / "places" / f"{name}.csv") if row["elo"]},
        )
        for name in before
    ]
    pairs = rows_of(expected / "pairs" / f"{league}.csv")
    names = {pair[key] for pair in pairs for key in ("program1", "program2")}
    agents = sorted(agent for agent in names if not agent.startswith("unknown-"))  # lost in the record of 2026_f
    found = {agent: each.rating for agent, each in league_ratings(agents, tables).items()}
    assert EXCEPTIONS.get(league, 0) == wrong_pairs(pairs, found)[0]


FAULTY = {"2024_2", "2025_2", "2026_f"}
"""Leagues with a faulty record, this year or the year before."""


def test_clauses_predict_the_pairs_from_the_games_of_the_year_before() -> None:
    """From records alone: rate last year's games, apply the clauses, compare with the pairs that met this year."""
    root = results().parent
    disqualified = {(row["name"], row["league"]) for row in rows_of(root / "names/blacklist.csv")}
    wrong: dict[str, int] = {}
    judged = 0
    for year in range(2022, 2027):
        for own, above in (("f", ""), ("2", "1"), ("p", "o"), ("t", "s")):
            league = f"{year}_{own}"
            if league in FAULTY or not (root / f"records/{league}.txt").exists():
                continue
            before = "21" if league == "2024_p" else f"{own}{above}"  # the first league on the small board
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


def elo_of(rows: Sequence[Row], column: str) -> Mapping[str, float]:
    """By place, which is the order of Elo."""
    known = {row["program"]: float(row[column]) for row in rows if row[column]}
    return dict(sorted(known.items(), key=lambda item: -item[1]))


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


def test_updated_agents_have_no_rating() -> None:
    assert 0 == league_ratings(["C"], [LOWER], updated={"C"})["C"].rating


def test_tables_without_a_common_agent_are_refused() -> None:
    with pytest.raises(InputError, match=r"no agent is ranked in I .*format\.skip\.agents"):
        league_ratings(["A"], [LOWER, PreviousTable("I", {"S": 1900})])


def test_ratings_are_rounded_half_away_from_zero() -> None:
    assert [1651, 1650, -1, 0] == [round_elo(elo) for elo in (1650.5, 1650.49, -0.5, 0.2)]
