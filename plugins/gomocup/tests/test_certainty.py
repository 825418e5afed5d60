"""`judge stats --certainty` of the record of a league."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from judge.base.errors import InputError
from judge.cli import app


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False, env={"COLUMNS": "160"})
    assert 0 == done.exit_code, done.output
    return done.stdout


def document(*words: object) -> Any:
    return json.loads(run(*words, "--json"))


RECORD = """\
RAPFI25 - KATAGOMO26: 7 : 7
RAPFI25 - JAX25: 15 : 2
RAPFI25 - WINE18: 24 : 0
RAPFI25 - CHEATER: 0 : 24
KATAGOMO26 - JAX25: 10 : 2
KATAGOMO26 - WINE18: 24 : 0
KATAGOMO26 - CHEATER: 0 : 24
JAX25 - WINE18: 24 : 0
JAX25 - CHEATER: 0 : 24
WINE18 - CHEATER: 0 : 24
"""
"""Part of Freestyle-15 I 2026, with one more agent."""


@pytest.fixture
def record(tmp_path: Path) -> Path:
    for folder in ("records", "names"):
        (tmp_path / folder).mkdir()
    (tmp_path / "names/blacklist.csv").write_text("name,league\nCHEATER,2026_o\nJAX25,2025_o\n")
    path = tmp_path / "records/2026_o.txt"
    path.write_text(RECORD)
    return path


def test_certainty_of_a_record_is_without_its_disqualified_agents(record: Path) -> None:
    found = document("stats", "--certainty", record)

    assert ["RAPFI25", "KATAGOMO26", "JAX25", "WINE18"] == [rank["agent"] for rank in found["ranks"]]
    assert [{"winner": "RAPFI25", "loser": "KATAGOMO26", "games": 2}] == found["reversals"]
    assert [4, 4] == [found["ranks"][-1]["low_phi"], found["ranks"][-1]["high_phi"]]
    assert "One of 4 places is certain." in run("stats", "--certainty", record)


def test_record_elsewhere_has_no_disqualified_agents(record: Path, tmp_path: Path) -> None:
    moved = record.rename(tmp_path / "2026_o.txt")

    assert "CHEATER" == document("stats", "--certainty", moved)["first"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "has no results"),
        ("A - B: 0 : 0\n", "has no results"),
        ("A - B: 3\n", "line 1: .*is not a result"),
        ("A - B: 3 : 1\nB - A: 1 : 3\n", "line 2: .*also in line 1"),
        ("A - A: 3 : 1\n", "line 1: A against itself"),
        ("A - B: -3 : 1\n", "line 1: -3 wins"),
        ("\N{ZERO WIDTH NO-BREAK SPACE}A - B: 3 : 1\n", "line 1: .*byte order mark"),
    ],
)
def test_invalid_record_is_refused_with_its_line(text: str, error: str, tmp_path: Path) -> None:
    path = tmp_path / "2026_o.txt"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(InputError, match=error):
        run("stats", "--certainty", path)
