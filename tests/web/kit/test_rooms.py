"""Room that the clients of a service share."""

from contextlib import ExitStack
from itertools import count

import pytest

from judge.base.errors import InputError
from judge.submissions.intake import IntakePolicy
from judge.web.kit.clients import MIN_ROOM, Rooms, SharedRoom
from judge.web.kit.networks import NetworkCounts


class Connection:
    def __init__(self) -> None:
        self.is_ended = False

    def end(self) -> None:
        self.is_ended = True


def enter(stack: ExitStack, room: SharedRoom, host: str, size: int = 1) -> Connection | None:
    connection = Connection()
    return connection if stack.enter_context(room.entered(host, connection, size)) else None


def test_full_room_ends_the_newest_of_the_network_with_most() -> None:
    room = SharedRoom(6)
    with ExitStack() as stack:
        many = [enter(stack, room, f"2001:db8:1:{number:x}::1") for number in range(4)]
        few = [enter(stack, room, f"192.0.2.{number}") for number in range(2)]
        assert None not in many + few

        assert enter(stack, room, "198.51.100.1") is not None
        assert [False, False, False, True] == [each is not None and each.is_ended for each in many]
        assert not any(each is not None and each.is_ended for each in few)


def test_network_with_most_gets_no_more_room() -> None:
    room = SharedRoom(4)
    with ExitStack() as stack:
        first = [enter(stack, room, f"10.0.0.{number}") for number in range(4)]
        assert enter(stack, room, "10.0.0.9") is None
        assert not any(each is not None and each.is_ended for each in first)
    with ExitStack() as stack:
        assert enter(stack, room, "10.0.0.9") is not None  # all have left


def test_sizes_are_counted() -> None:
    room = SharedRoom(100)
    with ExitStack() as stack:
        large = enter(stack, room, "10.0.0.1", 90)
        assert enter(stack, room, "10.0.1.1", 20) is not None
        assert large is not None
        assert large.is_ended
        assert enter(stack, room, "10.0.2.1", 80) is not None
        assert enter(stack, room, "10.0.3.1", 90) is None


def test_counts_of_a_network_end_with_its_clients() -> None:
    counts = NetworkCounts(2)
    hosts = [f"2001:db8:0:{number:x}::1" for number in range(8)]
    for host, number in zip(hosts, count(), strict=False):
        assert counts.has_room(host) or number >= 8
        counts.add(host)
    assert not counts.has_room("2001:db8:0:ff::1")  # 4 times the limit in a /56
    assert counts.has_room("2001:db8:0:100::1")
    for host in hosts:
        counts.add(host, -1)
    assert counts.has_room("2001:db8:0:ff::1")
    assert not counts._counts


def test_rooms_have_the_wanted_size_with_enough_descriptors() -> None:
    assert Rooms(1024, 5000) == Rooms.for_descriptors(IntakePolicy(connections=5000), 524_288)
    assert Rooms(40, 40) == Rooms.for_descriptors(IntakePolicy(connections=40), 4096)


@pytest.mark.parametrize("descriptors", [700, 1024, 4096])
def test_few_descriptors_lower_the_rooms(descriptors: int) -> None:
    rooms = Rooms.for_descriptors(IntakePolicy(connections=5000), descriptors)
    assert rooms.connections < descriptors
    assert min(rooms) * 3 >= MIN_ROOM


def test_too_few_descriptors_are_refused_with_the_number_and_the_fix() -> None:
    with pytest.raises(InputError, match=r"may open and watch 256 files, .* at least \d+: raise LimitNOFILE="):
        Rooms.for_descriptors(IntakePolicy(), 256)
