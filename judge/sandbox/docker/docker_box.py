"""The real box: one hardened container an agent, whose PID 1 is ours."""

import time
from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from judge.base.errors import HostError
from judge.base.logs import get_logger
from judge.sandbox import layout
from judge.sandbox.box import Box, BoxPolicy, Channel, EventSource, Limits, Meter, Nearby, ProcessReport, Tenant
from judge.sandbox.docker import freezer, hardening, seccomp
from judge.sandbox.docker.attach import AttachStream
from judge.sandbox.docker.container import KEPT, Container, Whose, tell_no_effect, tell_shared_files, tell_thrown_away
from judge.sandbox.docker.engine import Engine, EngineRefusalError
from judge.sandbox.docker.engine_meter import EngineMeter
from judge.sandbox.docker.exit_cause import died_of_memory
from judge.sandbox.docker.image_pages import load_image
from judge.sandbox.docker.images import RuntimeImage, find_runtime
from judge.sandbox.docker.program_copy import ProgramCopy
from judge.sandbox.docker.renewal import Renewal, UncleanError, helper
from judge.sandbox.docker.requirements import refuse_stack, refuse_unmet
from judge.sandbox.host_activity.interference import FirstProcess, is_ordered_frozen, release
from judge.sandbox.machine import cgroup
from judge.sandbox.machine.owner import Owner, make_directory, mark_of
from judge.sandbox.machine.pipes import NamedPipes
from judge.sandbox.machine.procfs import PROC, apparmor_label
from judge.sandbox.machine.users import claim_user, write_accounts

log = get_logger()

UNDONE_PROFILE = "native"
"""The filter of system calls under which a game leaves nothing that is not looked for; others allow more."""

KILLED = ProcessReport("signalled", 9)

LOOK_S = 0.05
"""How often the Engine is asked whether a killed container has ended."""

HANG_UP_S = 10.0
"""How long after the end of PID 1 the Engine may take to end its stream, on a busy host too."""

PATIENCE_S = 10.0
"""How often it is logged that a killed container has not ended."""


