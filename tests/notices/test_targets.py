"""A webhook never leads inside."""

from ipaddress import IPv4Network, IPv6Network, ip_network

import pytest

from judge.base.errors import InputError
from judge.notices.policy import NoticePolicy, is_permitted, parse_target, resolved

POLICY = NoticePolicy()


def nets(*texts: str) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(map(ip_network, texts))


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.1", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.0.9", "169.254.169.254", "172.16.0.1"),
        *("192.0.0.1", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1"),
        *("239.1.1.1", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::7f00:1", "64:ff9b::7f00:1", "64:ff9b:1::1"),
        *("fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "ff0e::1", "100::1"),
        *("2001::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::1", "3fff::1", "4000::1"),
        *("192.88.99.1", "192.0.0.9", "192.0.0.170", "192.31.196.1", "192.52.193.1", "192.175.48.1", "2620:4f:8000::1"),
        *("2001:4:112::1", "2001:0:7f00:1::1", "5f00::1", "2002:808:808::1", "::ffff:0:127.0.0.1", "64:ff9b::808:808"),
        *("2001:470:1:2:0:5efe:10.0.0.1", "2a00:1450::200:5efe:7f00:1", "2600::5efe:8.8.8.8", "2600::300:5efe:1.1.1.1"),
        *("", "localhost", "127.1", "1.2.3.4.5"),
    ],
)
def test_an_inside_address_is_not_called(address: str) -> None:
    assert not is_permitted(address, POLICY)


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "93.184.215.14", "192.0.1.1", "2606:4700::1111", "2a00:1450:4014:80e::200e", "2600::5eff:1:1"],
)
def test_a_public_address_is_called_unless_the_organiser_refuses_it(address: str) -> None:
    assert is_permitted(address, POLICY)
    assert not is_permitted(address, NoticePolicy(refuse=nets("8.0.0.0/8", "93.0.0.0/8", "192.0.0.0/8", "2000::/3")))


def test_an_inside_network_is_called_if_the_organiser_permits_it() -> None:
    policy = NoticePolicy(permit=nets("10.1.0.0/16"), refuse=nets("10.1.2.0/24"))
    assert [True, False, False] == [is_permitted(each, policy) for each in ("10.1.1.1", "10.1.2.1", "10.2.0.1")]


@pytest.mark.parametrize(
    "url",
    [
        *("", "ftp://example.org/", "http://example.org/", "https://", "https:///x", "example.org", "javascript:x"),
        *("https://user@example.org/", "https://a:b@example.org/", "https://example.org/#x", "https://exa mple.org/"),
        *("https://example.org/\r\nx: y", "https://example.org:22/", "https://example.org:99999/", "https://é.org/"),
        *("https://example.org:x/", "https://[::1/", "https://[x]/", "https://example.org/" + "a" * 500),
        *("https://a..b/", f"https://{'a' * 64}.org/"),
    ],
)
def test_invalid_webhook_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="the webhook: "):
        parse_target(url, POLICY)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "https://127.0.0.1/",
            "https://localhost/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://017700000001/",
        ),
        *("https://127.1/", "https://0/", "https://[::1]/", "https://[::ffff:7f00:1]/", "https://[64:ff9b::7f00:1]/"),
        *("https://[fe80::1]/", "https://169.254.169.254/latest/meta-data/"),
    ],
)
def test_a_way_of_writing_an_inside_address_leads_nowhere(url: str) -> None:
    with pytest.raises(InputError, match=r"not public|no address"):
        resolved(parse_target(url, POLICY), POLICY)
