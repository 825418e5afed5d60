"""Rate limits: a token bucket per key."""

import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from threading import Lock

MAX_KEYS = 20_000
"""The least recently used bucket is dropped."""

_MINUTE = 60.0


class RateLimit:
    """Allows `per_minute` requests per key, also as one burst after an idle minute. Thread-safe."""

    def __init__(self, per_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        self._size = float(per_minute)
        self._now = now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def spend(self, key: str) -> int:
        """Count a request. Return 0, or the seconds until one is allowed."""
        with self._lock:
            now = self._now()
            level, then = self._buckets.pop(key, (self._size, now))
            level = min(self._size, level + (now - then) * self._size / _MINUTE)
            has_one = level >= 1
            self._buckets[key] = (level - has_one, now)
            if len(self._buckets) > MAX_KEYS:
                self._buckets.popitem(last=False)
        return 0 if has_one else int((1 - level) * _MINUTE / self._size) + 1


def address_key(host: str) -> str:
    """An IPv6 address is its /64."""
    try:
        address = ip_address(host)
    except ValueError:
        return host[:64]
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return f"{IPv6Address(int(address) >> 64 << 64)}/64"
    return str(address)