class DockerBox(Box):
    """A box made of a container; see `Box` for the promises and `hardening` for what the agent may do."""

    def __init__(self, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> None:
        self.name = "docker"
        self.renewal = Renewal
        """How its container is made as new after a game."""
        self.variety: Hashable = None
        """What else this kind of box gives its container; one of another variety is never reused."""
        self._is_kept = False
        """Whether the container may be kept for the agent's next game."""
        self._tenant = tenant
        self._limits = limits
        self._policy = policy
        self._container = Container()
        self._writable: Mapping[str, str] = {}
        self._pipes: NamedPipes | None = None
        self._meter = Meter()
        self._oom: cgroup.OomSource | None = None
        self._is_let_go = True
        self._uses_pipes = False
        self._killed = False
        self._over = False
        self._ended = False
        """PID 1 has told of the agent's end, and killed and reaped everything else before."""

    def __str__(self) -> str:
        where = f"container {self._container.id[:12]}" if self._container.id else "no container yet"
        return f"{where}, agent {self._tenant.name}, match {self._tenant.match_id} seat {self._tenant.seat}"

    @property
    def is_reused(self) -> bool:
        """Whether the container has served a former game of the same agent."""
        return self._container.is_reused

    # --- before the agent runs --------------------------------------------------------------------

    def prepare(self) -> None:
        """Make a container ready: PID 1 runs and waits for the word, the agent does not run."""
        self._is_kept = self._may_be_kept()
        if self._is_kept and (kept := KEPT.take(self._agent())) is not None and self._reuse(kept):
            return
        image = find_runtime(self._tenant.runtime)
        self._is_kept = self._is_kept and self._has_undone_profile(image)
        self._make(image)
        if self._is_kept:
            self._begin_to_keep(image)

    def _make(self, image: RuntimeImage) -> None:
        """Create and start a container."""
        self._container.engine = engine = Engine(self._policy.start_timeout_s)
        refuse_unmet(self._policy, engine.info())
        self._make_directory()
        self._container.id = self._create(engine, image)
        self._container.stream = AttachStream(engine.attach(self._container.id), self._on_report, self._on_end)
        engine.start(self._container.id)
        self._look_around(engine)
        if self._tenant.digest and self._container.first:
            load_image(self._container.first.pid, image.id)

    def _may_be_kept(self) -> bool:
        """Whether this game's container may serve its agent again."""
        tenant, policy = self._tenant, self._policy
        if policy.reuse == "never" or not tenant.digest:
            return False
        try:
            helper()
            if tenant.folders:
                raise UncleanError("a game with kept folders has new volumes, and a container cannot be given others")
            if policy.transport == "attach":
                raise UncleanError("PID 1 hears the agent's input and the judge's words in one stream (box.transport)")
            if policy.runtime not in ("", "runc"):
                raise UncleanError(f"what the Engine's runtime {policy.runtime} leaves is not known (box.runtime)")
        except UncleanError as error:
            self._tell_no_effect(str(error))
            return False
        return True

    def _tell_no_effect(self, why: str) -> None:
        if self._policy.reuse == "agent":
            tell_no_effect(why)

    def _has_undone_profile(self, image: RuntimeImage) -> bool:
        profile = seccomp.profile_for(self._policy, self._tenant.runtime, image.seccomp)
        if profile != UNDONE_PROFILE:
            self._tell_no_effect(f"the seccomp profile {profile} of {self._tenant.runtime} allows more than is undone")
        return profile == UNDONE_PROFILE

    def _agent(self) -> Whose:
        """Whom the container is made for: everything that is in its configuration, but for what is a game's own."""
        tenant = self._tenant
        policy = (self._policy.model_dump_json(), self._limits.model_dump_json())
        agent = (tenant.name, tenant.program, tenant.command, tenant.runtime, tenant.environment)
        return Whose(tenant.digest, (*agent, *policy, self.renewal, self.variety))

    def _reuse(self, kept: Container) -> bool:
        """Give the agent its container of a former game, with new pipes and counters; False if it is gone meanwhile."""
        if kept.stream is None or kept.first is None or kept.directory is None:
            raise TypeError("a container without pipes was kept")
        self._container = kept
        self.name = "docker-pipes"
        self._uses_pipes = True
        kept.stream.on_report, kept.stream.on_end, kept.first.on_end = self._on_report, self._on_end, self._on_first_end
        cgroup.move_to_cores(kept.groups, self._tenant.parking_cores or self._tenant.cores)
        self._pipes = self._new_pipes(kept.directory)
        try:
            self._measure(kept.groups).restart()
        except OSError as error:
            tell_thrown_away(str(self), f"its counters are gone: {error.strerror}")
            self._start_afresh()
            return False
        return True

    def _start_afresh(self) -> None:
        """Remove the container, before its agent has run, so that another one can be made."""
        is_kept, self._is_kept = self._is_kept, False
        self.close()
        self._container, self._is_kept = Container(), is_kept

    def _begin_to_keep(self, image: RuntimeImage) -> None:
        """Make the container ready for more games than this one; where that cannot be, it is a fresh one for this."""
        try:
            if not self._uses_pipes:
                raise UncleanError("no named pipes reach it")
            self._container.begin(self._writable, self.renewal)
            self._meter.restart()  # type: ignore[attr-defined]  # a container with groups has one of cgroups
        except (UncleanError, OSError) as error:
            self._tell_no_effect(str(error))
            self._start_afresh()
            self._is_kept = False
            self._make(image)

    def _make_directory(self) -> None:
        """Make what the container gets from this host: account files, named pipes, and a copy of the agent's files."""
        try:
            self._container.directory = directory = make_directory()
            write_accounts(directory, self._uid())
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

    def _create(self, engine: Engine, image: RuntimeImage) -> str:
        """Create the container; where the Engine does not see its directory, without what is in it."""
        try:
            return self._create_as(engine, self._config(image, self._pipes.directory if self._pipes else None))
        except EngineRefusalError as error:
            if str(self._container.directory) not in str(error) or self._policy.transport == "pipes":
                raise self._explained(error) from error
        self._close_pipes()
        if self._container.program:
            tell_shared_files()
        self._container.drop_directory()
        try:
            return self._create_as(engine, self._config(image, None))
        except EngineRefusalError as error:
            raise self._explained(error) from error

    def _create_as(self, engine: Engine, config: Mapping[str, Any]) -> str:
        self._writable = hardening.writable(config)
        return engine.create(config)

    def _config(self, image: RuntimeImage, pipes: Path | None) -> dict[str, object]:
        return hardening.container_config(
            image=image.id,
            command=layout.command_in_box(self._tenant, layout.PROGRAM),
            tenant=self._tenant,
            limits=self._limits,
            policy=self._policy,
            owner=Owner.me().encode(),
            uid=self._uid(),
            program=self._container.program.path if self._container.program else None,
            pipes=pipes,
            accounts=self._container.directory,
            seccomp=seccomp.engine_text(seccomp.profile_for(self._policy, self._tenant.runtime, image.seccomp)),
        )

    def _uid(self) -> int:
        """The agent's user: the owner of its folders, else one that no other box has."""
        if self._tenant.uid is not None:
            return self._tenant.uid
        self._container.user = self._container.user or claim_user(self._policy)
        return self._container.user.uid

    def _explained(self, error: EngineRefusalError) -> HostError:
        program = str(self._tenant.program.resolve())
        if program in str(error):
            return HostError(
                f"The Engine does not see {program}, so the agent {self._tenant.name} cannot be delivered "
                f"({error}): run a worker of the judge on the Engine's own host"
            )
        return HostError(f"{error} ({self})")

    def _look_around(self, engine: Engine) -> None:
        """Find out what this user may do with the container, and choose transport, freezer and meter."""
        state = engine.state(self._container.id)
        if not state["Running"]:
            raise HostError(f"PID 1 ended at once, with code {state['ExitCode']}: rebuild the image ({self})")
        groups = self._find_groups(int(state["Pid"]))
        if self._policy.transport == "pipes" and groups is None:
            raise HostError(f"Judge and Engine share no kernel, so box.transport pipes cannot work ({self})")
        self._uses_pipes = self._pipes is not None and groups is not None
        if not self._uses_pipes:
            self._close_pipes()
        self.name = "docker-pipes" if self._uses_pipes else "docker-attach"
        self._container.groups = groups or {}
        if groups:
            self._measure(groups)
        else:
            self._meter = EngineMeter(engine, self._container.id)
            if groups is not None:
                cgroup.tell_hidden()
        self._container.freezer = freezer.choose_freezer(self._policy.freeze, groups or {}, engine, self._container.id)

    def _measure(self, groups: Mapping[str, Path]) -> cgroup.CgroupMeter:
        """Read the counters, and watch for lack of memory, from now on."""
        meter = self._meter = cgroup.CgroupMeter(groups)
        self._oom = cgroup.OomSource.open(groups)
        return meter

    def _find_groups(self, pid: int) -> Mapping[str, Path] | None:
        """The container's cgroups that are visible, and a handle of its PID 1; None if the Engine's processes are not
        ours."""
        try:
            first = FirstProcess(pid, self._on_first_end)
        except (OSError, ValueError):
            return None
        groups = cgroup.find_cgroups(pid, self._container.id)
        if groups is None:
            first.close()
        else:
            self._container.first = first
        return groups

    def _on_first_end(self) -> Sequence[tuple[Channel, bytes]]:
        """PID 1 has ended: unless its stream has, that tells what there is to tell, and in order."""
        if self._over or not self._container.stream:
            return ()
        self._meter.readings()  # the cgroup will soon be gone, and the Engine may miss that memory ran out
        if self._container.stream.ended:
            return self._on_end()
        return self._container.stream.finish(HANG_UP_S)

    def _close_pipes(self) -> None:
        if self._pipes:
            self._pipes.close()
            self._pipes = None

    def enter(self) -> None:
        """Move the container from its parking cores to all cores of the slot."""
        cores = self._tenant.cores
        if (
            self._container.engine
            and self._tenant.parking_cores
            and cores
            and not cgroup.move_to_cores(self._container.groups, cores)
        ):
            self._container.engine.move(self._container.id, cores)
        if self._container.first:
            self._container.first.spread()

    # --- while it runs ----------------------------------------------------------------------------

    @property
    def sources(self) -> Sequence[EventSource]:
        """The agent's streams, PID 1's reports and its end, and the kernel's word on memory."""
        pipes: Sequence[EventSource] = self._pipes.sources if self._pipes else ()
        others = (self._container.stream, self._container.first, self._oom)
        return [*pipes, *(source for source in others if source)]

    def start(self) -> None:
        """Tell PID 1 to start the agent."""
        if self._uses_pipes:
            self._attached.say_pipes()
        else:
            self._attached.say_attach()

    def write(self, data: bytes) -> int:
        """Write to the agent's stdin without blocking; see `Box`."""
        if self._pipes:
            return self._pipes.write(data)
        return -1 if self._over else self._attached.write(data)

    @property
    def stdin_fd(self) -> int:
        """What to poll for room to write; -1 when nobody reads any more."""
        if self._over or not self._container.stream:
            return -1
        return self._pipes.stdin_fd if self._pipes else self._container.stream.stdin_fd

    @property
    def meter(self) -> Meter:
        return self._meter

    @property
    def freezer(self) -> str:
        """How this container is stopped, as `box.freeze` names it."""
        return self._container.freezer.name

    def freeze(self) -> None:
        """Stop everything in the container, PID 1 too: it tells nothing before the thaw."""
        self._is_let_go = False
        self._container.freezer.freeze()

    def is_frozen(self) -> bool:
        """Whether everything in the container stands still."""
        return self._container.freezer.is_frozen()

    def thaw(self) -> None:
        """Let the container go on."""
        self._container.freezer.thaw()
        self._is_let_go = True

    def is_held(self) -> bool | None:
        """Whether somebody else holds the container still, or has paused it; see `Box`."""
        if not self._container.engine or not self._container.id:
            return None
        if self._is_let_go and is_ordered_frozen(self._container.groups):
            return True
        with suppress(HostError):
            if not self._container.groups or self._container.freezer.name == freezer.EnginePause.name:
                return self._is_let_go and bool(self._container.engine.state(self._container.id)["Paused"])
            return self._container.engine.count_events(self._container.id, "pause", time.time()) > 0
        return None

    def nearby(self) -> Nearby:
        """The disks of the program and, where this user may read it, of the image; of version 1 the cgroup above."""
        if self._container.program and self._container.directory:
            files = [mark_of(self._container.directory)]  # on the disk of the copy, and the agent cannot watch it
        else:
            files = list(islice((path for path in self._tenant.program.rglob("*") if path.is_file()), 1))
        if self._container.first:
            files.append(PROC / str(self._container.first.pid) / "exe")
        memory = self._container.groups.get("memory")
        return Nearby(tuple(files), memory.parent if memory else None)

    def kill(self) -> None:
        """Kill the whole container, after a last look at its counters.

        PID 1 cannot be asked to do it: the agent may send it the same signal.
        """
        if self._over or self._killed or not self._container.engine or not self._container.id:
            return
        self._meter.readings()
        self.thaw()
        self._killed = True
        if self._container.first and self._container.first.kill():
            return  # at once; the Engine would wait for its end, and refuse if that takes long
        self._kill_by_engine(self._container.engine)

    def _kill_by_engine(self, engine: Engine) -> None:
        """Also one that is paused. Not running any more, or in a call that nothing interrupts, is a refusal."""
        with ThreadPoolExecutor(1) as pool:
            killing = pool.submit(engine.kill, self._container.id)
            self._attached.take_in(killing)
            try:
                killing.result()
            except EngineRefusalError as error:
                log.debug("the Engine did not kill a box", box=str(self), error=str(error))

    def is_gone(self) -> bool:
        """Whether its PID 1 has ended: the kernel ends that when everything else in the container has."""
        if not self._container.engine or not self._container.id:
            return True
        if self._container.first:
            return not self._container.first.is_running()
        try:
            return not self._container.engine.state(self._container.id)["Running"]
        except EngineRefusalError:
            return True

    # --- at its end -------------------------------------------------------------------------------

    def leave(self) -> float:
        """Kill what still runs, on the parking cores if possible, because ending takes time too. Never raises.

        A process may be in a call that nothing interrupts: until that returns, the cores are in use.
        """
        if self._tenant.parking_cores:
            cgroup.move_to_cores(self._container.groups, self._tenant.parking_cores)
        began = time.monotonic()
        try:
            if self._is_kept and self._is_at_rest():
                self._container.freezer.thaw()
                return time.monotonic() - began
            self.kill()
            self._container.freezer.thaw()
            self._end_first()
            release(self._container.groups)
            self._await_end(began)
        except HostError as error:
            log.warning("box may still use its slot's cores", box=str(self), error=str(error))
        return time.monotonic() - began

    def _end_first(self) -> None:
        """Kill PID 1: it may have told of the agent's end, and wait for the judge's."""
        first, engine = self._container.first, self._container.engine
        is_told = self._killed or (first is not None and first.kill())
        if engine and self._container.stream and not is_told:
            self._kill_by_engine(engine)

    def _await_end(self, began: float) -> None:
        """Wait until the container's processes are gone, and log now and then that they are not."""
        told = began
        while not self.is_gone():
            if time.monotonic() - told > PATIENCE_S:
                told = time.monotonic()
                log.warning(
                    "the slot stays closed: a box runs on after it was killed",
                    box=str(self),
                    seconds=round(told - began),
                )
                if self._container.engine:
                    self._kill_by_engine(self._container.engine)
            if self._container.first:
                self._container.first.await_end(PATIENCE_S)
            else:
                time.sleep(LOOK_S)

    def close(self) -> None:
        """Remove the container, or keep it for the agent's next game, and close the rest; never raises."""
        if not self._keep():
            self._container.close(str(self))
        self._meter.close()
        self._meter = Meter()
        if self._oom:
            self._oom.close()
            self._oom = None
        self._close_pipes()

    def _keep(self) -> bool:
        """Whether the container was proved to be as new, and waits for the agent's next game."""
        container, self._is_kept = self._container, self._is_kept and not self._container.is_closed
        if not self._is_kept:
            return False
        self._is_kept = False
        if not self._is_at_rest():
            if self._policy.reuse == "agent":
                log.info("a box whose agent did not end by itself serves no other game", box=str(self))
            return False
        try:
            if self._meter.readings().oom_kills:
                raise UncleanError("it ran out of memory")
            container.renew()
        except (UncleanError, HostError, OSError) as error:
            tell_thrown_away(str(self), str(error))
            return False
        self._close_pipes()
        self._container = Container()
        KEPT.put(self._agent(), container)
        return True

    def _is_at_rest(self) -> bool:
        """Whether nothing runs but PID 1, which can be asked to go on."""
        first = self._container.first
        return self._ended and not self._killed and first is not None and first.is_running()

    # --- reports of PID 1, and its end -----------------------------------------------

    @property
    def _attached(self) -> AttachStream:
        if not self._container.stream:
            raise HostError(f"This box was not prepared ({self})")
        return self._container.stream

    def _on_report(self, said: bytes) -> ProcessReport:
        """Decode a report of PID 1."""
        if self._pipes:
            self._pipes.settle()
        try:
            report = ProcessReport.decode(said)
        except ValueError as error:
            raise HostError(f"PID 1 said {said!r}, which is no report: rebuild the image ({self})") from error
        if report.kind == "started" and self._container.first:
            refuse_stack(apparmor_label(self._container.first.pid))
        self._over = self._over or report.kind != "started"
        self._ended = self._ended or report.kind in ("exited", "signalled")
        return report

    def _on_end(self) -> Sequence[tuple[Channel, bytes]]:
        """The stream to PID 1 has ended: nothing new after a report of the end, else find out what happened.

        If PID 1 still runs, only the Engine is gone, and the game continues by the pipes.
        """
        if self._pipes:
            self._pipes.settle()
        if self._over or (self._uses_pipes and self._container.first and self._container.first.is_running()):
            return ()
        self._over = True
        if self._killed:
            return ((Channel.REPORT, KILLED.encode()),)
        if self._meter.readings().oom_kills or (
            self._container.engine and died_of_memory(self._container.engine, self._container.id)
        ):
            self._meter.exhausted_cap = self._limits.cap_bytes
            return ((Channel.OOM, b""), (Channel.REPORT, KILLED.encode()))
        return ((Channel.REPORT, ProcessReport("lost").encode()),)
