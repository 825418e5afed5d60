"""What the hub sends: every event once and in order, however slowly it is taken, and painted once."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from judge.broadcast.events import AnyEvent, StateChanged
from judge.broadcast.log import LOG_FILE, EventLog
from judge.record.policy import load_policy
from judge.web.live import hub as hub_module
from judge.web.live.hub import EVENTS_PER_BLOCK, ContestHub, Hub, PaintedEvents, Sent, Topic, Viewer
from tests.web.event_loop import in_event_loop, stays


class Pipe:
    """A connection whose client takes bytes when the test says so."""

    def __init__(self) -> None:
        self.buffer = b""
        self.taken = b""
        self.most = 0
        self.is_aborted = False

    def write(self, data: bytes) -> None:
        self.buffer += data
        self.most = max(self.most, len(self.buffer))

    def get_write_buffer_size(self) -> int:
        return len(self.buffer)

    def is_closing(self) -> bool:
        return self.is_aborted

    def abort(self) -> None:
        self.is_aborted = True

    def take(self, size: int = 1 << 30) -> None:
        self.taken, self.buffer = self.taken + self.buffer[:size], self.buffer[size:]

    @property
    def ids(self) -> list[int]:
        lines = self.taken.split(b"\n")
        return [int(line[4:]) for line in lines if line.startswith(b"id: ")]


Followed = tuple[ContestHub, EventLog]


@pytest.fixture
def followed(tmp_path: Path) -> Iterator[Followed]:
    found = ContestHub(tmp_path, load_policy("gomocup-freestyle"))
    with closing(EventLog(tmp_path / LOG_FILE)) as log:
        yield found, log
    found.close()


def join(hub: ContestHub, seq: int = 0) -> tuple[Pipe, Viewer]:
    pipe = Pipe()
    return pipe, hub.join(pipe, Topic(), seq)  # type: ignore[arg-type]


def write(hub: ContestHub, log: EventLog, count: int, size: int = 500) -> None:
    log.append([StateChanged(at="", state="open", reason="x" * size)] * count)
    hub.read_events()
    hub._send_round()


@pytest.mark.parametrize("is_burst", [False, True])
def test_a_reader_that_takes_little_gets_every_event_once_in_pieces(is_burst: bool, followed: Followed) -> None:
    hub, log = followed
    write(hub, log, 1 if is_burst else 2000)
    pipe, viewer = join(hub)
    write(hub, log, 2000 if is_burst else 1)
    while viewer.seq < 3000:
        pipe.take(50_000)
        if log.seq < 3000:
            write(hub, log, 20)
        hub._feed(viewer)
    pipe.take()
    assert list(range(1, log.seq + 1)) == pipe.ids
    assert pipe.most <= hub_module.MAX_UNSENT_BYTES
    assert not hub._behind


def test_a_reader_that_takes_nothing_is_dropped_by_the_bytes_that_it_misses(followed: Followed) -> None:
    hub, log = followed
    (idle, _), (quick, _) = join(hub), join(hub)
    rounds = 0
    while not idle.is_aborted:
        write(hub, log, 20)
        quick.take()
        rounds += 1
        assert rounds < 2 * (hub_module.MAX_UNSENT_BYTES + hub_module.MAX_MISSED_BYTES) // (20 * 500)
    assert idle.most <= hub_module.MAX_UNSENT_BYTES
    assert not quick.is_aborted
    assert list(range(1, log.seq + 1)) == quick.ids
    assert 1 == hub.viewers


def test_viewer_of_a_page_that_shows_more_than_was_sent_gets_no_event_twice(followed: Followed) -> None:
    hub, log = followed
    write(hub, log, 10)
    log.append([StateChanged(at="", state="open", reason="")] * 5)
    hub.read_events()  # a page of this moment shows 15 events, of which 10 were sent
    pipe, viewer = join(hub, 15)
    hub._send_round()
    write(hub, log, 5)
    hub._feed(viewer)
    pipe.take()
    assert list(range(16, 21)) == pipe.ids


STORED_EVENTS = hub_module.MAX_OPEN_BLOCKS * EVENTS_PER_BLOCK
"""Events that are not only compressed."""


@pytest.mark.parametrize("has_gaps", [False, True])
def test_events_of_every_age_are_found_by_their_number(has_gaps: bool) -> None:
    events, count = PaintedEvents(), STORED_EVENTS + 3 * EVENTS_PER_BLOCK + 7
    numbers = [n for n in range(1, count + 1) if not has_gaps or (n % 7 and not 300 < n < 900)]
    for number in numbers:
        events.add(Sent(number, 0, False, b'{"seq":%d,"type":"state"}' % number))
    assert numbers[-1] == events.seq
    blocks = (EVENTS_PER_BLOCK - 1, EVENTS_PER_BLOCK, 2 * EVENTS_PER_BLOCK + 5, 3 * EVENTS_PER_BLOCK, STORED_EVENTS)
    for seq in (0, 1, 6, 7, 300, 301, 899, 900, *blocks, numbers[-2], numbers[-1], count + 100):
        found = [sent.seq for _, sent in zip(range(600), events.since(seq), strict=False)]
        assert [n for n in numbers if n > seq][:600] == found


OLD_EVENTS = 40 * EVENTS_PER_BLOCK


@pytest.fixture
def long_log() -> Hub:
    """Every hundredth event is of game 2."""
    hub = Hub("log")
    for number in range(1, OLD_EVENTS + STORED_EVENTS + 1):
        game = 1 if number % 100 else 2
        hub._stored.add(Sent(number, game, True, b'{"seq":%d,"game":%d,"attempt":1,"type":"move"}' % (number, game)))
    return hub


@pytest.mark.parametrize("topic", [Topic(), Topic(2), Topic(3), Topic(moves=False)])
@pytest.mark.parametrize("seq", [0, 300, OLD_EVENTS - 50, OLD_EVENTS + 50, OLD_EVENTS + STORED_EVENTS, 10**9])
@in_event_loop
async def test_search_in_pieces_finds_the_events_after_a_number(seq: int, topic: Topic, long_log: Hub) -> None:
    for most in (1, 7, 1000):
        assert long_log.since(seq, most, topic) == await long_log.find(stays, "10.0.0.1", seq, most, topic)


@in_event_loop
async def test_others_are_answered_during_a_search_in_old_events(long_log: Hub) -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    others = asyncio.create_task(count_turns())
    assert [] == await long_log.find(stays, "10.0.0.1", 0, 1000, Topic(3))
    others.cancel()
    assert turns >= OLD_EVENTS // hub_module.SCANNED_EVENTS


@in_event_loop
async def test_short_search_does_not_wait_for_the_end_of_a_long_one_of_another_network(long_log: Hub) -> None:
    searches = [asyncio.create_task(long_log.find(stays, "10.0.0.1", 0, 1000, Topic(3))) for _ in range(20)]
    await asyncio.sleep(0)
    assert 1 == len(await long_log.find(stays, "10.9.0.1", 0, 1, Topic(2)))
    assert not any(search.done() for search in searches)
    for search in searches:
        search.cancel()


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), MemoryError(), RuntimeError("any")])
def test_error_of_a_read_costs_no_event(error: Exception, followed: Followed, monkeypatch: pytest.MonkeyPatch) -> None:
    hub, log = followed
    write(hub, log, 3)
    pipe, _ = join(hub)
    log.append([StateChanged(at="", state="open", reason="")] * 2)
    news = hub._reader.news
    failing = [error]

    def fail_once(*most_bytes: int) -> object:
        if failing:
            if not isinstance(error, OSError):
                news(*most_bytes)  # what was read is lost
            raise failing.pop()
        return news(*most_bytes)

    monkeypatch.setattr(hub._reader, "news", fail_once)
    with pytest.raises(type(error)):
        hub.step()
    hub.step()
    hub._round_at = 0
    hub.step()
    pipe.take()
    assert 5 == hub.seq == pipe.ids[-1]
    assert {1, 2, 3, 4, 5} == set(pipe.ids)


def test_event_that_cannot_be_shown_is_skipped(followed: Followed, monkeypatch: pytest.MonkeyPatch) -> None:
    hub, log = followed
    apply, refused = hub.live.apply, [2]

    def refuse(event: AnyEvent) -> None:
        if event.seq in refused:
            raise KeyError(event.seq)
        apply(event)

    monkeypatch.setattr(type(hub.live), "apply", lambda _, event: refuse(event))
    write(hub, log, 4)
    assert [1, 3, 4] == [sent.seq for sent in hub.since(0, 10, Topic())]
