"""Standalone program: works inside a container's namespaces for a judge that runs as root.

    python -I inside.py FD

FD is one end of a socket pair; the program ends with the other. A request is a line of JSON with a handle of the
container's PID 1, and so is the answer: `{}`, or `{"error": WHY}`.

Only a single-threaded process may enter a mount namespace. No program of the agent runs in the container during a
request, and every path used here is on a file system that agents cannot write to.
"""

import array  # noqa: F401 - for socket.recv_fds, which imports it when it is called
import ctypes
import json
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID = 0x20000, 0x8000000, 0x20000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MNT_DETACH = 2, 4, 8, 2
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
OPEN_TREE_CLONE, MOVE_MOUNT_F_EMPTY_PATH, MS_PRIVATE = 1, 4, 1 << 18
RDONLY, NOATIME, ATIME = 0x1, 0x10, 0x70
"""Mount attributes; the last masks the access-time flags."""

LAST_PID = "/proc/sys/kernel/ns_last_pid"
IPC = ("/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg")
QUEUES = "/dev/mqueue"
CGROUPS = "/sys/fs/cgroup"
FIRST_PROCESS = "/proc/1"
LARGEST = 1 << 16

libc = ctypes.CDLL(None, use_errno=True)
"""Loaded before any namespace is entered."""


class MountAttributes(ctypes.Structure):
    """Argument of `mount_setattr`."""

    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


def main(fd: int) -> None:
    """Answer requests until the judge is gone."""
    sys.meta_path.clear()
    # Names would refer to the namespaces entered later.
    home = [os.open(f"/proc/self/ns/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in ("ipc", "pid", "mnt")]
    last_pid = os.open(LAST_PID, os.O_WRONLY | os.O_CLOEXEC)
    with socket.socket(fileno=fd) as judge:
        while True:
            data, handles, _, _ = socket.recv_fds(judge, LARGEST, 1)
            if not data:
                return
            try:
                _carry_out(json.loads(data), handles[0], last_pid)
                said = {}
            except Exception as error:  # noqa: BLE001 any error is reported to the judge
                said = {"error": f"{type(error).__name__}: {error}"}
            for namespace in home:
                _check(libc.setns(namespace, 0), "setns")
            os.close(handles[0])
            judge.sendall(json.dumps(said).encode())


def _carry_out(request: Mapping[str, Any], handle: int, last_pid: int) -> None:
    tree: int | None = None
    if request["program"] is not None:
        path = request["program"][0]
        # A mount of the directory without a path.
        tree = libc.syscall(OPEN_TREE, AT_FDCWD, path.encode(), ctypes.c_uint(OPEN_TREE_CLONE | os.O_CLOEXEC))
        _check(min(tree, 0), f"open_tree {path}")
    try:
        _work_inside(request, handle, tree, last_pid)
    finally:
        if tree is not None:
            os.close(tree)


def _work_inside(request: Mapping[str, Any], handle: int, tree: int | None, last_pid: int) -> None:
    _check(libc.setns(handle, CLONE_NEWIPC), "setns")
    for path in IPC:
        if len(_read(path).splitlines()) > 1:
            raise OSError(f"{path} is not empty")
    _check(libc.setns(handle, CLONE_NEWNS | CLONE_NEWPID), "setns")
    if os.path.isdir(QUEUES) and os.listdir(QUEUES):  # noqa: PTH112, PTH208 faster
        raise OSError(f"{QUEUES} is not empty")
    if request["hide"] is not None:
        _hide(request["hide"])
    for path, options in request["renew"].items():
        _renew(path, options)
    if tree is not None:
        _replace(request["program"][1], tree)
    if request["last_pid"] is not None:
        _set_number(last_pid, request["last_pid"])


def _set_number(file: int, number: int) -> None:
    """The next process of the PID namespace, which only children enter, gets `number` + 1."""
    child = os.fork()
    if not child:
        try:
            os.pwrite(file, str(number).encode(), 0)
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        raise OSError(f"{LAST_PID} cannot be written")


def _hide(files: Mapping[str, str]) -> None:
    """Hide PID 1's numbers, cgroup counters and access times from games.

    `files` replace the counters. /dev becomes read-only, because times of devices could be set.
    """
    _set_attributes("/", NOATIME, ATIME, AT_RECURSIVE)
    _set_attributes("/dev", RDONLY)
    _mount(FIRST_PROCESS, "size=4k,nr_inodes=1,mode=0555", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    _set_attributes(FIRST_PROCESS, RDONLY | NOATIME, ATIME)
    if Path(CGROUPS).is_dir():
        _mount(CGROUPS, "size=1m,mode=0755", MS_NOSUID | MS_NODEV | MS_NOEXEC)
        for name, text in files.items():
            path = Path(CGROUPS, name)
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        _set_attributes(CGROUPS, RDONLY | NOATIME, ATIME)


def _renew(path: str, options: str) -> None:
    _check(libc.umount2(path.encode(), MNT_DETACH), f"umount {path}")
    _mount(path, options, MS_NOSUID | MS_NODEV | MS_NOEXEC)
    found = os.statvfs(path)
    if found.f_bfree != found.f_blocks or found.f_files - found.f_ffree != 1:
        raise OSError(f"{path} is not empty")


def _replace(path: str, tree: int) -> None:
    _check(libc.umount2(path.encode(), MNT_DETACH), f"umount {path}")
    flags = ctypes.c_uint(MOVE_MOUNT_F_EMPTY_PATH)
    _check(libc.syscall(MOVE_MOUNT, tree, b"", AT_FDCWD, path.encode(), flags), f"move_mount {path}")
    _set_attributes(path, RDONLY | NOATIME, ATIME, propagation=MS_PRIVATE)


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, LARGEST)
    finally:
        os.close(fd)


def _mount(path: str, options: str, flags: int) -> None:
    _check(libc.mount(b"tmpfs", path.encode(), b"tmpfs", ctypes.c_ulong(flags), options.encode()), f"mount {path}")


def _set_attributes(path: str, attributes: int, clear: int = 0, flags: int = 0, propagation: int = 0) -> None:
    wanted = MountAttributes(attributes, clear, propagation, 0)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    _check(
        libc.syscall(MOUNT_SETATTR, AT_FDCWD, path.encode(), ctypes.c_uint(flags), ctypes.byref(wanted), size),
        f"mount_setattr {path}",
    )


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
