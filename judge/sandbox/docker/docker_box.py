"""The default box: one hardened container per agent, with the judge's PID 1."""

import os
import time
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from judge.base.errors import HostError
from judge.base.logs import get_logger
from judge.base.owner import Owner, make_directory, mark_of
from judge.base.procfs import PROC, apparmor_label
from judge.sandbox import layout
from judge.sandbox.box import Box, BoxPolicy, Channel, EventSource, Limits, Meter, Nearby, Tenant
from judge.sandbox.docker import hardening, kernel_files, seccomp
from judge.sandbox.docker.attach import AttachStream
from judge.sandbox.docker.container import Container, UnreportedEnd
from judge.sandbox.docker.engine import Engine, EngineRefusalError
from judge.sandbox.docker.images import RuntimeImage, find_runtime, load_image
from judge.sandbox.docker.kept import Reuse
from judge.sandbox.docker.program_copy import ProgramCopy
from judge.sandbox.docker.requirements import maps_users, refuse_stack, refuse_unmet
from judge.sandbox.evidence import ProcessReport, ReportKind
from judge.sandbox.machine import cgroup
from judge.sandbox.machine.pipes import NamedPipes
from judge.sandbox.machine.users import claim_user

log = get_logger()

KILLED = ProcessReport("signalled", 9)

HANG_UP_S = 10.0


