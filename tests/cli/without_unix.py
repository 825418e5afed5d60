"""Runs `judge` as if on a system without Unix: `python without_unix.py ARGUMENTS`.

Modules and functions that Windows does not have are missing, except those that this Python's subprocess needs.
"""

import ctypes
import os
import select
import signal
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MODULES = {"fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty", "_posixshmem"}
SUBMODULES = {f"multiprocessing.{name}" for name in ("forkserver", "popen_fork", "resource_tracker")}

FUNCTIONS = {
    os: (
        "chown eventfd fchmod fchown fork geteuid getgid getloadavg getpriority getuid killpg lchown memfd_create "
        "mkfifo pidfd_open posix_fallocate sched_getaffinity sched_setaffinity sched_setscheduler sendfile "
        "setpriority setsid statvfs sysconf O_DIRECTORY O_NOCTTY O_NONBLOCK O_PATH"
    ),
    select: "epoll poll EPOLLIN EPOLLOUT",
    signal: "pthread_sigmask setitimer sigwait SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGSTOP SIGUSR1 SIGXCPU",
}


class Missing:
    """Refuses to import what is missing."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Called for each import (`importlib.abc.MetaPathFinder`)."""
        if name in SUBMODULES or name.partition(".")[0] in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def main() -> None:
    """Remove what is missing, then run the command."""
    sys.meta_path.insert(0, Missing())
    for name in MODULES:
        sys.modules.pop(name, None)
    for module, names in FUNCTIONS.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    load = ctypes.CDLL.__init__

    def load_named(library: ctypes.CDLL, name: str | None, *arguments: Any, **options: Any) -> None:
        if name is None:
            raise TypeError("a library has a name")
        load(library, name, *arguments, **options)

    ctypes.CDLL.__init__ = load_named  # type: ignore[assignment,method-assign]
    from judge.cli import main as judge

    judge()


if __name__ == "__main__":
    main()
