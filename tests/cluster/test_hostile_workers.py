"""The owner of a worker's file can slow a contest. He cannot end its scheduler or the contest, nor use their memory."""

import asyncio
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]
import pytest
from distributed.protocol import core
from distributed.protocol.serialize import Serialized, ToPickle, to_serialize

from judge.cluster import cluster as clusters
from judge.cluster.bound_scheduler import checked_message
from judge.cluster.bounded_messages import WORKER_MESSAGE, plain_message
from judge.cluster.cluster import answer_s, largest_answer
from judge.cluster.roster import MAX_SLOTS, slots_in
from judge.cluster.security import invite, make_keys, parse_address
from judge.contest.runner import StopReason
from judge.journal.events import WorkerBarred
from judge.journal.sentences import text_of
from judge.record.policy import load_policy
from tests.attacks.scheduler import ADDRESS, REGISTER, Scheduler, is_refused
from tests.cluster.machines import Cup, Machines
from tests.cluster.rosters import NotedRoster
from tests.examples import evidence, of_evidence
from tests.patience import until

MB = 1 << 20


@pytest.fixture
def bound(tmp_path: Path) -> Iterator[Scheduler]:
    with closing(Scheduler(tmp_path)) as found:
        yield found


FRAMES = {
    "pickle": core.dumps({"op": "x", "y": ToPickle(b"z")}),
    "enum": [
        msgpack.dumps({"__Enum__": True, "__module__": "distributed.core", "__name__": "Status", "name": "running"})
    ],
    "plain data": [msgpack.dumps({"__Serialized__": True, "data": [{}, []]})],
    "no frame": [msgpack.dumps({"__Serialized__": 7})],
    "no frames": [msgpack.dumps({"__Serialized__": 1}), msgpack.dumps({"num-sub-frames": 10**6})],
    "lists": [msgpack.dumps([[]] * 50_000)],
    "maps": [msgpack.dumps([{}] * 15_000 + [[{}] * 15_000])],
    "long list": [b"\xdd\x7f\xff\xff\xff"],
    "no code": [b"\xc1"],
    "nothing": [b""],
}


@pytest.mark.parametrize("name", FRAMES)
def test_non_plain_values_in_a_worker_message_are_not_read(name: str) -> None:
    with pytest.raises(Exception, match=r".|^$"):
        plain_message(FRAMES[name])


def test_an_answer_passes_with_a_header_that_cannot_repeat_it() -> None:
    frames = core.dumps({"status": "OK", "data": {"x": to_serialize(b"answer")}})
    header = msgpack.loads(frames[1]) | {"split-num-sub-frames": [1] * 1000, "split-offsets": [0] * 1000}

    read = plain_message([frames[0], msgpack.dumps(header), *frames[2:]])

    data = read["data"]["x"]
    assert isinstance(data, Serialized)
    assert ((1,), (0,)) == (data.header["split-num-sub-frames"], data.header["split-offsets"])
    again = core.loads(core.dumps({"x": data}))
    assert b"answer" == again["x"]


@pytest.mark.parametrize("kind", ["pickled", "compressed"])
def test_an_answer_that_is_not_plain_bytes_is_not_passed_on(kind: str) -> None:
    """The contest's host would read a pickle, or unpack the parts."""
    frames = core.dumps({"x": to_serialize({1: {2}} if kind == "pickled" else b"answer")})
    if kind == "compressed":
        frames[1] = msgpack.dumps(msgpack.loads(frames[1]) | {"compression": ["zlib"]})
        with pytest.raises(ValueError, match="compressed"):
            plain_message(frames)
    else:
        assert 0 == plain_message(frames)["x"].header["num-sub-frames"]


