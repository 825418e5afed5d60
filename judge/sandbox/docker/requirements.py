"""Checks the host and the rights of the judge against a policy, and refuses stacked AppArmor profiles."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from threading import Event, Thread
from typing import Any

from judge.base.errors import HostError
from judge.base.owner import owned_directory
from judge.base.procfs import PROC
from judge.sandbox.box import CONTESTS_NEED_PIPES, ENGINE_FREEZER, NO_FREEZER, ONE_KERNEL, BoxPolicy
from judge.sandbox.docker import seccomp
from judge.sandbox.docker.engine import Engine

ENGINE_FREEZE_MS = 10
"""A call of the Engine's freezer on an idle host."""

MIN_TURN_MS = 10 * ENGINE_FREEZE_MS
"""Shortest turn of a contest whose boxes the Engine freezes."""

ENGINE_FREEZES = f"the Engine freezes boxes (about {ENGINE_FREEZE_MS} ms of each turn)"

WITHOUT_ROOT = (
    "no box is reused",
    "no image is loaded into memory before a game",
    "the disk of the images is not watched for stalls",
    "notes on memory use the largest size of the agent's folders",
    "leftovers of other users' judges are not removed",
)
"""Other differences for a judge that is not root. docs/enforcement.md has their consequences."""


def require(policy: BoxPolicy) -> None:
    """Raises HostError or InputError for the first unmet requirement."""
    if obstacle := freezer_obstacle(policy):
        raise HostError(obstacle)
    for name in {seccomp.NATIVE, *policy.seccomp_of.values()}:
        seccomp.engine_text(name)
    with closing(Engine()) as engine:
        refuse_unmet(policy, engine.info())


def refuse_unmet(policy: BoxPolicy, info: Mapping[str, Any]) -> None:
    """`info` is the Engine's (API 1.41, `GET /info`). Raises HostError."""
    for sentence in unmet_requirements(policy, info):
        raise HostError(f"{sentence}; the policy requires it")


