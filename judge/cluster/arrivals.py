"""What arrives at a worker in pieces: kept under the digest of the whole until that is there, and then checked.

A worker that is killed, cut off or given another scheduler goes on where it was. A piece that begins elsewhere than the
file ends is not taken, so two contests that send the same file help each other.
"""

import hashlib
import shutil
import time
from pathlib import Path

from judge.base.durable_files import PARTIAL
from judge.base.errors import HostError
from judge.base.locks import locked
from judge.base.logs import get_logger
from judge.cluster.messages import Parcel, ParcelPiece

KEPT_S = 7 * 86_400
"""How long a file is kept that does not grow."""

TENTH = 10

log = get_logger()


class Arrivals:
    """The files in a worker's folder that are not whole yet."""

    def __init__(self, folder: Path) -> None:
        """Remove those that have not grown for long. Raises OSError."""
        self._folder = folder
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            if path.stat().st_mtime < time.time() - KEPT_S:
                path.unlink()

    def add(self, piece: ParcelPiece, data: bytes) -> int:
        """Take a piece in; how many bytes of the file are there now.

        A piece is passed over if it is damaged, or of another place. Raises HostError if the disk does not take it.
        """
        parcel = piece.parcel
        path = self._path(parcel)
        try:
            with locked(self._folder / "lock"), path.open("ab") as file:
                there = file.tell()
                is_whole = hashlib.sha256(data).hexdigest() == piece.digest
                if not data or piece.begin != there or there + len(data) > parcel.size or not is_whole:
                    return there
                if not there and shutil.disk_usage(self._folder).free < 2 * parcel.size:
                    raise HostError(f"{self._folder}: no room for {parcel}: {2 * parcel.size / 1e6:.0f} MB are needed")
                file.write(data)
        except OSError as error:
            raise HostError(f"{path}: {error.strerror}: make room there") from None
        arrived = there + len(data)
        if TENTH * there // parcel.size != TENTH * arrived // parcel.size:
            log.info("receiving", what=str(parcel), percent=100 * arrived // parcel.size, bytes=arrived)
        return arrived

    def whole(self, parcel: Parcel) -> Path | None:
        """The file, if it is what was announced; one that is not is removed. Raises HostError."""
        path = self._path(parcel)
        try:
            with path.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() == parcel.digest:
                    return path
            path.unlink()
        except OSError as error:
            raise HostError(f"{path}: {error.strerror}") from None
        return None

    def remove(self, parcel: Parcel) -> None:
        """Remove what there is of a file."""
        self._path(parcel).unlink(missing_ok=True)

    def _path(self, parcel: Parcel) -> Path:
        return self._folder / f"{parcel.digest}{PARTIAL}"
