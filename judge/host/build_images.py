"""Builds the images of boxes (`judge.host.build_ways`) that are not current, and imports their root file systems."""

from __future__ import annotations

import posixpath
import re
import tarfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from judge.base.errors import FULL_DISK, HostError, InputError
from judge.base.owner import Fate, directories, make_directory, remove_directory
from judge.base.resources import BUILD_DIRECTORY
from judge.host.build_ways import (
    BUILD_TIMEOUT_S,
    BuildOptions,
    EngineWay,
    Way,
    choose_way,
    host_codename,
    remove_stages,
)
from judge.host.dockerfile import environment, quoted
from judge.host.root_tar import write_canonical
from judge.sandbox.box import ImageFacts
from judge.sandbox.docker.images import (
    BASE,
    CONTENT,
    PACKAGES,
    RUNTIME,
    WAY,
    EngineImage,
    engine_client,
    engine_image,
    find_image,
    find_images,
    remove_unused,
)
from judge.sandbox.layout import HOME, PROGRAM, SCRATCH
from judge.sandbox.runtimes import ImageRecipe, recipes
from judge.sandbox.static_builds import Progress, build_lock, content_digest, ignore_progress

if TYPE_CHECKING:
    import docker

SETUID_BITS = 0o6000

MOUNT_POINTS = frozenset({"proc", "sys", "dev", "io", "home", *(path.lstrip("/") for path in (PROGRAM, HOME, SCRATCH))})

MAX_LIST_BYTES = 1 << 20
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]* [A-Za-z0-9.+:~-]+")

AT_ONCE = 3
"""Each image spends time waiting for downloads and disks."""
POLL_INTERVAL_S = 0.5
"""Until an interrupted build has ended."""


def build_images(
    names: Sequence[str] = (),
    progress: Progress = ignore_progress,
    options: BuildOptions | None = None,
    *,
    force: bool = False,
) -> list[EngineImage]:
    """Build the named images (default: all but optional ones) that are not current; with `force`, all.

    Raises `InputError` for an unknown name or an unsuitable base image, `HostError` if neither way is possible, or the
    Engine, mirror or compiler fails.
    """
    return build_recipes(_recipes(names), progress, options, force=force)


def build_recipes(
    chosen: Sequence[ImageRecipe],
    progress: Progress = ignore_progress,
    options: BuildOptions | None = None,
    *,
    force: bool = False,
) -> list[EngineImage]:
    """As `build_images`; builds some at once, and raises the error of the first that fails.

    `progress` is called by one thread at a time.
    """
    options = BuildOptions() if options is None else options
    speaking = Lock()

    def say(line: str) -> None:
        with speaking:
            progress(line)

    with build_lock("images"), engine_client("build images", BUILD_TIMEOUT_S) as client:
        there = {recipe.name: engine_image(recipe, find_image(client, recipe.tag)) for recipe in chosen}
        way = None if options.is_default else choose_way(client, options, say)
        old = [recipe for recipe in chosen if force or not _is_wanted(there[recipe.name], way)]
        for recipe in chosen:
            if recipe not in old:
                say(f"{recipe.tag} is current")
        if old:
            there |= _build_all(client, old, way or choose_way(client, options, say), say)
        return [there[recipe.name] for recipe in chosen]


def _is_wanted(state: EngineImage, way: Way | None) -> bool:
    if way is not None:
        return state.current and (way.way, way.base) == (state.facts.way, state.facts.base)
    # After an upgrade of this host, packages are of an earlier release.
    return state.current and (state.facts.way != "packages" or host_codename() in ("", state.facts.base))


def _build_all(
    client: docker.DockerClient, chosen: Sequence[ImageRecipe], way: Way, say: Progress
) -> dict[str, EngineImage]:
    def build(recipe: ImageRecipe) -> EngineImage:
        with engine_client("build images", BUILD_TIMEOUT_S) as build_client:
            return _build(build_client, recipe, way, say)

    remove_stages(client)
    for directory, owner in directories(BUILD_DIRECTORY):  # what killed builds left
        if owner is not None and owner.fate() is Fate.GONE:
            remove_directory(directory)
    try:
        if isinstance(way, EngineWay) and any(recipe.runs_agents for recipe in chosen):
            way.build_compiler(client)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            largest_first = sorted(chosen, key=lambda recipe: len(recipe.packages), reverse=True)
            building = {recipe.name: pool.submit(build, recipe) for recipe in largest_first}
            try:
                return {name: future.result() for name, future in building.items()}
            except (KeyboardInterrupt, SystemExit):
                _end_builds(client, building.values())
                raise
            finally:
                pool.shutdown(cancel_futures=True)
    finally:
        remove_stages(client)


