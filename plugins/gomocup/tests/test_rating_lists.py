"""Rating lists: versions of names, folded versions, anchors and calibration."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from judge_gomocup.rating_lists import (
    LeagueRecord,
    ListRow,
    ListRule,
    NameTables,
    RecordLine,
    rating_list,
    record_lines,
)

from judge.contest_games import GameResult
from judge.games.types import Verdict

NAMES = NameTables(
    nicknames={"OLD.GUARD": "GUARD 1999", "OLD.GUARD2024": "GUARD 2024", "LONE": "LONE"},
    shown={"ADA 2026": "Ada (new) 2026"},
    blacklist=frozenset({("CRASH", "2026_a")}),
    anchors=[("MISSING 1", 9), ("CLEO 7", 1500), ("ADA 2026", 1)],
    rules=[
        ListRule("one", frozenset("a"), 10, 0),
        ListRule("other", frozenset("b"), 0, 100),
        ListRule("all", frozenset("ab"), 0, 0),
    ],
)


def record(year: int, suffix: str, *results: str) -> LeagueRecord:
    """From results such as `ADA26 8 CLEO7 2`: wins of both."""
    lines = []
    for number, result in enumerate(results, 1):
        first, wins, second, losses = result.split()
        lines.append(RecordLine(number, first, second, int(wins), int(losses)))
    return LeagueRecord(year, suffix, lines)


def rows(records: Sequence[LeagueRecord], names: NameTables = NAMES, at: int = 0) -> Mapping[str, ListRow]:
    return {row.version: row for row in rating_list(records, names, names.rules[at])}


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("RAPFI25", "RAPFI 2025"),
        ("PELA05", "PELA 2005"),
        ("PISQ7", "PISQ 7"),
        ("HEWER38", "HEWER 38"),
        ("TITO2010", "TITO 2010"),
        ("ALPHA.MK19", "ALPHA.MK 2019"),
        ("KATAGOMO21.S", "KATAGOMO 2021"),
        ("PENTAZEN21.20", "PENTAZEN 2021"),
        ("DEEP_BLUE-X12", "DEEP_BLUE-X 2012"),
        ("A.B21.C", "A.B21.C"),
        ("BENJAMIN", "BENJAMIN"),
        ("6GOMOKU", "6GOMOKU"),
        ("OLD.GUARD", "GUARD 1999"),
        ("LONE", "LONE"),
    ],
)
def test_version_of_a_name(name: str, version: str) -> None:
    assert version == NAMES.version(name, 2026)


def test_nickname_of_a_year_precedes_that_of_all_years() -> None:
    assert ("GUARD 2024", "GUARD 1999") == (NAMES.version("OLD.GUARD", 2024), NAMES.version("OLD.GUARD", 2025))


def test_first_anchor_in_the_list_sets_its_scale() -> None:
    found = rows([record(2026, "a", "ADA26 8 CLEO7 2")])

    assert 1500 == found["CLEO 7"].elo == found["ADA 2026"].opponents
    assert ("Ada (new) 2026", "CLEO 7") == (found["ADA 2026"].shown, found["CLEO 7"].shown)


def test_pairs_of_two_names_of_a_version_are_added() -> None:
    """A pairing has ten games, so ADA26.F drew five."""
    found = rows([record(2026, "a", "ADA26 8 CLEO7 2", "ADA26.F 1 CLEO7 4")])

    assert (20, 58, 25) == (found["ADA 2026"].games, found["ADA 2026"].score, found["ADA 2026"].draws)


def test_pairs_of_one_family_pairs_that_did_not_meet_and_disqualified_programs_are_dropped() -> None:
    kept = record(2026, "a", "ADA26 8 CLEO7 2")
    more = record(2026, "a", "ADA26 8 CLEO7 2", "ADA26 9 ADA25 1", "CLEO7 0 BERT26 0", "CRASH 0 CLEO7 20")

    assert rows([kept]) == rows([more])


def test_family_is_ranked_once_with_its_best_active_version() -> None:
    """BERT 2020 is better and not active; CLEO has no active version and is ranked; DORA has too few games."""
    old = record(2020, "a", "BERT20 9 CLEO7 1", "BERT20 10 EVE20 0")
    new = record(2026, "a", "ADA26 9 BERT26 1", "ADA25 8 BERT26 2", "DORA26 0 ADA26 9")
    found = rows([old, new])

    assert {"BERT 2020": False, "ADA 2025": True, "CLEO 7": True} == {
        version: found[version].is_active for version in ("BERT 2020", "ADA 2025", "CLEO 7")
    }
    ranks = {version: row.rank for version, row in found.items()}
    assert None is ranks["BERT 2020"]
    assert None not in (ranks["BERT 2026"], ranks["CLEO 7"], ranks["EVE 2020"])
    assert [1, None] == sorted((ranks["ADA 2025"], ranks["ADA 2026"]), key=lambda rank: rank or 99)
    assert sorted(rank for rank in ranks.values() if rank) == [1, 2, 3, 4, 5]
    assert found["DORA 2026"].games == 10


def test_versions_with_too_few_games_have_no_rank() -> None:
    names = replace(NAMES, rules=[replace(NAMES.rules[0], min_games=11), *NAMES.rules[1:]])
    found = rows([record(2026, "a", "ADA26 8 CLEO7 2", "ADA26 5 BERT26 5")], names)

    assert [("ADA 2026", 1), ("BERT 2026", None), ("CLEO 7", None)] == sorted(
        (version, row.rank) for version, row in found.items()
    )


def test_other_lists_are_calibrated_to_the_reference_and_shifted() -> None:
    """The list `other` has an extra shift of 100; the programs of both lists set its scale."""
    records = [record(2026, "a", "ADA26 8 CLEO7 2"), record(2026, "b", "ADA26 7 BERT26 3")]
    reference, other = rows(records, at=2), rows(records, at=1)

    shared = ("ADA 2026", "BERT 2026")
    mean = sum(other[version].elo - reference[version].elo for version in shared) / 2
    assert abs(mean - 100) <= 0.5


def test_order_of_lines_and_files_has_no_effect() -> None:
    records = [
        record(2025, "a", "ADA25 8 CLEO7 2", "BERT25 4 ADA25 6", "CLEO7 3 BERT25 7"),
        record(2026, "a", "BERT25 4 CLEO7 1", "ADA26 5 BERT25 0"),
    ]
    backwards = [replace(each, lines=each.lines[::-1]) for each in records]

    assert rows(records) == rows(backwards)


def test_games_of_a_contest_become_lines_with_known_draws() -> None:
    both_lost = GameResult("ada26", "Cleo7", None, Verdict.ILLEGAL)
    games = [
        GameResult("ada26", "Cleo7", "ada26", Verdict.WIN),
        GameResult("Cleo7", "ada26", "ada26", Verdict.CRASH),
        GameResult("Cleo7", "ada26", None, Verdict.DRAW),
        both_lost,
        GameResult("Cleo7", "bert", None, Verdict.DRAW),
    ]

    lines = record_lines(games)
    assert [RecordLine(1, "ADA26", "CLEO7", 2, 0, 1), RecordLine(2, "BERT", "CLEO7", 0, 0, 1)] == lines
    assert [] == record_lines([both_lost])
    found = rows([LeagueRecord(2027, "a", lines)])
    assert {"ADA 2026": (3, 33), "BERT": (1, 100), "CLEO 7": (4, 50)} == {
        version: (row.games, row.draws) for version, row in found.items()
    }


def test_years_of_a_version_are_those_of_its_records() -> None:
    records = [record(year, "a", "ADA26 8 CLEO7 2") for year in (2026, 2027)]

    assert (2026, 2027) == (rows(records)["ADA 2026"].first_year, rows(records)["CLEO 7"].last_year)
