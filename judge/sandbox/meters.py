"""Who reads a container's counters: its cgroups directly (`judge.sandbox.cgroup`), or the Engine if it is elsewhere."""

from contextlib import suppress
from datetime import datetime
from typing import Protocol

from judge.sandbox.box import Readings
from judge.sandbox.engine import Engine, EngineRefusalError


class Meter(Protocol):
    """Reads a container's counters."""

    def readings(self) -> Readings:
        """All of them."""

    def memory_bytes(self) -> int | None:
        """Memory in use now; None if that takes long to know."""

    def cpu_ns(self) -> int | None:
        """CPU time used so far."""

    def waited_ns(self) -> int | None:
        """For how long the container wanted a core and had none."""

    def is_busy(self) -> bool | None:
        """Whether anything in it runs, is ready to run, or waits for a disk."""

    def pressure_ns(self, *, of_any: bool = False) -> int | None:
        """For how long it waited for memory or a disk."""

    def close(self) -> None:
        """Close its files."""


class Unmetered:
    """What is not known within microseconds, or at all."""

    def memory_bytes(self) -> int | None:
        """Not known."""
        return None

    def cpu_ns(self) -> int | None:
        """Not known."""
        return None

    def waited_ns(self) -> int | None:
        """Not known."""
        return None

    def is_busy(self) -> bool | None:
        """Not known."""
        return None

    def pressure_ns(self, *, of_any: bool = False) -> int | None:  # noqa: ARG002
        """Not known."""
        return None


class EngineMeter(Unmetered):
    """A container's counters where only the Engine can read them: up to two seconds, so not for every turn."""

    def __init__(self, engine: Engine, container: str) -> None:
        self._engine = engine
        self._container = container
        self._last = Readings()

    def readings(self) -> Readings:
        """All counters; of a container that has ended, what was read last."""
        with suppress(EngineRefusalError):
            counters = self._engine.counters(self._container)
            if memory := counters.get("memory_stats"):
                now = datetime.fromisoformat(counters["read"]).timestamp()
                # its `OOMKilled` says nothing before the container has ended
                kills = self._engine.count_events(self._container, "oom", now)
                cpu_ns = counters["cpu_stats"]["cpu_usage"]["total_usage"]
                self._last = Readings(memory.get("max_usage"), memory.get("limit"), kills, cpu_ns)
        return self._last

    def close(self) -> None:
        """Do nothing: the Engine's client is not ours."""
