"""Transfers an image as a file, and checks its content before the import.

For our images and organisers' runtimes, it is the root file system, from which the other host builds the image. The
digest is that of the only layer. For others, it is the archive of `docker save`; its digest is the image id.
"""

from __future__ import annotations

import hashlib
import io
import posixpath
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pydantic import Field, TypeAdapter

from judge.base.errors import HostError, InputError
from judge.base.parsing import FrozenModel, Model
from judge.host.build_images import content_of, import_rootfs
from judge.sandbox.docker.images import CONTENT, RUNTIME, engine_client, find_image, image_contents, recipe_called
from judge.sandbox.runtimes import ImageRecipe, recipes, runtime_of_label
from judge.sandbox.static_builds import build_lock

if TYPE_CHECKING:
    import docker

ID = "sha256:"
"""Image ids identify images without labels."""

MAX_MANIFEST_BYTES = 1 << 20

TIMEOUT_S = 1800.0
"""An Engine is silent while it writes a large image."""

_CHUNK = 1 << 20


class ImageFacts(FrozenModel):
    """Sent with an image's file."""

    name: str = Field(min_length=1, max_length=256)
    """Of the runtime, or the image's tag or id."""
    content: str = Field(pattern=rf"^({ID})?[0-9a-f]{{64}}$")
    """See `judge.sandbox.docker.images.image_contents`."""
    architecture: str = Field(max_length=40)
    """In the Engine's notation."""
    codename: str = Field(default="", pattern=r"^[a-z]{0,40}$")
    document: str = Field(default="", max_length=1 << 16)
    """Label of an organiser's runtime."""

    @property
    def is_ours(self) -> bool:
        """Its file is a root file system."""
        return not self.content.startswith(ID)


class _Manifest(Model):
    """Of `docker save`, without the unused fields."""

    Config: str
    RepoTags: tuple[str, ...] | None = None


_MANIFESTS = TypeAdapter(tuple[_Manifest, ...])


def export_image(name: str, path: Path) -> ImageFacts:
    """Write an image's file, in constant memory.

    Raises HostError if the Engine lacks the image or stores it differently, or the disk is full.
    """
    content = image_contents([name])[name]
    with engine_client("export an image", TIMEOUT_S) as client:
        recipe = recipe_called(client, name)
        image = find_image(client, name if recipe is None else recipe.tag)
        if image is None or not content:
            raise HostError(f"there is no current image {name} here")
        facts = ImageFacts(
            name=name,
            content=content,
            architecture=str(image.attrs["Architecture"]),
            codename="" if recipe is None else image.labels.get("judge.codename", ""),
            document=image.labels.get(RUNTIME, "") if recipe is not None and recipe.document else "",
        )
        chunks = io.BufferedReader(_Chunks(client.api.get_image(str(image.attrs["Id"]))), _CHUNK)  # type: ignore[type-var]
        try:
            with path.open("wb") as file:
                if recipe is None:
                    _copy(chunks, file)
                elif content_of(recipe, _copy_layer(chunks, file)) != content:
                    raise HostError(f"the files of the image {name} are not those that its label {CONTENT} names")
        except OSError as error:
            raise HostError(f"{path}: {error.strerror}: make room there") from None
    return facts


class _Chunks(io.RawIOBase):
    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = chunk
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def _copy(source: IO[bytes], target: IO[bytes]) -> str:
    """Returns the SHA-256 (hex)."""
    total = hashlib.sha256()
    while chunk := source.read(_CHUNK):
        target.write(chunk)
        total.update(chunk)
    return total.hexdigest()


def _copy_layer(archive: IO[bytes], target: IO[bytes]) -> str:
    """The only layer of a `docker save` archive. Returns its SHA-256 (hex). Raises HostError."""
    found = ""
    with tarfile.open(fileobj=archive, mode="r|") as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isfile() else None
            if not isinstance(content, io.BufferedReader):
                continue
            # Since Engine 25, layers are among blobs; others are JSON.
            is_blob = member.name.startswith("blobs/sha256/")
            if not member.name.endswith("/layer.tar") and not (is_blob and content.peek(1)[:1] != b"{"):
                continue
            if found:
                raise HostError("the image has more than one layer, and no image of ours has")
            found = _copy(content, target)
    if not found:
        raise HostError("this Engine exports no layer of the image")
    return found


