"""A box that is kept for its agent: what a former game left is gone, or the box is."""

import os
import platform
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import docker
import pytest
from docker.models.containers import Container
from structlog.testing import capture_logs

from judge.base.owner import Owner
from judge.base.procfs import children_of, started_ticks
from judge.base.worker_processes import Worker
from judge.sandbox.box import BoxPolicy, FolderKind, Limits
from judge.sandbox.docker.docker_box import DockerBox
from judge.sandbox.docker.engine import Engine
from judge.sandbox.docker.kept import KEPT, MAX_IDLE_CONTAINERS, log_no_effect
from judge.sandbox.docker.reaper import reap
from judge.sandbox.docker.renewal import helper
from judge.sandbox.machine.cgroup import UNIFIED, find_cgroups
from tests.examples import of_evidence
from tests.forked import ForkedProcess, run
from tests.patience import PATIENCE_S, until
from tests.sandbox.conftest import GROUP, Lodge, of
from tests.sandbox.guest import Guest
from tests.sandbox.killed_judges import play

KERNEL = tuple(map(int, platform.release().split(".")[:2]))
IS_UNIFIED = Path("/sys/fs/cgroup/cgroup.controllers").exists()

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root renews boxes"),
    pytest.mark.skipif(
        IS_UNIFIED and KERNEL < (6, 12), reason="with cgroup v2 no kernel before Linux 6.12 forgets a peak of memory"
    ),
]

ROOT = Path(__file__).parents[3]
REUSE = BoxPolicy(reuse="agent")
THROWN_AWAY = "a box that cannot be proved clean is thrown away; the next game gets a fresh one"


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    """No box of another test is there, and none stays."""
    KEPT.close()
    yield
    KEPT.close()


def begin(lodge: Lodge, digest: str = "one", **options: Any) -> Guest:
    """A puppet in its first or its next game."""
    return lodge("puppet", policy=options.pop("policy", REUSE), digest=digest, **options).move_in()


def finish(guest: Guest) -> None:
    """The agent ends by itself, and the game is over."""
    guest.tell("leave 0")
    guest.end()
    guest.box.leave()
    guest.box.close()


def container_of(guest: Guest) -> str:
    assert isinstance(guest.box, DockerBox)
    return guest.box._prepared.id


def own_containers() -> list[str]:
    with closing(Engine(PATIENCE_S)) as engine:
        return [each["Id"] for each in engine.labelled(f"judge.owner={Owner.me().encode()}")]


def owned_by(pid: int) -> list[str]:
    """The containers of a judge process."""
    with closing(Engine(PATIENCE_S)) as engine:
        owners = [each["Labels"]["judge.owner"] for each in engine.labelled("judge.owner")]
    return [owner for owner in owners if f":{pid}:" in owner]


def why_thrown_away(logs: list[Any]) -> list[str]:
    return [line["why"] for line in logs if line["event"] == THROWN_AWAY]


ASKED = (
    *("list /tmp", "list /home/agent", "list /dev/shm", "cwd", "status Pid", "status SigIgn"),
    *("write /tmp/a", "write b"),
)


def test_the_next_game_of_the_same_agent_finds_the_same_container_as_new(lodge: Lodge) -> None:
    first = begin(lodge)
    container, is_reused = container_of(first), first.box.is_reused
    seen = [first.ask(line) for line in ASKED]
    for path in ("/tmp/full", "full", "/dev/shm/full"):
        first.ask(f"fill {path}")
    finish(first)
    second = begin(lodge, seat=1)

    assert (container, False, True) == (container_of(second), is_reused, second.box.is_reused)
    assert seen == [second.ask(line) for line in ASKED]


def test_a_box_serves_no_other_agent_and_no_other_policy(lodge: Lodge) -> None:
    first = begin(lodge)
    finish(first)
    others = [
        begin(lodge, digest="two"),
        begin(lodge, policy=REUSE.model_copy(update={"freeze": "none"})),
        begin(lodge, limits=Limits(processes=8)),
    ]

    assert [False] * 3 == [other.box.is_reused for other in others]


def test_by_default_and_without_a_digest_no_box_is_kept(lodge: Lodge) -> None:
    for options in ({"policy": BoxPolicy()}, {"digest": ""}, {"policy": REUSE.once}):
        finish(begin(lodge, **options))

    assert [] == own_containers()


