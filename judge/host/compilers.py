"""Compiles the judge's C and Java programs: by this host's compilers, else in a container of an image that has them;
rebuilds folders of programs whose sources have changed.
"""

from __future__ import annotations

import io
import re
import shlex
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from judge.base.errors import HostError
from judge.base.owner import Owner, make_directory, remove_directory
from judge.base.resources import BUILD_DIRECTORY
from judge.host.build_ways import (
    BUILD_TIMEOUT_S,
    COMPILER_ROOT,
    COMPILER_TAG,
    BuildOptions,
    find_engine_way,
    host_codename,
)
from judge.host.dockerfile import BUILDER
from judge.host.root_tar import reader
from judge.sandbox.docker.images import engine_client, find_image, find_runtime
from judge.sandbox.static_builds import compile_on_host, ignore_progress, run_compiler, static_command

JAVAC_FLAGS = ("--release", "11", "-g:none")
JAVAC_PACKAGE = "default-jdk-headless"
TOOLCHAIN = "toolchain"
"""Image with javac."""

_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_OUTPUT = "/tmp/compiled"  # noqa: S108 in a container


def compile_static(sources: Iterable[Path], output: Path) -> None:
    """Compile C `sources` statically in the folder of the first.

    Raises `HostError` with the compiler's last lines if it fails, or if neither this host nor an image has one.
    """
    files = list(sources)
    if host_compiles():
        compile_on_host(files, output)
        return
    command, folder = static_command(files, f"{_OUTPUT}/{output.name}")
    try:
        with engine_client("find the image of the compiler", BUILD_TIMEOUT_S) as client:
            if found := find_image(client, COMPILER_TAG):
                image = str(found.attrs["Id"])
            else:
                image = find_engine_way(client, BuildOptions(), ignore_progress).build_compiler(client)
    except HostError as error:
        packages = " (apt-get install gcc libc6-dev)" if host_codename() else ""
        raise HostError(f"This host has no static C compiler{packages}. {error}") from None
    _compile_in_image(image, COMPILER_ROOT, command, folder, _with_headers(files), output.parent)


@cache
def host_compiles() -> bool:
    """Whether this host has gcc with a static C library."""
    if shutil.which("gcc") is None:
        return False
    command = ["gcc", "-print-file-name=libc.a"]
    return Path(subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()).is_absolute()


def has_javac() -> bool:
    """Whether this host or its image for builds has javac."""
    if shutil.which("javac"):
        return True
    try:
        return bool(find_runtime(TOOLCHAIN).id)
    except HostError:
        return False


def compile_java(sources: Iterable[Path], folder: Path) -> None:
    """Class files in `folder`; raises as `compile_static`."""
    files = list(sources)
    if shutil.which("javac"):
        command = ["javac", *JAVAC_FLAGS, "-d", str(folder), *(file.name for file in files)]
        run_compiler(command, files[0].parent, JAVAC_PACKAGE)
        return
    command = ["javac", *JAVAC_FLAGS, "-d", _OUTPUT, *(file.name for file in files)]
    _compile_in_image(find_runtime(TOOLCHAIN).id, "/", command, files[0].parent, files, folder)


def _with_headers(files: list[Path]) -> list[Path]:
    found = [file.resolve() for file in files]
    for file in found:
        for name in _INCLUDE.findall(file.read_text()):
            header = (file.parent / name).resolve()
            if header not in found:
                found.append(header)
    return found


def rebuild_folder(name: str, digest: str, build: Callable[[Path], None]) -> Path:
    """`BUILD_DIRECTORY/name`, which `build` fills if the last one had another digest. The caller has a build lock."""
    target = BUILD_DIRECTORY / name
    stamp = BUILD_DIRECTORY / f"{name}.stamp"  # everything inside the folder belongs to the agent
    if target.is_dir() and stamp.is_file() and stamp.read_text() == digest:
        return target
    scratch = make_directory(BUILD_DIRECTORY)
    try:
        fresh = scratch / "fresh"
        fresh.mkdir()
        build(fresh)
        stamp.unlink(missing_ok=True)
        if target.exists():
            target.rename(scratch / "old")
        fresh.rename(target)
    finally:
        remove_directory(scratch)
    stamp.write_text(digest)
    return target


def _compile_in_image(
    image: str, root: str, command: list[str], folder: Path, files: Iterable[Path], target: Path
) -> None:
    """Run `command` in a container with a copy of `files`, in `folder` below `root`; move the results to `target`."""
    sources = io.BytesIO()
    with tarfile.open(fileobj=sources, mode="w") as archive:
        for file in files:
            archive.add(file.resolve(), f"sources{file.resolve()}")
    script = f"mkdir -p {_OUTPUT} && cd {shlex.quote(f'/sources{folder.resolve()}')} && {shlex.join(command)} 2>&1"
    words = ["/usr/sbin/chroot", root, "/bin/dash", "-c", script]
    with engine_client("compile", BUILD_TIMEOUT_S) as client:
        labels = {BUILDER: Owner.me().encode()}
        container = client.api.create_container(
            image, entrypoint=words, user="0", network_disabled=True, labels=labels
        )["Id"]
        try:
            client.api.put_archive(container, root, sources.getvalue())
            client.api.start(container)
            if client.api.wait(container)["StatusCode"] != 0:
                lines = client.api.logs(container).decode(errors="replace").splitlines()[-12:]
                raise HostError(f"{command[0]} could not compile {folder}:\n" + "\n".join(lines))
            chunks, _ = client.api.get_archive(container, f"{root.rstrip('/')}{_OUTPUT}")
            with tarfile.open(fileobj=reader(chunks), mode="r|") as archive:
                for member in archive:
                    path = target / member.name.partition("/")[2]
                    if member.isdir():
                        path.mkdir(exist_ok=True)
                    elif member.isfile() and (content := archive.extractfile(member)) is not None:
                        path.write_bytes(content.read())
                        path.chmod(member.mode & 0o777)
        finally:
            client.api.remove_container(container, v=True, force=True)