FINISHED = {"op": "task-finished", "key": "x", "run_id": 1, "nbytes": 5, "stimulus_id": "y"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"nbytes": math.inf},
        {"nbytes": -1},
        {"nbytes": "5"},
        {"nbytes": True},
        {"nbytes": 1 << 60},
        {"key": ("x", 1)},
        {"key": "x" * 1000},
        {"run_id": None},
        {"stimulus_id": {}},
        {"op": "worker-status-change", "status": "gone"},
        {"op": "log-event", "topic": ["a", "b"], "msg": {"task": "x", "begin": 0, "data": b""}},
        {"op": "log-event", "topic": "a", "msg": {"task": "x", "begin": -1, "data": b""}},
        {"op": "log-event", "topic": "a", "msg": {"task": "x", "begin": 0, "data": bytes(WORKER_MESSAGE)}},
        {"op": ["task-finished"]},
        {"op": "add-keys", "keys": ["x"]},
    ],
    ids=lambda wrong: " ".join(wrong),
)
def test_a_wrong_value_of_a_registered_worker_does_not_reach_dask(wrong: dict[str, Any]) -> None:
    assert checked_message(FINISHED) is not None
    assert checked_message(FINISHED | wrong) is None


def test_a_scheduler_computes_with_no_measurement_of_a_worker() -> None:
    message = checked_message(
        FINISHED | {"startstops": [{"start": math.nan}], "metadata": {"x": 1}, "type": b"pickle", "typename": "y"}
    )

    assert ((), {}, b"", "bytes") == tuple(message[key] for key in ("startstops", "metadata", "type", "typename"))


SLOTS = [math.inf, -math.inf, math.nan, 0, -1, 0.5, 1.5, MAX_SLOTS + 1, 1e300, True, "1", None, [1], {"slot": 1}]


def test_worker_with_an_invalid_slot_count_gets_no_games() -> None:
    """A scheduler of another kind passes on what a worker says of itself."""
    roster = NotedRoster()
    events = roster.events
    wrong = [{"name": f"{slots!r}", "resources": {"slot": slots}} for slots in SLOTS]

    roster.meet({f"tls://a:{number}": each for number, each in enumerate([*wrong, {"name": "no resources"}], 1)})

    assert [0] * (len(SLOTS) + 1) == [worker.slots for worker in roster.workers.values()]
    assert all(isinstance(each, WorkerBarred) for each in events)
    assert all("is given no games: it does not announce 1 to 1024 slots" in text_of(each) for each in events)
    assert [1, 1, MAX_SLOTS] == [slots_in({"slot": slots}) for slots in (1, 1.0, MAX_SLOTS)]


def test_scheduler_refuses_a_worker_with_an_invalid_registration(bound: Scheduler) -> None:
    good: dict[str, Any] = {**REGISTER, "name": "evil", "address": ADDRESS, "resources": {"slot": 1}}
    slots: list[Any] = SLOTS
    wrongs: list[dict[str, Any]] = [{"resources": {"slot": value}} for value in slots]
    wrongs += [{"resources": {}}, {"resources": []}, {"resources": None}, {"resources": 5}]
    wrongs += [{"nthreads": 0}, {"nthreads": -1}, {"nthreads": 1e9}, {"nthreads": "1"}, {"nthreads": None}]
    wrongs += [{"status": "gone"}, {"server_id": 5}, {"stimulus_id": None}, {"address": "tls://127.0.0.1"}]
    wrongs += [{"address": "tls://127.0.0.1:99999"}, {"address": "127.0.0.1:1"}, {"address": "tls://::1:5"}]
    for wrong in wrongs:
        assert asyncio.run(is_refused(bound.address, bound.file, good | wrong)), wrong

    log = bound.log.read_text()
    assert bound.process.poll() is None
    assert "Traceback" not in log
    assert "it announces inf slots, and may have 1 to 1024" in log
    assert "has a wrong nthreads" in log


