"""Engines of Debian's packages: each passes `judge check` in a container, and their contest has no false verdict."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import chess.pgn
import judge_chess
import pytest
from engines import ENGINES, Engine, make_agent, program_of

from judge.games.types import Verdict
from judge.referee.spec import read_record
from judge.referee.transcript import EntryKind, unseal

pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(os.environ.get("JUDGE_ENGINES") != "yes", reason="./scripts/test --engines runs them"),
]

POLICY = Path(judge_chess.__file__).parent / "chess.toml"
OPENINGS = """rnbqkb1r/pp2pppp/3p1n2/8/3NP3/8/PPP2PPP/RNBQKB1R w KQkq - id "Sicilian";
r1bqkbnr/1ppp1ppp/p1n5/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R b KQkq - id "Spanish";
"""
FAIR = {"checkmate", "stalemate", "insufficient material", "threefold repetition", "500 moves of each side"}
FAIR |= {"50 moves without capture or pawn move"}


def judge(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "judge.cli", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.program)
def test_engine_passes_the_check(engine: Engine, tmp_path: Path) -> None:
    if program_of(engine) is None:
        pytest.skip(f"{engine.program} is missing: apt-get install {engine.package}")
    agent = make_agent(engine, tmp_path)
    findings = json.loads(judge(tmp_path, "check", str(agent), "--policy", f"{POLICY}:fast", "--json"))["findings"]

    wrong = [finding for finding in findings if finding["grade"] != "pass"]
    assert [] == wrong
    assert {"mate", "castling", "en-passant", "promotion", "game-second"} <= {each["check"] for each in findings}


def test_contest_of_engines_is_played_verified_and_exported(tmp_path: Path) -> None:
    engines = [engine for engine in ENGINES if program_of(engine) is not None]
    if len(engines) < 2:
        pytest.skip("two engines are needed: apt-get install stockfish toga2")
    cup = tmp_path / "cup"
    cup.mkdir()
    shutil.copy(POLICY, cup)
    (cup / "openings.epd").write_text(OPENINGS)
    agents = "".join(f'[[agents]]\npath = "{make_agent(engine, cup).name}"\n' for engine in engines)
    (cup / "contest.toml").write_text(
        'name = "engines"\npolicy = "chess.toml"\nchange = ["clock.control=3+0.05"]\n'
        '[openings]\nfile = "openings.epd"\n[format]\nname = "round-robin"\ngames = 4\n' + agents
    )
    judge(tmp_path, "contest", "run", "cup")
    judge(tmp_path, "contest", "key", "cup/organiser.key")
    judge(tmp_path, "contest", "export", "public", "cup")
    count = 4 * len(engines) * (len(engines) - 1) // 2

    assert "public: ok: engines, " in judge(tmp_path, "contest", "verify", "public")
    stream = io.StringIO((tmp_path / "public/games.pgn").read_text())
    games = []
    while (game := chess.pgn.read_game(stream)) is not None:
        games.append(game)
    assert count == len(games)
    assert [] == [error for game in games for error in game.errors]
    for game in games:
        board = game.end().board()
        reason = game.headers["Reason"]
        assert reason in FAIR, reason
        assert (reason == "checkmate") == board.is_checkmate()
        if board.is_checkmate():
            assert ("0-1", "1-0")[not board.turn] == game.headers["Result"]
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
    written = {
        seat: b"".join(e.data for e in unseal(file.transcript) if (e.kind, e.seat) == (EntryKind.WROTE, seat))
        for seat in (0, 1)
    }

    assert "ok" in judge(tmp_path, "verify", str(path))
    assert file.record.verdict in (Verdict.WIN, Verdict.DRAW), file.record.reason
    assert len(file.record.placement.seat_cores) == 2
    for seat, lines in written.items():
        assert lines.count(b"\ngo ponder") > 5
        assert lines.count(b"ponderhit\n") > 0
        assert lines.count(b"\nstop\n") + lines.count(b"ponderhit\n") >= lines.count(b"\ngo ponder") - 1
        assert (file.record.seats[seat].cpu_ms or 0) > file.record.seats[seat].charged_ms
