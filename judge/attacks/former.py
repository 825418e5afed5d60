"""Attacks with leftovers of the agent's previous game (R) in a reused box: images/attacks/former.c.

A control reuses the box without one part of its renewal.
"""

from collections.abc import Mapping
from typing import Any

from judge.attacks.attack import BY_ITSELF, NOT_PERMITTED, Attack, Control, Expected, Observed
from judge.attacks.weak_box import (
    FilesStay,
    NothingIsHidden,
    NothingIsProved,
    NumbersGoOn,
    allowing,
    as_pid_1,
    both,
    unfiltered,
)
from judge.sandbox.docker.renewal import Renewal, UncleanError, helper

KEPT: Mapping[str, Mapping[str, Any]] = {
    "box": {"reuse": "agent", "seccomp_of": {}, "transport": "auto"},
    "clock": {"close_ms": 10000},
}
"""With a long close limit: a killed agent's box would not be reused."""
NONE = frozenset({"NONE"})
ABSENT = NONE | {"ENOENT", "EROFS"}

TOLD = "an agent could pass data to its next game: results would depend on the order of games"
TAKEN = "an agent would have lower or higher limits in its next game"
LIVED_ON = "a process of a previous game could play or use the core in the next one"
ENDED = BY_ITSELF + "PID 1 ends all other processes before it reports the end of an agent; cgroups are also checked"

MUCH = 2
"""Factor above which the previous game was also charged."""


def _is_possible() -> bool:
    try:
        helper()
    except UncleanError:
        return False
    return True


def _was_kept(seen: Observed) -> str:
    is_reused = seen.record.placement.box[0].endswith("reused")
    return "" if is_reused or not _is_possible() else "its box was not reused"


def _is_counted_anew(seen: Observed) -> str:
    first, second = (file.record.seats[0] for file in seen.files[-2:])
    used = ((first.cpu_ms, second.cpu_ms), (first.memory_peak_bytes, second.memory_peak_bytes))
    for before, now in used:
        if before is not None and now is not None and now > MUCH * before:
            return f"the first game used {before}, but the second one was charged {now}"
    return _was_kept(seen)


def _finds_nothing(*what: str, **did: int) -> Expected:
    return Expected(denied=what, by=ABSENT, did=did, proof=_was_kept)


def _finds(*what: str) -> Expected:
    return Expected(got=what)


def _denied(call: str) -> Expected:
    return Expected(denied=(call,), by=NOT_PERMITTED, proof=_was_kept)


def _of(number: int, word: str, title: str, danger: str, expected: Expected, control: Control | str) -> Attack:
    return Attack(
        id=f"R{number}", title=title, program="former", words=(word,), danger=danger, policy=KEPT, plays=2,
        expected=expected, control=control,
    )  # fmt: skip


def _files_stay(*what: str) -> Control:
    return Control(off="new file systems", renewal=FilesStay, expected=_finds(*what))


def _not_hidden(*what: str) -> Control:
    return Control(off="hiding the counters", renewal=NothingIsHidden, expected=_finds(*what))


def _same_user(renewal: type[Renewal], what: str) -> Control:
    off = "a separate user for PID 1, the filter of limits, and comparing PID 1 with its former state"
    weaken = both(as_pid_1, allowing("prlimit64"))
    return Control(off=off, weaken=weaken, renewal=renewal, expected=_finds(what))


def _unfiltered(call: str) -> Control:
    return Control(off="the filter of system calls", weaken=unfiltered, expected=_finds(call))


