"""Reads untrusted files in a process with limits on CPU time and memory.

    python -m judge.submissions.limited_process CPU_SECONDS       pickled tasks on stdin, pickled results on stdout

CPU time does not depend on the host's load.
"""

import pickle
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, ParamSpec, TypeVar

from judge.base.errors import HostError, InputError
from judge.base.text import sentence
from judge.submissions.path_checks import RefusedError

P = ParamSpec("P")
Result = TypeVar("Result")

MEMORY_BYTES = 2 << 30
WALL_FACTOR, WALL_S = 20, 60
"""Wall time limit (else a host failure): factor times CPU seconds, plus seconds."""


class LimitedProcess:
    """For one upload's tasks. `cpu_s` limits their total CPU time."""

    def __init__(self, cpu_s: float) -> None:
        self._cpu_s = cpu_s
        words = [sys.executable, "-m", __name__, str(cpu_s)]
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise HostError(f"no process to read an upload can be started: {error.strerror}") from error

    def run(self, task: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
        """Arguments and result must pickle.

        Raises the task's errors, RefusedError at a limit, HostError if the process fails.
        """
        answer = self._ask(pickle.dumps((task, args, kwargs)))
        if not answer:
            code = self._process.wait()
            if code == -signal.SIGXCPU:
                what = sentence("reading its agent.toml and its programs")
                raise RefusedError(sentence(f"{what} took more than {self._cpu_s:g} s of CPU time: make them smaller"))
            raise HostError(f"the process that reads an upload ended with {code}")
        result, error = pickle.loads(answer)  # noqa: S301 - pickled by this program
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    def _ask(self, request: bytes) -> bytes:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise TypeError("the process has no pipes")
        try:
            stdin.write(len(request).to_bytes(8, "little") + request)
            stdin.flush()
        except BrokenPipeError:
            return b""
        deadline = time.monotonic() + WALL_FACTOR * self._cpu_s + WALL_S
        answer = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while len(answer) < 8 or len(answer) < 8 + int.from_bytes(answer[:8], "little"):
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self.close()
                    raise HostError(f"reading an upload took more than {WALL_FACTOR * self._cpu_s + WALL_S:g} s")
                data = stdout.read1(1 << 16)  # type: ignore[attr-defined]  # a BufferedReader
                if not data:
                    return b""
                answer += data
        return bytes(answer[8:])

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


@contextmanager
def limited_process(cpu_s: float) -> Iterator[LimitedProcess]:
    """Raises HostError."""
    process = LimitedProcess(cpu_s)
    try:
        yield process
    finally:
        process.close()


def _serve(cpu_s: float) -> None:
    """Start-up time does not count."""
    end = int(time.process_time() + cpu_s) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (end, end + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    while size := stdin.read(8):
        task, args, kwargs = pickle.loads(stdin.read(int.from_bytes(size, "little")))  # noqa: S301 - of the judge
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        answer = pickle.dumps(_done(task, args, kwargs))
        stdout.write(len(answer).to_bytes(8, "little") + answer)
        stdout.flush()


def _done(task: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[object, object]:
    try:
        return task(*args, **kwargs), None
    except (InputError, HostError, RefusedError) as error:
        return None, error
    except MemoryError:
        return None, RefusedError(
            sentence(f"reading its files takes more than {MEMORY_BYTES} bytes of memory: make them smaller")
        )
    except RecursionError:
        return None, RefusedError(sentence("its files are nested too deeply"))
    except OSError as error:
        return None, error


if __name__ == "__main__":
    _serve(float(sys.argv[1]))
