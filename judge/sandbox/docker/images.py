"""Images of boxes, the image for a runtime, and its files in memory.

`base` is a bare file system, `keeper` keeps agents' folders. Agents run in the others: ours
(`judge.sandbox.runtimes.recipes`) or an organiser's, found by its label. These have the judge's PID 1 at /judge/init;
another image gets it in a derived copy.

An image's files are loaded into memory, so that agents leave no trace by loading them. Boxes share these pages, and
agents cannot remove them.
"""

from __future__ import annotations

import io
import os
import re
import tarfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from judge.base.errors import HostError, InputError, NotReadyError
from judge.base.logs import get_logger
from judge.base.procfs import PROC
from judge.sandbox.box import ImageFacts
from judge.sandbox.docker.engine import REQUEST_TIMEOUT_S, connect, doing
from judge.sandbox.runtimes import INIT_SOURCES, NAME, ImageRecipe, recipes, runtime_of_label
from judge.sandbox.static_builds import GCC_FLAGS, build_lock, content_digest

if TYPE_CHECKING:
    import docker
    from docker.models.images import Image

DERIVED = "judge/derived"

CONTENT, WAY, BASE, PACKAGES = "judge.content", "judge.way", "judge.base", "judge.packages"
"""Labels with the facts of our images; packages are separated by commas."""
RUNTIME = "judge.runtime"
"""Label of an organiser's runtime: its definition as JSON."""


NO_IMAGE = ImageFacts(content="")


@dataclass(frozen=True, slots=True)
class EngineImage:
    """What the Engine has of a recipe; `id` is empty if the image is missing."""

    recipe: ImageRecipe
    id: str = ""
    current: bool = False
    size_bytes: int = 0
    facts: ImageFacts = NO_IMAGE

    @property
    def content(self) -> str:
        return self.facts.content

    def __str__(self) -> str:
        about = f"; {self.recipe.about}" if self.recipe.about else ""
        if not self.id:
            optional = f" (optional; {self.recipe.build_command})" if self.recipe.is_optional else ""
            return f"{self.recipe.tag}: missing{optional}{about}"
        state = "current" if self.current else "out of date"
        return f"{self.recipe.tag}: {state}, {self.facts}, {self.size_bytes / 1e6:.0f} MB, {self.id}{about}"


@contextmanager
def engine_client(what: str, timeout_s: float = REQUEST_TIMEOUT_S) -> Iterator[docker.DockerClient]:
    """Errors become a `HostError` naming the action `what`."""
    with doing(what), closing(connect(timeout_s)) as client:
        yield client


def find_image(client: docker.DockerClient, name: str) -> Image | None:
    """None if the Engine does not have this name, tag or id."""
    from docker.errors import ImageNotFound

    try:
        return client.images.get(name)
    except ImageNotFound:
        return None


def find_images(client: docker.DockerClient, label: str, **filters: bool) -> list[Image]:
    """Images with a label (`name` or `name=value`), without those removed during the call."""
    summaries = client.api.images(filters={"label": label, **filters})
    found = (find_image(client, summary["Id"]) for summary in summaries)
    return [image for image in found if image is not None]


def _id(image: Image) -> str:
    return str(image.attrs["Id"])


def listing() -> list[EngineImage]:
    """Our images, then an organiser's runtimes. Raises `HostError`."""
    with engine_client("list images") as client:
        return [
            engine_image(recipe, find_image(client, recipe.tag)) for recipe in (*recipes().values(), *_built(client))
        ]


def runtimes_providing(word: str) -> list[str]:
    """Runtimes that provide a module, program or library; without an Engine only ours."""
    known = [*recipes().values()]
    with suppress(HostError), engine_client("list images") as client:
        known += _built(client)
    return [recipe.name for recipe in known if recipe.runs_agents and not recipe.builds and recipe.has(word)]


def _built(client: docker.DockerClient) -> Iterator[ImageRecipe]:
    tags = {tag for image in find_images(client, RUNTIME) for tag in image.tags}
    for tag in sorted(tags):
        name = tag.removeprefix("judge/").removesuffix(":1")
        with suppress(InputError):
            if recipe := recipe_called(client, name):
                yield recipe