BY_THE_FORMER_GAME = (
    _of(1, "scratch", "leaves a file in its scratch space", TOLD, _finds_nothing("scratch-file"),
        _files_stay("scratch-file")),
    _of(2, "home", "leaves a file and a closed directory in its working directory", TOLD, _finds_nothing("home-file"),
        _files_stay("home-file")),
    _of(3, "full", "fills its scratch space to the last byte", TAKEN, _finds_nothing("full"), _files_stay("full")),
    _of(4, "full-of-files", "fills its scratch space to the last file", TAKEN, _finds_nothing("full-of-files", full=1),
        BY_ITSELF + "R1 shows the same file system without renewal"),
    _of(5, "mode", "changes the mode and times of its directory", TOLD, _finds_nothing("mode"),
        _files_stay("mode")),
    _of(6, "inode-number", "makes files and removes them, so that later numbers reveal how many", TOLD,
        _finds_nothing("inode-number"), _files_stay("inode-number")),
    _of(7, "process-number", "starts processes, so that later numbers reveal how many", TOLD,
        _finds_nothing("process-number"),
        Control(off="resetting the numbers", renewal=NumbersGoOn, expected=_finds("process-number"))),
    _of(8, "hide", "leaves a hidden process", LIVED_ON, _finds_nothing("process", processes=1), ENDED),
    _of(9, "stop", "leaves a stopped process", LIVED_ON, _finds_nothing("stopped-process", stops=1), ENDED),
    _of(10, "many", "leaves the maximum number of processes", LIVED_ON,
        _finds_nothing("many-processes", processes=20), ENDED),
    _of(11, "lower", "lowers a limit of PID 1, which starts the next agent", TAKEN,
        _finds_nothing("lowered-limit"), _same_user(NothingIsProved, "lowered-limit")),
    _of(12, "raise", "raises a limit of PID 1, which starts the next agent", TAKEN,
        _finds_nothing("raised-limit"), _same_user(NothingIsProved, "raised-limit")),
    _of(13, "stop-first", "stops PID 1", "a slot would wait forever", _finds_nothing("stop"),
        BY_ITSELF + "the kernel delivers no stop signals to PID 1"),
    _of(14, "signal-first", "leaves pending signals for PID 1", "PID 1 would attribute them to the next game",
        _denied("signal"), _same_user(Renewal, "signal")),
    _of(15, "first", "reads /proc of PID 1, which counts all children", TOLD, _finds_nothing("stat"),
        _not_hidden("stat")),
    _of(31, "first-clock", "reads the processor time of PID 1", TOLD, _denied("clock"), _unfiltered("clock")),
    _of(16, "counters", "reads the counters of its cgroups", TOLD, _finds_nothing("counter"), _not_hidden("counter")),
    _of(17, "work", "uses CPU time and memory in each game", "a game would be charged for the previous one",
        Expected(proof=_is_counted_anew), BY_ITSELF + "a game's counters begin with the game"),
    _of(18, "device-time", "sets the time of a device", TOLD, _finds_nothing("device-time", "touch"),
        _not_hidden("device-time", "touch")),
    _of(19, "access-time", "follows a link, which changes its time of access", TOLD,
        Expected(denied=("access-time",), got=("follow",), by=NONE, proof=_was_kept),
        BY_ITSELF + "/proc is mounted read-only and without times of access"),
    _of(20, "shm", "leaves shared memory of System V", TOLD, _denied("shm"), _unfiltered("shm")),
    _of(21, "sem", "leaves a semaphore of System V", TOLD, _denied("sem"), _unfiltered("sem")),
    _of(22, "key", "leaves a key in the keyring of its user", TOLD, _denied("key"), _unfiltered("key")),
    _of(23, "watch", "watches a directory", TOLD, _denied("watch"), _unfiltered("watch")),
    _of(24, "queue", "leaves a message queue", TOLD, _denied("queue"),
        BY_ITSELF + "the user's limit of message queues is 0, independent of the filter"),
    _of(25, "socket", "leaves a process that listens on an abstract name", LIVED_ON,
        _finds_nothing("socket", listeners=1), ENDED),
    _of(26, "pipe", "fills its stdout after the game", "the next game would begin with the previous one's output",
        _finds_nothing("pipe"), BY_ITSELF + "each game has separate pipes, which are closed with it"),
    _of(27, "lock", "leaves a lock on a file of its program", TOLD, _finds_nothing("lock"),
        Control(off="answering fcntl without a lock", weaken=allowing("fcntl"),
                expected=Expected(denied=("lock",), by=NONE, did={"locks": 1}))),
    _of(30, "posix-semaphore", "leaves a POSIX semaphore in shared memory", TOLD, _finds_nothing("posix-semaphore"),
        _files_stay("posix-semaphore")),
)  # fmt: skip