WORKER = """
import sys, threading
from pathlib import Path
from judge.cluster import tasks

honest = tasks.play

def play(order):
    if KIND == "huge":
        return bytes(SIZE)
    if KIND == "liar":
        import distributed.worker_state_machine, distributed.sizeof, distributed.worker
        distributed.worker_state_machine.sizeof = distributed.worker.sizeof = lambda value: 10
        return bytes(SIZE)
    if KIND == "raises":
        raise RuntimeError("no game")
    if KIND in ("broken", "stopped", "lacks"):
        from judge.cluster.messages import Broken, Lacks, Order, Stopped
        agents = Order.model_validate_json(order).agents
        lacks = Lacks(agents=agents, images=())
        answers = {"broken": Broken(why="no memory"), "stopped": Stopped(why="not wanted"), "lacks": lacks}
        return answers[KIND].model_dump_json().encode()
    threading.Event().wait()

play.__module__, play.__qualname__ = "judge.cluster.tasks", "play"
tasks.play = play
from judge.cli import main
main()
"""


def evil(machines: Machines, kind: str, size: int = 0) -> None:
    """Start a worker of that name that answers so."""
    (machines.folder / kind).mkdir()
    code = WORKER.replace("KIND", repr(kind)).replace("SIZE", str(size))
    words = ("worker", "--join", str(machines.folder / "keys" / f"{kind}.join"), "--folder", kind, "--slots", "1")
    with (machines.folder / f"{kind}.log").open("ab") as log:
        machines.workers[kind] = subprocess.Popen(
            [sys.executable, "-c", code, *words, "--allow-processes"], cwd=machines.folder, stdout=log, stderr=log
        )


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    """A scheduler over TLS, and files for workers of all kinds."""
    folder = tmp_path / "machines"
    folder.mkdir()
    (keys,) = make_keys(folder / "keys", ["everybody"], 1)
    found = Machines(folder, scheme="tls", keys=keys)
    names = ["huge", "liar", "never", "broken", "stopped", "lacks", "raises", "honest"]
    invite(folder / "keys", names, parse_address(found.address), 1)
    found.start_scheduler()
    found.wait_for_scheduler()
    yield found
    found.stop()


@pytest.fixture
def cup(cup: Cup) -> Cup:
    cup.open_gate()
    return cup


