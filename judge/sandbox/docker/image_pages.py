"""Loads an image's files into memory, so that agents leave no trace by loading them.

Boxes share these pages, and agents cannot remove them.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

from judge.base.logs import get_logger
from judge.sandbox.machine.procfs import PROC

MAX_IMAGE_BYTES = 1 << 30

RELOAD_S = 60.0
"""Reload interval: a host may drop pages."""

log = get_logger()

_LOCK = Lock()
_LOADED: dict[str, float] = {}


def load_image(pid: int, image: str) -> None:
    """Load the image of process `pid` unless loaded recently; nothing without root."""
    with _LOCK:
        if time.monotonic() - _LOADED.get(image, -RELOAD_S) < RELOAD_S or os.geteuid() != 0:
            return
        try:
            load_files(PROC / str(pid) / "root", MAX_IMAGE_BYTES)
        except OSError as error:
            log.debug("the files of an image were not loaded", image=image, error=str(error))
        _LOADED[image] = time.monotonic()


def load_files(root: Path, max_bytes: int) -> int:
    """Load all files below `root`: their bytes, 0 if more than `max_bytes`."""
    files = list(_files(os.fspath(root), root.stat().st_dev))
    size = sum(bytes_ for _, bytes_ in files)
    if size > max_bytes:
        return 0
    for path, _ in files:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NOATIME)
        try:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_WILLNEED)
        finally:
            os.close(fd)
    return size


def _files(root: str, device: int) -> Iterator[tuple[str, int]]:
    waiting = [root]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    if found.st_dev == device:
                        waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry.path, found.st_size
