"""Agents from the engines of Debian's packages, and their contests."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import chess.pgn
import judge_chess
import pytest
from chess.pgn import Game

NEED_ENGINES = [
    pytest.mark.engines,
    pytest.mark.skipif(os.environ.get("JUDGE_ENGINES") != "yes", reason="./scripts/test --engines runs them"),
]
POLICY = Path(judge_chess.__file__).parent / "chess.toml"
RULE_ENDS = {
    "checkmate",
    "stalemate",
    "insufficient material",
    "threefold repetition",
    "500 moves of each side",
    "50 moves without capture or pawn move",
}

GAMES = "/usr/games:/usr/local/bin:/usr/bin"
LOADER = "/lib64/ld-linux-x86-64.so.2"
IN_IMAGE = re.compile(r"lib(c|m|dl|pthread|stdc\+\+|gcc_s)\.so\.[0-9]+")
"""Libraries of the image `native`."""


class Engine(NamedTuple):
    """A program, its package, the arguments that it needs in a container, and data files."""

    program: str
    arguments: tuple[str, ...] = ()
    protocol: str = "uci"
    files: tuple[str, ...] = ()

    @property
    def package(self) -> str:
        return self.program


ENGINES = (
    Engine("stockfish"),
    Engine("fairy-stockfish"),
    Engine("ethereal-chess"),
    Engine("glaurung"),
    Engine("toga2"),
    Engine("gnuchess", ("--uci",)),
)
CECP_ENGINES = (
    Engine("phalanx", ("-b", "-", "-l", "-"), "cecp"),
    Engine("sjeng", (), "cecp"),
    Engine("fairymax", ("20", "fmax.ini"), "cecp", ("/usr/share/games/fairymax/fmax.ini",)),
    Engine("hoichess", ("--xboard",), "cecp"),
)


def installed(engines: Iterable[Engine]) -> list[Engine]:
    return [engine for engine in engines if program_of(engine) is not None]


def program_of(engine: Engine) -> Path | None:
    found = shutil.which(engine.program, path=GAMES)
    return None if found is None else Path(found)


def make_agent(engine: Engine, folder: Path) -> Path:
    """A folder with the program, the libraries that the image lacks, and its manifest."""
    program = program_of(engine)
    assert program is not None, f"install {engine.package}"
    agent = folder / engine.program
    agent.mkdir()
    shutil.copy(program, agent / "engine")
    linked = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    libraries = [Path(path) for name, path in re.findall(r"(\S+) => (/\S+)", linked) if not IN_IMAGE.fullmatch(name)]
    for library in libraries:
        shutil.copy(library, agent / library.name)
    for file in engine.files:
        shutil.copy(file, agent)
    words = [LOADER, "--library-path", "/agent:.", "./engine"] if libraries else ["./engine"]
    command = json.dumps([*words, *engine.arguments])
    text = f'name = "{engine.program}"\ncommand = {command}\nprotocol = "{engine.protocol}"\n'
    (agent / "agent.toml").write_text(text)
    return agent


def judge(folder: Path, *arguments: str, is_ok: bool = True) -> str:
    command = [sys.executable, "-m", "judge.cli", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert not is_ok or done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def findings_of(engine: Engine, folder: Path) -> dict[str, dict[str, str]]:
    """The findings of `judge check` in a container, by check; skips the test if the engine is not installed."""
    if program_of(engine) is None:
        pytest.skip(f"{engine.program} is missing: apt-get install {engine.package}")
    agent = make_agent(engine, folder)
    report = json.loads(judge(folder, "check", str(agent), "--policy", f"{POLICY}:fast", "--json", is_ok=False))
    return {finding["check"]: finding for finding in report["findings"]}


def defects_of(findings: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The evidence of each check that is not passed. A warning of `time` may come from a busy host."""
    return {
        check: finding["evidence"]
        for check, finding in findings.items()
        if finding["grade"] != "pass" and (check, finding["grade"]) != ("time", "warning")
    }


def play_contest(folder: Path, agents: Sequence[Path], openings: str, games: int, control: str) -> list[Game]:
    """A round robin with `games` games of each pair, verified; the games as python-chess reads them."""
    cup = folder / "cup"
    shutil.copy(POLICY, cup)
    (cup / "openings.epd").write_text(openings)
    listed = "".join(f'[[agents]]\npath = "{agent.name}"\n' for agent in agents)
    (cup / "contest.toml").write_text(
        f'name = "engines"\npolicy = "chess.toml"\nchange = ["clock.control={control}"]\n'
        f'[openings]\nfile = "openings.epd"\n[format]\nname = "round-robin"\ngames = {games}\n{listed}'
    )
    judge(folder, "contest", "run", "cup")
    judge(folder, "contest", "key", "cup/organiser.key")
    judge(folder, "contest", "export", "public", "cup")
    assert "public: ok: engines, " in judge(folder, "contest", "verify", "public")
    stream = io.StringIO((folder / "public/games.pgn").read_text())
    found = []
    while (game := chess.pgn.read_game(stream)) is not None:
        assert game.errors == []
        found.append(game)
    assert games * len(agents) * (len(agents) - 1) // 2 == len(found)
    return found


def check_result(game: Game) -> None:
    """The result of a game that ended by the rules is that of its last position, according to python-chess."""
    board, reason = game.end().board(), game.headers["Reason"]
    outcome = board.outcome(claim_draw=reason in ("threefold repetition", "50 moves without capture or pawn move"))
    if reason != "500 moves of each side":
        assert outcome is not None, reason
        assert outcome.result() == game.headers["Result"]
    assert (reason == "checkmate") == board.is_checkmate()
