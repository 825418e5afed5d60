"""What an agent prints changes no line that another agent reads: every byte, in both seats, against every starter."""

import sys
from pathlib import Path

import pytest

from judge.agents.agents import stage_agent
from judge.base.owner import owned_directory
from judge.base.text import is_repeatable
from judge.catalog.files import steps_of
from judge.games.stratego import Stratego
from judge.games.types import Verdict
from judge.play.game import play
from judge.record.policy import load_policy
from judge.record.spec import GameSpec, RecordFile
from judge.record.transcript import EntryKind, unseal
from judge.referee.verify import verify
from tests.examples import evidence
from tests.starters import hostile_stratego
from tests.starters.conftest import LANGUAGES, Built

MANIFEST = f"""name = "hostile"
command = ["{sys.executable}", "hostile_stratego.py"]
runtime = "native"
protocol = "stratego"
"""
PATIENT = ("clock.turn_ms=60000", "clock.start_ms=60000", "clock.starved_share=1")


def written(folder: Path) -> Path:
    """An agent whose replies are all odd, in a folder."""
    folder.mkdir()
    (folder / "hostile_stratego.py").write_text(Path(hostile_stratego.__file__).read_text())
    (folder / "agent.toml").write_text(MANIFEST)
    return folder


def game_of(hostile: Path, starter: Path, seat: int, policy: str, *changes: str) -> RecordFile:
    """A game in boxes without isolation; the hostile agent has `seat`."""
    with owned_directory() as staging:
        rules = load_policy(policy, [*PATIENT, *changes])
        agents = [stage_agent(str(hostile), staging), stage_agent(str(starter), staging)]
        first, second = (agent.seat(rules) for agent in (agents if seat == 0 else agents[::-1]))
        spec = GameSpec(seats=(first, second), policy=rules, box="process")
        return play(spec, {agent.digest: agent.program for agent in agents})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "seat"),
    [
        pytest.param(language, seat, marks=() if (language, seat) in {("c", 0), ("python", 1)} else evidence)
        for language in LANGUAGES
        for seat in (0, 1)
    ],
)
def test_a_starter_reads_its_own_lines_whatever_its_opponent_prints(
    built: Built, tmp_path: Path, language: str, seat: int
) -> None:
    hostile = written(tmp_path / "hostile")
    turns = len(hostile_stratego.replies()) + 1
    limit = f"game.options.turn_limit={turns + 1}"

    file = game_of(hostile, built(f"starter-stratego-{language}"), seat, "stratego-2012:tolerant", limit)

    assert Verdict.DRAW is file.record.verdict, file.record.reason
    entries = unseal(file.transcript)
    sent = b"".join(entry.data for entry in entries if (entry.kind, entry.seat) == (EntryKind.WROTE, 1 - seat))
    lines = sent.decode("latin-1").split("\n")
    assert [] == [line for line in lines if not is_repeatable(line) or "\r" in line]
    assert [lines[-2]] == [line for line in lines if line.lstrip().startswith("QUIT")]
    # It has read every board in its place: its moves are legal.
    _, game = steps_of(file).record_and_game(Stratego, "Stratego")
    own = [move.text for move in game.half_moves if move.seat != seat]
    assert turns == len(own)
    assert [] == [text for text in own if text.endswith(" ILLEGAL")]
    assert [] == verify(file).problems
