"""Rate limits: a token bucket per key."""

from collections import OrderedDict
from threading import Lock
from time import monotonic

from judge.web.kit.networks import Network, networks_of

MAX_KEYS = 20_000
"""The least recently used bucket is dropped."""

_MINUTE = 60.0


class RateLimit:
    """Allows `per_minute` requests per key, also as one burst after an idle minute. Thread-safe."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def spend(self, key: str) -> int:
        """Count a request. Return 0, or the seconds until one is allowed."""
        return self._spend(Network(key, 1))

    def spend_address(self, host: str) -> int:
        """Count a request of an address, for each of its networks."""
        return self._spend(*networks_of(host))

    def _spend(self, *keys: Network) -> int:
        with self._lock:
            now = monotonic()
            levels = [self._level(key, now) for key in keys]
            has_one = all(level >= 1 for level in levels)
            for key, level in zip(keys, levels, strict=True):
                self._buckets[key.name] = (level - has_one, now)
            while len(self._buckets) > MAX_KEYS:
                self._buckets.popitem(last=False)
        waits = [
            (1 - level) * _MINUTE / (self._per_minute * key.share) for key, level in zip(keys, levels, strict=True)
        ]
        return 0 if has_one else int(max(waits)) + 1

    def _level(self, key: Network, now: float) -> float:
        size = float(self._per_minute * key.share)
        level, then = self._buckets.pop(key.name, (size, now))
        return min(size, level + (now - then) * size / _MINUTE)
