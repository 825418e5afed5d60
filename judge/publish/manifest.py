"""The manifest: a signed list of all published files with sizes and SHA-256.

    {"contest":"cup","files":[{"path":"data/games.csv","sha256":"...","size":123},...],"format":"judge-manifest-1"}

It is sorted by path, ASCII without spaces, and ends with one line feed. The signature file has the 64 bytes of Ed25519
over these bytes. Names in a manifest are untrusted: they are compared with the directory and never opened.
"""

import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import Field

from judge.base.bookkeeping import is_bookkeeping, is_companion, may_be_companion
from judge.base.durable_files import read_bounded, sha256_of
from judge.base.errors import InputError
from judge.base.parsing import FailFastTuple, FrozenModel, parse_foreign
from judge.base.progress import Tracker, untracked
from judge.transparency.checkpoint import is_signed
from judge.transparency.keys import fingerprint, load_public_key, public_pem, read_public_key

MANIFEST, SIGNATURE, PUBLIC_KEY = "manifest.json", "manifest.sig", "organiser.pem"
CUP_DOCUMENT = "cup.json"
"""In the directory of an exported cup."""
_UNLISTED = frozenset({MANIFEST, SIGNATURE})

GIT_FILE, GIT_LINE = ".gitattributes", b"* -text\n"
"""Makes git keep the line ends of all files."""

_OF_HOSTS = frozenset({".nojekyll", "CNAME"})
"""Settings of GitHub Pages."""

MAX_MANIFEST_BYTES = 128 << 20
"""A million files, or 150,000 games in three languages."""

MAX_PROBLEMS = 50

NOTHING: Mapping[str, tuple[str, int]] = {}

_CHUNK = 1 << 20
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


class ListedFile(FrozenModel):
    """A file, by path in the directory."""

    path: str = Field(max_length=400)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(ge=0)


class ExportManifest(FrozenModel):
    """All published files except manifest and signature."""

    contest: str
    files: FailFastTuple[ListedFile]
    format: Literal["judge-manifest-1"] = "judge-manifest-1"

    def encoded(self) -> bytes:
        """Its canonical bytes, with the fields of both models sorted by name; others are refused."""
        text = self.model_dump_json(ensure_ascii=True).replace("\x7f", "\\u007f")  # as json.dumps
        return f"{text}\n".encode()


@dataclass(frozen=True, slots=True)
class ManifestCheck:
    """Check of a manifest (SHA-256 `digest`) and its signature.

    `contest` is None if the manifest is unreadable. `is_own_key`: the key is the directory's and does not prove who
    wrote it. `extra`: files of git, file managers, unpackers and hosts, which are not part of the export.
    """

    contest: str | None
    digest: str
    fingerprint: str
    is_own_key: bool
    problems: Sequence[str]
    key: Ed25519PublicKey
    extra: Sequence[str] = ()


def write_manifest(
    directory: Path,
    contest: str,
    key: Ed25519PrivateKey,
    parts: Collection[str] = (),
    known: Mapping[str, tuple[str, int]] = NOTHING,
) -> str:
    """List and sign all files of `directory`, add the public key, and return the manifest's digest.

    Also write a file that makes git keep line ends. It is not listed: some hosts do not serve it.

    Of the folders `parts`, only their manifests are listed. `known` has SHA-256 and size of files that need no reading.
    Raises InputError for links and for names outside `_PART`.
    """
    (directory / PUBLIC_KEY).write_bytes(public_pem(key.public_key()))
    (directory / GIT_FILE).write_bytes(GIT_LINE)
    problems: list[str] = []
    names = [name for name in file_names(directory, problems) if name not in _UNLISTED and _is_listed(name, parts)]
    files = []
    for name in sorted(names):
        sha256, size = known.get(name) or (sha256_of(directory / name), (directory / name).stat().st_size)
        files.append(ListedFile(path=name, sha256=sha256, size=size))
    if problems:
        raise InputError(f"{directory}: {problems[0]}")
    data = ExportManifest(contest=contest, files=tuple(files)).encoded()
    (directory / MANIFEST).write_bytes(data)
    (directory / SIGNATURE).write_bytes(key.sign(data))
    return hashlib.sha256(data).hexdigest()


def read_signed_manifest(directory: Path, key: Ed25519PublicKey) -> ExportManifest:
    """The manifest of an export. Raises InputError unless signed by `key`."""
    data = read_bounded(directory / MANIFEST, MAX_MANIFEST_BYTES, "give a directory that judge contest export wrote")
    if not is_signed(key, read_bounded(directory / SIGNATURE, MAX_MANIFEST_BYTES), data):
        raise InputError(f"{directory / SIGNATURE}: not signed by your key (fingerprint {fingerprint(key)[:16]})")
    return parse_foreign(ExportManifest, data, f"{directory / MANIFEST}: not a manifest")


def check_manifest(
    directory: Path, public_key: Path | None, track: Tracker = untracked, parts: Collection[str] = ()
) -> ManifestCheck:
    """A whole `FileCheck`. Files of `parts` are in their own manifests."""
    files = FileCheck(directory, public_key, parts)
    files.finish(track)
    return files.checked