def recipe_called(client: docker.DockerClient, name: str) -> ImageRecipe | None:
    """Recipe of our image or an organiser's built runtime; None for others."""
    if name in recipes():
        return recipes()[name]
    image = find_image(client, f"judge/{name}:1") if re.fullmatch(NAME, name) else None
    label = "" if image is None else image.labels.get(RUNTIME, "")
    # Derived images inherit the label under another name.
    return runtime_of_label(name, label) if image is not None and image.labels.get("judge.image") == name else None


def image_facts(names: Iterable[str]) -> dict[str, ImageFacts]:
    """Facts of these runtimes' images; `NO_IMAGE` if one is missing or outdated. Raises `HostError`."""
    with engine_client("compare images") as client:
        return {name: _facts(client, name) for name in names}


def _facts(client: docker.DockerClient, name: str) -> ImageFacts:
    recipe = recipe_called(client, name)
    if recipe is None:
        image = find_image(client, name)
        return NO_IMAGE if image is None else ImageFacts(content=_id(image))
    state = engine_image(recipe, find_image(client, recipe.tag))
    return state.facts if state.current else NO_IMAGE


def engine_image(recipe: ImageRecipe, image: Image | None) -> EngineImage:
    """`image` is None if the Engine does not have it."""
    if image is None:
        return EngineImage(recipe)
    current = image.labels.get("judge.recipe") == recipe.digest(image.labels.get("judge.codename", ""))
    return EngineImage(recipe, _id(image), current, int(image.attrs["Size"]), facts_of(image.labels))


def facts_of(labels: Mapping[str, str]) -> ImageFacts:
    """Facts of an image that judge built, from its labels."""
    try:
        return ImageFacts.model_validate(
            {
                "content": labels.get(CONTENT, ""),
                "way": labels.get(WAY) or None,
                "base": labels.get(BASE, ""),
                "packages": [*filter(None, labels.get(PACKAGES, "").split(","))],
            }
        )
    except ValueError:  # labels of another version
        return NO_IMAGE


def find_built(recipe: ImageRecipe) -> EngineImage:
    """What the Engine has of a recipe. Raises `HostError`."""
    with engine_client("find an image") as client:
        return engine_image(recipe, find_image(client, recipe.tag))


def missing_images(names: Iterable[str]) -> list[str]:
    """Images of ours that are missing or outdated. Raises `HostError`."""
    wanted = {*names} & {*recipes()}
    return [state.recipe.name for state in listing() if state.recipe.name in wanted and not state.current]


def find_runtime(name: str) -> EngineImage:
    """Image of a runtime: one of ours, an organiser's, or a local image's tag or digest.

    Raises `HostError` if ours is missing or outdated, `InputError` if another is missing or unsuitable.
    """
    with engine_client("find an image") as client:
        recipe = recipe_called(client, name)
        if recipe is not None and recipe.runs_agents:
            return _current(recipe, find_image(client, recipe.tag))
        return _derived(client, recipe.tag if recipe else name, is_ours=recipe is not None)


def keeper_image() -> str:
    """Image id; `HostError` if it is missing or outdated."""
    with engine_client("find an image") as client:
        recipe = recipes()["keeper"]
        return _current(recipe, find_image(client, recipe.tag)).id


def _current(recipe: ImageRecipe, image: Image | None) -> EngineImage:
    state = engine_image(recipe, image)
    if not state.current:
        what = "out of date" if state.id else "missing"
        raise NotReadyError(f"The image {recipe.tag} is {what}; run: {recipe.build_command}")
    return state


def _derived(client: docker.DockerClient, name: str, *, is_ours: bool) -> EngineImage:
    source = find_image(client, name)
    if source is None and re.fullmatch(NAME, name):
        raise InputError(f"The runtime {name} is not built on this Engine; run: judge images build {name} --from FILE")
    if source is None:
        raise InputError(
            f"There is no image {name} on this Engine, and the judge never fetches one: "
            "docker load or docker pull it first"
        )
    for recipe in recipes().values():
        if recipe.runs_agents and recipe.tag in source.tags:
            return _current(recipe, source)
    image = source
    if not any(tag.startswith(f"{DERIVED}:") for tag in source.tags):
        # Volumes have no quota and triggers run commands; a copy cannot remove them.
        config = source.attrs.get("Config") or {}
        for key, what in (("Volumes", "declares volumes"), ("OnBuild", "has ONBUILD triggers")):
            if config.get(key):
                raise InputError(f"The image {name} cannot be a box: it {what}; build it without them")
        image = _derive(client, source)
    # The labels of another image may come from our image below it.
    facts = facts_of(image.labels) if is_ours else NO_IMAGE
    facts = facts if facts.content else ImageFacts(content=_id(image))
    return EngineImage(ImageRecipe(name=name), _id(image), True, int(image.attrs["Size"]), facts)


