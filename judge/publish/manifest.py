"""The manifest: every published file with its size and SHA-256, signed, so that one digest stands for all of them.

    {"contest":"cup","files":[{"path":"data/games.csv","sha256":"...","size":123},...],"format":"judge-manifest-1"}

Sorted by path, without spaces, ASCII, one line feed at the end. The signature lies beside it: the 64 bytes of Ed25519
over exactly the bytes of the manifest. A manifest may come from anybody, so its names are compared with what lies in
the directory and never opened.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import BaseModel, ConfigDict, Field

from judge.documents import parse_json
from judge.errors import InputError
from judge.publish.keys import fingerprint, is_signed, load_public_key, public_pem, read_public_key

MANIFEST, SIGNATURE, PUBLIC_KEY = "manifest.json", "manifest.sig", "organiser.pem"
_UNLISTED = frozenset({MANIFEST, SIGNATURE})

LARGEST_MANIFEST = 64 << 20
"""Bytes: half a million files."""

MOST_PROBLEMS = 50
"""How many problems are told one by one."""

_SIGNATURE_BYTES = 64
_CHUNK = 1 << 20
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ListedFile(_Strict):
    """A file by its path from the directory's top, with `/` between the parts."""

    path: str = Field(max_length=400)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(ge=0)


class ExportManifest(_Strict):
    """Everything that was published, but for the manifest itself and its signature."""

    format: Literal["judge-manifest-1"] = "judge-manifest-1"
    contest: str
    files: tuple[ListedFile, ...]

    def encoded(self) -> bytes:
        """The one way to write it."""
        text = json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":"))
        return f"{text}\n".encode()


@dataclass(frozen=True, slots=True)
class Checked:
    """What a manifest and its signature were found to prove. `digest` is the SHA-256 of the manifest's bytes.

    `is_own_key`: the key lies in the directory itself, so whoever wrote the directory may have made it.
    """

    manifest: ExportManifest | None
    digest: str
    fingerprint: str
    is_own_key: bool
    problems: Sequence[str]


def write_manifest(directory: Path, contest: str, key: Ed25519PrivateKey) -> str:
    """List and sign all that lies in `directory`; the digest of the manifest. The public key is put beside it.

    InputError where something there could not be checked later (a link, a name with odd characters).
    """
    (directory / PUBLIC_KEY).write_bytes(public_pem(key.public_key()))
    problems: list[str] = []
    files = tuple(
        ListedFile(path=name, sha256=_digest(directory / name), size=(directory / name).stat().st_size)
        for name in sorted(_names(directory, problems))
        if name not in _UNLISTED
    )
    if problems:
        raise InputError(f"{directory}: {problems[0]}")
    data = ExportManifest(contest=contest, files=files).encoded()
    (directory / MANIFEST).write_bytes(data)
    (directory / SIGNATURE).write_bytes(key.sign(data))
    return hashlib.sha256(data).hexdigest()


def check_manifest(directory: Path, public_key: Path | None) -> Checked:
    """Compare `directory` with its manifest, and the manifest with its signature.

    `public_key` None takes the key that lies in the directory; that one proves no origin, also where it is named.
    InputError where there is nothing to check: no directory, no manifest, no key.
    """
    data = read_bounded(directory / MANIFEST, LARGEST_MANIFEST)
    signature = read_bounded(directory / SIGNATURE, _SIGNATURE_BYTES)
    if public_key is not None:
        key = load_public_key(public_key)
    else:
        inside = directory / PUBLIC_KEY
        key = read_public_key(read_bounded(inside, _CHUNK), str(inside))
    problems: list[str] = []
    if not is_signed(key, signature, data):
        problems.append(f"{SIGNATURE}: not signed by {_whose(key, public_key)}")
    manifest = _parsed(data, problems)
    if manifest is not None:
        problems += _differences(directory, manifest)
    return Checked(
        manifest=manifest,
        digest=hashlib.sha256(data).hexdigest(),
        fingerprint=fingerprint(key),
        is_own_key=public_key is None or public_key.resolve().is_relative_to(directory.resolve()),
        problems=_bounded(problems),
    )


def _whose(key: Ed25519PublicKey, public_key: Path | None) -> str:
    """A key in words."""
    where = "the key in the directory" if public_key is None else f"the key {public_key}"
    return f"{where} (fingerprint {fingerprint(key)[:16]})"


# --- comparing -------------------------------------------------------------------------------------------------------


def _parsed(data: bytes, problems: list[str]) -> ExportManifest | None:
    try:
        manifest = parse_json(ExportManifest, data, f"{MANIFEST}: not a manifest")
    except InputError as error:
        problems.append(str(error))
        return None
    names = [file.path for file in manifest.files]
    bad = [name for name in names if not _is_plain(name)]
    if bad:
        problems.append(f"{MANIFEST}: {bad[0]!r} is no name of a file in this directory")
        return None
    if names != sorted(set(names)) or data != manifest.encoded():
        problems.append(f"{MANIFEST}: not written as a judge writes it: sorted, each file once")
    return manifest


def _differences(directory: Path, manifest: ExportManifest) -> list[str]:
    problems: list[str] = []
    listed = {file.path: file for file in manifest.files}
    there = set(_names(directory, problems)) - _UNLISTED
    problems += [f"{name}: missing" for name in sorted(listed.keys() - there)]
    problems += [f"{name}: not in the manifest" for name in sorted(there - listed.keys())]
    problems += [
        f"{name}: changed"
        for name in sorted(there & listed.keys())
        if not _is_as_listed(directory / name, listed[name])
    ]
    return problems


def _is_as_listed(path: Path, file: ListedFile) -> bool:
    """A file of another size is not read."""
    return path.stat().st_size == file.size and _digest(path) == file.sha256


def _names(directory: Path, problems: list[str]) -> Iterator[str]:
    """The files below `directory`; what is no plain file, or has no plain name, is a problem."""
    waiting = [directory]
    while waiting:
        folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                name = Path(entry.path).relative_to(directory).as_posix()
                if not _is_plain(name):
                    problems.append(f"{name!r}: a name that nothing published has")
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                elif entry.is_file(follow_symlinks=False):
                    yield name
                else:
                    problems.append(f"{name}: a link or a special file, which proves nothing")


def _is_plain(name: str) -> bool:
    return all(_PART.fullmatch(part) for part in name.split("/"))


def _bounded(problems: Sequence[str]) -> Sequence[str]:
    if len(problems) <= MOST_PROBLEMS:
        return problems
    return [*problems[:MOST_PROBLEMS], f"and {len(problems) - MOST_PROBLEMS} more"]


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def read_bounded(path: Path, most: int) -> bytes:
    """A plain file of at most `most` bytes; InputError for a larger one, a link, or none."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise InputError(f"{path}: a link or a special file; a contest's export has none")
        with path.open("rb") as stream:
            data = stream.read(most + 1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; give a directory that judge contest export wrote") from None
    if len(data) > most:
        raise InputError(f"{path}: larger than {most} bytes: nothing that a judge writes")
    return data
