"""Import and export of agents' persistent folders.

The source is a directory of folders or another contest, the target a directory. Its layout is that of
`judge.agents.kept_folders`, so `judge match --folders` and contests read each other's:

    DIRECTORY/NAME-PROGRAM/heads.json     the current states; PROGRAM: 32 digits of the digest of the agent's files
    DIRECTORY/NAME-PROGRAM/DIGEST.tar     a state; the digest is the SHA-256 of the file

The content is not trusted: digests and packing are checked; missing, extra and irregular files are refused. Agents are
identified by name, so a new version continues with the old folder.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, TypeAdapter, ValidationError

from judge.agents.kept_folders import Heads, owner_of
from judge.base.durable_files import PARTIAL, is_file, sync, write_durably
from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.owner import owned_directory
from judge.base.parsing import FrozenModel
from judge.contest.file_names import PLAN_FILE
from judge.contest.plan import Planned
from judge.contest_games import GameState
from judge.record.policy import Policy
from judge.record.spec import read_record
from judge.sandbox.archive import EMPTY, Archive, Capacity, UnkeptError, measure_folder, parse_folder
from judge.sandbox.box import FolderKind
from judge.store.files import Files

if TYPE_CHECKING:
    from judge.contest.contest import Contest

IMPORTED = "folders.json"
"""File in the contest's folder with the imports, until the contest begins."""

_AT_CWD, _EXCHANGE = -100, 2

ALL_GAMES = 2**62
"""Greater than any game number."""

MAX_HEADER_BYTES = 4096
_HEADS = TypeAdapter(Heads)
_OWNER = re.compile(r"([A-Za-z0-9_-][A-Za-z0-9._-]{0,63})-([0-9a-f]{32})")
_LOCK = "lock"
_HEADS_FILE = "heads.json"


@dataclass(frozen=True, slots=True)
class AgentFolder:
    """An agent's persistent folder; `program`: its files' digest, or a prefix."""

    name: str
    program: str
    state: Archive

    @property
    def owner(self) -> str:
        """Its directory name."""
        return owner_of(self.name, self.program)


@dataclass(frozen=True, slots=True)
class ImportedFolders:
    """Initial folders of a contest, and a phrase for their source."""

    source: str
    folders: Sequence[AgentFolder]

    def of(self, agents: Sequence[tuple[str, str]]) -> Mapping[str, Archive]:
        """States by agent name; `agents`: names and digests of files.

        Raises InputError for an agent with several versions, unless exactly one has the same files.
        """
        found = {}
        for name, program in agents:
            versions = [each for each in self.folders if each.name == name]
            same = [each for each in versions if program.startswith(each.program[:32])]
            if len(versions) > 1 and len(same) != 1:
                owners = ", ".join(each.owner for each in versions)
                raise InputError(f"{self.source}: several folders are of {name}: {owners}; leave one of them")
            for each in same or versions:
                found[name] = each.state
        return found

    def strangers(self, names: Sequence[str]) -> Sequence[str]:
        """Names without an agent in the contest."""
        return sorted({each.name for each in self.folders} - set(names))


class _Import(FrozenModel):
    name: str
    program: str
    state: str = Field(pattern=r"^[0-9a-f]{64}$")


class _Imports(FrozenModel):
    document: Literal["judge-folders-1"] = "judge-folders-1"
    source: str
    folders: tuple[_Import, ...]


# --- import -----------------------------------------------------------------------------------------------------------


def brought(planned: Planned) -> ImportedFolders | None:
    """Imported folders before the contest begins; None if all are empty. Raises InputError if they are unusable or
    contest.toml names others.
    """
    named, imported = planned.plan.folders.from_, planned.folder / IMPORTED
    if named and imported.exists():
        raise InputError(
            f"{planned.path}: [folders] from = {named!r}, and others were imported: "
            f"leave the key out, or remove {imported}"
        )
    if not named and not imported.exists():
        return None
    refuse_without_folders(planned)
    if named:
        return ImportedFolders(named, read_any(planned.folder / named, planned))
    try:
        found = _Imports.model_validate_json(imported.read_bytes())
    except (OSError, ValidationError):
        raise InputError(f"{imported}: not written by judge; import the folders again") from None
    files = Files(planned.files)
    folders = [AgentFolder(each.name, each.program, _stored(files, each.state)) for each in found.folders]
    return ImportedFolders(found.source, [_fitting(each, planned.policy) for each in folders])


