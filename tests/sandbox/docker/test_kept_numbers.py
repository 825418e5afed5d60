"""A kept box equals a fresh one in every number that an agent can read, but for those that are listed here."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from judge.sandbox.box import Channel
from judge.sandbox.docker.kept import KEPT
from tests.sandbox.conftest import Lodge
from tests.sandbox.docker.test_reuse import REUSE, nothing_kept, pytestmark
from tests.sandbox.guest import Guest

__all__ = ["nothing_kept", "pytestmark"]

ALLOWED: Mapping[str, tuple[str, ...]] = {
    "of the whole host, the same in every box at that moment": (
        r"sysinfo",
        r"clock:kind-([014-9]|1[01])",
        r"/proc/(cgroups|loadavg|meminfo|stat|uptime|cpuinfo|sys/fs|sys/kernel/random/|sys/kernel/pty|self/net/|net/)",
        r"/proc/(filesystems|devices|version|tty/)",
        r"statx-kind:/proc$",  # its links count processes of the host
        r"/sys/devices/system/cpu/",
        r"statfs:/(|home|agent|io|etc|judge)(/.*)?$",
    ),
    "counted by the kernel for the whole host: inodes, mounts, file systems, namespaces, sessions": (
        r"inode-of-a-(pipe|socket)",
        r"statx-(mount|device):",
        r"statx-ino:/((agent|io|etc|home$|judge)(/.*)?)?$",
        r"link:/proc/self/(task/2/)?(fd|ns)/",
        r"/proc/self/(task/2/)?fdinfo/",
        r"/proc/self/(task/2/)?(mountinfo|mounts|mountstats|autogroup)",
    ),
    "the user of the box, which is drawn at random": (
        r"statx-owner:",
        r"/etc/(passwd|group):",
        r"/proc/self/.*status:",
    ),
    "of this process and its children alone: time, memory, switches, random addresses": (
        r"clock:(kind-[23]|2)$",
        r"rusage-",
        r"times$",
        r"/proc/self/(task/2/)?(io|stat|statm|schedstat|sched|maps|smaps|smaps_rollup|numa_maps|syscall|arch_status)",
    ),
    "the age of the box, which is no secret": (r"statx-times:",),
}
"""Patterns of names by reason. /proc/self/sched is compared by `WORK`."""

WORK = "se.vruntime"
"""Milliseconds that the scheduler's queue of the box has worked, with all former processes."""

WORKED_MS = 1000
"""Of agents/numbers.c."""


def printed(guest: Guest, word: str) -> str:
    before = len(guest.heard[Channel.OUT])
    guest.tell(word)
    guest.until(lambda: f"\n{guest.heard[Channel.OUT][before:].decode(errors='replace')}".endswith("\n.\n"))
    return guest.heard[Channel.OUT][before:].decode("utf-8", "replace")


def numbers(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        found[name] = f"{found[name]}\n{value}" if name in found else value
    return found


def reason_for(name: str) -> str:
    return next((why for why, patterns in ALLOWED.items() if any(re.match(each, name) for each in patterns)), "")


def queue_ms(text: str) -> float:
    """What the queue has worked beyond this process itself."""
    found = {}
    for name in (WORK, "se.sum_exec_runtime"):
        match = re.search(rf"^/proc/self/sched:\d+ {re.escape(name)}\s*:\s*(-?[\d.]+)", text, re.MULTILINE)
        assert match, f"the kernel shows no {name}"
        found[name] = float(match[1])
    return found[WORK] - found["se.sum_exec_runtime"]


def after_a_game_of_work(lodge: Lodge) -> str:
    worked = begin_numbers(lodge)
    printed(worked, "work")
    end(worked)
    kept = begin_numbers(lodge)
    assert kept.box.is_reused
    found = printed(kept, "print")
    end(kept)
    return found


def begin_numbers(lodge: Lodge) -> Guest:
    return lodge("numbers", policy=REUSE, digest="one").move_in()


def end(guest: Guest) -> None:
    guest.tell("end")
    guest.end()
    guest.box.leave()
    guest.box.close()


def test_kept_box_after_a_game_of_work_shows_the_numbers_of_a_fresh_box(lodge: Lodge) -> None:
    first = begin_numbers(lodge)
    fresh = numbers(printed(first, "print"))
    end(first)
    KEPT.close()
    kept = numbers(after_a_game_of_work(lodge))

    different = [name for name in fresh.keys() | kept.keys() if fresh.get(name) != kept.get(name)]
    found = {name: (fresh.get(name), kept.get(name)) for name in different if not reason_for(name)}
    assert not found
    assert len(fresh) > 500
    assert fresh["clock:1"].startswith("1 ")  # EPERM


@pytest.mark.skipif(not Path("/sys/fs/cgroup/cpu").exists(), reason="with cgroup v2 the queue cannot be renewed")
def test_work_of_a_former_game_is_not_in_the_scheduler_numbers(lodge: Lodge) -> None:
    assert abs(queue_ms(after_a_game_of_work(lodge))) < WORKED_MS / 2
