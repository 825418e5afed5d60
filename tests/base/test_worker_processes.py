"""A worker does one task after the other; a task that is killed is lost, and costs no other and no process more."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from judge.base.procfs import started_ticks
from judge.base.worker_processes import MAX_SERIAL_TASKS, Crew, Worker, WorkerLostError, in_parallel, kill, wait
from tests.forked import start_anew
from tests.patience import PATIENCE_S, until

LARGE = bytes(8 << 20)
"""More than a pipe takes while nobody reads."""


@pytest.fixture(autouse=True)
def _start_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for users, though it takes longer."""
    monkeypatch.setattr("multiprocessing.util.spawnv_passfds", start_anew)


Crewed = tuple[Worker[Any], Worker[Any]]


@pytest.fixture
def worker() -> Iterator[Worker[Any]]:
    made: Worker[Any] = Worker()
    yield made
    made.kill()


@pytest.fixture
def crew() -> Iterator[Crewed]:
    one, two = Crew[Any](2).workers
    yield one, two
    kill([one, two])


def pid_of(worker: Worker[Any]) -> int:
    assert worker.pid is not None
    return worker.pid


def end_with_142(path: Path) -> None:
    def terminated(_signal: int, _frame: object) -> None:
        path.write_text("cleared away")
        raise SystemExit(142)

    signal.signal(signal.SIGTERM, terminated)
    path.write_text("ready")
    time.sleep(600)


def fail(text: str) -> None:
    raise ValueError(text)


def test_a_process_does_one_task_after_the_other(worker: Worker[Any]) -> None:
    assert worker.pid is None
    worker.start(os.getpid)
    first = worker.result()
    worker.start(os.getpid)

    assert [worker] == wait([worker], PATIENCE_S)
    assert (first, None) == (worker.result(), worker.exception())
    assert first == worker.result() == worker.pid != os.getpid()


def test_arguments_and_results_may_be_large(worker: Worker[Any]) -> None:
    """And nobody waits for a new process to read them."""
    worker.start(bytes, LARGE)
    assert LARGE == worker.result()


def test_a_process_is_prepared_and_has_the_environment_of_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Worker[str | None](os.putenv, "JUDGE_TEST", "prepared")) as worker:
        worker.start(subprocess.getoutput, "echo $JUDGE_TEST $JUDGE_OTHER")
        assert "prepared" == worker.result()
        worker.kill()
        monkeypatch.setenv("JUDGE_OTHER", "later")
        worker.start(subprocess.getoutput, "echo $JUDGE_TEST $JUDGE_OTHER")
        assert "prepared later" == worker.result()


STARTS = {
    "worker": "worker = Worker(); worker.start(os.getpid); assert worker.pid == worker.result(); worker.close()",
    "in_parallel": "assert list(in_parallel(abs, range(-1000, 0))) == list(range(1000, 0, -1))",
    "limited": "process = LimitedProcess(10); assert process.run(abs, -7) == 7; process.close()",
    "run": "assert start_run(Path('contest.toml'), ['--help']).wait() == 0",
}


@pytest.mark.parametrize("starts", STARTS)
def test_no_process_of_judge_imports_files_of_the_current_directory(starts: str, tmp_path: Path) -> None:
    """An author's files or a foreign export may lie there."""
    for name in ("multiprocessing", "queue", "selectors", "random", "json", "judge"):
        (tmp_path / f"{name}.py").write_text(f"open('imported', 'a').write({name!r})\nraise SystemExit(9)")
    program = tmp_path / "programs" / "main.py"
    program.parent.mkdir()
    program.write_text(f"""
import os
from pathlib import Path
from judge.base.worker_processes import Worker, in_parallel
from judge.contest.run_process import start_run
from judge.submissions.limited_process import LimitedProcess
if __name__ == "__main__":
    {STARTS[starts]}
""")
    done = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (0, "", False) == (done.returncode, done.stderr, (tmp_path / "imported").exists())


def open_files() -> list[str]:
    """Where the descriptors of a process lead, without the standard streams."""
    here = Path("/proc/self/fd")
    return [str(fd.readlink()) for fd in here.iterdir() if int(fd.name) > 2 and fd.is_symlink()]


def test_a_program_without_a_guard_runs_once(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("""
import os
from judge.base.worker_processes import Worker, in_parallel, wait

print("begun")
worker = Worker()
worker.start(os.getpid)
wait([worker], 60)
assert worker.result() != os.getpid()
worker.close()
assert list(in_parallel(abs, range(-1000, 0))) == list(range(1000, 0, -1))
""")

    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)

    assert ("begun\n", "", 0) == (done.stdout, done.stderr, done.returncode)


