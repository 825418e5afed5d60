"""An image as a file, by which another host comes to the same image: what it holds is checked before it is there.

Of an image of ours, or of an organiser's runtime, the file is its root file system, from which `judge images build`
makes the image, too: so the other host makes it by the same code, with labels of its own. The digest of that file is
that of the only layer. Of any other local image it is the archive that `docker save` writes, whose digest of everything
is the image's id.
"""

from __future__ import annotations

import hashlib
import io
import posixpath
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from judge.base.errors import HostError, InputError
from judge.host.build_images import content_of, import_rootfs
from judge.sandbox.docker.images import CONTENT, RUNTIME, engine_client, find_image, image_contents, recipe_called
from judge.sandbox.runtimes import ImageRecipe, recipes, runtime_of_label
from judge.sandbox.static_builds import build_lock

if TYPE_CHECKING:
    import docker

ID = "sha256:"
"""How the id of an image begins, which says what it holds where its labels do not."""

MAX_MANIFEST_BYTES = 1 << 20
"""Bytes."""

TIMEOUT_S = 1800.0
"""An Engine is silent while it writes a large image to its disk, before it sends or after it has read it."""

_CHUNK = 1 << 20


class ImageFacts(BaseModel):
    """What a host must know of an image, beside its file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=256)
    """Of the runtime, or the image's tag or id."""
    content: str = Field(pattern=rf"^({ID})?[0-9a-f]{{64}}$")
    """See `judge.sandbox.docker.images.image_contents`."""
    architecture: str = Field(max_length=40)
    """As the Engine calls it."""
    codename: str = Field(default="", pattern=r"^[a-z]{0,40}$")
    """Of the distribution of whose packages it is made."""
    document: str = Field(default="", max_length=1 << 16)
    """The label of an organiser's runtime; empty for others."""

    @property
    def is_ours(self) -> bool:
        """Whether its file is a root file system."""
        return not self.content.startswith(ID)


class _Manifest(BaseModel):
    """What an archive of `docker save` has; there is more in it."""

    Config: str
    RepoTags: tuple[str, ...] | None = None


_MANIFESTS = TypeAdapter(tuple[_Manifest, ...])


# ---- from an image to a file --------------------------------------------------------------------


def export_image(name: str, path: Path) -> ImageFacts:
    """Write the file of an image to `path`, which grows no memory. Raises HostError if the Engine does not have the
    image or keeps it in another way, or if the disk is full."""
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
    """What comes in chunks, to be read as a file."""

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
    """The SHA-256 (hex) of what was copied."""
    total = hashlib.sha256()
    while chunk := source.read(_CHUNK):
        target.write(chunk)
        total.update(chunk)
    return total.hexdigest()


def _copy_layer(archive: IO[bytes], target: IO[bytes]) -> str:
    """Of an archive of `docker save` the only layer: its SHA-256 (hex). Raises HostError if there is none, or more."""
    found = ""
    with tarfile.open(fileobj=archive, mode="r|") as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isfile() else None
            if not isinstance(content, io.BufferedReader):
                continue
            # Since Engine 25 layers are among blobs, of which the others are JSON.
            is_blob = member.name.startswith("blobs/sha256/")
            if not member.name.endswith("/layer.tar") and not (is_blob and content.peek(1)[:1] != b"{"):
                continue
            if found:
                raise HostError("the image has more than one layer, and no image of ours has")
            found = _copy(content, target)
    if not found:
        raise HostError("this Engine exports no layer of the image")
    return found


# ---- from a file to an image --------------------------------------------------------------------


def refuse_unlike(facts: ImageFacts) -> None:
    """Raises HostError if this host can never have such an image: its Engine is of another architecture."""
    with engine_client("say what it runs on") as client:
        own = str(client.version()["Arch"])
    if facts.architecture != own:
        raise HostError(f"the contest's image {facts.name} is for {facts.architecture}, and this host is {own}")


def import_image(facts: ImageFacts, path: Path) -> None:
    """Make an image of its file, if this host has none that is current.

    Raises InputError if the file is not what `facts` say, HostError if the Engine fails, or if another image of this
    name came meanwhile.
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
    """Our own, by its name; an organiser's, by the label. Raises InputError if there is none."""
    if facts.document:
        if facts.name in recipes():
            raise InputError(f"{facts.name} is one of the judge's own images")
        return runtime_of_label(facts.name, facts.document)
    if facts.name not in recipes():
        raise InputError(f"there is no image {facts.name} of ours")
    return recipes()[facts.name]


def _load(client: docker.DockerClient, facts: ImageFacts, path: Path) -> None:
    """Load an archive that holds one image of no name, and name it: one of other names would replace images."""
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
