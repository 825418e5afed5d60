"""Boxes without one defence, for controls."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from judge.attacks.attack import Weakening
from judge.sandbox import BoxKind, open_box
from judge.sandbox.box import Box, BoxPolicy, Limits, Tenant
from judge.sandbox.docker.docker_box import DockerBox
from judge.sandbox.docker.hardening import INIT_USER, SHARED_MEMORY
from judge.sandbox.docker.images import RuntimeImage
from judge.sandbox.docker.kept import Reuse
from judge.sandbox.docker.renewal import Renewal

ATTACKER, ACCOMPLICE = "attack", "accomplice"

Config = dict[str, Any]
Names = Mapping[str, str]


class WeakBox(DockerBox):
    """Weakened create arguments, for attack programs only."""

    def __init__(
        self,
        tenant: Tenant,
        limits: Limits,
        policy: BoxPolicy,
        weaken: Weakening,
        names: Names,
        renewal: type[Renewal] = Renewal,
    ) -> None:
        super().__init__(tenant, limits, policy)
        self.open_reuse = partial(Reuse, kind=renewal, variety=(weaken, *sorted(names.items())))
        self._weaken = weaken
        self._names = names

    def _config(self, image: RuntimeImage, profile: str, pipes: Path | None) -> Config:
        config = super()._config(image, profile, pipes)
        self._weaken(config, self._names)
        return config


def weak_builder(
    weaken: Weakening, names: Names, renewal: type[Renewal] = Renewal, *, shares_files: bool = False
) -> Callable[[BoxKind, Tenant, Limits, BoxPolicy], Box]:
    """The attacker's box is weak, an honest opponent's normal."""

    def build(kind: BoxKind, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> Box:
        if tenant.name in (ATTACKER, ACCOMPLICE):
            # Only agents with a digest get separate files.
            tenant = replace(tenant, digest="") if shares_files else tenant
            return WeakBox(tenant, limits, policy, weaken, names, renewal)
        return open_box(kind, tenant, limits, policy)

    return build


class FilesStay(Renewal):
    """Does not replace or compare the agent's files."""

    def _request(self, hide: Names | None) -> dict[str, Any]:
        return {**super()._request(hide), "renew": {}}

    def prove(self) -> None: ...


class NumbersGoOn(Renewal):
    """Does not reset process ids."""

    def _request(self, hide: Names | None) -> dict[str, Any]:
        return {**super()._request(hide), "last_pid": None}


class NothingIsHidden(Renewal):
    """Leaves counters visible."""

    def _request(self, hide: Names | None) -> dict[str, Any]:
        return {**super()._request(hide), "hide": None}


class NothingIsProved(Renewal):
    """Renews without comparing."""

    def prove(self) -> None: ...


def as_always(_config: Config, _names: Names) -> None:
    """Change nothing."""


def unfiltered(config: Config, _names: Names) -> None:
    """Remove the system call filter."""
    options = [o for o in config["HostConfig"]["SecurityOpt"] if not o.startswith("seccomp=")]
    config["HostConfig"]["SecurityOpt"] = [*options, "seccomp=unconfined"]


def allowing(*calls: str) -> Weakening:
    """Allow some system calls with any arguments."""

    def weaken(config: Config, _names: Names) -> None:
        options = config["HostConfig"]["SecurityOpt"]
        for number, option in enumerate(options):
            if option.startswith("seccomp="):
                profile = json.loads(option.removeprefix("seccomp="))
                rules = [
                    {**rule, "names": [n for n in rule["names"] if n not in calls]} for rule in profile["syscalls"]
                ]
                rules = [rule for rule in rules if rule["names"]]
                profile["syscalls"] = [*rules, {"names": list(calls), "action": "SCMP_ACT_ALLOW"}]
                options[number] = f"seccomp={json.dumps(profile)}"

    return weaken


def with_ulimit(name: str, value: int) -> Weakening:
    """Raise a process limit."""

    def weaken(config: Config, _names: Names) -> None:
        limits = [one for one in config["HostConfig"]["Ulimits"] if one["Name"] != name]
        config["HostConfig"]["Ulimits"] = [*limits, {"Name": name, "Soft": value, "Hard": value}]

    return weaken