def test_a_process_holds_no_file_of_its_parent(worker: Worker[Any], tmp_path: Path) -> None:
    with (tmp_path / "held").open("w"), closing(socket.socket()):
        worker.start(open_files)
        files = worker.result()

    assert [] == [file for file in files if "held" in file]
    assert 1 == sum("socket" in file for file in files), files


def test_a_process_has_no_signal_handler_of_its_parent(tmp_path: Path) -> None:
    worker: Worker[Any] = Worker()
    before = signal.signal(signal.SIGTERM, lambda *_: (tmp_path / "handled").touch())
    try:
        worker.start(time.sleep, 600)
        kill([worker], polite_s=PATIENCE_S)
    finally:
        signal.signal(signal.SIGTERM, before)

    assert not (tmp_path / "handled").exists()


class StubbornError(Exception):
    """Can be pickled, and cannot be unpickled."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other}")

    def __reduce__(self) -> tuple[type, tuple[str]]:
        # Without it a library that teaches pickle all exceptions, such as tblib, would make this one whole again.
        return StubbornError, ("one",)


def be_stubborn() -> None:
    raise StubbornError("this", "that")


def test_errors_of_tasks_are_raised_with_their_place(worker: Worker[Any]) -> None:
    worker.start(fail, text="of the task")
    with pytest.raises(ValueError, match="of the task") as raised:
        worker.result()
    assert "of the task" == str(raised.value)
    assert "in fail" in raised.value.__notes__[0]

    worker.start(be_stubborn)
    assert "RuntimeError('StubbornError: this and that')" == repr(worker.exception())


def test_unpicklable_values_are_refused_at_once_or_raised(worker: Worker[Any]) -> None:
    with pytest.raises(AttributeError):
        worker.start(lambda: None)
    assert worker.pid is None

    worker.start(sys._getframe)
    with pytest.raises(TypeError, match="pickle"):
        worker.result()


class Unreadable:
    """Raises ValueError in the process that unpickles it."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return fail, ("cannot be read",)


def test_a_task_that_cannot_be_unpickled_is_answered(worker: Worker[Any], crew: Crewed) -> None:
    for each in (worker, crew[0]):
        each.start(str, Unreadable())
        with pytest.raises(ValueError, match="cannot be read"):
            each.result()

        each.start(str, 1)
        assert "1" == each.result()


def test_nothing_has_ended_while_it_runs(worker: Worker[Any]) -> None:
    worker.start(time.sleep, 600)

    assert [] == wait([worker], 0.05)
    assert [] == wait([], 600)


@pytest.mark.parametrize("somebody_else", [False, True])
def test_a_killed_task_is_lost_and_the_next_has_a_new_process(worker: Worker[Any], somebody_else: bool) -> None:
    worker.start(time.sleep, 600)
    killed = pid_of(worker)
    if somebody_else:
        os.kill(killed, signal.SIGKILL)
    else:
        worker.kill()

    assert [worker] == wait([worker], PATIENCE_S)
    error = worker.exception()
    assert isinstance(error, WorkerLostError)
    assert somebody_else is (str(error) == "its process was killed by signal 9")
    assert started_ticks(killed) is None
    assert worker.pid is None

    worker.start(os.getpid)
    assert killed != worker.result()


_meeting = threading.Barrier(2)


def meet() -> int:
    _meeting.wait(PATIENCE_S)
    return os.getpid()


def test_the_workers_of_a_crew_work_at_the_same_time_in_one_process(crew: Crewed) -> None:
    for _ in range(2):
        for worker in crew:
            worker.start(meet)

        assert 1 == len({worker.result() for worker in crew})


def test_a_crew_may_have_more_workers_than_a_process_can_be_given_files_at_once() -> None:
    workers = Crew[Any](300).workers
    for worker in workers:
        worker.start(os.getpid)

    assert 1 == len({worker.result() for worker in workers})
    kill(workers)


def test_a_task_that_fails_leaves_the_others_of_a_crew_alone(crew: Crewed) -> None:
    one, two = crew
    one.start(meet)
    two.start(fail, "it failed")
    with pytest.raises(ValueError, match="it failed"):
        two.result()
    two.reset()
    two.start(meet)

    assert one.result() == two.result()


def test_killed_crew_loses_its_tasks_and_resumes_in_a_new_process(crew: Crewed) -> None:
    for worker in crew:
        worker.start(time.sleep, 600)
    killed = pid_of(crew[0])
    crew[1].kill()

    assert [WorkerLostError] * 2 == [type(worker.exception()) for worker in crew]
    for worker in crew:
        worker.start(meet)
    assert {killed} != {worker.result() for worker in crew}


