"""Removes unreferenced copies of local images that `images` made for boxes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import docker
import requests
from docker.errors import APIError, ImageNotFound
from docker.models.images import Image

from judge.sandbox.docker.engine import connect, doing
from judge.sandbox.docker.images import DERIVED, find_image, find_images
from judge.sandbox.static_builds import build_lock

SHORT = 12
"""Digits of an image id that refer to it."""


@dataclass(frozen=True, slots=True)
class DerivedImage:
    """A copy of a local image with PID 1 added."""

    id: str
    source: str
    names: frozenset[str]
    own_bytes: int
    """Size without the source's layers."""
    kept: str = ""
    """Why it is kept."""

    def __str__(self) -> str:
        known = sorted(name for name in self.names if not name.startswith(f"{DERIVED}:"))
        of = ", ".join(known) or f"{self.source}, which has no tag any more"
        return f"{self.id} of {of}, {self.own_bytes / 1e6:.1f} MB"

    def is_named_by(self, word: str) -> bool:
        """`word` (name, tag, digest or id) refers to this image or its source."""
        if word in self.names or f"{word}:latest" in self.names:
            return True
        digits = word.removeprefix("sha256:")
        return len(digits) >= SHORT and any(
            each.removeprefix("sha256:").startswith(digits) for each in (self.id, self.source)
        )


def remove_unnamed(named: dict[str, str], *, is_trial: bool = False) -> list[DerivedImage]:
    """`named` maps possible image names to the referring place.

    With `is_trial`, nothing is removed. Source images and images made elsewhere are kept. Raises HostError.
    """
    with doing("list images"), closing(connect()) as client, build_lock("derived"):
        return [_pruned(client, each, named, is_trial) for each in _all(client)]


def _pruned(client: docker.DockerClient, image: DerivedImage, named: dict[str, str], is_trial: bool) -> DerivedImage:
    who = next((who for word, who in named.items() if image.is_named_by(word)), "")
    if who:
        return replace(image, kept=f"named by {who}")
    if client.containers.list(all=True, filters={"ancestor": image.id}, ignore_removed=True):
        return replace(image, kept="used by a container")
    if not is_trial:
        try:
            _remove(client, image)
        except ImageNotFound:
            pass
        except APIError as error:
            if error.status_code != requests.codes.conflict:
                raise
            return replace(image, kept="another image or tag uses it")
    return image


def _remove(client: docker.DockerClient, image: DerivedImage) -> None:
    """Keep the source, which the Engine would also remove if untagged."""
    steps = []
    step = image.id
    while step not in ("", image.source):
        steps.append(step)
        found = find_image(client, step)
        step = str(found.attrs.get("Parent") or "") if found else ""
    for step in steps:
        client.images.remove(step, noprune=True)


def _all(client: docker.DockerClient) -> Iterator[DerivedImage]:
    found = find_images(client, "judge.derived")
    for image in sorted(found, key=lambda each: str(each.labels["judge.derived"])):
        source_id = str(image.labels["judge.derived"])
        source = find_image(client, source_id)
        # Images built from a copy inherit its label. A copy has the judge's tag, or none if a newer one took it; it
        # then has one layer more than its source.
        if image.tags:
            is_ours = any(tag.startswith(f"{DERIVED}:") for tag in image.tags)
        else:
            is_ours = source is not None and _layers(image) == _layers(source) + 1
        if is_ours:
            names, size_bytes = _names(image), int(image.attrs["Size"])
            if source:
                names, size_bytes = names | _names(source), size_bytes - int(source.attrs["Size"])
            yield DerivedImage(str(image.attrs["Id"]), source_id, names, size_bytes)


def _layers(image: Image) -> int:
    return len(image.attrs["RootFS"]["Layers"])


def _names(image: Image) -> frozenset[str]:
    digests: Collection[str] = image.attrs.get("RepoDigests") or ()
    return frozenset([*image.tags, *digests])
