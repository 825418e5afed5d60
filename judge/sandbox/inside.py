"""Works inside a container's namespaces for a judge that is root: a program of its own, which imports nothing of ours.

    python -I inside.py FD

It is started once a process, with one end of a socket pair, and ends with the other end. A request is a line of JSON
with a handle of the container's PID 1; the answer is a line of JSON: `{}`, or `{"error": WHY}`.

Only a process with one thread may enter a mount namespace, and the judge has more: so this is a process of its own. It
goes back after each request. Process numbers are set by a child of it, for they are counted where a process is. No
program of the agent's runs in the container meanwhile, and every path that is used here lies on a file system that no
agent can write to.
"""

import ctypes
import json
import os
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID = 0x20000, 0x8000000, 0x20000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MNT_DETACH = 2, 4, 8, 2
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
MOUNT_SETATTR = 442
"""The call's number, the same on every kind of machine."""
RDONLY, NOATIME, ATIME = 0x1, 0x10, 0x70
"""Attributes of a mount; the last is the mask of those that say when times of access are kept."""

LAST_PID = "/proc/sys/kernel/ns_last_pid"
IPC = ("/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg")
QUEUES = "/dev/mqueue"
CGROUPS = "/sys/fs/cgroup"
FIRST_PROCESS = "/proc/1"
LARGEST = 1 << 16

libc = ctypes.CDLL(None, use_errno=True)
"""Loaded before any namespace is entered."""


class MountAttributes(ctypes.Structure):
    """What `mount_setattr` takes."""

    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


def main(fd: int) -> None:
    """Answer requests until the judge is gone."""
    sys.meta_path.clear()  # nothing is imported from a container
    home = os.pidfd_open(os.getpid())
    with socket.socket(fileno=fd) as judge, Path(LAST_PID).open("r+b", buffering=0) as last_pid:
        while True:
            data, handles, _, _ = socket.recv_fds(judge, LARGEST, 1)
            if not data:
                return
            request = json.loads(data)
            try:
                said = _carry_out(request, handles[0], last_pid.fileno())
            except Exception as error:  # noqa: BLE001 whatever it is, the judge is told
                said = {"error": f"{type(error).__name__}: {error}"}
            _check(libc.setns(home, CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWPID), "setns")
            os.close(handles[0])
            judge.sendall(json.dumps(said).encode())


def _in_child(task: Callable[..., object], *words: object) -> bytes:
    """What a task says, done by a child of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = task(*words)
        except Exception as error:  # noqa: BLE001 whatever it is, the judge is told
            said = {"error": f"{type(error).__name__}: {error}"}
        os.write(writing, json.dumps(said).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        told = answer.read()
    os.waitpid(child, 0)
    return told or b'{"error": "it was killed"}'


def _carry_out(request: Mapping[str, Any], handle: int, last_pid: int) -> Mapping[str, object]:
    """Renew what a game could have left; the first time, hide what cannot be renewed."""
    _check(libc.setns(handle, CLONE_NEWIPC), "setns")
    for path in IPC:
        if len(Path(path).read_bytes().splitlines()) > 1:
            return {"error": f"{path} is not empty"}
    _check(libc.setns(handle, CLONE_NEWNS | CLONE_NEWPID), "setns")
    if Path(QUEUES).is_dir() and any(Path(QUEUES).iterdir()):
        return {"error": f"{QUEUES} is not empty"}
    if request["hide"] is not None:
        _hide(request["hide"])
    for path, options in request["renew"].items():
        _renew(path, options)
    number = request["last_pid"]
    answer: Mapping[str, object] = json.loads(_in_child(_count_processes_from, number, last_pid))
    return answer


def _hide(files: Mapping[str, str]) -> None:
    """Let a game see nothing that counts on, and leave no time of access.

    PID 1's numbers and the counters of the cgroups are hidden; `files` stand in the place of the latter, for programs
    that ask for their limits. /dev is closed to changes: a device's times could be set.
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
    """Put an empty file system in the place of one that an agent wrote to."""
    _check(libc.umount2(path.encode(), MNT_DETACH), f"umount {path}")
    _mount(path, options, MS_NOSUID | MS_NODEV | MS_NOEXEC)
    found = os.statvfs(path)
    if found.f_bfree != found.f_blocks or found.f_files - found.f_ffree != 1:
        raise OSError(f"{path} is not empty")


def _count_processes_from(number: int | None, last_pid: int) -> Mapping[str, object]:
    """Let the next process have the number after this one; None: the number that this process has."""
    if number is None:
        number = os.getpid() - 1
    os.pwrite(last_pid, str(number).encode(), 0)
    return {"last_pid": number}


def _mount(path: str, options: str, flags: int) -> None:
    _check(libc.mount(b"tmpfs", path.encode(), b"tmpfs", ctypes.c_ulong(flags), options.encode()), f"mount {path}")


def _set_attributes(path: str, attributes: int, clear: int = 0, flags: int = 0) -> None:
    wanted = MountAttributes(attributes, clear, 0, 0)
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
