"""Builds the box images from the packages of this host's distribution, and wheels for their Python.

pip installs the wheels and verifies their hashes. No code in them is run.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from judge.base.errors import HostError, InputError
from judge.base.resources import BUILD_DIRECTORY
from judge.sandbox.docker.images import (
    CONTENT,
    RUNTIME,
    EngineImage,
    engine_client,
    engine_image,
    find_image,
    find_images,
    remove_unused,
)
from judge.sandbox.runtimes import INIT_SOURCES, ImageRecipe, recipes
from judge.sandbox.static_builds import Progress, build_lock, compile_static, content_digest, ignore_progress

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
    if recipe.folder:
        command += ["--find-links", str(recipe.folder)]
        found = {path.name.lower().replace("_", "-") for path in recipe.folder.glob("*.whl")}
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


if TYPE_CHECKING:
    import docker

SETUID_BITS = 0o6000

AT_ONCE = 3
"""Each image spends time waiting for downloads and disks."""


def build_images(
    names: Sequence[str] = (), progress: Progress = ignore_progress, *, force: bool = False
) -> list[EngineImage]:
    """Build the named images (default: all but optional ones) that are not current; with `force`, all.

    Raises `InputError` for an unknown name, `HostError` if the Engine, mirror or compiler fails.
    """
    return build_recipes(_recipes(names), progress, force=force)


def build_recipes(
    chosen: Sequence[ImageRecipe], progress: Progress = ignore_progress, *, force: bool = False
) -> list[EngineImage]:
    """As `build_images`; builds some at once, and raises the error of the first that fails.

    `progress` is called by one thread at a time.
    """
    speaking = Lock()

    def say(line: str) -> None:
        with speaking:
            progress(line)

    def build(recipe: ImageRecipe) -> EngineImage:
        with engine_client("build images") as client:
            return _build(client, recipe, say, force)

    with build_lock("images"), ThreadPoolExecutor(AT_ONCE) as pool:
        largest_first = sorted(chosen, key=lambda recipe: len(recipe.packages), reverse=True)
        building = {recipe.name: pool.submit(build, recipe) for recipe in largest_first}
        try:
            return [building[recipe.name].result() for recipe in chosen]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _build(client: docker.DockerClient, recipe: ImageRecipe, say: Progress, force: bool) -> EngineImage:
    codename = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    if not codename:
        raise HostError("Images are built from Debian or Ubuntu packages, but this host is neither")
    digest = recipe.digest(codename)
    old = find_image(client, recipe.tag)
    if old is not None and old.labels.get("judge.recipe") == digest and not force:
        say(f"{recipe.tag} is current")
        return engine_image(recipe, old)
    packages = [_available(package) for package in recipe.packages]
    say(f"{recipe.tag}: unpacking {', '.join(packages)} and what they need")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=BUILD_DIRECTORY) as scratch:
        tar = _make_rootfs(recipe, packages, Path(scratch))
        with tar.open("rb") as file:
            files = hashlib.file_digest(file, "sha256").hexdigest()
        say(f"{recipe.tag}: importing {tar.stat().st_size / 1e6:.0f} MB")
        state = import_rootfs(client, recipe, codename, tar, files)
    took = time.monotonic() - started
    say(f"{state}, built in {took:.0f} s")
    return state


def import_rootfs(
    client: docker.DockerClient, recipe: ImageRecipe, codename: str, tar: Path, files: str
) -> EngineImage:
    """Import a root file system, replacing an earlier image, under the lock `images`.

    `codename` is the distribution, `files` the SHA-256 (hex) of `tar`. Raises HostError if a file in it would give an
    agent more rights.
    """
    labels = {
        "judge.image": recipe.name,
        "judge.recipe": recipe.digest(codename),
        "judge.codename": codename,
        CONTENT: content_of(recipe, files),
        "judge.packages": str(check_rootfs(recipe, tar)),
    } | ({RUNTIME: recipe.document} if recipe.document else {})
    _import(client, recipe, tar, labels)
    # A build used by a box stays until the next one. Images built from ours have the same labels, but more layers.
    for image in find_images(client, f"judge.image={recipe.name}", dangling=True):
        if len(image.attrs["RootFS"]["Layers"]) == 1:
            remove_unused(client, str(image.attrs["Id"]))
    return engine_image(recipe, client.images.get(recipe.tag))


def content_of(recipe: ImageRecipe, files: str) -> str:
    """Digest of all that programs find in the image; `files` is that of its files."""
    beside = recipe.document or "".join(f"{key}={value}\n" for key, value in recipe.environment.items())
    return content_digest(files, beside) if beside else files


def _available(package: str) -> str:
    """First name (separated by bars) that the distribution has, else the last."""
    *others, last = package.split("|")
    for name in others:
        command = ["apt-cache", "--quiet", "show", name]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return name
    return last


def _make_rootfs(recipe: ImageRecipe, packages: Sequence[str], scratch: Path) -> Path:
    tar, init = scratch / "rootfs.tar", "-"
    if recipe.runs_agents:
        init = str(scratch / "init")
        compile_static(sorted(INIT_SOURCES.glob("*.c")), Path(init))
    command = [str(recipe.script_path), "build", str(tar), init, *packages]
    environment = os.environ | {"JUDGE_RELEASE": recipe.release}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        tail = "\n".join(done.stderr.splitlines()[-12:])
        raise HostError(f"The image {recipe.tag} could not be built; the last lines of the build:\n{tail}")
    with tarfile.open(tar, "a") as archive:
        for program in recipe.program_paths:
            data = program.read_bytes()
            member = tarfile.TarInfo(f"./usr/bin/{program.name}")
            member.size, member.mode = len(data), 0o555
            archive.addfile(member, io.BytesIO(data))
    if recipe.wheels:
        install_wheels(recipe, tar, scratch)
    return tar


def check_rootfs(recipe: ImageRecipe, tar: Path) -> int:
    """Number of packages. Raises HostError for a file that would give an agent more rights."""
    with tarfile.open(tar) as archive:
        for member in archive:
            capability = any("security.capability" in key for key in member.pax_headers)
            if capability or (member.mode & SETUID_BITS and not member.issym()):
                raise HostError(f"{recipe.tag}: {member.name} has setuid, setgid or capabilities")
        packages = archive.extractfile("./judge/packages.txt")
        return len(packages.read().splitlines()) if packages else 0


def _import(client: docker.DockerClient, recipe: ImageRecipe, tar: Path, labels: dict[str, str]) -> None:
    repository, tag = recipe.tag.split(":")
    changes = [
        "ENV PATH=/usr/local/bin:/usr/bin:/bin",
        "ENV LANG=C.UTF-8",
        *(f"ENV {key}={_quoted(value)}" for key, value in recipe.environment.items()),
        *(f"LABEL {key}={_quoted(value)}" for key, value in labels.items()),
    ]
    client.api.import_image_from_file(str(tar), repository=repository, tag=tag, changes=changes)


def _quoted(value: str) -> str:
    """The Engine interprets quotes, backslashes and variables."""
    return '"' + re.sub(r'(["\\$])', r"\\\1", value) + '"'


def _recipes(names: Sequence[str]) -> list[ImageRecipe]:
    known = recipes()
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise InputError(
            f"There is no image {', '.join(unknown)}; there are {', '.join(known)}; "
            "to build your own runtime, name its file: --from FILE"
        )
    if names:
        return [known[name] for name in known if name in names]
    return [recipe for recipe in known.values() if not recipe.is_optional]
