"""UCI engines of Debian's packages pass `judge check` in containers, and their contest has no false verdict."""

import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
from engines import (
    ENGINES,
    NEED_ENGINES,
    POLICY,
    RULE_ENDS,
    Engine,
    check_result,
    defects_of,
    findings_of,
    installed,
    judge,
    make_agent,
    play_contest,
    program_of,
)

from judge.games.types import Verdict
from judge.record.spec import read_record
from judge.record.transcript import EntryKind, unseal

pytestmark = NEED_ENGINES

OPENINGS = """rnbqkb1r/pp2pppp/3p1n2/8/3NP3/8/PPP2PPP/RNBQKB1R w KQkq - id "Sicilian";
r1bqkbnr/1ppp1ppp/p1n5/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R b KQkq - id "Spanish";
"""


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.program)
def test_engine_passes_the_check(engine: Engine, tmp_path: Path) -> None:
    findings = findings_of(engine, tmp_path)

    assert {} == defects_of(findings)
    assert {"mate", "castling", "en-passant", "promotion", "repetition", "game-second"} <= findings.keys()


def test_contest_of_engines_is_played_verified_and_exported(tmp_path: Path) -> None:
    engines = installed(ENGINES)
    if len(engines) < 2:
        pytest.skip("two engines are needed: apt-get install stockfish toga2")
    cup = tmp_path / "cup"
    cup.mkdir()
    agents = [make_agent(engine, cup) for engine in engines]
    for game in play_contest(tmp_path, agents, OPENINGS, 2, "2+0.05"):
        assert game.headers["Reason"] in RULE_ENDS
        check_result(game)
        assert re.fullmatch(r"[0-9]{4}\.[0-9]{2}\.[0-9]{2}", game.headers["Date"])


def test_pondering_engine_plays_a_match_that_verifies(tmp_path: Path) -> None:
    stockfish = next(engine for engine in ENGINES if engine.program == "stockfish")
    if program_of(stockfish) is None:
        pytest.skip("stockfish is missing: apt-get install stockfish")
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("pondering needs two cores")
    agent = make_agent(stockfish, tmp_path)
    options = ("--clock", "2+0.05", "--set", "clock.ponder=true", "--set", "game.options.max_moves=40")
    judge(
        tmp_path, "match", str(agent), str(agent), "--policy", str(POLICY), "--games", "1", "--out", "games", *options
    )
    (path,) = (tmp_path / "games").glob("*.json")
    file = read_record(path)
    entries = unseal(file.transcript)

    assert "ok" in judge(tmp_path, "verify", str(path))
    assert file.record.verdict in (Verdict.WIN, Verdict.DRAW), file.record.reason
    assert len(file.record.placement.seat_cores) == 2
    for seat in (0, 1):
        ours = [entry for entry in entries if entry.seat == seat]
        lines = b"".join(entry.data for entry in ours if entry.kind == EntryKind.WROTE)
        assert lines.count(b"\ngo ponder") > 5
        assert lines.count(b"ponderhit\n") > 0
        assert lines.count(b"\nstop\n") + lines.count(b"ponderhit\n") >= lines.count(b"\ngo ponder") - 1
        # Search data arrive before the next command.
        assert [
            after
            for before, after in pairwise(ours)
            if (before.kind, after.kind) == (EntryKind.WROTE, EntryKind.READ)
            and b"go ponder" in before.data
            and b"info depth" in after.data
        ]
