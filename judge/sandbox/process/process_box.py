"""A plain process without isolation, for authors who try their own agent; its counters come from /proc."""

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
from judge.base.owner import MARK, kill_marked, make_directory, remove_directory
from judge.base.procfs import BUSY_STATES, TICK_NS, children_of, memory_bytes, stat_fields
from judge.sandbox.box import (
    DIRECTORIES,
    NO_FREEZER,
    Box,
    BoxPolicy,
    Channel,
    EventSource,
    FolderKind,
    Limits,
    Meter,
    Tenant,
)
from judge.sandbox.evidence import Evidence, ProcessReport
from judge.sandbox.layout import PROGRAM, command_in_box, environment
from judge.sandbox.machine.pipes import PipeSource, write_some


class IdleMeter(Meter):
    """Counters of a box without a process."""

    def cpu_ns(self) -> int:
        return 0


class ProcessMeter(Meter):
    """Memory of the first process; CPU time without orphans, in ticks until the process ends."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._pid = pid
        self._usage: resource.struct_rusage | None = None
        self._peak_bytes = 0

    def end(self, usage: resource.struct_rusage) -> None:
        self._usage = usage

    def note_peak(self) -> None:
        if not self._usage:
            self._peak_bytes = max(self._peak_bytes, memory_bytes(self._pid))

    def _read(self) -> Evidence:
        self.note_peak()
        peak = self._peak_bytes
        if self._usage and self._usage.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
            # Ignore less: a child starts with the judge's peak.
            peak = max(peak, self._usage.ru_maxrss * 1024)
        return Evidence(memory_peak_bytes=peak or None, cpu_ns=self.cpu_ns())

    def memory_bytes(self) -> int | None:
        return memory_bytes(self._pid, "VmRSS") or None

    def cpu_ns(self) -> int:
        if self._usage:
            return round((self._usage.ru_utime + self._usage.ru_stime) * 1e9)
        return sum(sum(map(int, fields[11:15])) for fields in self.family()) * TICK_NS

    def is_busy(self) -> bool:
        return any(fields[0] in BUSY_STATES for fields in self.family())

    def family(self) -> Iterator[list[str]]:
        pids = [self._pid]
        while pids:
            pid = pids.pop()
            with suppress(OSError):
                yield stat_fields(pid)
                pids += children_of(pid)


log = get_logger()

POLL_INTERVAL_S = 0.005


class ProcessBox(Box):
    """Limits are not enforced. Freezing only stops the process group."""

    name = "process"

    def __init__(self, tenant: Tenant, _limits: Limits, policy: BoxPolicy) -> None:
        self._tenant = _on_this_host(tenant)
        self._policy = policy
        self._directory: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._meter: ProcessMeter | None = None
        self._fds: list[int] = []
        self._agent_fds: list[int] = []
        self._stdin = -1
        self._streams: tuple[PipeSource, ...] = ()
        self._reports: ReportSource | None = None

    def prepare(self) -> None:
        log.warning(
            "no isolation, no quota on its folders: this agent can do whatever you can", agent=self._tenant.name
        )
        try:
            self._directory = make_directory()
            (self._directory / "tmp").mkdir(mode=0o700)
            for kind, name in DIRECTORIES.items():
                kept = self._tenant.folders.get(kind)
                if kept is None:
                    (self._directory / name).mkdir(mode=0o700)
                else:
                    (self._directory / name).symlink_to(kept)
            self._stdin = self._pipe(agent_reads=True)
            self._streams = (
                PipeSource(self._pipe(agent_reads=False), Channel.OUT),
                PipeSource(self._pipe(agent_reads=False), Channel.ERR),
            )
            self._reports = ReportSource(self)
        except OSError as error:
            raise HostError(f"No pipes or folders for the agent {self._tenant.name}: {error}") from error

    def _pipe(self, *, agent_reads: bool) -> int:
        reader, writer = os.pipe2(os.O_CLOEXEC)
        theirs, ours = (reader, writer) if agent_reads else (writer, reader)
        self._agent_fds.append(theirs)
        self._fds.append(ours)
        os.set_blocking(ours, False)
        return ours

    @property
    def sources(self) -> Sequence[EventSource]:
        return [*self._streams, *([self._reports] if self._reports else [])]

    def start(self) -> None:
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
            self._meter = ProcessMeter(self._process.pid)
            self._reports.say(ProcessReport("started"))
            self._reports.watch(self._process.pid)
        finally:
            while self._agent_fds:
                os.close(self._agent_fds.pop())

    def write(self, data: bytes) -> int:
        self._note_peak()
        return write_some(self._stdin, data)

    @property
    def stdin_fd(self) -> int:
        return self._stdin

    @property
    def meter(self) -> Meter:
        return self._meter or IdleMeter()

    @property
    def freezer(self) -> str:
        return NO_FREEZER if self._policy.freeze == NO_FREEZER else "signals"

    def freeze(self) -> None:
        self._note_peak()
        if self.freezer != NO_FREEZER:
            self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def is_frozen(self) -> bool:
        """Also true while it waits for a stopped vfork child."""
        if self.freezer == NO_FREEZER or not (self._process and self._meter and self._runs):
            return True
        group = str(self._process.pid)
        return all(fields[0] in "TtDZX" for fields in self._meter.family() if fields[2] == group)

    def kill(self) -> None:
        self._note_peak()
        self._signal(signal.SIGKILL)
        if self._directory:
            kill_marked(self._directory)

    def is_gone(self) -> bool:
        return not (self._meter and self._runs) or all(fields[0] in "ZX" for fields in self._meter.family())

    def leave(self) -> float:
        self.kill()
        began = time.monotonic()
        while not self.is_gone():
            time.sleep(POLL_INTERVAL_S)
        return time.monotonic() - began

    def close(self) -> None:
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
        if not (self._process and self._meter and self._runs):
            return None
        end = os.WEXITED | os.WNOWAIT | (0 if block else os.WNOHANG)
        if not os.waitid(os.P_PID, self._process.pid, end):
            return None
        self.kill()  # before reaping, while the group's number cannot be reused
        _, status, usage = os.wait4(self._process.pid, 0)
        self._meter.end(usage)
        self._process.returncode = code = os.waitstatus_to_exitcode(status)
        self._stdin = -1
        return ProcessReport("exited", code) if code >= 0 else ProcessReport("signalled", -code)

    def last_words(self) -> Sequence[tuple[Channel, bytes]]:
        words: list[tuple[Channel, bytes]] = []
        for stream, channel in zip(self._streams, (Channel.OUT, Channel.ERR), strict=True):
            while not stream.ended and (read := stream.read()):
                words += read
            if not stream.ended:  # another process has it open
                stream.ended = True
                words.append((channel, b""))
        return words

    @property
    def _runs(self) -> bool:
        return self._process is not None and self._process.returncode is None

    def _signal(self, number: int) -> None:
        if self._runs and self._process:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def _note_peak(self) -> None:
        if self._meter:
            self._meter.note_peak()


class ReportSource:
    """One descriptor for pending reports and the process's end."""

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
        self._reports.append(report)
        os.eventfd_write(self._waiting, 1)

    def watch(self, pid: int) -> None:
        self._pidfd = os.pidfd_open(pid)
        self._epoll.register(self._pidfd, select.EPOLLIN)

    def read(self) -> Sequence[tuple[Channel, bytes]]:
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
        self.ended = True
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        if not self._epoll.closed:
            self._epoll.close()
            os.close(self._waiting)


def _on_this_host(tenant: Tenant) -> Tenant:
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