def _derive(client: docker.DockerClient, source: Image) -> Image:
    from docker.errors import BuildError

    tag = f"{DERIVED}:{_id(source).removeprefix('sha256:')[:24]}"
    digest = content_digest(INIT_SOURCES, *GCC_FLAGS, _dockerfile(source, "", ""))
    with build_lock("derived"):
        old = find_image(client, tag)
        if old is not None and old.labels.get("judge.recipe") == digest:
            return old
        context = _context(_dockerfile(source, _image_with_pid_1(client), digest))
        try:
            image, _ = client.images.build(
                fileobj=context, custom_context=True, tag=tag, pull=False, rm=True, forcerm=True, network_mode="none"
            )
        except BuildError as error:
            raise HostError(f"PID 1 could not be added to {_id(source)}: {error.msg}") from error
        if old is not None:
            remove_unused(client, _id(old))
        return image


def _image_with_pid_1(client: docker.DockerClient) -> str:
    """Id of a current runtime."""
    runtimes = [recipe for recipe in recipes().values() if recipe.runs_agents]
    states = (engine_image(recipe, find_image(client, recipe.tag)) for recipe in runtimes)
    found = next((state.id for state in states if state.current), "")
    return found or _current(recipes()["native"], None).id


def remove_unused(client: docker.DockerClient, image_id: str) -> None:
    """Remove an untagged image unless a container or image uses it."""
    from docker.errors import APIError, ImageNotFound

    try:
        client.images.remove(image_id)
    except ImageNotFound:
        return
    except APIError as error:
        if error.status_code != HTTPStatus.CONFLICT:
            raise


def _dockerfile(source: Image, runtime: str, digest: str) -> str:
    """Only copies files, so that no program of the image runs. A health check would run next to the agent."""
    return (
        f"FROM {_id(source)}\nCOPY root/ /\nCOPY --from={runtime} /judge/init /judge/\nHEALTHCHECK NONE\n"
        f"LABEL judge.derived={_id(source)} judge.recipe={digest}\n"
    )


def _context(dockerfile: str) -> io.BytesIO:
    """With the mount points of a box."""
    paths = ("root", "root/judge", "root/io", "root/agent", "root/home", "root/home/agent")
    folders = dict.fromkeys(paths, (None, 0o755)) | {"root/tmp": (None, 0o1777)}
    return tar_of({**folders, "Dockerfile": (dockerfile.encode(), 0o644)})


def tar_of(entries: Mapping[str, tuple[bytes | None, int]]) -> io.BytesIO:
    """An uncompressed tar file with these contents and modes; the content of a directory is None."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, (data, mode) in entries.items():
            member = tarfile.TarInfo(path)
            member.mode, member.size = mode, len(data or b"")
            if data is None:
                member.type = tarfile.DIRTYPE
            archive.addfile(member, io.BytesIO(data or b""))
    buffer.seek(0)
    return buffer


MAX_IMAGE_BYTES = 1 << 30

RELOAD_S = 60.0
"""Reload interval: a host may drop pages."""

log = get_logger()

_LOCK = Lock()
_LOADED: dict[str, float] = {}


def load_image(pid: int, image: str) -> None:
    """Load the image of process `pid` unless loaded recently; nothing without root."""
    with _LOCK:
        if time.monotonic() - _LOADED.get(image, -RELOAD_S) < RELOAD_S or os.geteuid() != 0:
            return
        try:
            load_files(PROC / str(pid) / "root", MAX_IMAGE_BYTES)
        except OSError as error:
            log.debug("the files of an image were not loaded", image=image, error=str(error))
        _LOADED[image] = time.monotonic()


def load_files(root: Path, max_bytes: int) -> int:
    """Load all files below `root`: their bytes, 0 if more than `max_bytes`."""
    files = list(_files(os.fspath(root), root.stat().st_dev))
    size = sum(bytes_ for _, bytes_ in files)
    if size > max_bytes:
        return 0
    for path, _ in files:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NOATIME)
        try:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_WILLNEED)
        finally:
            os.close(fd)
    return size


def _files(root: str, device: int) -> Iterator[tuple[str, int]]:
    waiting = [root]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    if found.st_dev == device:
                        waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry.path, found.st_size
