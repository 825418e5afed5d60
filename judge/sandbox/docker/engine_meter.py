"""Reads the counters of a container through the Engine, where its cgroups are on another host or hidden."""

from contextlib import suppress
from datetime import datetime

from judge.sandbox.box import Meter, Readings
from judge.sandbox.docker.engine import Engine, EngineRefusalError


class EngineMeter(Meter):
    """A container's counters where only the Engine can read them: up to two seconds, so not for every turn."""

    def __init__(self, engine: Engine, container: str) -> None:
        super().__init__()
        self._engine = engine
        self._container = container
        self._last = Readings()

    def _read(self) -> Readings:
        with suppress(EngineRefusalError):
            counters = self._engine.counters(self._container)
            if memory := counters.get("memory_stats"):
                now = datetime.fromisoformat(counters["read"]).timestamp()
                # its `OOMKilled` says nothing before the container has ended
                kills = self._engine.count_events(self._container, "oom", now)
                cpu_ns = counters["cpu_stats"]["cpu_usage"]["total_usage"]
                self._last = Readings(memory.get("max_usage"), memory.get("limit"), kills, cpu_ns)
        return self._last
