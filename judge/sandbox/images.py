"""The images that boxes are made of, and which of them is right for an agent's runtime.

`base` is a bare file system; `keeper` holds the folders of agents; agents run in `native` and `python` and, if
they were built by name, in `java` and `wine`. Those have PID 1 of the box at /judge/init, and any other local image
gets it in a derived copy. `judge.host.build_images` builds them; labels say what an image was made of.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from judge.errors import HostError, InputError, NotReadyError
from judge.resources import BUILD_DIRECTORY, IMAGES
from judge.sandbox.engine import doing
from judge.sandbox.static_builds import (
    GCC_FLAGS,
    build_lock,
    compile_static,
    content_digest,
)

if TYPE_CHECKING:
    import docker
    from docker.models.images import Image

ROOTFS_SCRIPT = IMAGES / "rootfs.sh"
INIT_SOURCES = IMAGES / "init"
DERIVED = "judge/derived"

SHELL = ("libc6", "libc-bin", "dash", "bash", "coreutils", "findutils", "grep", "sed")
TOOLS = ("gcc", "g++", "libc6-dev", "make", "rustc", "default-jdk-headless", "python3")
LIBRARIES = ("libstdc++6", "libgcc-s1", "libgomp1", "libatomic1", "zlib1g")


@dataclass(frozen=True, slots=True)
class ImageRecipe:
    """What one image is made of: distribution packages, and PID 1 where agents run in it."""

    name: str
    packages: tuple[str, ...]
    has_init: bool = True
    programs: tuple[Path, ...] = ()
    """Scripts of ours for /usr/bin, which no package brings."""
    is_optional: bool = False
    """Large and rarely needed: built only by name."""
    script: Path = ROOTFS_SCRIPT
    """Builds the file system; a script other than the usual one has a folder of its own with all that it needs."""

    @property
    def tag(self) -> str:
        """The image's name on the Engine."""
        return f"judge/{self.name}:1"

    def digest(self, codename: str) -> str:
        """SHA-256 (hex) of all that the image depends on, but the state of the mirror."""
        init = (INIT_SOURCES, *GCC_FLAGS) if self.has_init else ()
        script = () if self.script == ROOTFS_SCRIPT else (self.script.parent,)
        return content_digest(ROOTFS_SCRIPT, codename, *self.packages, *init, *self.programs, *script)


