"""Starters of a contest's protocol, as zip archives."""

import io
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from judge.agents.manifest import MANIFEST, read_manifest
from judge.base.resources import IMAGES
from judge.protocols import protocol_entry
from judge.record.policy import Policy

_PREFIX = "starter-"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first time that a zip can store."""


def starters_of(policy: Policy) -> Mapping[str, str]:
    """The programming language of each starter for the policy's protocol and runtimes, by name."""
    found = {path.parent.name: read_manifest(path) for path in sorted(IMAGES.glob(f"{_PREFIX}*/{MANIFEST}"))}
    runtimes = {*policy.admits, *policy.runtimes}
    return {
        name: manifest.language
        for name, manifest in found.items()
        if manifest.protocol == policy.game.protocol and manifest.runtime in runtimes
    }


def protocol_url(policy: Policy) -> str:
    """See `ProtocolEntry.url`."""
    return protocol_entry(policy.game.protocol).url


@cache
def starter_zip(name: str) -> bytes:
    """A starter of `starters_of` in a folder of its name. Each call returns the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in (IMAGES / name).iterdir() if path.is_file() and not _is_built(path)):
            archive.writestr(_info(name, path), path.read_bytes())
    return packed.getvalue()


def _is_built(path: Path) -> bool:
    return path.name == "starter" or path.suffix == ".class"


def _info(name: str, path: Path) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(f"{name}/{path.name}", _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = (path.stat().st_mode & 0o777 | 0o100000) << 16
    return info
