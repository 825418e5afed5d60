"""The networks of a client: a customer of a provider has many IPv6 addresses, often a /56, and a company a /48."""

from collections import Counter
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple

from starlette.types import Scope

IPV6_NETWORKS = {64: 1, 56: 4, 48: 16}
IPV4_NETWORKS = {32: 1, 24: 16}
"""Length of the prefix, and how many times the limit of a client the network has. A club plays in one IPv4 /24."""


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
    bits, lengths = (32, IPV4_NETWORKS) if isinstance(address, IPv4Address) else (128, IPV6_NETWORKS)
    kind = type(address)
    found = []
    for length, share in lengths.items():
        first = kind(int(address) >> (bits - length) << (bits - length))
        found.append(Network(str(first) if length == bits else f"{first}/{length}", share))
    return tuple(found)


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
