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
from judge.record.spec import GameSpec
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "seat"),
    [
        pytest.param(language, seat, marks=() if (language, seat) in {("c", 0), ("python", 1)} else evidence)
        for language in LANGUAGES
        for seat in (0, 1)
    ],
)
def test_starter_reads_its_lines_whatever_others_print(built: Built, tmp_path: Path, language: str, seat: int) -> None:
    (tmp_path / "hostile_stratego.py").write_text(Path(hostile_stratego.__file__).read_text())
    (tmp_path / "agent.toml").write_text(MANIFEST)
    turns = len(hostile_stratego.replies()) + 1
    patience = ("clock.turn_ms=60000", "clock.start_ms=60000", "clock.starved_share=1")
    policy = load_policy("stratego-2012:tolerant", [*patience, f"game.options.turn_limit={turns + 1}"])

    with owned_directory() as staging:
        folders = tmp_path, built(f"starter-stratego-{language}")
        agents = [stage_agent(str(folder), staging) for folder in folders]
        first, second = (agent.seat(policy) for agent in (agents if seat == 0 else agents[::-1]))
        spec = GameSpec(seats=(first, second), policy=policy, box="process")  # without isolation
        file = play(spec, {agent.digest: agent.program for agent in agents})

    assert Verdict.DRAW is file.record.verdict, file.record.reason
    entries = unseal(file.transcript)
    sent = b"".join(entry.data for entry in entries if (entry.kind, entry.seat) == (EntryKind.WROTE, 1 - seat))
    lines = sent.decode("latin-1").split("\n")
    assert [] == [line for line in lines if not is_repeatable(line) or "\r" in line]
    assert [lines[-2]] == [line for line in lines if line.lstrip().startswith("QUIT")]
    # It has read every board in its place: its moves are legal.
    _, game = steps_of(file).record_and_game(Stratego, "Stratego")
    starter_moves = [move.text for move in game.half_moves if move.seat != seat]
    assert turns == len(starter_moves)
    assert [] == [text for text in starter_moves if text.endswith(" ILLEGAL")]
    assert [] == verify(file).problems
