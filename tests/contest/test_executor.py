"""A slot's two processes take turns: nothing of the one that waits runs, and neither's death harms the other."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path

import docker
import pytest

from judge.agents.agents import stage_agent
from judge.base.errors import HostError
from judge.base.owner import Owner, directories
from judge.base.procfs import started_ticks
from judge.contest import executor
from judge.contest.attempts import EndedAttempt, Job
from judge.contest.executor import JobShelf, LocalExecutor
from judge.contest_games import ScheduledGame
from judge.host.build_images import build_images
from judge.play.venue import Slot
from judge.record.policy import load_policy
from judge.record.spec import GameSpec, KeptFolders, RecordFile
from judge.sandbox.archive import EMPTY, pack_folder
from judge.sandbox.box import BoxKind
from judge.sandbox.docker.reaper import reap
from judge.sandbox.machine.cores import place_slots, whole_cores
from tests.cli.brains import write_brain
from tests.file_limit import no_more_files
from tests.patience import until

pytestmark = pytest.mark.slow

Play = Callable[..., LocalExecutor]

PATIENT = ["clock.start_ms=600000", "clock.match_ms=0", "clock.starved_share=1"]

BLOCKED = """
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

    def blocked_job(self, name: str) -> Job:
        """A game in process boxes, whose first agent says that it has begun, and then does nothing before it may go."""
        at_once = BLOCKED.format(folder=str(self.folder), name=name)
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


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture
def begin(house: House) -> Iterator[Play]:
    """Begin blocked games. In one slot the first plays, and the second waits for it."""
    open_slots: list[LocalExecutor] = []

    def make(*names: str, slots: int = 1) -> LocalExecutor:
        found = LocalExecutor([Slot() for _ in range(slots)], log=house.folder / "judge.log")
        open_slots.append(found)
        for name in names:
            found.start(house.blocked_job(name))
            if name == names[0]:
                house.wait_for(name)
        if len(names) > slots:
            until(lambda: waits_for_a_lock(pids(found)[names[1]]), "the second game does not wait")
        return found

    yield make
    for each in open_slots:
        each.kill()
        each.close()
    reap(containers=False)
    assert [] == agents_alive(house.folder)


def ended(slots: LocalExecutor) -> dict[str, EndedAttempt]:
    found: dict[str, EndedAttempt] = {}
    while slots.running:
        found |= {finished.game.id: finished for finished in slots.wait(60)}
    return found


def verdict(finished: EndedAttempt) -> str | None:
    return finished.outcome.verdict if finished.outcome else None


def left_by(pid: int) -> list[Path]:
    return [path for path, owner in directories() if owner and owner.pid == pid]


def test_a_game_is_made_ready_while_another_of_its_slot_plays(house: House, begin: Play) -> None:
    slots = begin("one", "two")

    assert (2, 0) == (slots.running, slots.free)
    with pytest.raises(IndexError):
        slots.start(house.blocked_job("three"))
    assert not house.has_begun("two")

    house.let_go("one")
    house.wait_for("two")
    (first,) = slots.wait(60)
    assert ("one", "win") == (first.game.id, verdict(first))
    assert 1 == slots.free

    house.let_go("two")
    assert "win" == verdict(ended(slots)["two"])


def test_waiting_for_the_slot_is_no_time_of_the_game(house: House, begin: Play) -> None:
    house.let_go("two")
    slots = begin("one", "two")
    house.let_go("one")
    first, second = (
        RecordFile.model_validate_json(finished.record).record
        for _, finished in sorted(ended(slots).items())
        if finished.outcome
    )

    assert first.started_at <= second.started_at
    for game in (first, second):
        # what an agent is charged with lies within the time in which its game had the slot
        assert max(seat.charged_ms for seat in game.seats) <= 1000 * game.seconds


def test_games_go_to_the_slot_that_has_the_fewest(house: House, begin: Play) -> None:
    slots = begin("one", "two", slots=2)
    house.wait_for("two")

    for name in ("one", "two"):
        house.let_go(name)
    ended(slots)


def test_no_game_is_made_ready_where_the_judge_has_no_core_for_it() -> None:
    with closing(LocalExecutor([Slot(cores=(0,), judge_cores=(0,))])) as shared:
        assert 1 == shared.free
    with closing(LocalExecutor([Slot(cores=(1,), judge_cores=(0,))])) as apart:
        assert 2 == apart.free
    with closing(LocalExecutor([Slot()], ahead=0)) as alone:
        assert 1 == alone.free