def _end_builds(client: docker.DockerClient, building: Iterable[Future[EngineImage]]) -> None:
    """Removing the container of a build ends it."""
    while running := [each for each in building if not each.cancel() and not each.done()]:
        remove_stages(client)
        wait(running, POLL_INTERVAL_S)


def _build(client: docker.DockerClient, recipe: ImageRecipe, way: Way, say: Progress) -> EngineImage:
    say(f"{recipe.tag}: unpacking {', '.join(recipe.packages)} and what they need")
    started = time.monotonic()
    with _scratch() as scratch:
        tar = scratch / "canonical.tar"
        files = write_canonical(way.make(client, recipe, scratch), tar)
        say(f"{recipe.tag}: importing {tar.stat().st_size / 1e6:.0f} MB")
        facts = ImageFacts(content=content_of(recipe, files), way=way.way, base=way.base)
        state = import_rootfs(client, recipe, way.codename, tar, facts)
    took = time.monotonic() - started
    say(f"{state}, built in {took:.0f} s")
    return state


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder for the files of a build. Raises HostError if its disk is full."""
    directory = make_directory(BUILD_DIRECTORY)
    try:
        yield directory
    except OSError as error:
        if error.errno not in FULL_DISK:
            raise
        raise HostError(f"{BUILD_DIRECTORY}: {error.strerror}: make room there") from None
    finally:
        remove_directory(directory)


def import_rootfs(
    client: docker.DockerClient, recipe: ImageRecipe, codename: str, tar: Path, facts: ImageFacts
) -> EngineImage:
    """Import a root file system, replacing an earlier image, under the lock `images`.

    `codename` is the distribution. The packages of the image are those of the tar file. Raises HostError if a file in
    it would give an agent more rights.
    """
    labels = {
        "judge.image": recipe.name,
        "judge.recipe": recipe.digest(codename),
        "judge.codename": codename,
        CONTENT: facts.content,
        WAY: facts.way or "",
        BASE: facts.base,
        PACKAGES: ",".join(check_rootfs(recipe, tar)),
    } | ({RUNTIME: recipe.document} if recipe.document else {})
    changes = [
        *(f"ENV {name}={quoted(value)}" for name, value in environment(recipe).items()),
        *(f"LABEL {key}={quoted(value)}" for key, value in labels.items()),
    ]
    repository, tag = recipe.tag.split(":")
    client.api.import_image_from_file(str(tar), repository=repository, tag=tag, changes=changes)
    # A build used by a box stays until the next one. Images built from ours have the same labels, but more layers.
    for image in find_images(client, f"judge.image={recipe.name}", dangling=True):
        if len(image.attrs["RootFS"]["Layers"]) == 1:
            remove_unused(client, str(image.attrs["Id"]))
    return engine_image(recipe, client.images.get(recipe.tag))


def content_of(recipe: ImageRecipe, files: str) -> str:
    """Digest of all that programs find in the image; `files` is that of its files."""
    beside = recipe.document or "".join(f"{key}={value}\n" for key, value in recipe.environment.items())
    return content_digest(files, beside) if beside else files


def check_rootfs(recipe: ImageRecipe, tar: Path) -> list[str]:
    """Names and versions of its packages.

    Raises HostError for a file that would give an agent more rights, and for one in the place of a mount point.
    """
    with tarfile.open(tar) as archive:
        for member in archive:
            capability = any("security.capability" in key for key in member.pax_headers)
            if capability or (member.mode & SETUID_BITS and not member.issym()):
                raise HostError(f"{recipe.tag}: {member.name} has setuid, setgid or capabilities")
            if posixpath.normpath(f"./{member.name}") in MOUNT_POINTS and not member.isdir():
                raise HostError(f"{recipe.tag}: {member.name} is no directory")
        data = b""
        with suppress(KeyError):  # it is missing
            packages = archive.extractfile("./judge/packages.txt")
            data = packages.read(MAX_LIST_BYTES + 1) if packages else b""
    *lines, rest = data.decode(errors="replace").split("\n")
    if rest or not lines or not all(map(_PACKAGE.fullmatch, lines)):
        raise HostError(f"{recipe.tag}: judge/packages.txt is no list of packages")
    return lines


def find_recipe(name: str) -> ImageRecipe:
    """Recipe of one of our images. Raises InputError."""
    return _recipes([name])[0]


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
