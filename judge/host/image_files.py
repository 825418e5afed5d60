"""Transfers an image as a file, and checks its content before the import.

For our images and organisers' runtimes, it is the root file system, from which the other host builds the image. The
digest is that of the only layer. For others, it is the archive of `docker save`; its digest is the image id.
"""

from __future__ import annotations

import posixpath
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, TypeAdapter

from judge.base.durable_files import sha256_of
from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.parsing import FrozenModel, Model
from judge.host.build_images import content_of, import_rootfs
from judge.host.root_tar import copy_layer
from judge.sandbox.box import ImageFacts
from judge.sandbox.docker.images import (
    CONTENT,
    NO_IMAGE,
    RUNTIME,
    engine_client,
    find_image,
    image_facts,
    recipe_called,
)
from judge.sandbox.runtimes import recipes, runtime_of_label
from judge.sandbox.static_builds import build_lock

if TYPE_CHECKING:
    import docker

ID = "sha256:"
"""Image ids identify images without labels."""

MAX_MANIFEST_BYTES = 1 << 20

TIMEOUT_S = 1800.0
"""An Engine is silent while it writes a large image."""


class ImageParcel(FrozenModel):
    """Sent with an image's file."""

    name: str = Field(min_length=1, max_length=256)
    """Of the runtime, or the image's tag or id."""
    facts: ImageFacts
    architecture: str = Field(max_length=40)
    """In the Engine's notation."""
    codename: str = Field(default="", pattern=r"^[a-z]{0,40}$")
    document: str = Field(default="", max_length=1 << 16)
    """Label of an organiser's runtime."""

    @property
    def is_ours(self) -> bool:
        """Its file is a root file system."""
        return not self.facts.content.startswith(ID)


class _Manifest(Model):
    """Of `docker save`, without the unused fields."""

    Config: str
    RepoTags: tuple[str, ...] | None = None


_MANIFESTS = TypeAdapter(tuple[_Manifest, ...])


def export_image(name: str, path: Path) -> ImageParcel:
    """Write an image's file, in constant memory.

    Raises HostError if the Engine lacks the image or stores it differently, or the disk is full.
    """
    facts = image_facts([name])[name]
    with engine_client("export an image", TIMEOUT_S) as client:
        recipe = recipe_called(client, name)
        image = find_image(client, name if recipe is None else recipe.tag)
        if image is None or facts == NO_IMAGE:
            raise HostError(f"there is no current image {name} here")
        parcel = ImageParcel(
            name=name,
            facts=facts,
            architecture=str(image.attrs["Architecture"]),
            codename="" if recipe is None else image.labels.get("judge.codename", ""),
            document=image.labels.get(RUNTIME, "") if recipe is not None and recipe.document else "",
        )
        chunks = client.api.get_image(str(image.attrs["Id"]))
        with os_errors_as(HostError, path, ": make room there"), path.open("wb") as file:
            if recipe is None:
                file.writelines(chunks)
            elif content_of(recipe, copy_layer(chunks, file)) != facts.content:
                raise HostError(f"the files of the image {name} are not those that its label {CONTENT} names")
    return parcel


def refuse_unlike(parcel: ImageParcel) -> None:
    """Raises HostError for another architecture than this Engine's."""
    with engine_client("read the architecture") as client:
        architecture = str(client.version()["Arch"])
    if parcel.architecture != architecture:
        raise HostError(
            f"the contest's image {parcel.name} is for {parcel.architecture}, but this host is {architecture}"
        )


def import_image(parcel: ImageParcel, path: Path) -> None:
    """Create the image unless this host's is current.

    Raises InputError if the file does not match `parcel`, HostError if the Engine fails or another image got this name.
    """
    with build_lock("images"):
        there = image_facts([parcel.name])[parcel.name]
        if there == parcel.facts:
            return
        if there != NO_IMAGE:
            raise HostError(f"another image {parcel.name} was made meanwhile")
        with engine_client("import an image", TIMEOUT_S) as client:
            if parcel.is_ours:
                _import_rootfs(client, parcel, path)
            else:
                _load(client, parcel, path)
        if image_facts([parcel.name])[parcel.name] != parcel.facts:
            raise HostError(f"the Engine has another image {parcel.name} than the one that was imported")


def _import_rootfs(client: docker.DockerClient, parcel: ImageParcel, path: Path) -> None:
    files, is_known = sha256_of(path), parcel.name in recipes()
    if parcel.document and is_known:
        raise InputError(f"{parcel.name} is one of the judge's own images")
    if not parcel.document and not is_known:
        raise InputError(f"there is no image {parcel.name} of ours")
    recipe = runtime_of_label(parcel.name, parcel.document) if parcel.document else recipes()[parcel.name]
    if content_of(recipe, files) != parcel.facts.content:
        raise InputError(f"the files of the image {parcel.name} are not those that were announced")
    try:
        import_rootfs(client, recipe, parcel.codename, path, parcel.facts)
    except (tarfile.TarError, KeyError, ValueError) as error:
        raise InputError(f"the files of the image {parcel.name} are no root file system: {error}") from None


def _load(client: docker.DockerClient, parcel: ImageParcel, path: Path) -> None:
    """Load it untagged, then tag it: an archive with tags could replace other images."""
    if parcel.name.startswith("judge/"):
        raise InputError(f"an image of the judge's own is called {parcel.name}: let the agent name its runtime")
    _check_archive(parcel, path)
    with path.open("rb") as file:
        for _ in client.api.load_image(file, quiet=True):  # type: ignore[no-untyped-call]
            pass
    image = find_image(client, parcel.facts.content)
    if image is None:
        raise InputError(f"the archive of the image {parcel.name} does not hold it")
    if parcel.name != parcel.facts.content and not image.tag(parcel.name):
        raise HostError(f"the image {parcel.facts.content} could not be called {parcel.name}")


def _check_archive(parcel: ImageParcel, path: Path) -> None:
    try:
        with tarfile.open(path, mode="r:") as tar:
            names = {posixpath.normpath(member.name): member for member in tar}
            if len(names) != len(tar.getmembers()) or "repositories" in names:
                raise InputError(f"the archive of the image {parcel.name} holds something else")
            member = names["manifest.json"]
            content = tar.extractfile(member) if member.isfile() and member.size <= MAX_MANIFEST_BYTES else None
            (only,) = _MANIFESTS.validate_json(b"" if content is None else content.read())
    except (tarfile.TarError, KeyError, ValueError, OSError) as error:
        raise InputError(f"the archive of the image {parcel.name} cannot be read: {error}") from None
    digest = only.Config.removeprefix("blobs/sha256/").removesuffix(".json")
    if only.RepoTags or f"{ID}{digest}" != parcel.facts.content:
        raise InputError(f"the archive of the image {parcel.name} holds something else")
