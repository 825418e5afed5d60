"""A box with one line of its hardening changed, for controls: they show what an attack does where a defence is off."""

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
from judge.sandbox.docker.images import RuntimeImage
from judge.sandbox.docker.kept import Reuse
from judge.sandbox.docker.renewal import Renewal

ATTACKER, ACCOMPLICE = "attack", "accomplice"
"""The names of seats whose boxes are weakened."""

Config = dict[str, Any]
Names = Mapping[str, str]


class WeakBox(DockerBox):
    """A docker box whose create arguments are weakened. Only for programs of our own."""

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
    """Makes the attacker's box a weak one, and an honest opponent's as always."""

    def build(kind: BoxKind, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> Box:
        if tenant.name in (ATTACKER, ACCOMPLICE):
            # Only an agent that is known by its digest has files of its own for each game.
            tenant = replace(tenant, digest="") if shares_files else tenant
            return WeakBox(tenant, limits, policy, weaken, names, renewal)
        return open_box(kind, tenant, limits, policy)

    return build


# --- boxes that are kept without being renewed -------------------------------------------------------------------


class FilesStay(Renewal):
    """The agent's files are not replaced, and nothing is compared."""

    def _request(self, hide: Names | None) -> dict[str, Any]:
        return {**super()._request(hide), "renew": {}}

    def prove(self) -> None:
        """Take it as proved."""


class NumbersGoOn(Renewal):
    """The numbers of processes are not set back."""

    def _request(self, hide: Names | None) -> dict[str, Any]:
        return {**super()._request(hide), "last_pid": None}


class NothingIsHidden(Renewal):
    """What counts on stays visible."""

    def _request(self, hide: Names | None) -> dict[str, Any]:
        return {**super()._request(hide), "hide": None}


class NothingIsProved(Renewal):
    """All is renewed, and nothing is compared."""

    def prove(self) -> None:
        """Take it as proved."""


# --- weakenings --------------------------------------------------------------------------------------------------


def as_always(_config: Config, _names: Names) -> None:
    """All of its hardening is on."""


def unfiltered(config: Config, _names: Names) -> None:
    """Every system call is let through to the kernel's own checks."""
    options = [o for o in config["HostConfig"]["SecurityOpt"] if not o.startswith("seccomp=")]
    config["HostConfig"]["SecurityOpt"] = [*options, "seccomp=unconfined"]


def allowing(*calls: str) -> Weakening:
    """Weakening that admits some system calls with any arguments; the rest of the profile stays."""

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
    """Weakening that raises one limit of processes."""

    def weaken(config: Config, _names: Names) -> None:
        limits = [one for one in config["HostConfig"]["Ulimits"] if one["Name"] != name]
        config["HostConfig"]["Ulimits"] = [*limits, {"Name": name, "Soft": value, "Hard": value}]

    return weaken


def both(*weakenings: Weakening) -> Weakening:
    """Several weakenings at once."""

    def weaken(config: Config, names: Names) -> None:
        for one in weakenings:
            one(config, names)

    return weaken


def unmasked(config: Config, _names: Names) -> None:
    """No path is masked."""
    config["HostConfig"]["MaskedPaths"] = []


def with_writable_proc(config: Config, _names: Names) -> None:
    """The files of /proc can be written where the kernel lets their owner."""
    config["HostConfig"]["ReadonlyPaths"] = []


def with_a_lower_score(config: Config, names: Names) -> None:
    """The agent may lower what makes it likely to be killed for memory, down to 500."""
    with_writable_proc(config, names)
    config["HostConfig"]["OomScoreAdj"] = 500


def with_new_privileges(config: Config, _names: Names) -> None:
    """A program of another user may become that user.

    The filter of system calls goes with it: without this defence it is set so early that it hinders the box's making.
    """
    config["HostConfig"]["SecurityOpt"].remove("no-new-privileges")
    unfiltered(config, _names)


def with_more_groups(config: Config, _names: Names) -> None:
    """The agent is in one group more."""
    config["HostConfig"]["GroupAdd"] = ["54321"]


def as_the_hoarder(config: Config, names: Names) -> None:
    """It is the same user as the scene's agent, and so are its folders."""
    uid = names["hoarder"]
    config["User"] = f"{uid}:{uid}"
    tmpfs = config["HostConfig"]["Tmpfs"]
    for path, options in tmpfs.items():
        tmpfs[path] = re.sub(r"\b([ug]id)=\d+", rf"\g<1>={uid}", options)


def with_core_dumps(config: Config, _names: Names) -> None:
    """The limit of core dumps is not set."""
    limits = config["HostConfig"]["Ulimits"]
    config["HostConfig"]["Ulimits"] = [one for one in limits if one["Name"] != "core"]


def on_the_hosts_network(config: Config, names: Names) -> None:
    """The agent has the host's network, and no filter that would deny it sockets."""
    unfiltered(config, names)
    config["NetworkDisabled"] = False
    config["HostConfig"]["NetworkMode"] = "host"


def with_the_scene(config: Config, names: Names) -> None:
    """The scene's directory is mounted under its own name."""
    _bind(config, names["directory"], names["directory"])


def with_shared_scratch(config: Config, names: Names) -> None:
    """The scratch space is a directory of the scene's, the same in every game."""
    del config["HostConfig"]["Tmpfs"]["/tmp"]  # noqa: S108 - a mount point inside the container
    _bind(config, names["directory"], "/tmp")  # noqa: S108


def _bind(config: Config, source: str, target: str) -> None:
    config["HostConfig"]["Mounts"].append({"Type": "bind", "Source": source, "Target": target})
