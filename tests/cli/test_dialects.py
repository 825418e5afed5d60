"""Every dialect of five in a row in real containers: played, timed, recorded and verified, across protocols too."""

import json
from pathlib import Path

import pytest

from judge.referee.spec import read_record
from judge.referee.transcript import EntryKind, unseal
from tests.cli.conftest import Judge
from tests.examples import evidence

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("nothing_left")]

# Whatever else runs on this machine: the verdict of a game is tested here, not its agents' clocks.
CLOCKS = (
    "--set", "clock.turn_ms=50", "--set", "clock.match_ms=60000",
    "--set", "clock.tolerance_ms=5000", "--set", "clock.starved_share=1",
)  # fmt: skip

BY_THE_RULES = {"win", "draw"}


@pytest.mark.parametrize(
    ("black", "white", "policy"),
    [
        ("house-renju", "house-agi", "renju-15"),
        pytest.param("house-agi", "house-renju", "renju-15", marks=evidence),
        ("house-agi", "house-agi", "agi-renju:rif"),
        pytest.param("house-agi", "house-agi", "agi-renju:yamaguchi", marks=evidence),
        pytest.param("house-agi", "house-agi", "agi-renju:chinese-swap", marks=evidence),
        pytest.param("house-renju", "house-renju", "gomocup-swap2", marks=evidence),
        ("house-renju", "house-strong", "gomocup-swap2"),
        pytest.param("house-strong", "house-renju", "gomocup-swap2", marks=evidence),
        ("house-renju", "house-renju", "gomocup-caro"),
        pytest.param("house-renju", "house-renju", "gomocup-caro:overline", marks=evidence),
    ],
)
def test_a_game_ends_by_its_rules_and_verifies(
    judge: Judge, tmp_path: Path, black: str, white: str, policy: str
) -> None:
    """A Gomocup brain that says UNKNOWN to SWAP2BOARD among them."""
    ran = judge("match", black, white, "--policy", policy, "--json", *CLOCKS)
    assert 0 == ran.code, ran.err
    (played,) = ran.games
    assert played["verdict"] in BY_THE_RULES, played
    assert [None, None] == [seat["fault"] for seat in played["seats"]]
    assert 0 == judge("verify", played["record"]).code


def test_search_information_of_an_agi_engine_is_stored_with_its_moves(judge: Judge, tmp_path: Path) -> None:
    """INFO DEPTH, SCORE, PV and NPS reach the record."""
    ran = judge("match", "house-agi", "house-renju", "--policy", "renju-15", "--json", *CLOCKS)
    record = json.loads((tmp_path / ran.games[0]["record"]).read_text())["record"]
    told = [ply["search"] for ply in record["plies"] if ply["seat"] == 0]
    assert any({"depth", "score", "pv", "nps"} <= search.keys() for search in told)


def test_openings_of_a_file_are_shuffled_and_turned(judge: Judge, tmp_path: Path) -> None:
    """Four games of two openings' passes: both colours each, and no position twice."""
    (tmp_path / "openings.txt").write_text("a1b3\nc1e2\n")
    ran = judge("match", "house-instant", "house-instant", "--policy", "gomocup-standard", "--json",
                "--opening", "openings.txt", "--shuffle", "--transform", "--seed", "3",
                "--set", "game.options.draw_at=10", "--games", "8", "--box", "process", *CLOCKS)  # fmt: skip
    specs = [json.loads((tmp_path / game["record"]).read_text())["record"]["spec"] for game in ran.games]
    openings = [tuple(map(tuple, spec["opening"])) for spec in specs]
    assert openings[::2] == openings[1::2]
    assert 4 == len(set(openings))


def test_agents_that_share_no_dialect_are_refused_before_anything_starts(judge: Judge) -> None:
    """With the agent, its protocol and the fix."""
    ran = judge("match", "house-agi", "house-strong", "--policy", "gomocup-freestyle")
    assert 2 == ran.code
    assert "house-agi speaks agi" in ran.err
    assert "15x15" in ran.err
    ran = judge("match", "house-strong", "house-strong", "--policy", "agi-renju:rif")
    assert 2 == ran.code
    assert "choose another policy or agent" in ran.err


def test_opening_row_of_a_continuous_game_is_sent_as_field_3(judge: Judge, tmp_path: Path) -> None:
    """Gomoku AI protocol, BOARD: 3, only if continuous game is enabled, where a stone is part of a winning line."""
    game = ("--policy", "gomocup-standard", "--set", "game.options.continuous=true")
    opening = ("--set", "game.options.draw_at=20", "--opening", "a1a3b1c3c1e3d1g3e1")
    ran = judge("match", "house-instant", "house-instant", *game, *opening, *CLOCKS, "--json")
    assert 0 == ran.code, ran.err
    (played,) = ran.games
    assert ("win", "rows: black 1, white 0") == (played["verdict"], played["reason"])
    assert 0 == judge("verify", played["record"]).code
    file = read_record(tmp_path / played["record"])
    boards = {
        entry.seat: [line for line in entry.data.decode().splitlines() if line.count(",") == 2]
        for entry in unseal(file.transcript)
        if entry.kind is EntryKind.WROTE and b"BOARD" in entry.data
    }
    row = [f"{x},0,3" for x in range(5)]
    for seat, field in ((0, 2), (1, 1)):
        others = [f"{x},2,{field}" for x in (0, 2, 4, 6)]
        assert sorted(row + others) == sorted(boards[seat][:9])
