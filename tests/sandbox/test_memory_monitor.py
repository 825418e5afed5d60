"""The monitor of memory leaves no file open."""

import os

import pytest

from judge.sandbox import memory_monitor
from judge.sandbox.box import Meter
from tests.patience import until


class Counted(Meter):
    is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_closed_monitor_closes_its_meters(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def find(_pid: int, _seats: object) -> dict[int, Meter]:
        made.append(Counted())
        return {0: made[-1]}

    monkeypatch.setattr(memory_monitor, "_processes", find)
    monkeypatch.setattr(memory_monitor, "INTERVAL_S", 0.001)
    monitor = memory_monitor.MemoryMonitor("game", "process", os.getpid(), (0, 1))
    until(lambda: len(made) > 2)
    monitor.close()
    until(lambda: all(meter.is_closed for meter in made))
