"""Who gets a core first."""

import ctypes
import os
import platform
import struct
import threading

import pytest

from judge.base.scheduling import SERVICE_NICENESS, SHORT_SLICE_NS, lower_priority, woken_at_once

KNOWS_SLICES = tuple(map(int, platform.release().split(".")[:2])) >= (6, 12) and platform.machine() == "x86_64"


def slice_ns() -> int:
    """The slice that the calling thread has asked for, or has: sched_getattr(2)."""
    attr = ctypes.create_string_buffer(48)
    assert 0 == ctypes.CDLL(None).syscall(315, 0, attr, len(attr), 0)
    return int(struct.unpack_from("=Q", attr, 24)[0])


def nice() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def in_a_thread(look: list[int], act: bool) -> None:
    if act:
        lower_priority()
    look.append(nice())
    started = threading.Thread(target=lambda: look.append(nice()))
    started.start()
    started.join()


@pytest.mark.skipif(not KNOWS_SLICES, reason="threads ask for slices since Linux 6.12")
def test_a_thread_asks_for_short_slices_and_has_its_own_back() -> None:
    before = slice_ns()
    with woken_at_once():
        assert SHORT_SLICE_NS == slice_ns()

    assert before == slice_ns() != SHORT_SLICE_NS


def test_a_thread_with_another_policy_keeps_it() -> None:
    seen: list[int] = []

    def look() -> None:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        with woken_at_once():
            seen.append(os.sched_getscheduler(0))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()

    assert [os.SCHED_BATCH] == seen


def test_only_the_calling_thread_and_its_children_get_low_priority() -> None:
    before, looks = nice(), list[int]()
    thread = threading.Thread(target=in_a_thread, args=(looks, True))
    thread.start()
    thread.join()

    assert [max(before, SERVICE_NICENESS)] * 2 == looks
    assert before == nice()
