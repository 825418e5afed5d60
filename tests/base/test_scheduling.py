"""Who gets a core first."""

import os
import threading

from judge.base.scheduling import SERVICE_NICENESS, lower_priority


def nice() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def in_a_thread(look: list[int], act: bool) -> None:
    if act:
        lower_priority()
    look.append(nice())
    started = threading.Thread(target=lambda: look.append(nice()))
    started.start()
    started.join()


def test_only_the_calling_thread_and_its_children_get_low_priority() -> None:
    before, looks = nice(), list[int]()
    thread = threading.Thread(target=in_a_thread, args=(looks, True))
    thread.start()
    thread.join()

    assert [max(before, SERVICE_NICENESS)] * 2 == looks
    assert before == nice()
