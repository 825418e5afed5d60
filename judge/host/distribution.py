"""How each distribution installs an Engine and Python.

A program too, for scripts that run before the judge is installed, on any Python from 3.7 on: `python3 distribution.py
engine`, `join` or `python`.
"""

from __future__ import annotations

import getpass
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

OTHERS = (
    "install a Docker Engine of version 20.10 or newer by the system's package manager, start it, and add {user} to "
    "the group docker"
)
SYSTEMD = "systemctl enable --now docker"
JOIN = "usermod -aG docker {user}"


class Distribution(NamedTuple):
    """Commands for root. `{user}` is the user who plays."""

    engine: str
    python: str
    join: str = JOIN


DISTRIBUTIONS = {
    "apt": Distribution(f"apt-get install docker.io; {JOIN}", "apt-get install python3 python3-venv"),
    "dnf": Distribution(f"dnf install moby-engine; {SYSTEMD}; {JOIN}", "dnf install python3"),
    "rhel": Distribution(
        "dnf config-manager --add-repo https://download.docker.com/linux/rhel/docker-ce.repo; dnf install docker-ce; "
        f"{SYSTEMD}; {JOIN}",
        "dnf install python3.12",
    ),
    "pacman": Distribution(f"pacman -S docker; {SYSTEMD}; {JOIN}", "pacman -S python"),
    "zypper": Distribution(f"zypper install docker; {SYSTEMD}; {JOIN}", "zypper install python311"),
    "apk": Distribution(
        "apk add docker; rc-update add docker; service docker start; addgroup {user} docker",
        "apk add python3",
        "addgroup {user} docker",
    ),
    "nix": Distribution(
        "in configuration.nix: virtualisation.docker.enable = true; "
        'users.users.{user}.extraGroups = [ "docker" ]; then nixos-rebuild switch',
        "in configuration.nix: environment.systemPackages = [ pkgs.python3 ]; then nixos-rebuild switch",
        'in configuration.nix: users.users.{user}.extraGroups = [ "docker" ]; then nixos-rebuild switch',
    ),
}
"""By package manager; `rhel` has an older Python and no Engine in its own repositories."""

UNKNOWN = Distribution(OTHERS, "install Python 3.11 or newer with venv by the system's package manager")

MANAGERS = {
    "debian": "apt", "ubuntu": "apt", "fedora": "dnf", "rhel": "rhel", "centos": "rhel", "arch": "pacman",
    "suse": "zypper", "opensuse": "zypper", "alpine": "apk", "nixos": "nix",
}  # fmt: skip
"""By ID or ID_LIKE of os-release; of `opensuse-leap` the first word."""


RELEASES = (Path("/etc/os-release"), Path("/usr/lib/os-release"))


def host_release() -> str:
    """Text of this host's os-release; empty if it cannot be read."""
    for path in RELEASES:
        with suppress(OSError):
            return path.read_text(encoding="utf-8", errors="replace")
    return ""


def release_fields(release: str) -> dict[str, str]:
    """Fields of the text of an os-release, without its malformed lines."""
    fields: dict[str, str] = {}
    for line in release.split("\n"):
        with suppress(ValueError):
            (assignment,) = shlex.split(line, comments=True)
            name, value = assignment.split("=", 1)
            fields[name] = value
    return fields


def distribution(release: str | None = None) -> Distribution:
    """That of a host. `release` is the text of its os-release, by default this host's."""
    fields = release_fields(host_release() if release is None else release)
    for name in [fields.get("ID", ""), *fields.get("ID_LIKE", "").split()]:
        manager = MANAGERS.get(name.split("-")[0])
        if manager:
            return DISTRIBUTIONS[manager]
    return UNKNOWN


def commands_for(need: str, release: str | None = None) -> str:
    """For root: installs the need `engine` or `python`, or lets this user use the Engine (`join`)."""
    commands: str = getattr(distribution(release), need)
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "USER"  # a user without a name
    return commands.replace("{user}", user)


def commands_for_engine(why: str) -> str:
    """For root, after an Engine did not answer for the reason `why`."""
    return f"as root: {commands_for('join' if 'Permission denied' in why else 'engine')}; then log in again"


if __name__ == "__main__":
    sys.stdout.write(f"{commands_for(sys.argv[1])}\n")
