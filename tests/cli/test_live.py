"""The live view in a real terminal: what a person sees, what stays, and that no game notices."""

import json
import os
import signal
from pathlib import Path

import pytest

from judge.base.procfs import children_of
from tests.cli.brains import write_brain
from tests.cli.terminal import begin_match, is_in_order

FORMAT = ("--policy", "gomocup-standard:fast", "--box", "process")
PATIENT = ("--set", "clock.turn_ms=60000", "--set", "clock.tolerance_ms=60000")

TALKS = "say('MESSAGE depth 9 ev 120 \\x1b]0;owned\\x07[red]pv[/]')"
WAITS = f"""{TALKS}
import pathlib
while not pathlib.Path({{go!r}}).exists(): time.sleep(0.01)"""


def test_a_running_game_is_on_the_screen_and_its_end_stays(tmp_path: Path) -> None:
    """The agent waits for the test, so what is seen is seen while its clock runs."""
    go = tmp_path / "go"
    slow = write_brain(tmp_path, "slow", WAITS.format(go=str(go)))
    terminal = begin_match(tmp_path, slow, "house-instant", *FORMAT, *PATIENT)

    terminal.until(lambda text: "depth 9" in text and "turn " in text)
    shown = ("▶  ● ", "\\x1b]0;owned\\x07[red]pv[/]", "○  white house-instant", " 1 · · ·")
    terminal.until(lambda text: all(words in text for words in shown))
    first = terminal.text
    terminal.until(lambda text: text != first and all(words in text for words in shown))

    go.touch()
    end = terminal.to_the_end(0)

    assert "record records" in end
    assert any(words in end for words in ("wins (win)", "drawn (draw)"))
    assert is_in_order(terminal)
    # Nothing that the agent said was obeyed.
    assert b"\x1b]0;owned" not in terminal.written


def test_a_series_shows_its_progress_and_ends_with_its_score(tmp_path: Path) -> None:
    go = tmp_path / "go"
    write_brain(tmp_path, "slow", WAITS.format(go=str(go)))
    terminal = begin_match(tmp_path, "./slow.py", "house-instant", *FORMAT, *PATIENT, "--games", "2")

    terminal.until(lambda text: "game 1 of 2" in text and "0/2, to go ?" in text)
    go.touch()
    end = terminal.to_the_end(0)

    assert "2/2, to go 0.0 s" in end
    assert "score: slow " in end


def test_quiet_shows_results_only(tmp_path: Path) -> None:
    terminal = begin_match(tmp_path, "house-python", "house-instant", *FORMAT, *PATIENT, "--quiet", "--games", "2")

    end = terminal.to_the_end()

    assert b"\x1b[?1049h" not in terminal.written
    assert "game 2: house-instant - house-python" in end
    assert "score: house-python" in end
    assert "   1. house-python" not in end


def test_json_on_a_terminal_is_json_and_nothing_else(tmp_path: Path) -> None:
    terminal = begin_match(tmp_path, "house-python", "house-instant", *FORMAT, *PATIENT, "--json")

    terminal.to_the_end()

    assert b"\x1b" not in terminal.written.split(b"{", 1)[1]
    assert 1 == len(json.loads(b"{" + terminal.written.split(b"{", 1)[1])["games"])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_judge_that_is_ended_leaves_the_terminal_in_order(tmp_path: Path, number: signal.Signals, code: int) -> None:
    slow = write_brain(tmp_path, "slow", WAITS.format(go=str(tmp_path / "never")))
    terminal = begin_match(tmp_path, slow, "house-instant", *FORMAT, *PATIENT)
    terminal.until(lambda text: "depth 9" in text)

    if number == signal.SIGINT:
        terminal.type("\x03")
    else:
        os.kill(terminal.pid, number)
    terminal.to_the_end(code)

    assert is_in_order(terminal)


def test_a_view_that_is_killed_does_not_disturb_the_games(tmp_path: Path) -> None:
    go = tmp_path / "go"
    slow = write_brain(tmp_path, "slow", WAITS.format(go=str(go)))
    terminal = begin_match(tmp_path, slow, "house-instant", *FORMAT, *PATIENT)
    terminal.until(lambda text: "depth 9" in text)

    children = [(pid, Path(f"/proc/{pid}/cmdline").read_bytes()) for pid in children_of(terminal.pid)]
    (view,) = (pid for pid, command in children if b"judge.terminal.live" in command)
    os.kill(view, signal.SIGKILL)
    go.touch()
    assert "record records" in terminal.to_the_end(0)


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
def test_the_memory_of_containers_is_shown(tmp_path: Path) -> None:
    slow = write_brain(tmp_path, "slow", f"{TALKS}\ntime.sleep(60)")
    terminal = begin_match(
        tmp_path, slow, "house-instant", "--policy", "gomocup-standard:fast", *PATIENT,
        "--set", "limits.memory_bytes=104857600",
    )  # fmt: skip

    # The cap is the memory and the writable directories: 100 + 20 + 20 + 16 + 1 MiB.
    terminal.until(lambda text: text.count("/157 MiB") == 2)
    os.kill(terminal.pid, signal.SIGTERM)
    terminal.to_the_end(143)
