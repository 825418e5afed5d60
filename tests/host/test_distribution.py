"""Each distribution's own commands for an Engine and for Python."""

import getpass
import subprocess
import sys
from pathlib import Path

import pytest

from judge.host import distribution
from judge.host.distribution import commands_for

RELEASES = {
    'ID=ubuntu\nID_LIKE=debian\nVERSION="24.04"\n': "apt-get install docker.io; usermod -aG docker USER",
    "ID=fedora\n": "dnf install moby-engine; systemctl enable --now docker",
    'ID=rocky\nID_LIKE="rhel centos fedora"\n': "docker-ce.repo; dnf install docker-ce; systemctl",
    'NAME="Arch Linux"\nID=arch\n': "pacman -S docker; systemctl enable --now docker",
    'ID="opensuse-leap"\nID_LIKE="suse opensuse"\n': "zypper install docker; systemctl enable --now docker",
    "# musl\nID=alpine\n": "apk add docker; rc-update add docker; service docker start; addgroup USER docker",
    "ID=nixos\n": 'virtualisation.docker.enable = true; users.users.USER.extraGroups = [ "docker" ]',
    "NAME='odd\nID=arch\nVERSION=\\\n": "pacman -S docker",
    "ID='$(reboot)'\n": "install a Docker Engine of version 20.10 or newer by the system's package manager",
    "ID=haiku\n": "install a Docker Engine of version 20.10 or newer by the system's package manager",
}


@pytest.mark.parametrize("release", RELEASES)
def test_an_engine_is_installed_by_the_name_that_the_distribution_uses(release: str) -> None:
    assert RELEASES[release].replace("USER", getpass.getuser()) in commands_for("engine", release)
    assert "{user}" not in "".join(commands_for(need, release) for need in ("engine", "python", "join"))


def test_release_of_odd_bytes_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = tmp_path / "os-release"
    release.write_bytes(b'NAME="\xff"\nID=arch\n')
    monkeypatch.setattr(distribution, "RELEASES", (tmp_path / "missing", release))

    assert "pacman -S docker" in commands_for("engine")


def test_scripts_ask_it_before_judge_is_installed() -> None:
    words = [sys.executable, "-I", "-S", distribution.__file__, "python"]

    assert f"{commands_for('python')}\n" == subprocess.run(words, capture_output=True, text=True, check=True).stdout
