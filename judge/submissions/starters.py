"""Starters of a contest's protocol, as zip archives."""

import io
import zipfile
from collections.abc import Mapping
from functools import cache

from judge.agents.manifest import MANIFEST, read_manifest
from judge.base.resources import IMAGES
from judge.protocols import protocol_entry
from judge.record.policy import Policy


def starters_of(policy: Policy) -> Mapping[str, str]:
    """The programming language of each starter for the policy's protocol and runtimes, by name."""
    found = {path.parent.name: read_manifest(path) for path in sorted(IMAGES.glob(f"starter-*/{MANIFEST}"))}
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
        for path in sorted((IMAGES / name).iterdir()):
            if path.is_file() and path.name != "starter" and path.suffix != ".class":  # those are built
                info = zipfile.ZipInfo(f"{name}/{path.name}")  # of 1980, the first time of a zip
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = (path.stat().st_mode & 0o777 | 0o100000) << 16
                archive.writestr(info, path.read_bytes())
    return packed.getvalue()
