"""Causes of faults, and the error and its place, from an agent's output."""

import re
from collections.abc import Iterable, Sequence

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
    (r"(?:timerfd_create|signalfd|timer_create)\b.*Function not implemented", _NO_TIMERS),
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

_PYTHON_PLACE = re.compile(r'^File "(?:/agent/)?([^"]+)", line (\d+)')
_PYTHON_ERROR = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Iteration)\b(?::.*)?$")
_JAVA_ERROR = re.compile(r'^(?:Exception in thread "[^"]*" |Caused by: )?((?:[\w$]+\.)+[\w$]*(?:Exception|Error)\b.*)$')
_JAVA_PLACE = re.compile(r"^at [\w$.<>/]+\(([\w$]+\.java):(\d+)\)")
_GO_ERROR = re.compile(r"^(panic: .+|fatal error: .+)$")
_GO_PLACE = re.compile(r"^(?:/agent/)?(\S+\.go):(\d+) \+0x")
_RUST_ERROR = re.compile(r"^thread '[^']*' (?:\(\d+\) )?panicked at (?:'(.*)', )?([^\s:,]+):(\d+):\d+:?$")
_NODE_PLACE = re.compile(r"^(?:file://)?/agent/(\S+?):(\d+)$")
_NODE_ERROR = re.compile(r"^(?:Uncaught )?([A-Z]\w*Error(?: \[\w+\])?: .+)$")
_ASSERTION = re.compile(r"^\S+: (\S+?):(\d+): .*: (Assertion .+ failed)\.?$")
_THROWN = re.compile(r"^terminate called (?:after throwing an instance of '([^']+)'|without an active exception)")
_WHAT = re.compile(r"^what\(\):\s*(.*)$")


def headline(lines: Sequence[str]) -> str:
    """Such as `IndexError: list index out of range in main.py, line 23`, or empty."""
    stripped = [line.strip() for line in lines]
    readers = (_rust, _go, _java, _assertion, _thrown, _node, _python)
    return next(filter(None, (read(stripped) for read in readers)), "")


def _at(error: str, place: re.Match[str] | None) -> str:
    return error if place is None else f"{error} in {place[1]}, line {place[2]}"


def _first(pattern: re.Pattern[str], lines: Iterable[str]) -> re.Match[str] | None:
    return next((found for line in lines if (found := pattern.match(line))), None)


def _python(lines: Sequence[str]) -> str:
    errors = [number for number, line in enumerate(lines) if _PYTHON_ERROR.match(line)]
    if not errors:
        return ""
    places = [found for line in lines[: errors[-1]] if (found := _PYTHON_PLACE.match(line))]
    agent_places = [place for place in places if not place[1].startswith(("/", "<"))]
    return _at(lines[errors[-1]], (agent_places or places)[-1]) if places else ""


def _java(lines: Sequence[str]) -> str:
    rest = iter(lines)
    error = _first(_JAVA_ERROR, rest)
    place = _first(_JAVA_PLACE, rest)
    return "" if error is None or place is None else _at(error[1], place)


def _go(lines: Sequence[str]) -> str:
    error = _first(_GO_ERROR, lines)
    return "" if error is None else _at(error[1], _first(_GO_PLACE, lines))


def _rust(lines: Sequence[str]) -> str:
    for number, line in enumerate(lines):
        if found := _RUST_ERROR.match(line):
            said = found[1] or (lines[number + 1] if number + 1 < len(lines) else "")
            return f"panic: {said} in {found[2]}, line {found[3]}"
    return ""


def _node(lines: Sequence[str]) -> str:
    error, place = _first(_NODE_ERROR, lines), _first(_NODE_PLACE, lines)
    return "" if error is None or place is None else _at(error[1], place)


def _assertion(lines: Sequence[str]) -> str:
    found = _first(_ASSERTION, lines)
    return "" if found is None else f"{found[3]} in {found[1]}, line {found[2]}"


def _thrown(lines: Sequence[str]) -> str:
    found = _first(_THROWN, lines)
    if found is None:
        return ""
    what = _first(_WHAT, lines)
    return ": ".join(filter(None, (found[1] or found[0], what[1] if what else "")))