def peak_mb(pid: int) -> int:
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(kilobytes) >> 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["huge", "liar", pytest.param("believed", marks=evidence)])
def test_an_answer_that_is_too_long_is_refused_before_it_is_fetched(
    machines: Machines, cup: Cup, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Also where its worker announces less than it sends. A host that takes any size has the scheduler fetch it."""
    if kind == "believed":
        monkeypatch.setattr(clusters, "largest_answer", lambda _policy: 1 << 40)
    cup.store.schedule("cup", cup.games(1, 1))
    worker = "huge" if kind == "believed" else kind
    size = 900 * MB
    assert size > largest_answer(cup.policy)
    with closing(cup.cluster(machines)) as cluster:
        evil(machines, worker, size)
        assert machines.scheduler
        pid = machines.scheduler.pid
        before = peak_mb(pid)
        cup.begin_when_free(cluster)
        if kind == "liar":
            until(lambda: bool(cluster.wait(0.1)) or "is too long" in machines.says("scheduler"), "a refusal")
        elif kind == "huge":
            until(lambda: bool(cluster.wait(0.1)) or "is given no games" in cup.journal(), cup.journal)
            assert "the answer of worker huge is refused: it has 943718" in cup.journal()
        else:
            until(lambda: bool(cluster.wait(0.1)) or peak_mb(pid) > before + 800, "memory")
        if kind != "believed":
            assert peak_mb(pid) < before + 200
        assert machines.scheduler.poll() is None
        cluster.kill()


@pytest.mark.slow
@pytest.mark.parametrize(
    "is_given_again", [pytest.param(True, id="a longest time"), pytest.param(False, id="none", marks=evidence)]
)
def test_game_of_a_silent_worker_goes_to_another_worker(
    machines: Machines, cup: Cup, monkeypatch: pytest.MonkeyPatch, is_given_again: bool
) -> None:
    """After the longest time that its clocks allow. Without one it stays there for as long as the worker lives."""
    cup.store.schedule("cup", cup.games(1, 1))
    overdue = "never" if is_given_again else ""
    monkeypatch.setattr(clusters._Attempt, "is_overdue", lambda attempt: overdue == attempt.placed_at)
    with closing(cup.cluster(machines)) as cluster:
        evil(machines, "never")
        if is_given_again:
            steps = (lambda: "never" in {row[3] for row in cup.attempts()}, lambda: machines.join("honest"))
            cup.play_in_steps(cluster, steps)
            assert [(1, 1, "accepted", "honest")] == cup.attempts()
            assert re.search(r"game 1, attempt 1: no answer came within \d+ s; another worker plays it", cup.journal())
            assert "worker never is given no games: game 1, attempt 1: no answer came" in cup.journal()
        else:
            cup.begin_when_free(cluster)
            machines.join("honest")
            until(lambda: bool(cluster.wait(0.1)) or "worker honest plays" in cup.journal(), cup.journal)
            for _ in range(5):
                assert [] == cluster.wait(0.5)
            assert "never" == cup.attempts()[0][3]
            cluster.kill()


@pytest.mark.slow
@pytest.mark.parametrize("kinds", ["broken lacks stopped", *of_evidence("raises")])  # as some of test_plain_dask
def test_contest_is_played_next_to_workers_that_finish_no_game(machines: Machines, cup: Cup, kinds: str) -> None:
    cup.store.schedule("cup", cup.games(1, 4))
    machines.join("honest")
    for kind in kinds.split():
        evil(machines, kind)
    with closing(cup.cluster(machines)) as cluster:
        until(lambda: cluster.free > len(kinds.split()) or bool(cluster.wait(0.1)), cup.journal)
        assert StopReason.FINISHED is cup.play(cluster)
    found = cup.attempts()
    assert {"honest"} == {host for _, _, state, host in found if state == "accepted"}, found
    assert 4 == len({number for number, _, state, _ in found if state == "accepted"})
    assert all(host in kinds.split() for _, _, state, host in found if state == "void"), found
    assert ("lacks" in kinds) == ("more than 3 times" in cup.journal())
    # A game that its worker stopped is given again as the same attempt.
    assert "stopped" not in {host for *_, host in found}


def test_worker_is_barred_after_games_that_others_finish() -> None:
    roster = NotedRoster()
    events = roster.events
    described = {"name": "bad", "resources": {"slot": 2}}
    for address in ("tls://10.0.0.1:1", "tls://10.0.0.1:2"):
        roster.meet({address: described})
        worker = roster.workers[address]
        for _ in range(2):
            roster.count_failure("bad")
            roster.count_failure("bad")
            assert roster.usable
            roster.count_result(worker)
        for _ in range(3):
            assert roster.usable
            roster.count_failure("bad")
        assert not roster.usable
    assert "worker bad is given no games: 3 games in a row had no result here" in text_of(events[1])
    assert text_of(events[-1]).endswith("for the second time")
    roster.meet({"tls://10.0.0.1:3": described})
    assert not roster.usable


@pytest.mark.parametrize(
    ("change", "least_s", "most_s"),
    [
        (["clock.match_ms=180000", "clock.turn_ms=30000"], 2 * 360, 2000),
        (["clock.match_ms=2000", "clock.turn_ms=500"], 10, 700),
        (["clock.match_ms=0", "clock.turn_ms=0"], 225, 4000),
        (["clock.control=180+1"], 2 * (360 + 223), 3000),
        (["clock.control=@1"], 225, 4000),
    ],
)
def test_the_longest_time_of_a_game_follows_from_its_clocks(change: list[str], least_s: float, most_s: float) -> None:
    assert least_s < answer_s(load_policy("gomocup-standard", change)) < most_s
