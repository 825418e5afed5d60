"""Loads the files of an image into memory before its boxes play, so that no agent leaves a trace by loading them.

Boxes of one image share its files in the page cache. An agent that reads a file which is not in memory changes that for
every later game, which can measure it. Agents cannot remove pages from memory, so there is nothing left to change once
all are loaded.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

from judge.base.logs import get_logger
from judge.sandbox.machine.procfs import PROC

MAX_IMAGE_BYTES = 1 << 30
"""Size of the largest image that is loaded."""

RELOAD_S = 60.0
"""How long a loaded image is taken to be in memory: a host that needs memory may remove pages."""

log = get_logger()

_LOCK = Lock()
_LOADED: dict[str, float] = {}
"""When each image was loaded, by its id, in seconds of the monotonic clock."""


def load_image(pid: int, image: str) -> None:
    """Load the files of the image with this id, in which the process runs, unless they were loaded a moment ago.

    Only root can read them; for other users this does nothing.
    """
    with _LOCK:
        if time.monotonic() - _LOADED.get(image, -RELOAD_S) < RELOAD_S or os.geteuid() != 0:
            return
        try:
            load_files(PROC / str(pid) / "root", MAX_IMAGE_BYTES)
        except OSError as error:
            log.debug("the files of an image were not loaded", image=image, error=str(error))
        _LOADED[image] = time.monotonic()


def load_files(root: Path, max_bytes: int) -> int:
    """Load all files of the file system below `root` into memory; returns their size in bytes, 0 if it is too much."""
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
    """The regular files below a directory and their sizes, without those of other file systems."""
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
