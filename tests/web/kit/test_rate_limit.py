"""A bucket that fills evenly, on a clock of the test's."""

import pytest

from judge.web.kit import networks
from judge.web.kit.networks import RateLimit, networks_of


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock, which stands still."""
    found = [100.0]
    monkeypatch.setattr(networks, "monotonic", lambda: found[0])
    return found


def test_burst_is_admitted_and_then_an_even_rate(now: list[float]) -> None:
    rate = RateLimit(6)
    assert [0] * 6 == [rate.spend("ada") for _ in range(6)]
    assert 11 == rate.spend("ada")
    assert 0 == rate.spend("bob")
    now[0] += 10
    assert [0, 11] == [rate.spend("ada") for _ in range(2)]
    now[0] += 3600
    assert [0] * 6 + [11] == [rate.spend("ada") for _ in range(7)]


def test_polling_an_empty_queue_costs_nothing(now: list[float]) -> None:
    rate = RateLimit(60)
    for _ in range(60):
        rate.spend("ada")
    for _ in range(10):
        assert 0 < rate.spend("ada")
    now[0] += 1
    assert 0 == rate.spend("ada")


def test_no_more_is_remembered_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "MAX_KEYS", 3)
    rate = RateLimit(1)
    assert [0] * 4 == [rate.spend(key) for key in "abcd"]
    assert [0, 61] == [rate.spend(key) for key in "ad"]


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("192.0.2.7", ["192.0.2.7", "192.0.2.0/24"]),
        ("::ffff:192.0.2.7", ["192.0.2.7", "192.0.2.0/24"]),
        ("2001:db8:1:2:3:4:5:6", ["2001:db8:1:2::/64", "2001:db8:1::/56", "2001:db8:1::/48"]),
        ("2001:db8:1:1ff:ffff::1", ["2001:db8:1:1ff::/64", "2001:db8:1:100::/56", "2001:db8:1::/48"]),
        ("nonsense" * 100, [("nonsense" * 100)[:64]]),
    ],
)
def test_client_address_has_its_networks_from_the_narrowest(host: str, names: list[str]) -> None:
    assert names == [network.name for network in networks_of(host)]


@pytest.mark.parametrize(("network", "rest", "share"), [("2001:db8:0:{:x}::1", 256, 4), ("192.0.2.{}", 256, 16)])
def test_addresses_of_one_network_have_a_multiple_of_the_rate_of_one(network: str, rest: int, share: int) -> None:
    rate = RateLimit(10)
    hosts = [network.format(number) for number in range(rest)]
    assert 10 * share == sum(rate.spend_address(host) == 0 for host in hosts)


def test_refused_request_of_a_network_costs_its_address_nothing() -> None:
    rate = RateLimit(1)
    assert [0] * 16 == [rate.spend_address(f"192.0.2.{number}") for number in range(16)]
    assert 0 < rate.spend_address("192.0.2.99")
    assert 1.0 == rate._buckets["192.0.2.99"][0]
