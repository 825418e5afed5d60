"""`judge contest run` on a terminal: what the organiser sees, and that no agent's word is obeyed."""

import re
import sys
from pathlib import Path

import pytest

from judge.host.build_images import build_images
from tests.cli.brains import write_brain
from tests.cli.contests import SLOW, write_contest
from tests.cli.terminal import Terminal
from tests.examples import evidence

JUDGE = (sys.executable, "-m", "judge.cli")

REFUSES = "ERROR \x1b]0;owned\x07 [red]no[/]"


@pytest.fixture(scope="module", autouse=True)
def images() -> None:
    """What the boxes run in."""
    build_images(["native", "python", "keeper"])


@pytest.mark.docker
@pytest.mark.parametrize("size", [(80, 24), pytest.param((140, 40), marks=evidence)], ids=["80x24", "140x40"])
def test_a_panel_shows_how_far_it_is_and_ctrl_c_ends_it(tmp_path: Path, size: tuple[int, int]) -> None:
    """The organiser types Ctrl-C while a game runs; an agent refuses to start, in words that a terminal would obey."""
    cup = tmp_path / "cup"
    cup.mkdir()
    write_brain(cup, "slow", SLOW.format(pause=2))
    write_brain(cup, "refuses", start=REFUSES)
    write_contest(cup, ["slow.py", "refuses.py", "slow.py"], games=1)
    terminal = Terminal([*JUDGE, "contest", "run", "cup", "--workers", "1"], tmp_path, *size)

    terminal.until(lambda text: re.search("cup  0 of 3 games, [12] running", text) is not None)
    parts = (
        r"^cup  2 of 3 games, 1 running, [\d.]+ a minute",
        r"^ +1 +agent-2 - agent-3 +0-1 ",
        r"^ +2 +agent-1 - agent-2 +1-0 ",
        r"^failures since the start: agent-2 2",
        r"^Ctrl-C finishes the running games and stops",
    )
    terminal.until(lambda text: all(re.search(part, text, re.MULTILINE) for part in parts))
    terminal.type("\x03")
    terminal.until(lambda text: "finishing the running games; Ctrl-C again" in text)
    end = terminal.to_the_end()

    assert 0 == terminal.code
    assert "cup  3 of 3 games, 0 running" in end
    assert "judge: to continue: judge contest run cup/contest.toml" in end
    assert b"\x1b]0;owned" not in terminal.written
    assert b"\x1b[?25h" in terminal.written[-200:]


@pytest.mark.docker
def test_a_contest_that_is_over_leaves_its_panel_on_the_screen(tmp_path: Path) -> None:
    write_contest(tmp_path / "cup", ["house-instant", "house-instant"], games=1)
    terminal = Terminal([*JUDGE, "contest", "run", "cup"], tmp_path, 100, 30)

    end = terminal.to_the_end()

    assert 0 == terminal.code
    assert "cup  1 of 1 games" in end
    assert "judge: cup is over; judge contest standings cup/contest.toml" in end
    standings = Terminal([*JUDGE, "contest", "standings", "cup"], tmp_path, 100, 30)
    assert "rating (95 %)" in standings.to_the_end()