class FileCheck:
    """Check of a manifest: iterate to check file by file, then `finish`.

    `public_key` None: the directory's own key, which does not prove who signed. Raises InputError if a file is missing.
    """

    def __init__(self, directory: Path, public_key: Path | None, parts: Collection[str] = ()) -> None:
        self._directory = directory
        self._signed, manifest = _check_signature(directory, public_key)
        self._problems = [*self._signed.problems]
        self._names: Sequence[str] = []
        self._extra: Sequence[str] = ()
        self._listed: Mapping[str, tuple[str, int]] = {}
        if manifest is not None:
            # Tuples need less memory than models: a large contest has 200,000 files.
            self._listed = {file.path: (file.sha256, file.size) for file in manifest.files}
            extra: list[str] = []
            found = file_names(directory, self._problems, extra)
            names = {name for name in found if _is_listed(name, parts)} - _UNLISTED
            self._extra = [name for name in extra if name.partition("/")[0] not in parts]
            self._problems += [f"{name}: missing" for name in sorted(self._listed.keys() - names)]
            self._problems += [f"{name}: not in the manifest" for name in sorted(names - self._listed.keys())]
            self._names = sorted(names & self._listed.keys())
        self._steps = self._differences()

    def __iter__(self) -> Iterator[str]:
        return self._steps

    def _differences(self) -> Iterator[str]:
        for name in self._names:
            path = self._directory / name
            sha256, size = self._listed[name]
            try:
                # Do not read files of a wrong size.
                if path.stat().st_size != size or sha256_of(path) != sha256:
                    self._problems.append(f"{name}: changed")
            except OSError as error:
                self._problems.append(f"cannot be read ({error.strerror}); copy the export again: {name}")
            yield name

    def finish(self, track: Tracker) -> None:
        for _ in track(self._steps, len(self._names), "checking files"):
            pass

    @property
    def checked(self) -> ManifestCheck:
        problems = self._problems
        if len(problems) > MAX_PROBLEMS:
            problems = [*problems[:MAX_PROBLEMS], f"and {len(problems) - MAX_PROBLEMS} more"]
        return replace(self._signed, problems=problems, extra=self._extra)


def _check_signature(directory: Path, public_key: Path | None) -> tuple[ManifestCheck, ExportManifest | None]:
    data = read_bounded(directory / MANIFEST, MAX_MANIFEST_BYTES, "give a directory that judge contest export wrote")
    signature = read_bounded(directory / SIGNATURE, MAX_MANIFEST_BYTES)
    if public_key is not None:
        key = load_public_key(public_key)
    else:
        inside = directory / PUBLIC_KEY
        key = read_public_key(read_bounded(inside, _CHUNK), str(inside))
    problems: list[str] = []
    if not is_signed(key, signature, data):
        where = "the key in the directory" if public_key is None else f"the key {public_key}"
        problems.append(f"{SIGNATURE}: not signed by {where} (fingerprint {fingerprint(key)[:16]})")
    manifest = _parsed(data, problems)
    checked = ManifestCheck(
        contest=None if manifest is None else manifest.contest,
        digest=hashlib.sha256(data).hexdigest(),
        fingerprint=fingerprint(key),
        is_own_key=public_key is None or public_key.resolve().is_relative_to(directory.resolve()),
        problems=problems,
        key=key,
    )
    return checked, manifest


# --- comparing -------------------------------------------------------------------------------------------------------


def _parsed(data: bytes, problems: list[str]) -> ExportManifest | None:
    try:
        manifest = parse_foreign(ExportManifest, data, f"{MANIFEST}: not a manifest")
    except InputError as error:
        problems.append(str(error))
        return None
    names = [file.path for file in manifest.files]
    bad = [name for name in names if not all(map(_PART.fullmatch, name.split("/")))]
    if bad:
        problems.append(f"{MANIFEST}: {bad[0]!r} is not a valid name of a published file")
        return None
    if names != sorted(set(names)) or data != manifest.encoded():
        problems.append(f"{MANIFEST}: not canonical: each file must be listed once, sorted by path")
    return manifest


def _is_listed(name: str, parts: Collection[str]) -> bool:
    folder, _, rest = name.partition("/")
    return folder not in parts or rest == MANIFEST


def file_names(directory: Path, problems: list[str], extra: list[str] | None = None) -> Iterator[str]:
    """File names below `directory`; links, special files, unusual names and errors become problems.

    Files and folders that copies of an export may contain are left out, and appended to `extra`.
    """
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(directory / folder) as entries:
                found = list(entries)
        except OSError as error:
            problems.append(f"cannot be read ({error.strerror}); copy the export again: {folder}")
            continue
        for entry in found:
            name = folder + entry.name
            is_known = is_bookkeeping(name) or name in _OF_HOSTS
            if is_known or (may_be_companion(name) and is_companion(_head(directory / name))):
                is_own = name == GIT_FILE and _head(directory / name).replace(b"\r\n", b"\n") == GIT_LINE
                if extra is not None and not is_own:
                    extra.append(name)
            elif not _PART.fullmatch(entry.name):
                problems.append(f"{name!r}: not a valid name of a published file")
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(f"{name}/")
            elif entry.is_file(follow_symlinks=False):
                yield name
            else:
                problems.append(f"{name}: a link or a special file, which is not allowed in an export")


def _head(path: Path) -> bytes:
    """The first bytes of a file, or nothing."""
    with suppress(OSError):
        if not path.is_symlink() and path.is_file():
            with path.open("rb") as file:
                return file.read(len(GIT_LINE) + 2)
    return b""