def test_a_box_with_kept_folders_or_another_profile_serves_one_game(lodge: Lodge, native: None) -> None:
    with closing(Engine(PATIENCE_S)) as engine:
        engine.create_volume("judge-test-reuse", "size=1048576,mode=1777", {"judge.owner": Owner.me().encode()})
        try:
            finish(begin(lodge, folders={FolderKind.PERSISTENT: "judge-test-reuse"}))
            finish(begin(lodge, policy=REUSE.model_copy(update={"seccomp_of": {"native": "engine"}})))

            assert [] == own_containers()
        finally:
            engine.remove_volume("judge-test-reuse")


def test_an_agent_that_was_killed_gets_a_fresh_box(lodge: Lodge) -> None:
    first = begin(lodge)
    first.box.kill()
    first.box.leave()
    first.box.close()

    assert [] == own_containers()
    assert not begin(lodge).box.is_reused


def run_process(container: Container) -> None:
    container.exec_run(["sleep", "1000"], detach=True)
    with closing(Engine(PATIENCE_S)) as engine:
        groups = find_cgroups(int(engine.state(str(container.id))["Pid"]), str(container.id))
    assert groups is not None
    processes = groups.get("memory", groups.get(UNIFIED, Path())) / "cgroup.procs"
    until(lambda: len(processes.read_text().split()) >= 2)


MEDDLING: dict[str, tuple[Callable[[Container], object], str]] = {
    "killed": (Container.kill, "its PID 1 has ended"),
    "paused": (Container.pause, "another program has frozen it"),
    "entered": (run_process, "there are other processes"),
}
"""What an outsider does to a container between two games, and why it is thrown away."""


@pytest.mark.parametrize("how", MEDDLING)
def test_a_container_that_is_changed_between_games_costs_a_fresh_start(
    lodge: Lodge, outsider: docker.DockerClient, how: str
) -> None:
    meddle, why = MEDDLING[how]
    first = begin(lodge)
    container = container_of(first)
    finish(first)
    meddle(outsider.containers.get(container))
    with capture_logs() as logs:
        second = begin(lodge)

    assert why in why_thrown_away(logs)[0]
    assert not second.box.is_reused
    assert "hello" == second.ask("say hello")
    assert container not in own_containers()


def test_where_the_helper_ends_the_next_box_has_another_one(lodge: Lodge) -> None:
    first = begin(lodge)
    helper()._process.kill()
    with capture_logs() as logs:
        finish(first)
    assert "the helper inside of containers does not answer" in why_thrown_away(logs)[0]

    second = begin(lodge)
    finish(second)

    assert [False, True] == [second.box.is_reused, begin(lodge).box.is_reused]


@of(GROUP)
def test_without_root_each_game_gets_a_fresh_box_and_the_log_explains_it(lodge: Lodge) -> None:
    log_no_effect.cache_clear()
    with capture_logs() as logs:
        for _ in range(2):
            finish(begin(lodge))

    (line,) = [line for line in logs if line["event"].startswith("box.reuse has no effect")]
    assert "only a judge that is root" in line["why"]
    assert [] == own_containers()


def test_few_boxes_are_kept_and_the_oldest_goes_first(lodge: Lodge) -> None:
    for number in range(MAX_IDLE_CONTAINERS + 1):
        finish(begin(lodge, digest=str(number)))

    assert MAX_IDLE_CONTAINERS == len(own_containers())
    assert [False, True] == [begin(lodge, digest=digest).box.is_reused for digest in ("0", str(MAX_IDLE_CONTAINERS))]


STEPS = ("_renew", "waiting", *of_evidence("_clean", "_give_memory_back", "prove", "put"))


@pytest.mark.parametrize("step", STEPS)
def test_a_judge_that_is_killed_in_the_middle_of_a_reuse_leaves_nothing(step: str, program: Path, native: None) -> None:
    words = [sys.executable, "-m", "tests.sandbox.killed_judges", "reuse", str(program), step]
    with ForkedProcess[str](words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as judge:
        assert judge.stdout
        assert "ready\n" in judge.stdout
        helpers = children_of(judge.pid)
        judge.send_signal(signal.SIGKILL)
    reap()

    assert [] == owned_by(judge.pid)
    assert helpers
    until(lambda: all(started_ticks(pid) is None for pid in helpers), "the helpers end when their judge does")


def test_a_worker_and_a_judge_that_end_leave_nothing(program: Path, native: None) -> None:
    worker: Worker[int] = Worker()
    worker.start(play, program, "end")
    pid = worker.result()
    assert 1 == len(owned_by(pid))
    worker.close()
    assert [] == owned_by(pid)

    words = [sys.executable, "-m", "tests.sandbox.killed_judges", "reuse", str(program), "end"]
    done = run(words, cwd=ROOT, text=True, timeout=PATIENCE_S)
    assert [] == owned_by(int(done.stdout.split()[-1]))