def test_slots_that_share_their_cores_have_one_process(house: House) -> None:
    slot = Slot(cores=(0,), judge_cores=(0,))
    slots = LocalExecutor([slot, slot], log=house.folder / "judge.log", holds_cores=True)
    try:
        for name in ("one", "two"):
            slots.start(house.blocked_job(name))
        for name in ("one", "two"):
            house.wait_for(name)
        process = {pids(slots)[name] for name in ("one", "two")}
        assert 1 == len(process)

        os.kill(process.pop(), signal.SIGKILL)
        assert {"one", "two"} == {name for name, end in ended(slots).items() if end.error is not None}

        for name in ("one", "two"):
            house.let_go(name)
            slots.start(house.blocked_job(name))
        assert ["win", "win"] == [verdict(end) for end in ended(slots).values()]
    finally:
        slots.kill()
        slots.close()
        reap(containers=False)


def test_waiting_game_continues_when_the_playing_process_is_killed(house: House, begin: Play) -> None:
    house.let_go("two")
    slots = begin("one", "two")
    os.kill(pids(slots)["one"], signal.SIGKILL)

    found = ended(slots)
    assert "WorkerLostError" == type(found["one"].error).__name__
    assert "win" == verdict(found["two"])

    house.let_go("three")
    for name in ("three", "four"):
        slots.start(house.blocked_job(name))
    house.let_go("four")
    assert {"three": "win", "four": "win"} == {name: verdict(each) for name, each in ended(slots).items()}


def test_playing_game_continues_when_the_waiting_process_is_killed(house: House, begin: Play) -> None:
    slots = begin("one", "two")
    os.kill(killed := pids(slots)["two"], signal.SIGKILL)

    (lost,) = slots.wait(60)
    assert ("two", None) == (lost.game.id, verdict(lost))
    assert not house.has_begun("two")
    house.let_go("one")
    assert "win" == verdict(ended(slots)["one"])

    assert [] != left_by(killed)
    reap(containers=False)
    assert [] == left_by(killed)


def test_a_process_that_is_killed_between_two_games_is_replaced(house: House, begin: Play) -> None:
    house.let_go("one")
    slots = begin("one")
    killed = pids(slots)["one"]
    ended(slots)
    os.kill(killed, signal.SIGKILL)
    until(lambda: is_gone(killed), "it lives")

    house.let_go("two")
    house.let_go("three")
    for name in ("two", "three"):
        slots.start(house.blocked_job(name))
    played = [verdict(each) for each in ended(slots).values()]
    # nobody may have noticed before the game was given to it: then that attempt is lost, and no more
    assert "win" in played
    assert 2 == slots.free


@pytest.mark.parametrize("sharing", [1, 2], ids=["own cores", "shared cores"])
def test_slot_whose_process_cannot_be_started_plays_the_next_game(
    house: House, monkeypatch: pytest.MonkeyPatch, sharing: int
) -> None:
    """A game whose process never starts is lost, one whose process starts later is played; no slot is lost."""
    monkeypatch.setattr(executor, "RETRY_INTERVAL_S", 0.0)
    slot = Slot(cores=(0,), judge_cores=(0,))
    slots = LocalExecutor([slot] * sharing, log=house.folder / "judge.log", holds_cores=True)
    try:
        jobs = [house.blocked_job(name) for name in ("one", "two")]
        with no_more_files():
            for job in jobs[:sharing]:
                slots.start(job)
            assert (0, sharing) == (slots.free, slots.running)
            lost = ended(slots)
        assert ["one", "two"][:sharing] == list(lost)
        for end in lost.values():
            assert isinstance(end.error, HostError)
            assert "no process can be started for the game: [Errno 24] Too many open files" in str(end.error)
        assert (sharing, 0) == (slots.free, slots.running)

        house.let_go("one")
        with no_more_files():
            slots.start(jobs[0])
        assert {"one": "win"} == {name: verdict(each) for name, each in ended(slots).items()}

        with no_more_files():
            slots.start(jobs[1])
            assert ["two"] == [game.id for game in slots.kill()]
        assert (sharing, 0) == (slots.free, slots.running)
    finally:
        slots.kill()
        slots.close()
        reap(containers=False)


