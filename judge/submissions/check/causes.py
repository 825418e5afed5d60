"""Causes of faults by an agent's output."""

import re

from judge.base.text import sentence
from judge.submissions.complaints import PYTHON_2, PYTHON_2_ERROR

_NOEXEC = sentence(
    "nothing in /tmp, /dev/shm and the other folders that it can write to can be executed or loaded as code: pack it "
    "as a directory (PyInstaller: --onedir), and start it from its own files"
)
DENIED = sentence(
    "a box denies some calls, such as sockets of a network, memfd_create, inotify and FIFOs: do without "
    "(docs/authors.md, Its limits)"
)
_NO_TIMERS = sentence(
    "a container has no timerfd, signalfd and POSIX timers: use setitimer, or wait with a timeout; link a program of "
    "GHC with -with-rtsopts=-V0"
)
_FOLDERS = r"(?:/tmp|/home/agent|/dev/shm|/persistent)/"
THREADS = re.compile(
    r"(?i)can't start new thread|Resource temporarily unavailable|unable to create (?:new )?(?:native )?thread"
    r"|failed to (?:spawn|create) (?:a )?thread|pthread_create\b.*fail|Thread creation failed|newosproc|\bEAGAIN\b"
    r"|could not create thread|fork: retry"
)

CAUSES = (
    (
        r"/var/tmp\b",  # noqa: S108 - searched in output
        sentence("no file can be written in /var: use the current directory, /tmp, or the folder of $TMPDIR"),
    ),
    (
        r"unsupported locale|_S_create_c_locale|(?i:cannot set (?:locale|LC_\w+)|locale \S+ (?:not found|is not \w+))",
        sentence("the only locales here are C, POSIX and C.UTF-8: use C.UTF-8, or do without setlocale"),
    ),
    (
        r"/dev/(?:tty|console|pts)\b|Inappropriate ioctl|opening terminal|TERM environ|(?:curses|termios)\.error",
        sentence("there is no terminal here: read stdin, and write to stdout and stderr"),
    ),
    (
        r"ZoneInfoNotFoundError|No time zone found|/usr/share/zoneinfo|\btzdata\b|(?i:(?:unknown|invalid) time ?zone)",
        sentence("no time zones are installed here, so all times are UTC: measure time by a monotonic clock"),
    ),
    (rf"{_FOLDERS}[\s\S]{{0,300}}?(?:Permission denied|EACCES|cannot execute)", _NOEXEC),
    (r"failed to map segment from shared object", _NOEXEC),
    (
        r"Cannot mount AppImage|AppImages require FUSE",
        sentence("unpack the AppImage (--appimage-extract), and send its directory"),
    ),
    (
        r"env: \W?[\w.+-]+(?:\\r|\r|\^M)\W*: No such file",
        sentence("the first line of the program ends in CR LF: save it with LF alone"),
    ),
    (
        r"Exec format error|cannot execute binary file",
        sentence("a program that it starts is not one for this host: compile it for x86-64 Linux"),
    ),
    (
        r"cannot execute: required file not found",
        sentence("a program that it starts lacks its loader or interpreter here: link it statically"),
    ),
    (
        r"(?:timerfd_create|signalfd|timer_create)\b.*Function not implemented",
        _NO_TIMERS,
    ),
    (
        r"Read-only file system|\bEROFS\b",
        sentence("its own files are read-only: write to the current directory, or to /tmp"),
    ),
    (
        r"No space left on device|\bENOSPC\b",
        sentence("a folder is full: see Folders in docs/authors.md for their sizes (limits and folders of the policy)"),
    ),
    (
        r"no main manifest attribute, in (\S+)",
        sentence("{name} names no main class: use java -cp {name2} Main in command"),
    ),
    (
        r"Could not reserve enough space|Too small (?:initial|maximum) heap|Invalid maximum heap size",
        sentence("ask the JVM for less memory: leave out -Xmx and -Xms"),
    ),
    (
        r"version `(\w+_[\d.]+)' not found",
        sentence("it was linked against newer libraries than those here ({name}): link statically (-static)"),
    ),
    (PYTHON_2_ERROR, PYTHON_2),
    (
        r"(\S+) has been compiled by a more recent version of the Java Runtime",
        sentence("{name} is for a newer Java than the one here: compile it with --release 11"),
    ),
    (
        r"Could not find or load main class (\S+)",
        sentence("Java cannot find the class {name}: check the command in agent.toml and the files next to it"),
    ),
)

MISSING = (
    (
        r"error while loading shared libraries: ([^:\s]+)",
        sentence("library"),
        sentence("link statically (-static), or send it and link with -Wl,-rpath,'$ORIGIN'"),
    ),
    (
        r"(?:ModuleNotFoundError|ImportError): No module named '?([^'\s]+)",
        sentence("module"),
        sentence("only Python's standard library is installed: add the module to your archive, if it is plain Python"),
    ),
    (
        r"NoClassDefFoundError: ([\w/$]+)",
        sentence("class"),
        sentence("send its .jar with the agent, and name it in the command: java -cp .:lib/x.jar Main"),
    ),
    (
        r"(?m)^(?:\S*/)?env: \W([\w.+-]+)\W: No such file|^\S+: (?:line )?\d+: ([\w.+-]+): (?:command )?not found",
        sentence("program"),
        sentence("send it with the agent"),
    ),
)
