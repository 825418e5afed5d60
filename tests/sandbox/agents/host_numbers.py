"""Runs in a box: prints what files of the kernel contain, and the numbers of new objects, one JSON object.

python3 host_numbers.py read          print and end
python3 host_numbers.py write         move all counters, print, and keep all objects until stdin ends
"""

import ctypes
import json
import mmap
import os
import re
import select
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

LARGEST = 1 << 18
FORKS, OBJECTS, KEPT, SWITCHES, MEMORY = 300, 30000, 100, 20000, 64 << 20


def read(path: str) -> str:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        return os.strerror(error.errno or 0)
    try:
        text = os.read(fd, LARGEST)
        return " ".join(re.findall(r"[0-9a-zA-Z_.-]*\d[0-9a-zA-Z_.-]*", text.decode("latin-1")))
    except OSError as error:
        return os.strerror(error.errno or 0)
    finally:
        os.close(fd)


def files() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for top in ("/proc", "/sys", "/proc/self"):
        for folder, folders, names in os.walk(top):
            if folder == "/proc":
                folders[:] = [name for name in folders if not name.isdigit()]
            folders[:] = [name for name in folders if name not in ("task", "map_files")]
            for name in names:
                path = f"{folder}/{name}"
                if Path(path).is_file() and not path.startswith("/proc/self/fd/"):
                    found[path] = read(path)
    return found


def objects() -> dict[str, Any]:
    pipe, pair, event = os.pipe(), socket.socketpair(), os.eventfd(0)
    shared, waiting = mmap.mmap(-1, 4096), select.epoll()
    lines = Path("/proc/self/maps").read_text(encoding="latin-1").splitlines()
    inodes = [line.split()[4] for line in lines if "/dev/zero" in line]
    with tempfile.NamedTemporaryFile(dir="/tmp") as file:
        found: dict[str, Any] = {
            "inode of a pipe": os.fstat(pipe[0]).st_ino,
            "inode of a socket": os.fstat(pair[0].fileno()).st_ino,
            "inode of shared memory": inodes,
            "inode of an eventfd": os.fstat(event).st_ino,
            "inode of an epoll": os.fstat(waiting.fileno()).st_ino,
            "inode of a file in /tmp": os.fstat(file.fileno()).st_ino,
            "inode of /proc/self": Path("/proc/self").stat().st_ino,
            "number of an eventfd": read(f"/proc/self/fdinfo/{event}"),
            "process id": os.getpid(),
            "session, group": [os.getsid(0), os.getpgrp()],
        }
    shared.close()
    os.setsid()
    found["session after setsid"] = read("/proc/self/autogroup")
    named = socket.socket(socket.AF_UNIX)
    named.bind("")
    found["address of a socket"] = named.getsockname().decode("latin-1")
    for place in ("/", "/agent", "/tmp", "/home/agent", "/proc", "/sys"):
        disk = os.statvfs(place)
        found[f"free on {place}"] = [disk.f_bfree, disk.f_ffree]
    for place in ("/dev/null", "/proc", "/sys", "/etc/passwd", "/agent", "/bin/sh"):
        status = Path(place).stat()
        found[f"times of {place}"] = [status.st_mtime_ns, status.st_ctime_ns, status.st_atime_ns, status.st_ino]
    for name in ("ns/mnt", "ns/pid", "ns/net"):
        found[name] = str(Path(f"/proc/self/{name}").readlink())
    found.update(system())
    return found


def system() -> dict[str, Any]:
    words = (ctypes.c_ulong * 64)()
    ctypes.CDLL(None).sysinfo(words)
    names = ("uptime", "load 1", "load 5", "load 15", "total", "free", "shared", "buffers", "swap", "free swap")
    found: dict[str, Any] = {f"sysinfo: {name}": words[number] for number, name in enumerate(names)}
    found["sysinfo: processes"] = words[10] & 0xFFFF
    return found


def work() -> None:
    """Moves counters for good."""
    for _ in range(FORKS):
        child = os.fork()
        if child == 0:
            os.setsid()
            os._exit(0)
        os.waitpid(child, 0)
    for _ in range(OBJECTS):
        for fd in os.pipe():
            os.close(fd)
    for _ in range(OBJECTS // 10):
        for end in socket.socketpair():
            end.close()
        mmap.mmap(-1, 4096).close()
    ours, theirs = socket.socketpair()

    def answer() -> None:
        while theirs.recv(1):
            theirs.send(b"x")

    threading.Thread(target=answer, daemon=True).start()
    for _ in range(SWITCHES):
        ours.send(b"x")
        ours.recv(1)


def keep() -> list[Any]:
    """Moves numbers of what there is now."""
    memory = mmap.mmap(-1, MEMORY, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[:] = b"x" * MEMORY
    kept: list[Any] = [memory, *(os.eventfd(0) for _ in range(KEPT))]
    for _ in range(20):
        if os.fork() == 0:
            sys.stdin.read()
            os._exit(0)
    return kept


if sys.argv[1] == "read":
    sys.stdout.write(json.dumps(files() | objects()))
else:
    work()
    kept = keep()
    sys.stdout.write("moved\n")
    sys.stdout.flush()
    sys.stdin.read()