def refuse_without_folders(planned: Planned) -> None:
    """Raises InputError if the policy has no persistent folder."""
    if not planned.policy.folders.persistent:
        raise InputError(
            f"{planned.path}: [folders]: policy {planned.policy.name} has no persistent folders: "
            "set folders.persistent = true in it, or bring none"
        )


def read_any(path: Path, planned: Planned) -> Sequence[AgentFolder]:
    """Read another contest's or a directory's folders for a contest. Raises InputError with the wrong path."""
    policy = planned.policy
    if not is_file(path) and not is_file(path / PLAN_FILE):
        return read_folders(path, policy)
    from judge.contest.contest import opened_foreign

    with opened_foreign(path, [planned.store_url]) as contest:
        refuse_while_running(contest)
        return [_fitting(each, policy) for each in left_by(contest)]


def bring(planned: Planned, source: Path, replaces: bool) -> ImportedFolders:
    """Import initial folders, all or none. Raises InputError and HostError."""
    refuse_without_folders(planned)
    path = planned.folder / IMPORTED
    if planned.plan.folders.from_:
        raise InputError(
            f"{planned.path}: [folders] from = {planned.plan.folders.from_!r} already names a source; "
            "leave the key out to import others"
        )
    if path.exists() and not replaces:
        raise InputError(f"{path}: folders were imported already; --force replaces them")
    found = ImportedFolders(str(source), read_any(source, planned))
    files = Files(planned.files)
    folders = tuple(
        _Import(name=each.name, program=each.program, state=files.put(each.state.data)) for each in found.folders
    )
    with os_errors_as(HostError, path, "; nothing was imported"):
        write_durably(path, _Imports(source=found.source, folders=folders).model_dump_json().encode())
    return found


# --- export -----------------------------------------------------------------------------------------------------------


def left_by(contest: Contest) -> Sequence[AgentFolder]:
    """The agents' current non-empty folders."""
    files = contest.files
    found = []
    for entry in contest.snapshot.entries:
        last = contest.store.last_record(contest.name, entry.name, ALL_GAMES)
        digest = entry.persistent or EMPTY.digest
        if last is not None:
            record, seat = last
            # The digest is checked before the record is trusted.
            files.get(record)
            folder = read_record(files.path(record)).record.seats[seat].folders
            if FolderKind.PERSISTENT in folder:
                digest = folder[FolderKind.PERSISTENT].digest
        if digest != EMPTY.digest:
            found.append(AgentFolder(entry.name, entry.seat.digest, _stored(files, digest)))
    return found


def refuse_while_running(contest: Contest) -> None:
    """Raises InputError while games run, because they change folders."""
    if running := contest.store.counts(contest.name)[GameState.RUNNING]:
        raise InputError(
            f"{running} games of {contest.name} run, or were left by a judge that was killed: "
            f"judge contest run {contest.planned.path} finishes them"
        )


def _stored(files: Files, digest: str) -> Archive:
    if digest == EMPTY.digest:
        return EMPTY
    data = files.get(digest)
    try:
        return measure_folder(data)
    except UnkeptError as error:
        raise InputError(f"{files.path(digest)}: not the state of a folder: {error}") from None


# --- directories of folders ------------------------------------------------------------------------------------------


def read_folders(directory: Path, policy: Policy) -> Sequence[AgentFolder]:
    """Read a directory's non-empty folders. Raises InputError with the wrong path."""
    found = []
    for path in _listed(directory):
        named = _OWNER.fullmatch(path.name)
        if named is None or not stat.S_ISDIR(path.lstat().st_mode):
            raise InputError(f"{path}: not an agent's folder: expected a directory called NAME-PROGRAM")
        state = _read_owner(path, _room(policy))
        if state.digest != EMPTY.digest:
            found.append(_fitting(AgentFolder(named[1], named[2], state), policy))
    return found


