"""Reads untrusted files in a process with limits on CPU time and memory.

    python -m judge.submissions.limited_process CPU_SECONDS FD       tasks and results by the pipe FD

CPU time does not depend on the host's load.
"""

import multiprocessing
import pickle
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeVar

from judge.base.errors import HostError
from judge.base.text import sentence
from judge.base.worker_processes import do_tasks
from judge.submissions.path_checks import RefusedError

P = ParamSpec("P")
Result = TypeVar("Result")

MEMORY_BYTES = 2 << 30
WALL_FACTOR, WALL_S = 20, 60
"""Wall time limit (else a host failure): factor times CPU seconds, plus seconds."""


class LimitedProcess:
    """For one upload's tasks. `cpu_s` limits their total CPU time."""

    def __init__(self, cpu_s: float) -> None:
        """Raises HostError."""
        self._cpu_s = cpu_s
        self._pipe, theirs = multiprocessing.Pipe()
        words = [sys.executable, "-P", "-m", __name__, str(cpu_s), str(theirs.fileno())]
        nothing = subprocess.DEVNULL
        try:
            # A process of `multiprocessing` may be a daemon, which starts no other one.
            self._process = subprocess.Popen(
                words, stdin=nothing, stdout=nothing, pass_fds=[theirs.fileno()], start_new_session=True
            )
        except OSError as error:
            raise HostError(f"no process to read an upload can be started: {error.strerror}") from error
        finally:
            theirs.close()

    def run(self, task: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
        """Arguments and result must pickle.

        Raises the task's errors, RefusedError at a limit, HostError if the process fails.
        """
        longest_s = WALL_FACTOR * self._cpu_s + WALL_S
        try:
            self._pipe.send((_run, (task, args, kwargs), {}))
            if not self._pipe.poll(longest_s):
                self.close()
                raise HostError(f"reading an upload took more than {longest_s:g} s")
            result, error = self._pipe.recv()
        except (EOFError, ConnectionError):
            code = self._process.wait()
            if code == -signal.SIGXCPU:
                what = sentence("reading its agent.toml and its programs")
                raise RefusedError(
                    sentence(f"{what} took more than {self._cpu_s:g} s of CPU time: make them smaller")
                ) from None
            raise HostError(f"the process that reads an upload ended with {code}") from None
        if error is not None:
            raise error
        return pickle.loads(result)  # type: ignore[no-any-return]  # noqa: S301 - pickled by this program

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._pipe.close()


def _run(task: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        return pickle.dumps(task(*args, **kwargs))
    except MemoryError:
        raise RefusedError(
            sentence(f"reading its files takes more than {MEMORY_BYTES} bytes of memory: make them smaller")
        ) from None
    except RecursionError:
        raise RefusedError(sentence("its files are nested too deeply")) from None


def _serve(cpu_s: float, descriptor: int) -> None:
    """Start-up time does not count."""
    end = int(time.process_time() + cpu_s) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (end, end + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    do_tasks(Connection(descriptor))


if __name__ == "__main__":
    _serve(float(sys.argv[1]), int(sys.argv[2]))
