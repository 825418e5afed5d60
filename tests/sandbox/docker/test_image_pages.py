"""The files of an image are in memory before a game of one of its agents."""

import ctypes
import mmap
import os
from pathlib import Path

import pytest

from judge.sandbox.docker import images
from judge.sandbox.docker.docker_box import DockerBox
from judge.sandbox.docker.images import load_files
from tests.patience import until
from tests.sandbox.conftest import Lodge

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root reads the files of an image")


def is_in_memory(path: Path) -> bool:
    size = ctypes.c_size_t(path.stat().st_size)
    found = (ctypes.c_ubyte * -(-size.value // mmap.PAGESIZE))()
    with path.open("rb") as file:
        address = ctypes.c_void_p(libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_PRIVATE, file.fileno(), 0))
        assert 0 == libc.mincore(address, size, found)
        libc.munmap(address, size)
    return all(page & 1 for page in found)


def await_in_memory(path: Path) -> None:
    """Wait until the disk has given all pages: nobody waits for them when they are asked for."""
    until(lambda: is_in_memory(path), f"{path} is in memory")


def drop(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def test_files_are_loaded_unless_they_are_too_large_and_links_are_not_followed(disk: Path) -> None:
    elsewhere, tree = disk / "elsewhere", disk / "tree"
    data = tree / "deep" / "data"
    data.parent.mkdir(parents=True)
    for path in (elsewhere, data):
        path.write_bytes(bytes(1 << 20))
        drop(path)
    (tree / "link").symlink_to(elsewhere)
    (tree / "away").symlink_to(disk)

    assert 0 == load_files(tree, (1 << 20) - 1)
    assert not is_in_memory(data)
    assert 1 << 20 == load_files(tree, 1 << 20)
    await_in_memory(data)
    assert not is_in_memory(elsewhere)


@only_root
@pytest.mark.docker
def test_the_image_of_an_agent_is_in_memory_before_it_starts(lodge: Lodge, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that were removed from memory are there again when the next box is made."""
    monkeypatch.setattr(images, "RELOAD_S", 0.0)
    file = _largest_file(lodge().box)
    drop(file)
    assert not is_in_memory(file)
    lodge(digest="0" * 64).box.prepare()

    await_in_memory(file)


def _largest_file(box: object) -> Path:
    """The largest file of a box's image, as this host sees it."""
    assert isinstance(box, DockerBox)
    box.prepare()
    libraries = Path(f"/proc/{box._prepared.first.pid}/root/usr/lib").rglob("*")
    return max((path for path in libraries if path.is_file() and not path.is_symlink()), key=lambda p: p.stat().st_size)
