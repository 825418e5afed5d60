"""A box that isolates nothing: the agent is a plain process. Only for authors who try their own agent."""

import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from judge.base.errors import HostError
from judge.base.logs import get_logger
from judge.sandbox.box import (
    NO_FREEZER,
    BoxPolicy,
    Channel,
    EventSource,
    FolderKind,
    Limits,
    Nearby,
    ProcessReport,
    Readings,
    Tenant,
)
from judge.sandbox.folders import DIRECTORIES
from judge.sandbox.layout import PROGRAM, command_in_box, environment
from judge.sandbox.machine.owner import MARK, kill_marked, make_directory, remove_directory
from judge.sandbox.machine.pipes import PipeSource, write_some
from judge.sandbox.machine.procfs import BUSY_STATES, children_of, memory_bytes, resident_bytes, stat_fields

log = get_logger()

LOOK_S = 0.005
"""How often it is looked whether a killed process has ended."""

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class ProcessBox:
    """A box made of a session of processes. Limits are not enforced; freezing stops the process group only."""

    name = "process"

    def __init__(self, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> None:
        self._tenant = _on_this_host(tenant)
        self._limits = limits
        self._policy = policy
        self._directory: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._usage: resource.struct_rusage | None = None
        self._peak_seen = 0
        """The largest memory that its first process was seen to have had, in bytes."""
        self._fds: list[int] = []
        self._agent_fds: list[int] = []
        self._stdin = -1
        self._streams: tuple[PipeSource, ...] = ()
        self._reports: ReportSource | None = None

    # --- before the agent runs --------------------------------------------------------------------

    def prepare(self) -> None:
        """Make the agent's folders and pipes."""
        log.warning(
            "no isolation, no quota on its folders: this agent can do whatever you can", agent=self._tenant.name
        )
        try:
            self._directory = make_directory()
            (self._directory / "tmp").mkdir(mode=0o700)
            for kind, name in DIRECTORIES.items():
                self._make_folder(self._directory / name, self._tenant.folders.get(kind))
            self._stdin = self._pipe(agent_reads=True)
            self._streams = (
                PipeSource(self._pipe(agent_reads=False), Channel.OUT),
                PipeSource(self._pipe(agent_reads=False), Channel.ERR),
            )
            self._reports = ReportSource(self)
        except OSError as error:
            raise HostError(f"No pipes or folders for the agent {self._tenant.name}: {error}") from error

    @staticmethod
    def _make_folder(path: Path, kept: str | None) -> None:
        """A folder beside the others: the one that is kept, or a fresh one."""
        if kept is None:
            path.mkdir(mode=0o700)
        else:
            path.symlink_to(kept)

    def _pipe(self, *, agent_reads: bool) -> int:
        """A new pipe: keeps the agent's end for its start, returns the judge's, which does not block."""
        reader, writer = os.pipe2(os.O_CLOEXEC)
        theirs, ours = (reader, writer) if agent_reads else (writer, reader)
        self._agent_fds.append(theirs)
        self._fds.append(ours)
        os.set_blocking(ours, False)
        return ours

    def enter(self) -> None:
        """Do nothing: a process has no cores of its own."""

    # --- while it runs ----------------------------------------------------------------------------

    @property
    def sources(self) -> Sequence[EventSource]:
        """The agent's streams, and the reports on its process."""
        return [*self._streams, *([self._reports] if self._reports else [])]

    def start(self) -> None:
        """Start the process in a session of its own."""
        if not (self._directory and self._reports):
            raise HostError(f"The box of the agent {self._tenant.name} was not prepared")
        home = str(self._directory / DIRECTORIES[FolderKind.TEMPORARY])
        path = os.environ.get("PATH", os.defpath)
        given = environment(home, str(self._directory / "tmp"), self._tenant, path)
        stdin, stdout, stderr = self._agent_fds
        try:
            self._process = subprocess.Popen(
                command_in_box(self._tenant, str(self._tenant.program)),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=home,
                env={**given, MARK: str(self._directory)},
                start_new_session=True,
            )
        except OSError as error:
            self._reports.say(ProcessReport("exec-failed", error.errno or 0))
        else:
            self._reports.say(ProcessReport("started"))
            self._reports.watch(self._process.pid)
        finally:
            while self._agent_fds:
                os.close(self._agent_fds.pop())

    def write(self, data: bytes) -> int:
        """Write to the agent's stdin without blocking; see `Box`."""
        self._look_at_memory()
        return write_some(self._stdin, data)

    @property
    def stdin_fd(self) -> int:
        """What to poll for room to write; -1 when nobody reads any more."""
        return self._stdin

    @property
    def is_reused(self) -> bool:
        """Never."""
        return False

    @property
    def freezer(self) -> str:
        """Signals, unless the policy never stops agents."""
        return NO_FREEZER if self._policy.freeze == NO_FREEZER else "signals"

    def freeze(self) -> None:
        """Stop the agent's process group."""
        self._look_at_memory()
        if self.freezer != NO_FREEZER:
            self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let the process group go on."""
        self._signal(signal.SIGCONT)

    def is_held(self) -> bool | None:
        """Not known: a process may also stop itself."""
        return None

    def is_frozen(self) -> bool:
        """Whether the processes of its group stand still (or wait for a vfork child that does)."""
        if self.freezer == NO_FREEZER or not self._process or not self._runs:
            return True
        group = str(self._process.pid)
        return all(fields[0] in "TtDZX" for fields in self._family() if fields[2] == group)

    def readings(self) -> Readings:
        """What /proc says of the agent's first process; after its end, what it and its children used."""
        self._look_at_memory()
        peak = self._peak_seen
        if self._usage and self._usage.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
            # Less than that says nothing: a child begins with the peak of the judge that it was started from.
            peak = max(peak, self._usage.ru_maxrss * 1024)
        return Readings(memory_peak_bytes=peak or None, cpu_ns=self.cpu_ns())

    def memory_bytes(self) -> int | None:
        """Memory of the agent's first process, its program included; None if it is gone."""
        return resident_bytes(self._process.pid) if self._process else None

    def cpu_ns(self) -> int | None:
        """CPU time of the agent's processes, but of orphans; counted in ticks while they run."""
        if self._usage:
            return round((self._usage.ru_utime + self._usage.ru_stime) * 1e9)
        return sum(sum(map(int, fields[11:15])) for fields in self._family()) * TICK_NS

    def waited_ns(self) -> int | None:
        """Not known."""
        return None

    def is_busy(self) -> bool:
        """Whether one of its processes runs, is ready to run, or waits for a disk: by their first threads."""
        return any(fields[0] in BUSY_STATES for fields in self._family())

    def pressure_ns(self, *, of_any: bool = False) -> int | None:  # noqa: ARG002
        """Not known."""
        return None

    def nearby(self) -> Nearby:
        """Nowhere that is looked at."""
        return Nearby()

    def kill(self) -> None:
        """Kill the process group, and processes that have left it but not its environment."""
        self._look_at_memory()
        self._signal(signal.SIGKILL)
        if self._directory:
            kill_marked(self._directory)

    # --- at its end -------------------------------------------------------------------------------

    def is_gone(self) -> bool:
        """Whether its first process and the descendants of that have ended."""
        return not self._runs or all(fields[0] in "ZX" for fields in self._family())

    def leave(self) -> float:
        """Kill everything, and wait for its end."""
        self.kill()
        began = time.monotonic()
        while not self.is_gone():
            time.sleep(LOOK_S)
        return time.monotonic() - began

    def close(self) -> None:
        """Kill everything, and remove the agent's folders; never raises."""
        self.kill()
        if self._runs:
            self.reap(block=True)
        if self._reports:
            self._reports.close()
        self._stdin = -1
        for stream in self._streams:
            stream.ended = True
        for fds in (self._fds, self._agent_fds):
            while fds:
                os.close(fds.pop())
        if self._directory:
            remove_directory(self._directory)
            self._directory = None

    def reap(self, *, block: bool = False) -> ProcessReport | None:
        """Take the wait status of the agent's process, if there is one, and kill what it leaves behind."""
        if not self._process or not self._runs:
            return None
        end = os.WEXITED | os.WNOWAIT | (0 if block else os.WNOHANG)
        if not os.waitid(os.P_PID, self._process.pid, end):
            return None
        self.kill()  # before it is reaped: until then the number of its group is nobody else's
        _, status, self._usage = os.wait4(self._process.pid, 0)
        self._process.returncode = code = os.waitstatus_to_exitcode(status)
        self._stdin = -1
        return ProcessReport("exited", code) if code >= 0 else ProcessReport("signalled", -code)

    def last_words(self) -> Sequence[tuple[Channel, bytes]]:
        """What is left in the pipes, and their ends: the end of the first process is the end of its output."""
        words: list[tuple[Channel, bytes]] = []
        for stream, channel in zip(self._streams, (Channel.OUT, Channel.ERR), strict=True):
            while not stream.ended and (read := stream.read()):
                words += read
            if not stream.ended:  # somebody else still holds the pipe
                stream.ended = True
                words.append((channel, b""))
        return words

    @property
    def _runs(self) -> bool:
        return self._process is not None and self._process.returncode is None

    def _signal(self, number: int) -> None:
        """Signal the process group, which has the number of its first process until that one is reaped."""
        if self._runs and self._process:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def _family(self) -> Iterator[list[str]]:
        """The fields of /proc/PID/stat, from the state on, of the agent's first process and its descendants."""
        pids = [self._process.pid] if self._process else []
        while pids:
            pid = pids.pop()
            with suppress(OSError):
                yield stat_fields(pid)
                pids += children_of(pid)

    def _look_at_memory(self) -> None:
        if self._process and self._runs:
            self._peak_seen = max(self._peak_seen, memory_bytes(self._process.pid))


class ReportSource:
    """Reports on the agent's process: one descriptor, for reports that wait and for the end itself."""

    events = select.EPOLLIN

    def __init__(self, box: ProcessBox) -> None:
        self._box = box
        self._epoll = select.epoll()
        self._waiting = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._epoll.register(self._waiting, select.EPOLLIN)
        self._pidfd = -1
        self._reports: list[ProcessReport] = []
        self.fd = self._epoll.fileno()
        self.ended = False

    def say(self, report: ProcessReport) -> None:
        """Have a report read next."""
        self._reports.append(report)
        os.eventfd_write(self._waiting, 1)

    def watch(self, pid: int) -> None:
        """Report the end of this process, which is a child of ours."""
        self._pidfd = os.pidfd_open(pid)
        self._epoll.register(self._pidfd, select.EPOLLIN)

    def read(self) -> Sequence[tuple[Channel, bytes]]:
        """The reports that wait; before the last of them, the rest of the agent's output."""
        if self.ended:
            return ()
        with suppress(BlockingIOError):
            os.eventfd_read(self._waiting)
        events = [(Channel.REPORT, report.encode()) for report in self._reports]
        self._reports.clear()
        if end := self._box.reap():
            events += [*self._box.last_words(), (Channel.REPORT, end.encode())]
        self.ended = end is not None
        return events

    def close(self) -> None:
        """Close the descriptors."""
        self.ended = True
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        if not self._epoll.closed:
            self._epoll.close()
            os.close(self._waiting)


def _on_this_host(tenant: Tenant) -> Tenant:
    """The tenant with /agent, in its command and its environment, made the staged directory that it stands for."""
    program = tenant.program.resolve()

    def real(word: str) -> str:
        inside = word == PROGRAM or word.startswith(PROGRAM + "/")
        return str(program) + word.removeprefix(PROGRAM) if inside else word

    return replace(
        tenant,
        program=program,
        command=tuple(map(real, tenant.command)),
        environment=tuple((name, real(value)) for name, value in tenant.environment),
    )
