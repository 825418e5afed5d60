"""The default box: a hardened container on the judge's kernel, which named pipes connect to the judge."""

import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path

from judge.base.errors import HostError
from judge.base.owner import mark_of
from judge.base.procfs import PROC, apparmor_label, count_oom_kills
from judge.sandbox.box import BoxPolicy, Channel, EventSource, Limits, Nearby, Tenant
from judge.sandbox.docker.container_box import Container, ContainerBox
from judge.sandbox.docker.engine import Engine
from judge.sandbox.docker.first_process import ControlStream, FirstProcess
from judge.sandbox.docker.images import load_image
from judge.sandbox.docker.kept import Reuse
from judge.sandbox.docker.requirements import refuse_stack
from judge.sandbox.evidence import ProcessReport
from judge.sandbox.machine import cgroup
from judge.sandbox.machine.pipes import NamedPipes

HANG_UP_S = 10.0


class DockerBox(ContainerBox[FirstProcess]):
    """Sees its container's processes and cgroups. Its container may serve its agent's next game."""

    name = "docker-pipes"
    shows_host_evidence = True

    def __init__(self, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> None:
        super().__init__(tenant, limits, policy)
        self._pipes: NamedPipes | None = None
        self._reuse: Reuse | None = None
        self._ended = False
        """PID 1 has reaped all other processes and reported the agent's end."""

    @property
    def is_reused(self) -> bool:
        return self._container is not None and self._container.is_reused

    # --- start

    def prepare(self) -> None:
        self._reuse = Reuse(self._tenant, self._limits, self._policy)
        if (container := self._reuse.take()) is None:
            super().prepare()
            if not self._reuse.begin(self._prepared):
                self.close()
                super().prepare()
            return
        self._container, container.tenant = container, self._tenant
        container.stream.on_report, container.stream.on_end = self._on_report, self._on_end
        container.first.on_end = self._on_first_end
        self._oom_kills = count_oom_kills()
        cgroup.move_to_cores(container.groups, self._tenant.parking_cores or self._tenant.cores)
        self._pipes = self._open_pipes(container.directory)

    def _open_pipes(self, directory: Path) -> NamedPipes:
        try:
            return NamedPipes(directory)
        except OSError as error:
            raise HostError(f"No named pipes for {self}: {error}: see to TMPDIR") from error

    def _share(self, _engine: Engine, directory: Path) -> tuple[Path, Path]:
        self._pipes = self._open_pipes(directory)
        return directory, self._pipes.directory

    def _open_stream(self, attached: socket.socket) -> ControlStream:
        return ControlStream(attached, self._on_report, self._on_end)

    def _open_first(
        self, container: Container[FirstProcess], pid: int, groups: Mapping[str, Path] | None
    ) -> FirstProcess:
        with suppress(OSError):
            if groups is not None:
                return FirstProcess(pid, self._on_first_end)
        raise HostError(f"Judge and Engine share no kernel, so box.transport pipes cannot work ({container})")

    def _run(self, container: Container[FirstProcess], parts: ExitStack) -> None:
        super()._run(container, parts)
        if self._tenant.digest:
            load_image(container.first.pid, container.image.id)

    def enter(self) -> None:
        super().enter()
        self._prepared.first.spread()

    # --- turns

    @property
    def sources(self) -> Sequence[EventSource]:
        if self._pipes is None or self._container is None:
            return ()
        oom = self._container.oom
        return [*self._pipes.sources, self._container.stream, self._container.first, *([oom] if oom else [])]

    def write(self, data: bytes) -> int:
        return -1 if self._pipes is None else self._pipes.write(data)

    @property
    def stdin_fd(self) -> int:
        return -1 if self._over or self._pipes is None else self._pipes.stdin_fd

    def nearby(self) -> Nearby:
        container = self._prepared
        if container.program:
            files = [mark_of(container.directory)]  # the copy's disk; agents cannot watch it
        else:
            files = list(islice((path for path in self._tenant.program.rglob("*") if path.is_file()), 1))
        files.append(PROC / str(container.first.pid) / "exe")
        memory = container.groups.get("memory")
        return Nearby(tuple(files), memory.parent if memory else None)

    def file_bytes(self) -> int:
        sizes = self._file_limits
        most = sum(sizes.values())
        root = f"{PROC / str(self._prepared.first.pid)}/root"
        try:
            used = [os.statvfs(f"{root}{path}") for path, size in sizes.items() if size]
        except OSError:  # it is gone, or another user's
            return most
        return min(most, sum(each.f_frsize * (each.f_blocks - each.f_bfree) for each in used))

    # --- end

    def is_gone(self) -> bool:
        return self._is_at_rest() or super().is_gone()

    def _free_cores(self, container: Container[FirstProcess]) -> None:
        if not (self._reuse and self._reuse.is_possible and self._is_at_rest()):
            super()._free_cores(container)
            return
        container.thaw()
        if self._tenant.parking_cores:
            cgroup.move_to_cores(container.groups, self._tenant.parking_cores)

    def close(self) -> None:
        if self._reuse and self._reuse.keep(is_at_rest=self._is_at_rest()):
            self._container = None
        super().close()
        if self._pipes:
            self._pipes.close()
            self._pipes = None

    def _is_at_rest(self) -> bool:
        container = self._container
        return self._ended and container is not None and not container.is_killed and container.first.is_running()

    def _on_report(self, said: bytes) -> ProcessReport:
        self._settle_pipes()
        report = super()._on_report(said)
        if report.kind == "started" and self._container:
            refuse_stack(apparmor_label(self._container.first.pid))
        self._ended = self._ended or report.kind in ("exited", "signalled")
        return report

    def _on_end(self) -> Sequence[tuple[Channel, bytes]]:
        self._settle_pipes()
        if self._container is not None and self._container.first.is_running():
            return ()
        return super()._on_end()

    def _on_first_end(self) -> Sequence[tuple[Channel, bytes]]:
        if self._over or self._container is None:
            return ()
        self.meter.readings()  # the cgroup disappears soon, and the Engine may miss the kill
        if self._container.stream.ended:
            return self._on_end()
        return self._container.stream.finish(HANG_UP_S)

    def _settle_pipes(self) -> None:
        if self._pipes:
            self._pipes.settle()
