"""Boxes without one defence: changes of the arguments with which the Engine creates a container."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from judge.sandbox.docker import hardening
from judge.sandbox.docker.hardening import SHARED_MEMORY

Config = dict[str, Any]
Names = Mapping[str, str]
Weakening = Callable[[Config, Names], None]
"""Changes the create arguments; gets the scene's names."""


@contextmanager
def weak_boxes(weakenings: Sequence[Weakening], names: Names, tenants: Sequence[str]) -> Iterator[None]:
    """Boxes of these tenants are made weaker in this process."""
    strong = hardening.container_config

    def container_config(**arguments: Any) -> Config:
        config = strong(**arguments)
        if arguments["tenant"].name in tenants:
            for weaken in weakenings:
                weaken(config, names)
        return config

    with patch.object(hardening, "container_config", container_config):
        yield


def allowing(calls: Sequence[str]) -> Weakening:
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


def with_ulimits(values: Mapping[str, int]) -> Weakening:

    def weaken(config: Config, _names: Names) -> None:
        limits = [one for one in config["HostConfig"]["Ulimits"] if one["Name"] not in values]
        raised = [{"Name": name, "Soft": value, "Hard": value} for name, value in values.items()]
        config["HostConfig"]["Ulimits"] = limits + raised

    return weaken


def with_more_shared_memory(config: Config, _names: Names) -> None:
    """Make /dev/shm 64 MiB large."""
    tmpfs = config["HostConfig"]["Tmpfs"]
    options = re.sub(r"\bsize=\d+", f"size={64 << 20}", tmpfs[SHARED_MEMORY])
    tmpfs[SHARED_MEMORY] = re.sub(r"\bnr_inodes=\d+", "nr_inodes=16384", options)


def with_all_addresses(config: Config, _names: Names) -> None:
    config["Entrypoint"][1] = "0"


def unfiltered(config: Config, _names: Names) -> None:
    options = [o for o in config["HostConfig"]["SecurityOpt"] if not o.startswith("seccomp=")]
    config["HostConfig"]["SecurityOpt"] = [*options, "seccomp=unconfined"]


def setting(**options: object) -> Weakening:

    def weaken(config: Config, _names: Names) -> None:
        config["HostConfig"].update(options)

    return weaken


def below(parent: str) -> Weakening:
    """Make the box in a cgroup; empty: the Engine's own."""
    return setting(**({"CgroupParent": parent} if parent else {}))


unmasked = setting(MaskedPaths=[])
with_writable_proc = setting(ReadonlyPaths=[])
with_a_lower_score = setting(ReadonlyPaths=[], OomScoreAdj=500)
"""Let the agent lower its OOM score."""
with_long_queues = setting(Sysctls={"net.core.somaxconn": "4096"})
"""Let connections wait at a socket."""


def with_counters_of_the_host(config: Config, _names: Names) -> None:
    """Show the host's counters in /proc."""
    mounts = config["HostConfig"]["Mounts"]
    config["HostConfig"]["Mounts"] = [one for one in mounts if not one["Target"].startswith("/proc/")]


def with_new_privileges(config: Config, names: Names) -> None:
    """Allow setuid programs, without a filter, which would be set before the box can be made."""
    config["HostConfig"]["SecurityOpt"].remove("no-new-privileges")
    unfiltered(config, names)


def with_core_dumps(config: Config, _names: Names) -> None:
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
    del config["HostConfig"]["Tmpfs"]["/tmp"]
    _bind(config, names["directory"], "/tmp")


def _bind(config: Config, source: str, target: str) -> None:
    config["HostConfig"]["Mounts"].append({"Type": "bind", "Source": source, "Target": target})
