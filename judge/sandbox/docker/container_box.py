"""A hardened container with the judge's PID 1: the base of the boxes of the Engine.

The kernel keeps pages, locks, watches and waiters per file, and missing names per directory. An agent can change this
state, even of read-only files, and send data to other boxes or games. So a container has its own copy of the agent's
files.
"""

import os
import socket
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from judge.base.errors import HostError
from judge.base.logs import get_logger
from judge.base.owner import Owner, make_directory, remove_directory
from judge.base.procfs import count_oom_kills
from judge.sandbox import layout
from judge.sandbox.box import NO_FREEZER, PERSISTENT, Box, BoxPolicy, Channel, ImageFacts, Limits, Meter, Tenant
from judge.sandbox.docker import hardening, seccomp
from judge.sandbox.docker.engine import Engine, EngineRefusalError
from judge.sandbox.docker.first_process import ControlStream, EngineProcess, FirstProcess
from judge.sandbox.docker.freezer import EnginePause, Freezer, choose_freezer, is_ordered_frozen, release
from judge.sandbox.docker.images import EngineImage, find_runtime
from judge.sandbox.docker.program_copy import ProgramCopy
from judge.sandbox.docker.requirements import maps_users, refuse_unmet
from judge.sandbox.evidence import Evidence, ProcessReport
from judge.sandbox.machine import cgroup
from judge.sandbox.machine.users import claim_user

log = get_logger()

KILLED = ProcessReport("signalled", 9)

END_TIMEOUT_S = 1.0
"""Time after which the Engine is also asked to kill a container."""

LOG_INTERVAL_S = 10.0

SIGKILLED, JUDGE_GONE = 137, 0
"""Exit codes of PID 1."""

EVENT_DELAY_S = 0.5
"""Delay until the Engine has recorded who killed or paused a container, or a kill for memory."""

PAUSE_READINGS = 10

OOM_TIMEOUT_S = 10.0


Process = TypeVar("Process", bound=FirstProcess | EngineProcess)


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
                is_full = memory.get("max_usage") == memory.get("limit")
                # `OOMKilled` is valid only after the container has ended
                kills = self._engine.count_events(self._container, "oom", now + (EVENT_DELAY_S if is_full else 0))
                cpu_ns = counters["cpu_stats"]["cpu_usage"]["total_usage"]
                self._last = Evidence(
                    memory_peak_bytes=memory.get("max_usage"),
                    memory_cap_bytes=memory.get("limit"),
                    oom_kills=kills,
                    cpu_ns=cpu_ns,
                )
        return self._last


@dataclass
class Container(Generic[Process]):
    """A container. Its parts are released together; a kept one takes them to its agent's next game."""

    tenant: Tenant
    engine: Engine
    id: str
    image: EngineImage
    uid: int
    profile: str
    """Its seccomp profile."""
    tmpfs: Mapping[str, str]
    """Options of the file systems that its agent can write to, by path."""
    directory: Path
    program: ProgramCopy | None
    """None: the box uses the staged files."""
    stream: ControlStream
    parts: ExitStack = field(init=False)
    first: Process = field(init=False)
    groups: Mapping[str, Path] = field(init=False)
    """Empty if hidden, or those of another kernel."""
    meter: Meter = field(init=False)
    freezer: Freezer = field(init=False)
    oom: cgroup.OomSource | None = None
    is_reused: bool = False
    is_killed: bool = False
    is_thawed: bool = True

    def __str__(self) -> str:
        return describe(self.tenant, self.id)

    def restart_counters(self) -> None:
        """Raises OSError if the kernel cannot do this."""
        self.meter.restart()
        self.close_oom()
        self.oom = cgroup.OomSource.open(self.groups)

    def close_oom(self) -> None:
        if self.oom:
            self.oom.close()
            self.oom = None

    def thaw(self) -> None:
        self.freezer.thaw()
        self.is_thawed = True

    def stays_paused(self) -> bool:
        """Whether all readings agree. After a thaw, the Engine may report a pause until it has read its events."""
        for _ in range(PAUSE_READINGS):
            if not self.engine.state(self.id)["Paused"]:
                return False
            time.sleep(EVENT_DELAY_S / PAUSE_READINGS)
        return True

    def stop(self) -> None:
        """Before its removal, because otherwise the Engine runs runc to kill it."""
        self.stream.close()  # the Engine waits until all output is read
        if self.first.kill():
            self.first.await_end(END_TIMEOUT_S)
            if not self.first.is_running():
                with suppress(HostError):
                    self.engine.wait(self.id)

    def close(self) -> None:
        """Never raises."""
        with suppress(HostError):
            self.freezer.thaw()
        self.parts.close()