RECIPES = {
    recipe.name: recipe
    for recipe in (
        ImageRecipe("base", SHELL, has_init=False),
        ImageRecipe("keeper", ("libc6", "dash", "coreutils", "findutils", "tar"), has_init=False),
        ImageRecipe("native", SHELL + LIBRARIES),
        ImageRecipe("python", (*SHELL, *LIBRARIES, "python3")),
        ImageRecipe(
            "java", (*SHELL, *LIBRARIES, "default-jre-headless"), programs=(IMAGES / "java" / "java",), is_optional=True
        ),
        ImageRecipe("unpacker", ("libc6", "python3-minimal", "python3-zstandard"), is_optional=True),
        ImageRecipe(
            "toolchain",
            (*SHELL, *LIBRARIES, *TOOLS),
            programs=(
                IMAGES / "java" / "java",
                *(IMAGES / "toolchain" / name for name in ("c++", "cc", "jar", "javac")),
            ),
            is_optional=True,
        ),
        ImageRecipe(
            "wine",
            (*SHELL, *LIBRARIES, "wine64", "wine32:i386"),
            programs=(IMAGES / "wine" / "wine",),
            is_optional=True,
            script=IMAGES / "wine" / "rootfs.sh",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class ImageState:
    """One of our images as the Engine has it; `id` is empty where it does not."""

    name: str
    tag: str
    id: str
    current: bool
    """Built by the scripts and sources of this judge."""
    content: str
    """SHA-256 (hex) of the imported tar file: equal content, equal bytes."""
    packages: int
    size_bytes: int
    is_optional: bool = False
    """Built when it is asked for by name: no fault where it is missing."""

    def __str__(self) -> str:
        if not self.id:
            optional = f" (optional; judge images build {self.name})" if self.is_optional else ""
            return f"{self.tag}: missing{optional}"
        return (
            f"{self.tag}: {'current' if self.current else 'out of date'}, {self.packages} packages, "
            f"{self.size_bytes / 1e6:.0f} MB, {self.id}, content {self.content[:12]}"
        )


@contextmanager
def engine_client(what: str) -> Iterator[docker.DockerClient]:
    """A client of the Engine; what fails of it is a `HostError` that names `what` was to be done."""
    import docker  # here and below, as in `judge.sandbox.engine`: what asks no Engine does not import its client

    with doing(what), closing(docker.from_env()) as client:
        yield client


def find_image(client: docker.DockerClient, name: str) -> Image | None:
    """The image of this name, tag or id; None if the Engine does not have it."""
    from docker.errors import ImageNotFound

    try:
        return client.images.get(name)
    except ImageNotFound:
        return None


def _id(image: Image) -> str:
    return str(image.attrs["Id"])


# ---- what is there ------------------------------------------------------------------------------


def listing() -> list[ImageState]:
    """The state of each of our images on the Engine. Raises `HostError`."""
    with engine_client("list images") as client:
        return [image_state(recipe, find_image(client, recipe.tag)) for recipe in RECIPES.values()]


def image_contents(names: Iterable[str]) -> dict[str, str]:
    """What the images of these runtimes hold, by name: alike on two hosts, if an agent finds the same in both.

    Empty for one that is missing or out of date. Raises `HostError`.
    """
    with engine_client("compare images") as client:
        return {name: _content(client, name) for name in names}


def _content(client: docker.DockerClient, name: str) -> str:
    """Of an image that is not ours, its id, which two Engines share that loaded the same."""
    recipe = RECIPES.get(name)
    if recipe is None:
        image = find_image(client, name)
        return "" if image is None else _id(image)
    state = image_state(recipe, find_image(client, recipe.tag))
    return state.content if state.current else ""


def image_state(recipe: ImageRecipe, image: Image | None) -> ImageState:
    """The state of an image of ours; `image` is None if the Engine does not have it."""

    if image is None:
        return ImageState(recipe.name, recipe.tag, "", False, "", 0, 0, recipe.is_optional)
    labels = image.labels
    return ImageState(
        name=recipe.name,
        tag=recipe.tag,
        id=_id(image),
        current=labels.get("judge.recipe") == recipe.digest(labels.get("judge.codename", "")),
        content=labels.get("judge.content", ""),
        packages=int(labels.get("judge.packages", 0)),
        size_bytes=int(image.attrs["Size"]),
        is_optional=recipe.is_optional,
    )


def missing_images(names: Iterable[str]) -> list[str]:
    """Which of these names are images of ours that are missing or out of date. Raises `HostError`."""
    wanted = {*names}
    return [state.name for state in listing() if state.name in wanted and not state.current]


# ---- what a box runs in -------------------------------------------------------------------------


def runtime_image(name: str) -> str:
    """The id of the image for an agent's runtime: one of ours, or a local image's tag or digest.

    Another local image is used through a copy `FROM` it that has PID 1 of the box in it, made once.
    Raises `HostError` where one of ours is missing or out of date, `InputError` where another is
    not on this Engine or cannot be a box.
    """
    with engine_client("find an image") as client:
        recipe = RECIPES.get(name)
        if recipe is not None and recipe.has_init:
            return _ours(recipe, find_image(client, recipe.tag))
        return _derived(client, recipe.tag if recipe else name)


def keeper_image() -> str:
    """The id of the image in which folders are held; `HostError` where it is missing or out of date."""
    with engine_client("find an image") as client:
        recipe = RECIPES["keeper"]
        return _ours(recipe, find_image(client, recipe.tag))


def image_content(name: str) -> str:
    """What an image is made of: of one of ours the SHA-256 (hex) of its files, the same on every host; else an id.

    Raises as `runtime_image`.
    """
    image_id = runtime_image(name)
    if name not in RECIPES:
        return image_id  # its labels may be those of an image of ours that it was built upon
    with engine_client("find an image") as client:
        return str(client.images.get(image_id).labels.get("judge.content", image_id))


def _ours(recipe: ImageRecipe, image: Image | None) -> str:
    state = image_state(recipe, image)
    if not state.current:
        what = "out of date" if state.id else "missing"
        raise NotReadyError(f"The image {recipe.tag} is {what}; run: judge images build {recipe.name}")
    return state.id


def _derived(client: docker.DockerClient, name: str) -> str:
    source = find_image(client, name)
    if source is None:
        raise InputError(
            f"There is no image {name} on this Engine, and the judge never fetches one: "
            "docker load or docker pull it first"
        )
    for recipe in RECIPES.values():
        if recipe.has_init and recipe.tag in source.tags:
            return _ours(recipe, source)
    if any(tag.startswith(f"{DERIVED}:") for tag in source.tags):
        return _id(source)
    _refuse_unfit(name, source)
    return _derive(client, source)


def _refuse_unfit(name: str, image: Image) -> None:
    """Volumes are room outside of every quota, triggers run commands; neither can be taken off."""
    config = image.attrs.get("Config") or {}
    for key, what in (("Volumes", "declares volumes"), ("OnBuild", "has ONBUILD triggers")):
        if config.get(key):
            raise InputError(f"The image {name} cannot be a box: it {what}; build it without them")


def _derive(client: docker.DockerClient, source: Image) -> str:
    from docker.errors import BuildError

    tag = f"{DERIVED}:{_id(source).removeprefix('sha256:')[:24]}"
    digest = content_digest(INIT_SOURCES, *GCC_FLAGS, _dockerfile(source, ""))
    with build_lock("derived"):
        old = find_image(client, tag)
        if old is not None and old.labels.get("judge.recipe") == digest:
            return _id(old)
        context = _context(_dockerfile(source, digest))
        try:
            image, _ = client.images.build(
                fileobj=context, custom_context=True, tag=tag, pull=False, rm=True, forcerm=True, network_mode="none"
            )
        except BuildError as error:
            raise HostError(f"PID 1 could not be added to {_id(source)}: {error.msg}") from error
        if old is not None:
            remove_unused(client, _id(old))
        return _id(image)


def remove_unused(client: docker.DockerClient, image_id: str) -> None:
    """Remove an image that lost its tag, unless a container or another image stands on it."""
    from docker.errors import APIError, ImageNotFound

    try:
        client.images.remove(image_id)
    except ImageNotFound:
        return
    except APIError as error:
        if error.status_code != HTTPStatus.CONFLICT:
            raise


def _dockerfile(source: Image, digest: str) -> str:
    """Copies only, so that nothing of the image runs; a health check would run beside the agent."""
    return (
        f"FROM {_id(source)}\nCOPY root/ /\nHEALTHCHECK NONE\nLABEL judge.derived={_id(source)} judge.recipe={digest}\n"
    )


def _context(dockerfile: str) -> io.BytesIO:
    """The build context: PID 1, and the mount points of a box."""
    with tempfile.TemporaryDirectory(dir=BUILD_DIRECTORY) as scratch:
        init = Path(scratch) / "init"
        compile_static(sorted(INIT_SOURCES.glob("*.c")), init)
        files = {"Dockerfile": dockerfile.encode(), "root/judge/init": init.read_bytes()}
    folders = {"root": 0o755, "root/judge": 0o755, "root/io": 0o755, "root/agent": 0o755}
    folders |= {"root/home": 0o755, "root/home/agent": 0o755, "root/tmp": 0o1777}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, mode in folders.items():
            member = tarfile.TarInfo(path)
            member.type, member.mode = tarfile.DIRTYPE, mode
            archive.addfile(member)
        for path, data in files.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(data), 0o555
            archive.addfile(member, io.BytesIO(data))
    buffer.seek(0)
    return buffer