def refuse_unlike(facts: ImageFacts) -> None:
    """Raises HostError for another architecture than this Engine's."""
    with engine_client("read the architecture") as client:
        own = str(client.version()["Arch"])
    if facts.architecture != own:
        raise HostError(f"the contest's image {facts.name} is for {facts.architecture}, but this host is {own}")


def import_image(facts: ImageFacts, path: Path) -> None:
    """Create the image unless this host's is current.

    Raises InputError if the file does not match `facts`, HostError if the Engine fails or another image got this name.
    """
    with build_lock("images"):
        there = image_contents([facts.name])[facts.name]
        if there == facts.content:
            return
        if there:
            raise HostError(f"another image {facts.name} was made meanwhile")
        with engine_client("import an image", TIMEOUT_S) as client:
            if facts.is_ours:
                _import_rootfs(client, facts, path)
            else:
                _load(client, facts, path)
        if image_contents([facts.name])[facts.name] != facts.content:
            raise HostError(f"the Engine has another image {facts.name} than the one that was imported")


def _import_rootfs(client: docker.DockerClient, facts: ImageFacts, path: Path) -> None:
    with path.open("rb") as file:
        files = hashlib.file_digest(file, "sha256").hexdigest()
    recipe = _recipe(facts)
    if content_of(recipe, files) != facts.content:
        raise InputError(f"the files of the image {facts.name} are not those that were announced")
    try:
        import_rootfs(client, recipe, facts.codename, path, files)
    except (tarfile.TarError, KeyError, ValueError) as error:
        raise InputError(f"the files of the image {facts.name} are no root file system: {error}") from None


def _recipe(facts: ImageFacts) -> ImageRecipe:
    """Raises InputError if neither exists."""
    if facts.document:
        if facts.name in recipes():
            raise InputError(f"{facts.name} is one of the judge's own images")
        return runtime_of_label(facts.name, facts.document)
    if facts.name not in recipes():
        raise InputError(f"there is no image {facts.name} of ours")
    return recipes()[facts.name]


def _load(client: docker.DockerClient, facts: ImageFacts, path: Path) -> None:
    """Load it untagged, then tag it: an archive with tags could replace other images."""
    if facts.name.startswith("judge/"):
        raise InputError(f"an image of the judge's own is called {facts.name}: let the agent name its runtime")
    _check_archive(facts, path)
    with path.open("rb") as file:
        for _ in client.api.load_image(file, quiet=True):  # type: ignore[no-untyped-call]
            pass
    image = find_image(client, facts.content)
    if image is None:
        raise InputError(f"the archive of the image {facts.name} does not hold it")
    if facts.name != facts.content and not image.tag(facts.name):
        raise HostError(f"the image {facts.content} could not be called {facts.name}")


def _check_archive(facts: ImageFacts, path: Path) -> None:
    try:
        with tarfile.open(path, mode="r:") as tar:
            names = {posixpath.normpath(member.name): member for member in tar}
            if len(names) != len(tar.getmembers()) or "repositories" in names:
                raise InputError(f"the archive of the image {facts.name} holds something else")
            member = names["manifest.json"]
            content = tar.extractfile(member) if member.isfile() and member.size <= MAX_MANIFEST_BYTES else None
            (only,) = _MANIFESTS.validate_json(b"" if content is None else content.read())
    except (tarfile.TarError, KeyError, ValueError, OSError) as error:
        raise InputError(f"the archive of the image {facts.name} cannot be read: {error}") from None
    digest = only.Config.removeprefix("blobs/sha256/").removesuffix(".json")
    if only.RepoTags or f"{ID}{digest}" != facts.content:
        raise InputError(f"the archive of the image {facts.name} holds something else")
