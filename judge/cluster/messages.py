"""What goes over the wire: games to play, what a worker says of itself, and the packed files of agents."""

import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from judge.agents.agents import MAX_BYTES, MAX_FILES, digest_of
from judge.errors import HostError, InputError
from judge.sandbox.archive import ANY_BYTES
from judge.text import quote

EXECUTABLE, PLAIN = 0o755, 0o644


@dataclass(frozen=True, slots=True)
class Key:
    """One attempt of one game, among all contests that a worker may ever play for."""

    contest: str
    """The contest's name and when it was created: another store's contest of that name is another."""
    match: str
    attempt: int

    def __str__(self) -> str:
        return f"{self.match}#{self.attempt}"


@dataclass(frozen=True, slots=True)
class RemoteJob:
    """A game to play elsewhere: see `Job`. The agents' files are at the worker by then, known by digest.

    `images` has what the images of the agents' runtimes hold on the contest's host, by name; none where no container is
    used.
    """

    key: Key
    spec: str
    programs: tuple[str, ...]
    states: Mapping[str, bytes]
    images: Mapping[str, str]
    contest: str
    """For the log."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What a worker says of itself when the contest's host meets it."""

    name: str
    about: str
    """System, kernel, processors and Engine, in one line."""
    code: str
    """The digest of the judge's own code there."""
    slots: int
    cores_per_slot: int
    images: Mapping[str, str]
    """What the images that were asked for hold, by name; empty for one that is missing or out of date."""
    agents: frozenset[str]
    """The digests of the agents whose files it has."""
    games: frozenset[Key]
    """The games of the contest that it plays, or has played and still has the records of."""


def pack_agent(program: Path) -> bytes:
    """A staged agent as a tar file: same files, same bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8", errors=ANY_BYTES) as tar:
        for path in sorted(program.rglob("*")):
            if path.is_file():
                member = tarfile.TarInfo(path.relative_to(program).as_posix())
                member.size = path.stat().st_size
                member.mode = EXECUTABLE if os.access(path, os.X_OK) else PLAIN
                with path.open("rb") as file:
                    tar.addfile(member, file)
    return buffer.getvalue()


class Cabinet:
    """The agents' files that a worker has, a folder each, named by digest."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def digests(self) -> frozenset[str]:
        """Whose files are here."""
        return frozenset(path.name for path in self._folder.iterdir() if "." not in path.name)

    def get(self, digest: str) -> Path:
        """The folder of an agent, whose files are what its digest says; HostError where they are not.

        Files that were changed are removed, so that they come anew with the agent's next game.
        """
        path = self._folder / digest
        if not path.is_dir():
            raise HostError(f"the files of the agent {digest[:12]} are not on this worker")
        if digest_of(path) != digest:
            shutil.rmtree(path)
            raise HostError(f"the files of the agent {digest[:12]} were changed on this worker")
        return path

    def put(self, digest: str, data: bytes) -> None:
        """Unpack an agent; InputError for a tar file that holds anything but the files of that digest."""
        if digest in self.digests():
            return
        try:
            partial = Path(tempfile.mkdtemp(prefix=f"{digest[:12]}.", dir=self._folder))
            try:
                self._unpack(digest, data, partial)
                partial.rename(self._folder / digest)
            except BaseException:
                shutil.rmtree(partial, ignore_errors=True)
                raise
        except OSError as error:
            raise HostError(f"{self._folder}: {error.strerror}: make room there") from None

    def _unpack(self, digest: str, data: bytes, folder: Path) -> None:
        folder.chmod(EXECUTABLE)
        for path, content, mode in _files(data):
            to = folder / path
            to.parent.mkdir(mode=EXECUTABLE, parents=True, exist_ok=True)
            to.write_bytes(content)
            to.chmod(mode)
        if digest_of(folder) != digest:
            raise InputError(f"the files that came for the agent {digest[:12]} are not its own")


def _files(data: bytes) -> Iterator[tuple[Path, bytes, int]]:
    """The files of a tar file with their paths, contents and modes; InputError for what `pack_agent` does not write."""
    seen: set[str] = set()
    total = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r|", encoding="utf-8", errors=ANY_BYTES) as tar:
            for member in tar:
                total += member.size
                path = PurePosixPath(member.name)
                is_fit = (
                    member.type == tarfile.REGTYPE
                    and member.mode in (EXECUTABLE, PLAIN)
                    and path.parts
                    and not path.is_absolute()
                    and ".." not in path.parts
                    and str(path) == member.name
                    and member.name not in seen
                )
                if not is_fit or len(seen) >= MAX_FILES or total > MAX_BYTES:
                    raise InputError(f"not the files of an agent: {quote(member.name, 80)}")
                seen.add(member.name)
                file = tar.extractfile(member)
                yield Path(path), file.read() if file else b"", member.mode
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise InputError(f"not the files of an agent: {error}") from None
