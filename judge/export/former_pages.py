"""Takes over unchanged game pages from a former export.

A page depends on its game's record, on values of the contest, and on the code. `PAGES_FILE` in the contest's folder has
each game's digest of these and its pages' SHA-256. A page is copied if the former export's signed manifest lists the
same SHA-256.
"""

import hashlib
import os
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import IO, Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import BaseModel, ConfigDict

from judge.base.appended_file import AppendedFile
from judge.base.durable_files import PARTIAL
from judge.base.parsing import parse_json
from judge.catalog import game_entry
from judge.contest.folder_names import PAGES_FILE
from judge.protocols import protocol_entry
from judge.publish.manifest import read_signed_manifest
from judge.publish.model import PublishedContest
from judge.site.game_files import StoredPages
from judge.site.game_page import GamePageContext

MAX_LINE_BYTES = 1 << 20
"""Bytes; a game's pages in three languages need about 900."""


class _Line(BaseModel):
    """A game's pages, by `key_of` the game."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["judge-export-pages-1"] = "judge-export-pages-1"
    key: str
    pages: StoredPages


def key_of(context: GamePageContext, code: str) -> str:
    """Return a digest of all that a game's pages depend on. The result in `context` names the record."""
    return hashlib.sha256(f"{code} {context!r}".encode()).hexdigest()


def read_former(former: Path, folder: Path, key: Ed25519PublicKey) -> Mapping[str, StoredPages]:
    """Return the game pages of the export `former` that `key` signed, by `key_of` their game.

    `folder` is the contest's. Pages with another SHA-256 than in the manifest, and damaged lines, are left out. Raises
    InputError if `former` is no export or not signed by `key`.
    """
    manifest = read_signed_manifest(former, key)
    listed = {file.path: file.sha256 for file in manifest.files}
    known: dict[str, StoredPages] = {}
    with closing(AppendedFile(folder / PAGES_FILE, _line, MAX_LINE_BYTES)) as file:
        while (found := file.news()) is not None:
            lines = (line.value for line in found)
            known |= {line.key: line.pages for line in lines if line.pages.files.items() <= listed.items()}
    return known


def _line(text: bytes) -> _Line:
    return parse_json(_Line, text, "not written by judge contest export")


class PagesFile:
    """Writes `PAGES_FILE` game by game for the next export; `finish` replaces the former one.

    After an error, which is ignored, the next export renders all pages.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / PAGES_FILE
        self._partial = folder / f"{PAGES_FILE}.{os.getpid()}{PARTIAL}"
        self._file: IO[bytes] | None = None
        with suppress(OSError):
            self._file = self._partial.open("wb")

    def add(self, key: str, pages: StoredPages) -> None:
        """Add a game."""
        try:
            if self._file is not None:
                self._file.write(f"{_Line(key=key, pages=pages).model_dump_json()}\n".encode())
        except OSError:
            self.close()

    def finish(self) -> None:
        """Replace the former file."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
                self._partial.replace(self._path)
            self._file = None

    def close(self) -> None:
        """Discard an unfinished file."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
                self._partial.unlink()
            self._file = None


def code_of(contest: PublishedContest) -> str:
    """Return a digest of the code that renders the games; empty if a part is in another package."""
    policy = contest.snapshot.policy
    parts: list[object] = [game_entry(policy.game.name)]
    parts += [protocol_entry(name).build for name in {entry.seat.protocol for entry in contest.snapshot.entries}]
    modules = [getattr(part, "__module__", "") for part in parts]
    return _own_code() if all(module.partition(".")[0] == "judge" for module in modules) else ""


@cache
def _own_code() -> str:
    used = [_version(package) for package in ("jinja2", "markupsafe", "babel", "pillow")]
    digest = hashlib.sha256(f"{sys.version} {used}".encode())
    waiting: list[tuple[str, Traversable]] = [("judge", files("judge"))]
    while waiting:
        name, place = waiting.pop()
        if place.is_dir():
            inner = [(f"{name}/{each.name}", each) for each in place.iterdir() if each.name != "__pycache__"]
            waiting += sorted(inner, key=lambda each: each[0])
        else:
            digest.update(f"{name} {hashlib.sha256(place.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
