"""Who gets a core first."""

import os
import threading
from collections.abc import Callable

from judge.base.scheduling import SERVICE_NICENESS, lower_priority


def nice() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def run(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_only_the_calling_thread_and_its_children_get_low_priority() -> None:
    before, looks = nice(), list[int]()

    def lower() -> None:
        lower_priority()
        looks.append(nice())
        run(lambda: looks.append(nice()))

    run(lower)

    assert [max(before, SERVICE_NICENESS)] * 2 == looks
    assert before == nice()
