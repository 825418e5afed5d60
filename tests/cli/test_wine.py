"""Games of Windows programs: our own house agent and a faulty brain, compiled for Windows of either width."""

from pathlib import Path

import pytest

from judge.base.resources import IMAGES
from judge.host.build_images import build_images
from judge.referee.spec import read_record
from tests.cli.conftest import QUICK, Judge
from tests.sandbox.mingw import HERE, NEEDS_WINE, WIDTHS, compile_windows

pytestmark = list(NEEDS_WINE)

HASTY = (*QUICK, "--set", "clock.turn_ms=500", "--set", "clock.tolerance_ms=5000")
"""For agents that use their time."""
PLAY = ("house-instant", "--policy", "gomocup-freestyle", *HASTY, "--json")


@pytest.fixture(scope="module", autouse=True)
def wine() -> None:
    """The runtime, which `judge images build` alone leaves out."""
    build_images(["native", "wine"])


@pytest.mark.parametrize("width", WIDTHS)
def test_the_house_agent_plays_as_a_program_for_windows(judge: Judge, tmp_path: Path, width: int) -> None:
    folders = ("house-strong", "house-five", "house-gomocup")
    sources = [file for name in folders for file in sorted((IMAGES / name).glob("*.c"))]
    compile_windows(sources, tmp_path / "pbrain-strong.exe", width)

    played = judge("match", "pbrain-strong.exe", *PLAY)

    [game] = played.games
    assert (game["verdict"], game["winner"]) == ("win", 0)
    record = tmp_path / game["record"]
    assert "INFO folder Z:\\\\persistent\\r\\n" in record.read_text()
    seat = read_record(record).record.seats[0]
    assert seat.about["name"] == "house-strong"
    assert judge("verify", game["record"]).code == 0


def test_a_program_with_a_window_is_warned_and_plays(judge: Judge, tmp_path: Path) -> None:
    folders = ("house-strong", "house-five", "house-gomocup")
    sources = [file for name in folders for file in sorted((IMAGES / name).glob("*.c"))]
    compile_windows(sources, tmp_path / "pbrain-strong.exe", 64, "-mwindows")

    checked = judge("check", "pbrain-strong.exe", "--policy", "gomocup-freestyle", *HASTY)

    assert checked.code == 0, checked.out
    assert "warning start: " in checked.out
    assert "link it with /SUBSYSTEM:CONSOLE or -mconsole" in checked.out


def test_the_dlls_that_are_missing_are_named(judge: Judge, tmp_path: Path) -> None:
    source, dlls = tmp_path / "main.c", []
    for name in ("one", "two"):
        library = tmp_path / f"{name}.c"
        library.write_text(f"__declspec(dllexport) int {name}(void) {{ return 1; }}\n")
        dlls.append(compile_windows([library], tmp_path / f"{name}-of-mine.dll", 64, "-shared"))
    source.write_text("int one(void);\nint two(void);\nint main(void) { return one() + two(); }\n")
    compile_windows([source, *dlls], tmp_path / "pbrain-x.exe", 64)
    for dll in dlls:
        dll.unlink()

    checked = judge("check", "pbrain-x.exe", "--policy", "gomocup-freestyle", *QUICK)

    assert checked.code == 1
    assert "exited with code 53" in checked.out
    assert "these DLLs are missing: one-of-mine.dll, two-of-mine.dll: link them statically" in checked.out


@pytest.mark.parametrize(("how", "verdict"), [("null", "crash"), ("memory", "memory")])
def test_failing_program_loses_by_its_failure(judge: Judge, tmp_path: Path, how: str, verdict: str) -> None:
    brain = tmp_path / "brain"
    brain.mkdir()
    compile_windows([HERE / "faulty.c"], brain / "faulty.exe", 64)
    (brain / "agent.toml").write_text(f'name = "faulty"\nruntime = "wine"\ncommand = ["faulty.exe", "{how}"]\n')

    played = judge("match", "brain", *PLAY, "--set", "limits.memory_bytes=67108864")

    [game] = played.games
    assert (game["verdict"], game["winner"]) == (verdict, 1)
    assert ("code 5" in game["reason"]) == (how == "null")
