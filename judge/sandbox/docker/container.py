"""A container with its open files, processes and streams, and its own copy of the agent's files.

The kernel keeps pages, locks, watches and waiters per file, and missing names per directory. An agent can change this
state, even of read-only files, and send data to other boxes or games. So no other box shares the files.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from enum import Enum, auto
from pathlib import Path

from judge.base.errors import HostError
from judge.base.logs import get_logger
from judge.base.owner import remove_directory
from judge.base.procfs import count_oom_kills
from judge.sandbox.box import BoxPolicy, Channel, Meter, Tenant
from judge.sandbox.docker.attach import AttachStream
from judge.sandbox.docker.engine import Engine, EngineRefusalError
from judge.sandbox.docker.freezer import EnginePause, Freezer, choose_freezer
from judge.sandbox.docker.program_copy import ProgramCopy
from judge.sandbox.evidence import Evidence, ProcessReport
from judge.sandbox.host_activity.interference import FirstProcess, is_ordered_frozen, release
from judge.sandbox.machine import cgroup
from judge.sandbox.machine.users import User

log = get_logger()

END_TIMEOUT_S = 1.0
"""Time after which the Engine is also asked to kill a container."""

POLL_INTERVAL_S = 0.05

LOG_INTERVAL_S = 10.0

SIGKILLED, JUDGE_GONE = 137, 0
"""Exit codes of PID 1."""

EVENT_DELAY_S = 0.5
"""Delay until the Engine has recorded who killed an ended container."""

OOM_TIMEOUT_S = 10.0


class UnreportedEnd(Enum):
    """See decision 0002."""

    MEMORY = auto()
    OTHERS = auto()
    UNKNOWN = auto()


OnEnd = Callable[[], Sequence[tuple[Channel, bytes]]]


class EngineMeter(Meter):
    """Reads counters from the Engine, which takes up to two seconds."""

    def __init__(self, engine: Engine, container: str) -> None:
        super().__init__()
        self._engine = engine
        self._container = container
        self._last = Evidence()

    def _read(self) -> Evidence:
        with suppress(EngineRefusalError):
            counters = self._engine.counters(self._container)
            if memory := counters.get("memory_stats"):
                now = datetime.fromisoformat(counters["read"]).timestamp()
                # `OOMKilled` is valid only after the container has ended
                kills = self._engine.count_events(self._container, "oom", now)
                cpu_ns = counters["cpu_stats"]["cpu_usage"]["total_usage"]
                self._last = Evidence(
                    memory_peak_bytes=memory.get("max_usage"),
                    memory_cap_bytes=memory.get("limit"),
                    oom_kills=kills,
                    cpu_ns=cpu_ns,
                )
        return self._last


class Container:
    """A container, which may serve several games of its agent.

    While `id` is empty, methods do nothing.
    """

    def __init__(self, tenant: Tenant, engine: Engine | None = None) -> None:
        self.tenant = tenant
        self.engine = engine
        self.id = ""
        self.user: User | None = None
        """Claimed as long as the container exists. None if the folders have an owner."""
        self.directory: Path | None = None
        self.program: ProgramCopy | None = None
        """None: the box uses the staged files."""
        self.stream: AttachStream | None = None
        self.first: FirstProcess | None = None
        """None if judge and Engine run on different kernels."""
        self.groups: Mapping[str, Path] = {}
        self.freezer = Freezer()
        self.meter = Meter()
        self.oom: cgroup.OomSource | None = None
        self.is_reused = False
        self.is_killed = False
        self._is_thawed = True
        self._oom_kills: int | None = None
        """Of the host, at the start; None on another kernel."""

    @property
    def uid(self) -> int | None:
        return self.tenant.uid if self.user is None else self.user.uid

    def __str__(self) -> str:
        where = f"container {self.id[:12]}" if self.id else "no container yet"
        return f"{where}, agent {self.tenant.name}, game {self.tenant.game_id} seat {self.tenant.seat}"

    def start(
        self,
        engine: Engine,
        policy: BoxPolicy,
        on_report: Callable[[bytes], ProcessReport],
        on_end: OnEnd,
        on_first_end: OnEnd,
    ) -> None:
        self.stream = AttachStream(engine.attach(self.id), on_report, on_end)
        engine.start(self.id)
        state = engine.state(self.id)
        if not state["Running"]:
            raise HostError(
                f"PID 1 ended at once, with code {state['ExitCode']}: rebuild the image, or allow PID 1 to change "
                f"users in the profiles of seccomp and AppArmor ({self})"
            )
        pid = int(state["Pid"])
        with suppress(OSError, ValueError):
            self.first = FirstProcess(pid, on_first_end)
        groups = cgroup.find_cgroups(pid, self.id) if self.first else None
        if groups is None:
            if self.first:
                self.first.close()
                self.first = None
            if policy.transport == "pipes":
                raise HostError(f"Judge and Engine share no kernel, so box.transport pipes cannot work ({self})")
        self.groups = groups or {}
        if groups:
            self.meter = cgroup.CgroupMeter(groups)
            self.oom = cgroup.OomSource.open(groups)
            self._oom_kills = count_oom_kills()
        else:
            self.meter = EngineMeter(engine, self.id)
            if groups is not None:
                cgroup.log_hidden_cgroups()
        self.freezer = choose_freezer(policy.freeze, self.groups, engine, self.id)

    def restart_counters(self) -> None:
        """Raises OSError if the kernel cannot do this."""
        self.meter.restart()
        if self.oom:
            self.oom.close()
        self.oom = cgroup.OomSource.open(self.groups)

    def move(self, cores: Sequence[int]) -> None:
        if self.engine and not cgroup.move_to_cores(self.groups, cores):
            self.engine.move(self.id, cores)

    def freeze(self) -> None:
        """Includes PID 1, which therefore reports nothing until the thaw."""
        self._is_thawed = False
        self.freezer.freeze()

    def thaw(self) -> None:
        self.freezer.thaw()
        self._is_thawed = True

    def is_held(self) -> bool | None:
        if not self.engine or not self.id:
            return None
        if self._is_thawed and is_ordered_frozen(self.groups):
            return True
        with suppress(HostError):
            if not self.groups or isinstance(self.freezer, EnginePause):
                return self._is_thawed and bool(self.engine.state(self.id)["Paused"])
            return self.engine.count_events(self.id, "pause", time.time()) > 0
        return None

    def kill(self) -> None:
        if self.is_killed or not self.id:
            return
        self.thaw()
        self.is_killed = True
        if not (self.first and self.first.kill()):  # immediate; the Engine would wait
            self._kill_by_engine()

    def _kill_by_engine(self) -> None:
        if not (self.engine and self.stream):
            return
        with ThreadPoolExecutor(1) as pool:
            killing = pool.submit(self.engine.kill, self.id)
            self.stream.take_in(killing)
            try:
                killing.result()
            except EngineRefusalError as error:
                log.debug("the Engine did not kill a box", box=str(self), error=str(error))

    def is_gone(self) -> bool:
        """The kernel ends PID 1 after everything else in the container."""
        if not self.engine or not self.id:
            return True
        if self.first:
            return not self.first.is_running()
        try:
            return not self.engine.state(self.id)["Running"]
        except EngineRefusalError:
            return True

    def end(self) -> None:
        """Kill it, even if another program froze it, and wait until its processes are gone.

        Logs repeatedly if a system call prevents this. Raises HostError only if the Engine alone knows the processes.
        """
        began = logged = time.monotonic()
        for step in (self.kill, self.thaw):
            with suppress(HostError):
                step()
        release(self.groups)
        while not self.is_gone():
            if time.monotonic() - logged > LOG_INTERVAL_S:
                logged = time.monotonic()
                log.warning(
                    "the slot stays closed: a box runs on after it was killed",
                    box=str(self),
                    seconds=round(logged - began),
                )
                with suppress(HostError):
                    self._kill_by_engine()
            if self.first:
                self.first.await_end(LOG_INTERVAL_S)
            else:
                time.sleep(POLL_INTERVAL_S)

    def find_end(self, engine: Engine) -> UnreportedEnd:
        """Why PID 1 ended without a report. Raises HostError if the Engine failed."""
        if self.meter.readings().oom_kills:
            return UnreportedEnd.MEMORY
        is_counted = self._oom_kills is not None and self._oom_kills == count_oom_kills()
        deadline = time.monotonic() + (0.0 if is_counted else OOM_TIMEOUT_S)
        try:
            engine.wait(self.id)
            while not (state := engine.state(self.id)).get("OOMKilled"):
                recorded = datetime.fromisoformat(state["FinishedAt"]).timestamp() + EVENT_DELAY_S
                if engine.count_events(self.id, "kill", recorded):
                    return UnreportedEnd.OTHERS
                if state["ExitCode"] == JUDGE_GONE or engine.has_forgotten(self.id, recorded):
                    raise HostError(f"The Engine was restarted, which ended the container; play again ({self})")
                if state["ExitCode"] != SIGKILLED or time.monotonic() > deadline:
                    return UnreportedEnd.UNKNOWN
        except EngineRefusalError:
            return UnreportedEnd.OTHERS
        return UnreportedEnd.MEMORY

    def close(self) -> None:
        with suppress(HostError):
            self.freezer.thaw()
        self.freezer.close()
        self.freezer = Freezer()
        if self.stream:
            self.stream.close()  # the Engine waits until all output is read
        if self.engine and self.id:
            # Otherwise the Engine runs runc to kill it.
            if self.first and self.first.kill():
                self.first.await_end(END_TIMEOUT_S)
                if not self.first.is_running():
                    with suppress(HostError):
                        self.engine.wait(self.id)
            try:
                self.engine.remove(self.id)
            except HostError as error:
                log.warning("box not removed: left to the reaper", box=str(self), error=str(error))
            self.id = ""
        self.meter.close()
        self.meter = Meter()
        self.drop_directory()  # before its user is free
        for part in (self.oom, self.first, self.user, self.engine):
            if part:
                part.close()
        self.oom = self.first = self.user = self.engine = None

    def drop_directory(self) -> None:
        if self.directory:
            remove_directory(self.directory)
            self.directory = self.program = None