def test_a_crew_exits_when_all_have_left_that_had_tasks_or_none(crew: Crewed) -> None:
    busy, idle = crew
    busy.start(os.getpid)
    pid = busy.result()
    busy.close()
    assert started_ticks(pid) is not None

    idle.close()
    assert started_ticks(pid) is None
    busy.start(os.getpid)
    assert pid != busy.result()


def test_a_member_that_leaves_during_its_task_costs_no_other(crew: Crewed) -> None:
    one, two = crew
    one.start(time.sleep, 0.1)
    two.start(time.sleep, 1)
    one.close()

    assert two.exception() is None


def test_a_process_whose_task_exits_is_lost_with_its_status(worker: Worker[Any], crew: Crewed) -> None:
    for member in crew:
        member.start(sys.exit, 3)
        assert isinstance(member.exception(), WorkerLostError)

    worker.start(os._exit, 7)
    with pytest.raises(WorkerLostError, match=r"^its process exited: 7$"):
        worker.result()


@pytest.mark.parametrize("error", [EOFError(), OSError("too many files"), RuntimeError("can't start new thread")])
def test_host_without_a_process_file_or_thread_is_one_error(
    worker: Worker[Any], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(_: threading.Thread) -> None:
        raise error

    with monkeypatch.context() as without:
        without.setattr(threading.Thread, "start", fail)
        with pytest.raises(OSError):
            worker.start(abs, -1)
    worker.kill()

    worker.start(abs, -1)
    assert 1 == worker.result()


def test_process_killed_before_reading_its_task_blocks_no_caller(worker: Worker[Any]) -> None:
    worker.start(len, LARGE)
    worker.kill()

    assert isinstance(worker.exception(), WorkerLostError)


def test_a_process_that_is_killed_between_two_tasks_is_replaced(worker: Worker[Any]) -> None:
    worker.start(os.getpid)
    killed = worker.result()
    os.kill(killed, signal.SIGKILL)
    until(lambda: started_ticks(killed) is None)

    worker.start(os.getpid)
    assert killed != worker.result()


def test_several_are_waited_for_and_killed_together(tmp_path: Path) -> None:
    workers: list[Worker[Any]] = [Worker() for _ in range(3)]
    for worker in workers[:2]:
        worker.start(time.sleep, 600)
    workers[2].start(os.getpid)
    pids = [pid_of(worker) for worker in workers]

    assert [workers[2]] == wait(workers, PATIENCE_S)
    kill(workers)
    assert [None] * 3 == [started_ticks(pid) for pid in pids]


def test_a_process_may_clear_away_when_it_is_killed_politely(worker: Worker[Any], tmp_path: Path) -> None:
    path = tmp_path / "state"
    worker.start(end_with_142, path)
    until(lambda: path.exists() and "ready" == path.read_text())
    kill([worker], PATIENCE_S)

    assert "cleared away" == path.read_text()


def test_a_process_does_not_hear_ctrl_c(worker: Worker[Any]) -> None:
    worker.start(os.getpid)
    for _ in range(2):
        os.kill(pid_of(worker), signal.SIGINT)  # before it has started, and afterwards
        before = worker.result()
        worker.start(os.getpid)
    assert before == worker.result()


@pytest.mark.parametrize("end", ["worker.start(time.sleep, 600); os.kill(os.getpid(), 9)", "pass", "worker.close()"])
def test_processes_end_with_their_parent(end: str) -> None:
    """However it ends, and whether it closes them or not."""
    program = f"""
import os, time
from judge.base.worker_processes import Worker
worker = Worker()
worker.start(os.getpid)
print(worker.result(), flush=True)
{end}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "" == done.stderr
    until(lambda: started_ticks(int(done.stdout)) is None, "the worker is gone")


@pytest.mark.parametrize("tasks", [MAX_SERIAL_TASKS, MAX_SERIAL_TASKS + 1, 1000])
def test_short_tasks_are_done_in_order_and_other_work_between_them(tasks: int) -> None:
    other_work = count()

    assert [str(number) for number in range(tasks)] == list(in_parallel(str, range(tasks), other_work))
    assert tasks < 1000 or next(other_work) > 0


def test_of_very_many_tasks_a_few_are_held_at_a_time() -> None:
    tasks = 10_000
    waiting = iter(range(tasks))
    results = in_parallel(str, waiting)
    first = next(results)

    assert next(waiting) < tasks / 2
    assert tasks - 1 == len([first, *results])
