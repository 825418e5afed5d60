"""The interface of what reads the counters of a box: `judge.sandbox.machine.cgroup`, or the Engine (`engine_meter`)."""

from typing import Protocol

from judge.sandbox.box import Readings


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