def with_more_shared_memory(config: Config, _names: Names) -> None:
    """Make /dev/shm 64 MiB large."""
    tmpfs = config["HostConfig"]["Tmpfs"]
    options = re.sub(r"\bsize=\d+", f"size={64 << 20}", tmpfs[SHARED_MEMORY])
    tmpfs[SHARED_MEMORY] = re.sub(r"\bnr_inodes=\d+", "nr_inodes=16384", options)


def with_all_addresses(config: Config, _names: Names) -> None:
    """Do not limit the address space."""
    config["Entrypoint"][1] = "0"


def both(*weakenings: Weakening) -> Weakening:
    """Combine weakenings."""

    def weaken(config: Config, names: Names) -> None:
        for one in weakenings:
            one(config, names)

    return weaken


def unmasked(config: Config, _names: Names) -> None:
    """Mask no paths."""
    config["HostConfig"]["MaskedPaths"] = []


def with_writable_proc(config: Config, _names: Names) -> None:
    """Make /proc writable."""
    config["HostConfig"]["ReadonlyPaths"] = []


def with_a_lower_score(config: Config, names: Names) -> None:
    """Let the agent lower its OOM score to 500."""
    with_writable_proc(config, names)
    config["HostConfig"]["OomScoreAdj"] = 500


def with_long_queues(config: Config, _names: Names) -> None:
    """Let connections wait at a socket."""
    config["HostConfig"]["Sysctls"] = {"net.core.somaxconn": "4096"}


def with_counters_of_the_host(config: Config, _names: Names) -> None:
    """Show the host's counters in /proc."""
    mounts = config["HostConfig"]["Mounts"]
    config["HostConfig"]["Mounts"] = [one for one in mounts if not one["Target"].startswith("/proc/")]


def with_new_privileges(config: Config, _names: Names) -> None:
    """Allow setuid programs.

    Without a filter, which would be set before the box can be made.
    """
    config["HostConfig"]["SecurityOpt"].remove("no-new-privileges")
    unfiltered(config, _names)


def as_the_hoarder(config: Config, names: Names) -> None:
    """Run as the user of the scene's agent."""
    _as_user(config, names["hoarder"])


def as_pid_1(config: Config, _names: Names) -> None:
    """Run as the user of PID 1."""
    _as_user(config, str(INIT_USER))


def _as_user(config: Config, uid: str) -> None:
    """The agent and the owner of the folders."""
    config["Entrypoint"][-1] = uid
    tmpfs = config["HostConfig"]["Tmpfs"]
    for path, options in tmpfs.items():
        tmpfs[path] = re.sub(r"\b([ug]id)=\d+", rf"\g<1>={uid}", options)


def with_core_dumps(config: Config, _names: Names) -> None:
    """Do not limit core dumps."""
    limits = config["HostConfig"]["Ulimits"]
    config["HostConfig"]["Ulimits"] = [one for one in limits if one["Name"] != "core"]


def on_the_hosts_network(config: Config, names: Names) -> None:
    """Use the host's network, and allow sockets."""
    unfiltered(config, names)
    config["NetworkDisabled"] = False
    config["HostConfig"]["NetworkMode"] = "host"
    config["HostConfig"]["Sysctls"] = {}


def with_the_scene(config: Config, names: Names) -> None:
    """Mount the scene's directory under its own name."""
    _bind(config, names["directory"], names["directory"])


def with_shared_scratch(config: Config, names: Names) -> None:
    """Use a scratch directory of the scene, shared by all games."""
    del config["HostConfig"]["Tmpfs"]["/tmp"]  # noqa: S108 - a mount point inside the container
    _bind(config, names["directory"], "/tmp")  # noqa: S108


def _bind(config: Config, source: str, target: str) -> None:
    config["HostConfig"]["Mounts"].append({"Type": "bind", "Source": source, "Target": target})