def write_folders(folders: Sequence[AgentFolder], directory: Path, replaces: bool) -> None:
    """Write a directory of folders atomically. Raises InputError if it exists, unless `replaces` is set and it only
    contains these agents' folders.
    """
    is_there = directory.exists() or directory.is_symlink()
    if is_there and not replaces:
        raise InputError(f"{directory} is there already: take another name, or --force replaces it")
    if is_there:
        names = {each.name for each in folders}
        for path in _listed(directory):
            named = _OWNER.fullmatch(path.name)
            if named is None or not stat.S_ISDIR(path.lstat().st_mode) or named[1] not in names:
                raise InputError(
                    f"{path} would be lost: not a folder of this contest's agents; export into another directory"
                )
    with owned_directory() as staging:
        made = staging / "folders"
        made.mkdir()
        for each in folders:
            owner = made / each.owner
            owner.mkdir()
            (owner / f"{each.state.digest}.tar").write_bytes(each.state.data)
            heads = _HEADS.dump_json({FolderKind.PERSISTENT: each.state.digest})
            (owner / _HEADS_FILE).write_bytes(heads)
        with os_errors_as(HostError, directory, "; nothing was written"):
            directory.parent.mkdir(parents=True, exist_ok=True)
            _move_durably(made, directory, replaces=is_there)


def _move_durably(source: Path, target: Path, *, replaces: bool) -> None:
    """Move a directory atomically and durably, also between disks. Raises OSError."""
    partial = target.with_name(target.name + PARTIAL)
    shutil.rmtree(partial, ignore_errors=True)
    shutil.move(source, partial)
    for path in (partial, *partial.rglob("*")):
        sync(path)
    if not replaces:
        partial.rename(target)
    elif ctypes.CDLL(None, use_errno=True).renameat2(
        _AT_CWD, os.fsencode(partial), _AT_CWD, os.fsencode(target), _EXCHANGE
    ):
        number = ctypes.get_errno()
        shutil.rmtree(partial, ignore_errors=True)
        raise OSError(number, os.strerror(number))
    sync(target.parent)
    if replaces:
        shutil.rmtree(partial)


def _read_owner(directory: Path, room: Capacity) -> Archive:
    files = {path.name: path for path in _listed(directory)}
    for path in files.values():
        if not stat.S_ISREG(path.lstat().st_mode):
            raise InputError(f"{path}: not a regular file")
    heads = _read_heads(files[_HEADS_FILE]) if _HEADS_FILE in files else {}
    wanted = {f"{digest}.tar" for digest in heads.values() if digest != EMPTY.digest}
    for name in sorted(files.keys() - wanted - {_LOCK, _HEADS_FILE}):
        raise InputError(f"{files[name]}: not part of any folder here; remove it if a killed judge left it")
    for name in sorted(wanted - files.keys()):
        raise InputError(f"{directory / name}: missing, but listed in {directory / _HEADS_FILE}")
    digest = heads.get(FolderKind.PERSISTENT, EMPTY.digest)
    return EMPTY if digest == EMPTY.digest else _read_state(files[f"{digest}.tar"], digest, room)


def _read_heads(path: Path) -> Heads:
    try:
        if path.stat().st_size > MAX_HEADER_BYTES:
            raise InputError(f"{path}: not written by judge: it is too large")
        heads = _HEADS.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise InputError(f"{path}: not written by judge") from None
    if not all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in heads.values()):
        raise InputError(f"{path}: not written by judge: it contains invalid digests")
    return heads


def _read_state(path: Path, digest: str, room: Capacity) -> Archive:
    with os_errors_as(InputError, path):
        if path.stat().st_size > room.stream_bytes:
            raise InputError(f"{path}: larger than any folder under this policy: raise folders.persistent_bytes")
        data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise InputError(f"{path}: SHA-256 differs from its name: it was changed or damaged")
    try:
        state, notes = parse_folder(data, room)
    except UnkeptError as error:
        raise InputError(f"{path}: {error}") from None
    if notes or state.digest != digest:
        raise InputError(f"{path}: not packed by a judge: {(*notes, 'in another order')[0]}")
    return state


def _room(policy: Policy) -> Capacity:
    limits = policy.enforced()
    return Capacity(limits.persistent_bytes, limits.persistent_inodes - 1)


def _fitting(each: AgentFolder, policy: Policy) -> AgentFolder:
    if not each.state.fits(_room(policy)):
        raise InputError(
            f"the folder of {each.name} takes {each.state.size_bytes} bytes and {each.state.inodes} files and "
            f"directories, more than policy {policy.name} allows: raise folders.persistent_bytes and "
            "folders.persistent_inodes, or leave it out"
        )
    return each


def _listed(directory: Path) -> Sequence[Path]:
    with os_errors_as(InputError, directory, ": give a directory of folders, or another contest's"):
        return sorted(directory.iterdir())