def unmet_requirements(policy: BoxPolicy, info: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each."""
    if "seccomp" not in security_options(info):
        yield "this Engine or its kernel has no seccomp: use a kernel that has it (CONFIG_SECCOMP_FILTER)"
    if missing := missing_limits(info):
        yield f"the Engine cannot limit {', '.join(missing)}: {LIMITS_FIX}"
    if policy.transport == "pipes" and policy.runtime not in ONE_KERNEL:
        yield (
            f"box.transport = 'pipes', but box.runtime = {policy.runtime!r} has a separate kernel, which cannot "
            "open the host's named pipes: set box.transport to auto"
        )
    runtimes = info.get("Runtimes") or {}
    if policy.runtime and policy.runtime not in runtimes:
        yield (
            f"box.runtime = {policy.runtime!r}, but this Engine has {', '.join(sorted(runtimes))}: "
            "add it to the runtimes of /etc/docker/daemon.json and restart the Engine"
        )


LIMITS = {"MemoryLimit": "memory", "PidsLimit": "processes", "CPUSet": "processors"}
"""By the Engine's name."""
LIMITS_FIX = (
    "boot with cgroup v2 (a rootless Engine needs it, and the controllers of its user) or with cgroup_enable=memory"
)


def missing_limits(info: Mapping[str, Any]) -> list[str]:
    """What this Engine cannot limit, as a rootless one with cgroup v1. `info` is the Engine's."""
    return [name for key, name in LIMITS.items() if not info.get(key)]


def refuse_stack(label: str) -> None:
    """Raise HostError if PID 1's AppArmor label is a stack, such as `crun//&docker-default`.

    The Engine's profile only allows signals to exactly its label. In a stack, PID 1 could not end the agent's
    processes. A runtime with its own profile causes a stack if it sets no_new_privs first, as crun does.
    """
    stack, _, _ = label.partition(" ")
    if "//&" not in stack:
        return
    runtime = stack.partition("//&")[0]
    raise HostError(
        f"AppArmor confines boxes here by two profiles at once, {stack}, so their processes may not signal one "
        f"another: disable the profile of the runtime (ln -s /etc/apparmor.d/{runtime} /etc/apparmor.d/disable/ and "
        f"apparmor_parser -R /etc/apparmor.d/{runtime}), or use runc"
    )


def pipes_obstacle(policy: BoxPolicy) -> str:
    """Why named pipes do not connect boxes under the policy to the judge; empty if they do. Raises HostError.

    If the policy selects pipes, a box that they do not reach reports it.
    """
    if policy.transport == "pipes":
        return ""
    return policy.attach_reason or host_obstacle(os.environ.get("DOCKER_HOST", ""), tempfile.gettempdir())


def require_exact_clocks(policy: BoxPolicy, turn_ms: int) -> None:
    """Raises HostError for a contest whose boxes would use the Engine's stream, or a slow freezer in short turns.

    `turn_ms` is its shortest turn; 0: no limit.
    """
    if obstacle := clock_obstacle(policy, turn_ms):
        raise HostError(obstacle)
    if obstacle := pipes_obstacle(policy):
        raise HostError(f"{CONTESTS_NEED_PIPES}: {obstacle}")


@cache
def host_obstacle(_engine: str, temporary: str) -> str:
    """Why this host and its Engine cannot share pipes in the directory `temporary`; empty if they can."""
    is_over = Event()
    thread = Thread(target=is_over.wait, daemon=True)
    thread.start()
    try:
        with closing(Engine()) as engine, owned_directory() as directory:
            # Another kernel has no thread of this number in a process of this number.
            if not engine.sees(PROC / str(os.getpid()) / "task" / str(thread.native_id)):
                return "the judge and the Engine share no kernel"
            return "" if engine.sees(directory) else f"the Engine does not see {temporary}"
    finally:
        is_over.set()


def maps_users(info: Mapping[str, Any]) -> bool:
    """Whether containers have a user namespace. `info` is the Engine's."""
    return bool(security_options(info) & {"userns", "rootless"})


def security_options(info: Mapping[str, Any]) -> set[str]:
    """Options of the Engine: apparmor, seccomp, userns, rootless, selinux, cgroupns."""
    options = info.get("SecurityOptions") or []
    return {option.split(",")[0].removeprefix("name=") for option in options}


def differences_without_root(policy: BoxPolicy) -> Sequence[str]:
    """Differences for games under this policy if the judge is not root; empty as root."""
    if os.geteuid() == 0:
        return ()
    freezes = policy.freeze in ("auto", ENGINE_FREEZER)
    return (ENGINE_FREEZES, *WITHOUT_ROOT) if freezes else WITHOUT_ROOT


def notice_without_root(policy: BoxPolicy) -> str:
    """The differences for the start of a command, with a place for details; empty as root."""
    found = differences_without_root(policy)
    return f"without root: {'; '.join(found[:3])}; docs/enforcement.md, Without root, lists all" if found else ""


def freezer_obstacle(policy: BoxPolicy) -> str:
    """Why only root can play under this policy, with an administrator's commands; else empty."""
    if os.geteuid() == 0 or policy.freeze in ("auto", ENGINE_FREEZER, NO_FREEZER):
        return ""
    why = f"box.freeze = {policy.freeze!r}, but only root may write the files of cgroups: set box.freeze to auto"
    return f"{why}, {_as_root()}"


def clock_obstacle(policy: BoxPolicy, turn_ms: int) -> str:
    """Why only root can play a contest with turns of `turn_ms` (0: without a limit), as `freezer_obstacle`."""
    if os.geteuid() == 0 or policy.freeze == NO_FREEZER or not 0 < turn_ms < MIN_TURN_MS:
        return ""
    return f"a turn has {turn_ms} ms, and without root {ENGINE_FREEZES}: allow {MIN_TURN_MS} ms, {_as_root()}"


def _as_root() -> str:
    return f"or ask an administrator to type, as root: judge contest run CONTEST; chown -R {os.geteuid()} CONTEST"
