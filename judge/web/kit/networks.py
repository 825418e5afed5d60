"""Networks of a client, with counts and rates.

A provider's customer has many IPv6 addresses, often a /56, a company a /48.
"""

from collections import Counter, OrderedDict
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from threading import Lock
from time import monotonic
from typing import NamedTuple

from starlette.types import Scope

IPV6_NETWORKS = {64: 1, 56: 4, 48: 16}
IPV4_NETWORKS = {32: 1, 24: 16}
"""Length of the prefix, and how many times the limit of a client the network has. A club plays in one IPv4 /24."""

MAX_KEYS = 20_000
"""The least recently used bucket is dropped."""

_MINUTE = 60.0


class Network(NamedTuple):
    """A network with `share` times the limit of a client."""

    name: str
    share: int


@lru_cache(maxsize=4096)
def networks_of(host: str) -> tuple[Network, ...]:
    """The networks of an address, from the narrowest, which is the client, to the widest."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return (Network(host[:64], 1),)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    # `ip_network` finds out the version by an error, which takes long.
    if isinstance(address, IPv4Address):
        found = {str(IPv4Network((address, length), strict=False)): share for length, share in IPV4_NETWORKS.items()}
    else:
        found = {str(IPv6Network((address, length), strict=False)): share for length, share in IPV6_NETWORKS.items()}
    return tuple(Network(name.removesuffix("/32"), share) for name, share in found.items())


def client_of(scope: Scope) -> str:
    """Address of a request's client, or an empty string."""
    host: str = (scope.get("client") or ("",))[0]
    return host


class NetworkCounts:
    """Counts for each network, up to `limit` times its share."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._counts: Counter[str] = Counter()

    def has_room(self, host: str, number: int = 1) -> bool:
        """Whether each network of an address may have more. One alone is always permitted."""
        counts = [(self._counts[network.name], network.share) for network in networks_of(host)]
        return all(not count or count + number <= self._limit * share for count, share in counts)

    def add(self, host: str, number: int = 1) -> None:
        """Count, or with a negative number count no more."""
        for network in networks_of(host):
            self._counts[network.name] += number
            if not self._counts[network.name]:
                del self._counts[network.name]


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
