"""Games for slots: brains whose moves a test holds back."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from judge.agents.agents import stage_agent
from judge.base.procfs import started_ticks
from judge.contest.attempts import Job
from judge.contest.executor import LocalExecutor
from judge.contest_games import ScheduledGame
from judge.record.policy import load_policy
from judge.record.spec import GameSpec, KeptFolders
from judge.sandbox.archive import EMPTY
from judge.sandbox.box import BoxKind
from tests.cli.brains import write_brain
from tests.patience import until

PATIENT = ["clock.start_ms=600000", "clock.match_ms=0", "clock.starved_share=1"]

HELD = """
import pathlib
here = pathlib.Path({folder!r})
(here / ("begun-" + {name!r})).touch()
while not (here / ("go-" + {name!r})).exists():
    time.sleep(0.005)
"""


class House:
    """A folder with what games need."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "staging").mkdir(exist_ok=True)

    def held(self, name: str) -> Job:
        """A game in process boxes, whose first agent says that it has begun, and then does nothing before it may go."""
        at_once = HELD.format(folder=str(self.folder), name=name)
        return self.job(name, at_once)

    def job(self, name: str, at_once: str, box: BoxKind = "process", *, kept: bool = False) -> Job:
        """A game of the brain that does something `at_once` against one that does not, with or without folders."""
        agents = [
            stage_agent(write_brain(self.folder, each, at_once=does), self.folder / "staging")
            for each, does in ((f"first-{name}", at_once), (f"second-{name}", ""))
        ]
        policy = load_policy("gomocup-fastgame", PATIENT)
        folders = KeptFolders(name="x", temporary=EMPTY.digest, persistent=EMPTY.digest)
        first, second = (
            agent.seat(policy).model_copy(update={"folders": folders if kept else None}) for agent in agents
        )
        spec = GameSpec(seats=(first, second), policy=policy, box=box)
        programs = {agent.digest: agent.program for agent in agents}
        game = ScheduledGame(name, 1, 1, 1, 0, first.name, second.name, spec.model_dump_json(), attempt=1)
        return Job(game, programs)

    def let_go(self, name: str) -> None:
        (self.folder / f"go-{name}").touch()

    def has_begun(self, name: str) -> bool:
        return (self.folder / f"begun-{name}").exists()

    def wait_for(self, name: str) -> None:
        until(lambda: self.has_begun(name), f"{name} has not begun")


def waits_for_a_lock(pid: int) -> bool:
    """Whether a process stands in a queue for the lock of a file, as the kernel has it."""
    lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    return any("->" in line and str(pid) in line.split() for line in lines)


def is_gone(pid: int) -> bool:
    return started_ticks(pid) is None


def agents_alive(folder: Path) -> list[int]:
    """The processes that run a brain of a folder's."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes()
            if str(folder).encode() in words:
                found.append(int(process.name))
    return found


def pids(slots: LocalExecutor) -> Mapping[str, int]:
    return {game.id: process.worker.pid for process, game in slots._running.items() if process.worker.pid}
