"""Installs wheels into an image's Python with pip, verified by hash. No code in them is run."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from judge.base.errors import HostError, InputError
from judge.sandbox.runtimes import ImageRecipe

_PACKAGES = "usr/lib/python3/dist-packages"
_EPOCH_S = 1700000000
"""Latest time of an image's files (images/rootfs.sh)."""
_UNUSED = ("direct_url.json", "RECORD", "INSTALLER", "REQUESTED")
"""Can contain paths of this host."""


def install_wheels(recipe: ImageRecipe, tar: Path, scratch: Path) -> None:
    """Add the wheels to the root file system `tar`, compiled if this host has the same Python.

    Raises InputError for a wrong hash or incompatible wheel, HostError if pip cannot download one.
    """
    version = _python_of(recipe, tar)
    target = scratch / "wheels"
    _unpack(recipe, version, target, scratch)
    for path in [*target.rglob("*")]:
        if path.name in _UNUSED and path.parent.name.endswith(".dist-info"):
            path.unlink()
    _compile(version, target)
    with tarfile.open(tar, "a") as archive:
        for path in sorted(target.rglob("*")):
            archive.add(path, f"./{_PACKAGES}/{path.relative_to(target)}", recursive=False, filter=_as_root)


def _python_of(recipe: ImageRecipe, tar: Path) -> str:
    with tarfile.open(tar) as archive:
        names = archive.getnames()
    found = next((match[1] for name in names if (match := re.fullmatch(r"\./usr/bin/python(3\.\d+)", name))), "")
    if not found:
        raise InputError(f'the runtime {recipe.name} has wheels but no Python 3: set extends = "python"')
    return found


def _unpack(recipe: ImageRecipe, version: str, target: Path, scratch: Path) -> None:
    lines = scratch / "wheels.txt"
    lines.write_text("".join(f"{line}\n" for line in recipe.wheels), encoding="utf-8")
    command = [sys.executable, "-m", "pip", "install", "--target", str(target), "--requirement", str(lines)]
    command += ["--require-hashes", "--only-binary", ":all:", "--no-deps", "--no-compile", "--no-cache-dir"]
    command += ["--implementation", "cp", "--python-version", version]
    # Tags that the distribution's C library supports.
    machine = os.uname().machine
    glibc = re.fullmatch(r"glibc 2\.(\d+)", os.confstr("CS_GNU_LIBC_VERSION") or "")
    tags = [f"manylinux_2_{minor}_{machine}" for minor in range(int(glibc[1]) if glibc else 0, 16, -1)]
    command += [word for tag in [*tags, f"manylinux2014_{machine}"] for word in ("--platform", tag)]
    command += ["--disable-pip-version-check", "--quiet", "--retries", "1"]
    if recipe.wheel_folder:
        command += ["--find-links", str(recipe.wheel_folder)]
        found = {path.name.lower().replace("_", "-") for path in recipe.wheel_folder.glob("*.whl")}
        wanted = [line.split(" ")[0].lower().replace("==", "-").replace("_", "-") for line in recipe.wheels]
        if all(any(name.startswith(f"{word}-") for name in found) for word in wanted):
            command.append("--no-index")
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 0:
        return
    tail = "\n".join(done.stderr.splitlines()[-12:])
    if "No module named pip" in tail:
        raise HostError(f"The wheels of {recipe.name} need pip: {sys.executable} -m ensurepip")
    if "DO NOT MATCH THE HASHES" in done.stderr:
        raise InputError(f"a wheel of {recipe.name} does not match its hash in runtime.toml:\n{tail}")
    raise HostError(
        f"pip could not download the wheels of {recipe.name}; without access to an index, put the wheels next to the "
        f"runtime.toml. Its last lines:\n{tail}"
    )


def _compile(version: str, target: Path) -> None:
    python = shutil.which(f"python{version}", path="/usr/bin:/usr/local/bin")
    if python is None:
        return
    command = [python, "-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    command += ["-s", str(target), "-p", f"/{_PACKAGES}", str(target)]
    subprocess.run(command, env={"PYTHONHASHSEED": "0", "PATH": "/usr/bin:/bin"}, capture_output=True, check=False)


def _as_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = _EPOCH_S
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member
