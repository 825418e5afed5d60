"""CECP engines of Debian's packages, and a contest with the UCI engines.

JUDGE_ENGINE_GAMES=1000 ./scripts/test --engines -k round_robin      more games of the contest
JUDGE_INSTANT_GAMES=20000 ./scripts/test --engines -k instant        more games of instant engines
"""

import collections
import json
import os
import shutil
import subprocess
from pathlib import Path

import judge_chess
import pytest
from engines import (
    CECP_ENGINES,
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
)

pytestmark = NEED_ENGINES

GAMES = int(os.environ.get("JUDGE_ENGINE_GAMES", "90"))
INSTANT_GAMES = int(os.environ.get("JUDGE_INSTANT_GAMES", "200"))
OPENINGS = """1. e4 e5 2. Nf3 Nc6 3. Bb5 a6
1. e4 c5 2. Nf3 d6 3. d4 cxd4
1. d4 d5 2. c4 e6 3. Nc3 Nf6
1. d4 Nf6 2. c4 g6 3. Nc3 Bg7
1. e4 e6 2. d4 d5 3. Nc3 Nf6
1. e4 c6 2. d4 d5 3. e5 Bf5
1. c4 e5 2. Nc3 Nf6 3. g3 d5
1. Nf3 d5 2. g3 Nf6 3. Bg2 c6
"""
DEFECTS = {
    "fairymax": {
        "castling": "castling mates: refused to play: 'positions need feature setboard=1'",
        "en-passant": "en passant mates: refused to play: 'positions need feature setboard=1'",
        "mate": "white mates: refused to play: 'positions need feature setboard=1'",
        "promotion": "a promotion mates: refused to play: 'positions need feature setboard=1'",
    },
    # Its setboard ignores the en passant square.
    "phalanx": {"en-passant": "en passant mates: it answered g2d5, wanted e5d6"},
}
"""Beginnings of the evidence for the checks that an engine does not pass, by engine."""

CRASHES = {("gnuchess", "was ended by signal 6 (SIGABRT)")}
"""Its assertion `nread < BUF_SIZE-1` fails in about 2 % of its games, also with fastchess."""


@pytest.mark.parametrize("engine", CECP_ENGINES, ids=lambda engine: engine.program)
def test_engine_passes_the_check_or_the_report_names_its_defect(engine: Engine, tmp_path: Path) -> None:
    findings = findings_of(engine, tmp_path)
    defects = DEFECTS.get(engine.program, {})

    assert defects == {
        check: evidence[: len(defects.get(check, ""))] for check, evidence in defects_of(findings).items()
    }
    assert {"start", "begin", "time", "quiet", "memory", "end"} <= findings.keys()


def test_gnuchess_as_a_cecp_engine_reads_a_line_only_with_the_next_one(tmp_path: Path) -> None:
    findings = findings_of(Engine("gnuchess", ("--xboard",), "cecp"), tmp_path)

    assert ["start"] == [check for check, finding in findings.items() if finding["grade"] == "fail"]
    assert "was not ready in time" in findings["start"]["evidence"]


@pytest.mark.timeout(7200)
def test_round_robin_of_all_engines_has_no_false_verdict(tmp_path: Path) -> None:
    engines = installed([*ENGINES, *CECP_ENGINES])
    if len(engines) < 2:
        pytest.skip("two engines are needed: apt-get install stockfish phalanx")
    cup = tmp_path / "cup"
    cup.mkdir()
    agents = [make_agent(engine, cup) for engine in engines]
    pairs = len(engines) * (len(engines) - 1) // 2
    games = play_contest(tmp_path, agents, OPENINGS, max(2, 2 * round(GAMES / pairs / 2)), "2+0.02")
    faults = collections.Counter(
        (game.headers["Black" if game.headers["Result"] == "1-0" else "White"], game.headers["Reason"])
        for game in games
        if game.headers["Reason"] not in {*RULE_ENDS, "resigned"}
    )

    assert faults.keys() <= CRASHES, faults
    for game in games:
        if game.headers["Reason"] in RULE_ENDS:
            check_result(game)


@pytest.mark.timeout(7200)
def test_instant_engines_lose_no_game_on_time(tmp_path: Path) -> None:
    """The starter in C with a search of one move."""
    agent = tmp_path / "instant"
    shutil.copytree(Path(judge_chess.__file__).parent / "starter_c", agent, ignore=shutil.ignore_patterns("starter"))
    source = agent / "starter.c"
    source.write_text(source.read_text().replace("MAX_DEPTH = 60", "MAX_DEPTH = 1"))
    subprocess.run(["make"], cwd=agent, check=True, capture_output=True)
    options = ["--clock", "0.2+0.002", "--set", "box.reuse=agent", "--games", str(INSTANT_GAMES), "--out", "games"]
    said = judge(
        tmp_path, "match", "instant", "instant", "--policy", str(POLICY), "--json", *options, "--opening", "1. e4 e5"
    )
    reasons = collections.Counter(game["reason"] for game in json.loads(said)["games"])

    assert INSTANT_GAMES == reasons.total()
    assert set(reasons) <= RULE_ENDS, reasons
