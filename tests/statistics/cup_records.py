"""Results of real leagues: a small one here, and all others in the directory that JUDGE_DATA names."""

import csv
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from judge.contest_games import PairResult

CARO_2026 = """\
ALPHAGOMOKU.MK26 - JAX25: 7 : 1
ALPHAGOMOKU.MK26 - EMBRYO26: 18 : 3
ALPHAGOMOKU.MK26 - KATAGOMO26: 24 : 0
ALPHAGOMOKU.MK26 - LAVENDER: 24 : 0
ALPHAGOMOKU.MK26 - SQUIRREL24: 24 : 0
ALPHAGOMOKU.MK26 - PELA23: 24 : 0
JAX25 - EMBRYO26: 9 : 2
JAX25 - KATAGOMO26: 22 : 1
JAX25 - LAVENDER: 24 : 0
JAX25 - SQUIRREL24: 24 : 0
JAX25 - PELA23: 24 : 0
EMBRYO26 - KATAGOMO26: 24 : 0
EMBRYO26 - LAVENDER: 23 : 0
EMBRYO26 - SQUIRREL24: 24 : 0
EMBRYO26 - PELA23: 24 : 0
KATAGOMO26 - LAVENDER: 20 : 4
KATAGOMO26 - SQUIRREL24: 16 : 8
KATAGOMO26 - PELA23: 24 : 0
LAVENDER - SQUIRREL24: 14 : 10
LAVENDER - PELA23: 22 : 1
SQUIRREL24 - PELA23: 19 : 2
"""
"""Gomocup 2026, caro: wins of both; the rest of 24 games are draws."""

GAMES = 24
"""Games of a pair in all leagues since 2017."""


def data() -> Path:
    """The directory of real records; skips the test where it is missing."""
    root = os.environ.get("JUDGE_DATA", "")
    path = Path(root, "gomocup-results")
    if not root or not path.is_dir():
        pytest.skip("set JUDGE_DATA to the directory that has gomocup-results")
    return path


def rows(path: Path) -> list[Mapping[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def results_of(text: str) -> Iterator[PairResult]:
    """Pairs of a record that met."""
    for line in text.splitlines():
        found = re.fullmatch(r"(\S+) - (\S+): (\d+) : (\d+)", line)
        assert found is not None
        wins, losses = int(found[3]), int(found[4])
        if wins or losses:
            yield PairResult(found[1], found[2], wins, GAMES - wins - losses, losses)


def league_results(league: str) -> list[PairResult]:
    """Results of a league-year without disqualified programs; restored ones of the two faulty records."""
    restored = data() / "restored" / f"{league}.csv"
    if restored.exists():
        return [
            PairResult(row["program1"], row["program2"], *(int(row[key]) for key in ("wins1", "draws", "wins2")))
            for row in rows(restored)
        ]
    out = {row["name"] for row in rows(data() / "names/blacklist.csv") if row["league"] == league}
    text = (data() / "records" / f"{league}.txt").read_text()
    return [result for result in results_of(text) if out.isdisjoint(result[:2])]