def describe(tenant: Tenant, container: str = "") -> str:
    """For messages. `container` is its id."""
    where = f"container {container[:12]}" if container else "no container yet"
    return f"{where}, agent {tenant.name}, game {tenant.game_id} seat {tenant.seat}"


class ContainerBox(Box, Generic[Process]):
    """The life of a container. `hardening` lists the agent's permissions."""

    def __init__(self, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> None:
        self._tenant = tenant
        self._limits = limits
        self._policy = policy
        self._container: Container[Process] | None = None
        """From `prepare` to `close`."""
        self._oom_kills: int | None = None
        """Of the host, at the start; None on another kernel."""
        self._started = False
        self._over = False
        """PID 1 runs no agent any more, or has ended."""

    def __str__(self) -> str:
        return str(self._container or describe(self._tenant))

    @abstractmethod
    def _share(self, engine: Engine, directory: Path) -> tuple[Path | None, Path | None]:
        """Directories to be mounted: the box's files, and named pipes."""

    @abstractmethod
    def _open_stream(self, attached: socket.socket) -> ControlStream: ...

    @abstractmethod
    def _open_first(self, container: Container[Process], pid: int, groups: Mapping[str, Path] | None) -> Process:
        """`pid` is the Engine's. `groups` is None for another kernel."""

    # --- start

    def prepare(self) -> None:
        image = find_runtime(self._tenant.runtime)
        with ExitStack() as parts:
            container = self._create(image, parts)
            self._run(container, parts)
            container.parts = parts.pop_all()
        self._container = container

    def _create(self, image: EngineImage, parts: ExitStack) -> Container[Process]:
        tenant = self._tenant
        engine = parts.enter_context(closing(Engine()))
        refuse_unmet(self._policy, engine.info())
        uid = parts.enter_context(closing(claim_user())).uid if tenant.uid is None else tenant.uid
        directory = self._make_directory(uid, parts)
        accounts, pipes = self._share(engine, directory)
        program = None
        if tenant.digest and accounts:
            program = ProgramCopy(tenant.program.resolve(), directory / "agent")
            program.make()
        files = self._limits.open_files * (hardening.WINE_FILES if image.recipe.seccomp == seccomp.WINE else 1)
        profile = seccomp.profile_for(self._policy, tenant.runtime, image.recipe.seccomp)
        config = hardening.container_config(
            image=image.id,
            command=layout.command_in_box(tenant, layout.PROGRAM),
            tenant=tenant,
            limits=self._limits.model_copy(update={"open_files": files}),
            policy=self._policy,
            owner=Owner.me().encode(),
            uid=uid,
            program=program.path if program else None,
            pipes=pipes,
            accounts=accounts,
            seccomp=seccomp.engine_text(profile),
            maps_users=maps_users(engine.info()),
        )
        name = self._create_by_engine(engine, config)
        parts.callback(self._remove, engine, name)
        stream = parts.enter_context(closing(self._open_stream(engine.attach(name))))
        tmpfs = hardening.tmpfs_options(tenant, self._limits, uid)
        return Container(tenant, engine, name, image, uid, profile, tmpfs, directory, program, stream)

    def _make_directory(self, uid: int, parts: ExitStack) -> Path:
        texts = layout.account_lines(uid) | hardening.kernel_file_texts(self._limits, os.cpu_count() or 1)
        try:
            directory = make_directory()
            parts.callback(remove_directory, directory)
            for name, text in texts.items():
                path = directory / name
                path.write_text(text, encoding="ascii")
                path.chmod(0o644)  # readable by every user
        except OSError as error:
            raise HostError(f"No directory for {self}: {error}: make room there, or set TMPDIR") from error
        return directory

    def _create_by_engine(self, engine: Engine, config: Mapping[str, Any]) -> str:
        try:
            return engine.create(config)
        except EngineRefusalError as error:
            program = str(self._tenant.program.resolve())
            if program in str(error):
                raise HostError(
                    f"The Engine does not see {program}, so the agent {self._tenant.name} cannot be delivered "
                    f"({error}): run a worker of the judge on the Engine's own host"
                ) from error
            raise HostError(f"{error} ({self})") from error

    def _remove(self, engine: Engine, container: str) -> None:
        try:
            engine.remove(container)
        except HostError as error:
            box = describe(self._tenant, container)
            log.warning("box not removed: left to the reaper", box=box, error=str(error))

    def _run(self, container: Container[Process], parts: ExitStack) -> None:
        engine = container.engine
        engine.start(container.id)
        state = engine.state(container.id)
        if not state["Running"]:
            raise HostError(
                f"PID 1 ended at once, with code {state['ExitCode']}: rebuild the image, or allow PID 1 to change "
                f"users in the profiles of seccomp and AppArmor ({container})"
            )
        groups = cgroup.find_cgroups(int(state["Pid"]), container.id)
        container.first = parts.enter_context(closing(self._open_first(container, int(state["Pid"]), groups)))
        container.groups = groups or {}
        if groups:
            container.meter = cgroup.CgroupMeter(groups)
            container.oom = cgroup.OomSource.open(groups)
            self._oom_kills = count_oom_kills()
        else:
            container.meter = EngineMeter(engine, container.id)
            if groups is not None:
                cgroup.log_hidden_cgroups()
        parts.callback(container.meter.close)
        parts.callback(container.close_oom)
        container.freezer = choose_freezer(self._policy.freeze, container.groups, engine, container.id)
        parts.callback(container.freezer.close)
        parts.callback(container.stop)

    def enter(self) -> None:
        if self._tenant.parking_cores and self._tenant.cores:
            container = self._prepared
            if not cgroup.move_to_cores(container.groups, self._tenant.cores):
                container.engine.move(container.id, self._tenant.cores)

    def start(self) -> None:
        self._prepared.stream.start()

    @property
    def _prepared(self) -> Container[Process]:
        if self._container is None:
            raise HostError(f"This box was not prepared ({self})")
        return self._container

    # --- turns

    @property
    def image(self) -> ImageFacts | None:
        return self._container.image.facts if self._container else None

    @property
    def meter(self) -> Meter:
        return self._container.meter if self._container else Meter()

    def unreported_kills(self) -> int:
        container = self._container
        if container is None or container.oom or not container.groups:
            return 0
        read = container.meter.readings()
        return (read.oom_kills or 0) if read.reached_cap else 0

    @property
    def freezer(self) -> str:
        return self._container.freezer.name if self._container else NO_FREEZER

    def freeze(self) -> None:
        """Includes PID 1, which therefore reports nothing until the thaw."""
        container = self._prepared
        container.is_thawed = False
        container.freezer.freeze()

    def is_frozen(self) -> bool:
        return self._container is None or self._container.freezer.is_frozen()

    def thaw(self) -> None:
        self._prepared.thaw()

    def is_held(self) -> bool | None:
        container = self._container
        if container is None:
            return None
        if container.is_thawed and is_ordered_frozen(container.groups):
            return True
        with suppress(HostError):
            if not container.groups or isinstance(container.freezer, EnginePause):
                return container.is_thawed and container.stays_paused()
            return container.engine.count_events(container.id, "pause", time.time()) > 0
        return None

    @property
    def _file_limits(self) -> Mapping[str, int]:
        limits = self._limits
        return {
            layout.HOME: limits.temporary_bytes,
            PERSISTENT: limits.persistent_bytes,
            layout.SCRATCH: limits.scratch_bytes,
        }

    # --- end

    def kill(self) -> None:
        if self._container and not self._over and not self._container.is_killed:
            self._container.meter.readings()
            self._kill(self._container)

    def _kill(self, container: Container[Process]) -> None:
        if not container.is_killed:
            container.thaw()
            container.is_killed = True
            if not container.first.kill():  # immediate; the Engine would wait
                self._kill_by_engine(container)

    def _kill_by_engine(self, container: Container[Process]) -> None:
        try:
            container.engine.kill(container.id)
        except EngineRefusalError as error:
            log.debug("the Engine did not kill a box", box=str(self), error=str(error))

    def is_gone(self) -> bool:
        """The kernel ends PID 1 after everything else in the container."""
        return self._container is None or not self._container.first.is_running()

    def leave(self) -> float:
        began = time.monotonic()
        try:
            if self._container:
                self._free_cores(self._container)
        except HostError as error:
            log.warning("box may still use its slot's cores", box=str(self), error=str(error))
        return time.monotonic() - began

    def _free_cores(self, container: Container[Process]) -> None:
        self.kill()
        self._end(container)  # on its slot's cores, where a killed process may still run for long

    def _end(self, container: Container[Process]) -> None:
        """Kill it, even if another program froze it, and wait until its processes are gone.

        Logs repeatedly if a system call prevents this. Raises HostError only if the Engine alone knows the processes.
        """
        began = logged = time.monotonic()
        for step in (partial(self._kill, container), container.thaw):
            with suppress(HostError):
                step()
        release(container.groups)
        while container.first.is_running():
            if time.monotonic() - logged > LOG_INTERVAL_S:
                logged = time.monotonic()
                log.warning(
                    "the slot stays closed: a box runs on after it was killed",
                    box=str(self),
                    seconds=round(logged - began),
                )
                with suppress(HostError):
                    self._kill_by_engine(container)
            container.first.await_end(LOG_INTERVAL_S)

    def close(self) -> None:
        if self._container:
            self._container.close()
            self._container = None

    def _on_report(self, said: bytes) -> ProcessReport:
        try:
            report = ProcessReport.decode(said)
        except ValueError as error:
            raise HostError(f"PID 1 sent an invalid report, {said!r}: rebuild the image ({self})") from error
        self._started = True
        self._over = self._over or report.kind != "started"
        return report

    def _on_end(self) -> Sequence[tuple[Channel, bytes]]:
        if self._over or self._container is None:
            return ()
        self._over = True
        if self._container.is_killed:
            return ((Channel.REPORT, KILLED.encode()),)
        end = self._find_end(self._container)
        if end == "memory":
            self._container.meter.exhausted_cap = self._limits.cap_bytes
            return ((Channel.OOM, b""), (Channel.REPORT, KILLED.encode()))
        if end == "lost" and not self._started:
            raise HostError(f"PID 1 ended before the agent ran, for an unknown reason: run `judge doctor` ({self})")
        return ((Channel.REPORT, ProcessReport(end).encode()),)

    def _find_end(self, container: Container[Process]) -> Literal["memory", "removed", "lost"]:
        """Why PID 1 ended without a report; see decision 0002. Raises HostError if the Engine failed."""
        if container.meter.readings().oom_kills:
            return "memory"
        engine = container.engine
        is_counted = self._oom_kills is not None and self._oom_kills == count_oom_kills()
        deadline = time.monotonic() + (0.0 if is_counted else OOM_TIMEOUT_S)
        try:
            engine.wait(container.id)
            while not (state := engine.state(container.id)).get("OOMKilled"):
                recorded = datetime.fromisoformat(state["FinishedAt"]).timestamp() + EVENT_DELAY_S
                if engine.count_events(container.id, "kill", recorded):
                    return "removed"
                if state["ExitCode"] == JUDGE_GONE or engine.has_forgotten(container.id, recorded):
                    raise HostError(f"The Engine was restarted, which ended the container; play again ({self})")
                if state["ExitCode"] != SIGKILLED or time.monotonic() > deadline:
                    return "lost"
        except EngineRefusalError:
            return "removed"
        return "memory"
