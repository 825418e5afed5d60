"""Contests of racers: agents whose games take a tenth of a second and have the same moves whenever they are played."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from judge.contest import take_snapshot
from judge.contest.begin import begin
from judge.contest.contest import Contest
from judge.contest.plan import Planned
from judge.store.contests import Store
from judge.tournament.snapshot import SnapshotImage

RACER = Path(__file__).parent / "agents" / "racer.py"

MANIFEST = """
name = "{name}"
command = ["python3", "-I", "-S", "racer.py", "{idle}"]
runtime = "python"
"""

AT_ONCE = '"clock.turn_ms=30000", "clock.match_ms=0", "folders.temporary=false", "folders.persistent=false"'
"""What to change in a policy so that no game waits for another one, or is lost on time."""


def write_contest(folder: Path, plan: str, racers: Sequence[int]) -> Path:
    """A folder with a contest.toml and agents `racer-0`, `racer-1`...; the fewer idle stones, the better."""
    folder.mkdir()
    for number, idle in enumerate(racers):
        agent = folder / f"racer-{number}"
        agent.mkdir()
        (agent / "racer.py").write_text(RACER.read_text())
        (agent / "agent.toml").write_text(MANIFEST.format(name=agent.name, idle=idle))
        plan += f'\n[[agents]]\npath = "{agent.name}"\n'
    (folder / "contest.toml").write_text(plan)
    return folder


def begin_in_processes(store: Store, planned: Planned) -> Contest:
    """Begin or open a contest whose boxes are processes; no organiser can, for it isolates nothing, but it is fast."""
    plan = planned.plan.model_copy(update={"box": "process"})
    # No Engine is asked for the images that nothing will run in.
    with patch.object(
        take_snapshot, "images_of", lambda runtimes, _=(): dict.fromkeys(runtimes, SnapshotImage(id="", content=""))
    ):
        return begin(store, replace(planned, plan=plan), {})
