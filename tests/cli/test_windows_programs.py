"""Windows programs: our house agent, a faulty brain, and programs of others, brains where some are at hand.

Those that are always there are no brains, but real programs of a foreign compiler.
"""

import os
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from judge.base.resources import IMAGES
from judge.host.build_images import build_images
from judge.record.spec import read_record
from tests.cli.conftest import QUICK, Judge
from tests.examples import of_evidence
from tests.sandbox.mingw import HERE, NEEDS_WINE, compile_windows, packaged_programs

pytestmark = [*NEEDS_WINE]

BRAINS = os.environ.get("JUDGE_TEST_BRAINS", "")
"""A directory of archives with Gomocup brains, as Gomocup has them."""


def launcher(name: str) -> Path:
    path = Path(str(distribution(name.partition("/")[0]).locate_file(name)))
    if not path.is_file():  # some distributions leave them out of their packages
        pytest.skip(f"this Python's {name} is not there")
    return path


@pytest.fixture(scope="module")
def wine() -> None:
    build_images(["native", "wine"])


@pytest.mark.parametrize("width", [32, *of_evidence(64)])
def test_real_program_that_ends_reports_why(judge: Judge, wine: None, width: int) -> None:
    """Nothing is missing but the file that it looks for."""
    program = launcher(f"setuptools/cli-{width}.exe")
    checked = judge("check", str(program), "--policy", "gomocup-freestyle", *QUICK, code=1)

    assert f"Cannot open \\\\\\\\?\\\\Z:\\\\agent\\\\cli-{width}-script.py" in checked.out
    assert "its output reports a missing file" in checked.out
    assert "DLLs" not in checked.out


@pytest.mark.parametrize("width", [64, *of_evidence(32)])
def test_the_dlls_that_a_real_program_misses_are_named(judge: Judge, wine: None, width: int) -> None:
    """A calculator of the distribution, without the two DLLs that its package has beside it."""
    program = packaged_programs(width) / "mpicalc.exe"
    checked = judge("check", str(program), "--policy", "gomocup-freestyle", *QUICK, code=1)

    assert "these DLLs are missing: libgcrypt-20.dll, libgpg-error-0.dll: link them statically" in checked.out


CUP = """
name = "cup"
policy = "gomocup-freestyle"
change = ["clock.turn_ms=300", "clock.match_ms=10000", "clock.starved_share=1"]
[format]
name = "round-robin"
games = 1
[[agents]]
path = "house-instant"
"""


@pytest.mark.long
@pytest.mark.timeout(3600)  # as many as there are
def test_real_brains_are_submitted_and_play(judge: Judge, wine: None, tmp_path: Path) -> None:
    """Each is accepted, and every game of it counts and verifies; or it is refused with the reason."""
    if not BRAINS:
        pytest.skip("JUDGE_TEST_BRAINS names no directory with archives of brains")
    archives = [path for path in sorted(Path(BRAINS).iterdir()) if zipfile.is_zipfile(path)]
    build_images(["native", "unpacker", "keeper"])
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup" / "contest.toml").write_text(CUP)
    accepted = 0
    for archive in archives:
        sent = judge("submit", str(archive), "cup", "--name", archive.stem.lower(), "--author", archive.stem)
        sys.stdout.write(f"{archive.name}: {'accepted' if sent.code == 0 else sent.out + sent.err}\n")
        assert (sent.code == 0) or (sent.code == 1 and "refused: " in sent.out)
        accepted += sent.code == 0
    assert accepted, f"no brain of {BRAINS} was accepted"

    judge("contest", "run", "cup", code=0)

    sys.stdout.write(judge("contest", "standings", "cup").out)
    for game in range(1, accepted * (accepted + 1) // 2 + 1):
        assert 0 == judge("show", "cup", "--game", str(game), "--record", f"{game}.json").code
        judge("verify", f"{game}.json", code=0)


HASTY = (*QUICK, "--set", "clock.turn_ms=500", "--set", "clock.tolerance_ms=5000")
"""For agents that use their time."""
PLAY = ("house-instant", "--policy", "gomocup-freestyle", *HASTY, "--json")


def compile_house_agent(folder: Path, width: int, *options: str) -> None:
    names = ("house-strong", "house-five", "house-gomocup")
    sources = [file for name in names for file in sorted((IMAGES / name).glob("*.c"))]
    compile_windows(sources, folder / "pbrain-strong.exe", width, *options)


@pytest.mark.parametrize("width", [64, *of_evidence(32)])
def test_the_house_agent_plays_as_a_program_for_windows(judge: Judge, wine: None, tmp_path: Path, width: int) -> None:
    compile_house_agent(tmp_path, width)

    [game] = judge("match", "pbrain-strong.exe", *PLAY).games
    assert (game["verdict"], game["winner"]) == ("win", 0)
    record = tmp_path / game["record"]
    assert "INFO folder Z:\\\\persistent\\r\\n" in record.read_text()
    assert read_record(record).record.seats[0].about["name"] == "house-strong"
    assert judge("verify", game["record"]).code == 0


def test_a_program_with_a_window_is_warned_and_plays(judge: Judge, wine: None, tmp_path: Path) -> None:
    compile_house_agent(tmp_path, 64, "-mwindows")

    checked = judge("check", "pbrain-strong.exe", "--policy", "gomocup-freestyle", *HASTY, code=0)

    assert "warning start: " in checked.out
    assert "link it with /SUBSYSTEM:CONSOLE or -mconsole" in checked.out


@pytest.mark.parametrize(("how", "verdict"), [("null", "crash"), ("memory", "memory")])
def test_failing_program_loses_by_its_failure(judge: Judge, wine: None, tmp_path: Path, how: str, verdict: str) -> None:
    brain = tmp_path / "brain"
    brain.mkdir()
    compile_windows([HERE / "faulty.c"], brain / "faulty.exe", 64)
    (brain / "agent.toml").write_text(f'name = "faulty"\nruntime = "wine"\ncommand = ["faulty.exe", "{how}"]\n')

    [game] = judge("match", "brain", *PLAY, "--set", "limits.memory_bytes=67108864").games
    assert (game["verdict"], game["winner"]) == (verdict, 1)
    assert ("code 5" in game["reason"]) == (how == "null")
