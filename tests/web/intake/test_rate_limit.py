"""A bucket that fills evenly, on a clock of the test's."""

import pytest

from judge.web.kit import rate_limit
from judge.web.kit.rate_limit import RateLimit, address_key


def test_burst_is_admitted_and_then_an_even_rate() -> None:
    now = [100.0]
    rate = RateLimit(6, lambda: now[0])
    assert [0] * 6 == [rate.spend("ada") for _ in range(6)]
    assert 11 == rate.spend("ada")
    assert 0 == rate.spend("bob")
    now[0] += 10
    assert [0, 11] == [rate.spend("ada") for _ in range(2)]
    now[0] += 3600
    assert [0] * 6 + [11] == [rate.spend("ada") for _ in range(7)]


def test_polling_an_empty_queue_costs_nothing() -> None:
    now = [0.0]
    rate = RateLimit(60, lambda: now[0])
    for _ in range(60):
        rate.spend("ada")
    for _ in range(10):
        assert 0 < rate.spend("ada")
    now[0] += 1
    assert 0 == rate.spend("ada")


def test_no_more_is_remembered_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "MAX_KEYS", 3)
    rate = RateLimit(1, lambda: 0.0)
    assert [0] * 4 == [rate.spend(key) for key in "abcd"]
    assert [0, 61] == [rate.spend(key) for key in "ad"]


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("nonsense" * 100, ("nonsense" * 100)[:64]),
    ],
)
def test_client_address_of_a_request(host: str, key: str) -> None:
    assert key == address_key(host)