class DockerBox(Box):
    """A box made of a container. `hardening` lists the agent's permissions."""

    def __init__(self, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> None:
        self.name = "docker"
        self._tenant = tenant
        self._limits = limits
        self._policy = policy
        self._container = Container(tenant)
        self._reuse: Reuse | None = None
        self._tmpfs: Mapping[str, str] = {}
        self._pipes: NamedPipes | None = None
        self._uses_pipes = False
        self._maps_users = False
        self._started = False
        self._over = False
        """PID 1 runs no agent any more, or has ended."""
        self._ended = False
        """It has reaped all other processes and reported the agent's end."""

    def __str__(self) -> str:
        return str(self._container)

    @property
    def is_reused(self) -> bool:
        return self._container.is_reused

    def prepare(self) -> None:
        self._reuse = Reuse(self._tenant, self._limits, self._policy)
        if (container := self._reuse.take()) is not None:
            self._take_over(container)
            return
        image = find_runtime(self._tenant.runtime)
        profile = seccomp.profile_for(self._policy, self._tenant.runtime, image.seccomp)
        self._make(image, profile)
        if not self._reuse.begin(self._container, profile, self._tmpfs):
            self.close()
            self._make(image, profile)

    def _take_over(self, container: Container) -> None:
        if container.stream is None or container.first is None or container.directory is None:
            raise TypeError("a container without pipes was kept")
        self._container, container.tenant = container, self._tenant
        container.stream.on_report, container.stream.on_end = self._on_report, self._on_end
        container.first.on_end = self._on_first_end
        cgroup.move_to_cores(container.groups, self._tenant.parking_cores or self._tenant.cores)
        self.name, self._uses_pipes = "docker-pipes", True
        self._pipes = self._new_pipes(container.directory)

    def _make(self, image: RuntimeImage, profile: str) -> None:
        engine = Engine()
        container = self._container = Container(self._tenant, engine)
        info = engine.info()
        refuse_unmet(self._policy, info)
        self._maps_users = maps_users(info)
        self._make_directory()
        container.id = self._create(engine, image, profile)
        container.start(engine, self._policy, self._on_report, self._on_end, self._on_first_end)
        self._uses_pipes = self._pipes is not None and container.first is not None
        if not self._uses_pipes:
            self._close_pipes()
        self.name = "docker-pipes" if self._uses_pipes else "docker-attach"
        if self._tenant.digest and container.first:
            load_image(container.first.pid, image.id)

    def _make_directory(self) -> None:
        try:
            self._container.directory = directory = make_directory()
            kernel_texts = kernel_files.texts(self._limits, os.cpu_count() or 1)
            for name, text in (layout.account_lines(self._uid()) | kernel_texts).items():
                path = directory / name
                path.write_text(text, encoding="ascii")
                path.chmod(0o644)  # readable by every user
        except OSError as error:
            raise HostError(f"No directory for {self}: {error}: make room there, or set TMPDIR") from error
        if self._policy.may_use_pipes:
            self._pipes = self._new_pipes(directory)
        if self._tenant.digest:
            self._container.program = ProgramCopy(self._tenant.program.resolve(), directory / "agent")
            self._container.program.make()

    def _new_pipes(self, directory: Path) -> NamedPipes:
        try:
            return NamedPipes(directory)
        except OSError as error:
            raise HostError(f"No named pipes for {self}: {error}: see to TMPDIR") from error

    def _create(self, engine: Engine, image: RuntimeImage, profile: str) -> str:
        pipes = self._pipes.directory if self._pipes else None
        try:
            try:
                return self._create_with(engine, image, profile, pipes)
            except EngineRefusalError as error:
                if str(self._container.directory) not in str(error) or self._policy.transport == "pipes":
                    raise
            self._close_pipes()
            if self._container.program:
                log_shared_files()
            self._container.drop_directory()
            return self._create_with(engine, image, profile, None)
        except EngineRefusalError as error:
            program = str(self._tenant.program.resolve())
            if program in str(error):
                raise HostError(
                    f"The Engine does not see {program}, so the agent {self._tenant.name} cannot be delivered "
                    f"({error}): run a worker of the judge on the Engine's own host"
                ) from error
            raise HostError(f"{error} ({self})") from error

    def _create_with(self, engine: Engine, image: RuntimeImage, profile: str, pipes: Path | None) -> str:
        files = self._limits.open_files * (hardening.WINE_FILES if image.seccomp == seccomp.WINE else 1)
        config = hardening.container_config(
            image=image.id,
            command=layout.command_in_box(self._tenant, layout.PROGRAM),
            tenant=self._tenant,
            limits=self._limits.model_copy(update={"open_files": files}),
            policy=self._policy,
            owner=Owner.me().encode(),
            uid=self._uid(),
            program=self._container.program.path if self._container.program else None,
            pipes=pipes,
            accounts=self._container.directory,
            seccomp=seccomp.engine_text(profile),
            maps_users=self._maps_users,
        )
        self._tmpfs = hardening.writable(config)
        return engine.create(config)

    def _uid(self) -> int:
        container = self._container
        if container.uid is None:
            container.user = claim_user()
            return container.user.uid
        return container.uid

    def _on_first_end(self) -> Sequence[tuple[Channel, bytes]]:
        if self._over or not self._container.stream:
            return ()
        self.meter.readings()  # the cgroup disappears soon, and the Engine may miss the kill
        if self._container.stream.ended:
            return self._on_end()
        return self._container.stream.finish(HANG_UP_S)

    def _close_pipes(self) -> None:
        if self._pipes:
            self._pipes.close()
            self._pipes = None

    def enter(self) -> None:
        if self._tenant.parking_cores and self._tenant.cores:
            self._container.move(self._tenant.cores)
        if self._container.first:
            self._container.first.spread()

    @property
    def sources(self) -> Sequence[EventSource]:
        pipes: Sequence[EventSource] = self._pipes.sources if self._pipes else ()
        others = (self._container.stream, self._container.first, self._container.oom)
        return [*pipes, *(source for source in others if source)]

    @property
    def _attached(self) -> AttachStream:
        if not self._container.stream:
            raise HostError(f"This box was not prepared ({self})")
        return self._container.stream

    def start(self) -> None:
        if self._uses_pipes:
            self._attached.say_pipes()
        else:
            self._attached.say_attach()

    def write(self, data: bytes) -> int:
        if self._pipes:
            return self._pipes.write(data)
        return -1 if self._over else self._attached.write(data)

    @property
    def stdin_fd(self) -> int:
        if self._over or not self._container.stream:
            return -1
        return self._pipes.stdin_fd if self._pipes else self._container.stream.stdin_fd

    @property
    def meter(self) -> Meter:
        return self._container.meter

    @property
    def freezer(self) -> str:
        return self._container.freezer.name

    def freeze(self) -> None:
        self._container.freeze()

    def is_frozen(self) -> bool:
        return self._container.freezer.is_frozen()

    def thaw(self) -> None:
        self._container.thaw()

    def is_held(self) -> bool | None:
        return self._container.is_held()

    def nearby(self) -> Nearby:
        if self._container.program and self._container.directory:
            files = [mark_of(self._container.directory)]  # the copy's disk; agents cannot watch it
        else:
            files = list(islice((path for path in self._tenant.program.rglob("*") if path.is_file()), 1))
        if self._container.first:
            files.append(PROC / str(self._container.first.pid) / "exe")
        memory = self._container.groups.get("memory")
        return Nearby(tuple(files), memory.parent if memory else None)

    def file_bytes(self) -> int:
        limits, first = self._limits, self._container.first
        sizes = {
            layout.HOME: limits.temporary_bytes,
            layout.PERSISTENT: limits.persistent_bytes,
            layout.SCRATCH: limits.scratch_bytes,
        }
        most = sum(sizes.values())
        if first is None:
            return most
        try:
            used = [os.statvfs(f"{PROC / str(first.pid)}/root{path}") for path, size in sizes.items() if size]
        except OSError:  # it is gone, or another user's
            return most
        return min(most, sum(each.f_frsize * (each.f_blocks - each.f_bfree) for each in used))

    def kill(self) -> None:
        if not self._over and not self._container.is_killed:
            self.meter.readings()
            self._container.kill()

    def is_gone(self) -> bool:
        return self._is_at_rest() or self._container.is_gone()

    def leave(self) -> float:
        began = time.monotonic()
        try:
            if self._reuse and self._reuse.is_possible and self._is_at_rest():
                self._container.thaw()
                if self._tenant.parking_cores:
                    cgroup.move_to_cores(self._container.groups, self._tenant.parking_cores)
            else:
                # On its slot's cores: a killed process may still run for long.
                self.kill()
                self._container.end()
        except HostError as error:
            log.warning("box may still use its slot's cores", box=str(self), error=str(error))
        return time.monotonic() - began

    def close(self) -> None:
        if self._reuse and self._reuse.keep(is_at_rest=self._is_at_rest()):
            self._container = Container(self._tenant)
        self._container.close()
        self._close_pipes()

    def _is_at_rest(self) -> bool:
        first = self._container.first
        return self._ended and not self._container.is_killed and first is not None and first.is_running()

    def _on_report(self, said: bytes) -> ProcessReport:
        if self._pipes:
            self._pipes.settle()
        try:
            report = ProcessReport.decode(said)
        except ValueError as error:
            raise HostError(f"PID 1 sent an invalid report, {said!r}: rebuild the image ({self})") from error
        if report.kind == "started" and self._container.first:
            refuse_stack(apparmor_label(self._container.first.pid))
        self._started = True
        self._over = self._over or report.kind != "started"
        self._ended = self._ended or report.kind in ("exited", "signalled")
        return report

    def _on_end(self) -> Sequence[tuple[Channel, bytes]]:
        if self._pipes:
            self._pipes.settle()
        if self._over or (self._uses_pipes and self._container.first and self._container.first.is_running()):
            return ()
        self._over = True
        if self._container.is_killed:
            return ((Channel.REPORT, KILLED.encode()),)
        engine = self._container.engine
        end = self._container.find_end(engine) if engine else UnreportedEnd.UNKNOWN
        if end is UnreportedEnd.MEMORY:
            self.meter.exhausted_cap = self._limits.cap_bytes
            return ((Channel.OOM, b""), (Channel.REPORT, KILLED.encode()))
        if end is UnreportedEnd.UNKNOWN and not self._started:
            raise HostError(f"PID 1 ended before the agent ran, for an unknown reason: run `judge doctor` ({self})")
        kind: ReportKind = "removed" if end is UnreportedEnd.OTHERS else "lost"
        return ((Channel.REPORT, ProcessReport(kind).encode()),)


@cache
def log_shared_files() -> None:
    """Log once that boxes do not copy the agents' files."""
    log.warning(
        "the Engine does not see TMPDIR: all games of an agent share its files, so an agent can pass numbers from game "
        "to game; set TMPDIR to a directory that the Engine sees"
    )
