"""What travels to workers in pieces: files of agents and images, as the contest's host makes them.

Each is written to a file once, when the first worker lacks it, and read from there piece by piece. Same files, same
bytes: so a transfer that another host of the contest began goes on.
"""

import hashlib
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock

from judge.agents.store import write_agent
from judge.base.errors import HostError
from judge.cluster.messages import Parcel
from judge.host.image_files import export_image

PIECE = 4 << 20
"""Bytes: so much of it is in memory, here, with the scheduler and with the worker."""


class Parcels:
    """The parcels of one contest, in a folder of their own that is removed with them."""

    def __init__(self, folder: Path, images: Mapping[str, str]) -> None:
        """`folder` may be there from a judge that was killed. `images` says what they hold, by name."""
        self._folder = folder
        self.images = images
        self._lock = Lock()
        self._made: dict[str, tuple[Parcel, Path]] = {}
        self._locks: dict[str, Lock] = {}
        self.close()

    def agent(self, digest: str, program: Path) -> tuple[Parcel, Path]:
        """The files of an agent, and where they are as a file. Raises HostError."""

        def make(path: Path) -> Parcel:
            with path.open("wb") as file:
                write_agent(program, file)
            return Parcel(agent=digest, digest=_digest(path), size=path.stat().st_size)

        return self._once(digest, make)

    def image(self, name: str) -> tuple[Parcel, Path]:
        """An image of the contest, and where it is as a file. Raises HostError."""

        def make(path: Path) -> Parcel:
            facts = export_image(name, path)
            if facts.content != self.images[name]:
                raise HostError(f"the image {name} was built anew since this run began")
            return Parcel(image=facts, digest=_digest(path), size=path.stat().st_size)

        return self._once(name, make)

    def close(self) -> None:
        """Remove the files."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _once(self, what: str, make: Callable[[Path], Parcel]) -> tuple[Parcel, Path]:
        path = self._folder / hashlib.sha256(what.encode()).hexdigest()
        with self._lock:
            lock = self._locks.setdefault(what, Lock())
        with lock:
            if what not in self._made:
                try:
                    self._folder.mkdir(exist_ok=True)
                    self._made[what] = make(path), path
                except OSError as error:
                    raise HostError(f"{path}: {error.strerror}: make room there") from None
            return self._made[what]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