@pytest.mark.parametrize("sharing", [1, 2], ids=["own cores", "shared cores"])
def test_slot_plays_after_its_game_was_killed(house: House, sharing: int) -> None:
    slot = Slot(cores=(0,), judge_cores=(0,))
    slots = LocalExecutor([slot] * sharing, log=house.folder / "judge.log", holds_cores=True)
    try:
        slots.start(house.blocked_job("one"))
        house.wait_for("one")
        assert ["one"] == [game.id for game in slots.kill()]
        assert (sharing, 0) == (slots.free, slots.running)

        house.let_go("two")
        slots.start(house.blocked_job("two"))
        assert {"two": "win"} == {name: verdict(each) for name, each in ended(slots).items()}
    finally:
        slots.kill()
        slots.close()
        reap(containers=False)


def test_all_end_when_they_are_killed(house: House, begin: Play) -> None:
    slots = begin("one", "two")
    workers = list(pids(slots).values())

    assert {"one", "two"} == {game.id for game in slots.kill()}

    for pid in workers:
        until(lambda pid=pid: is_gone(pid), "a process lives")  # type: ignore[misc]
    reap(containers=False)
    assert [] == agents_alive(house.folder)
    assert [] == [path for pid in workers for path in left_by(pid)]


def cores_of(client: docker.DockerClient, game: str) -> list[str]:
    """On which cores the containers of a game are that run, by the kernel's word; sorted."""
    cores = []
    for each in client.api.containers(filters={"label": f"judge.game={game}"}):
        with suppress(FileNotFoundError, docker.errors.NotFound):  # it may end meanwhile
            first = client.api.inspect_container(each["Id"])["State"]["Pid"]
            status = Path(f"/proc/{first}/status").read_text()
            cores.append(status.split("Cpus_allowed_list:")[1].split()[0])
    return sorted(cores)


@pytest.mark.alone
@pytest.mark.docker
def test_boxes_wait_on_the_judges_core_and_nothing_is_left_of_them(house: House) -> None:
    """The game that plays is killed: the next, with its folders ready, takes its cores; then everything is killed."""
    placement = place_slots(whole_cores())
    if placement.shared:
        pytest.skip("the judge has no core of its own here")
    build_images(["python", "keeper"])
    slot = Slot(placement.slots[0], placement.judge)
    judges, agents = (",".join(map(str, cores)) for cores in (slot.judge_cores, slot.cores))
    jobs = {name: house.job(name, "time.sleep(600)", "docker", kept=True) for name in ("one", "two")}
    ids = {name: job.spec().id for name, job in jobs.items()}
    slots = LocalExecutor([slot])
    with closing(slots), closing(docker.from_env()) as client:
        slots.start(jobs["one"])
        plays = sorted([agents, agents, judges])  # the keeper of its folders is one of them
        until(lambda: plays == cores_of(client, ids["one"]), "it has no cores")
        slots.start(jobs["two"])
        workers = pids(slots)
        until(lambda: waits_for_a_lock(workers["two"]), "the second game does not wait")
        assert [judges] * 3 == cores_of(client, ids["two"])

        os.kill(workers["one"], signal.SIGKILL)
        (lost,) = slots.wait(60)
        assert "one" == lost.game.id
        until(lambda: plays == cores_of(client, ids["two"]), "it does not take the cores")
        slots.kill()
        for pid in workers.values():
            until(lambda pid=pid: is_gone(pid), "a process lives")  # type: ignore[misc]

        assert set() != things_of(client, set(workers.values()))
        reap()
        assert set() == things_of(client, set(workers.values()))


def test_folder_that_an_agent_emptied_is_no_state_of_an_answer() -> None:
    """A packed directory without files is another object than the empty state of a folder that was never used."""
    shelf = JobShelf({})

    shelf.put(0, pack_folder({}))

    assert {} == shelf.left


def things_of(client: docker.DockerClient, makers: set[int]) -> set[str]:
    labelled = {"label": "judge.owner"}
    containers = client.api.containers(all=True, filters=labelled)
    volumes = client.api.volumes(filters=labelled)["Volumes"] or []
    return {
        str(each.get("Id") or each["Name"])
        for each in (*containers, *volumes)
        if Owner.decode(each["Labels"]["judge.owner"]).pid in makers
    }
