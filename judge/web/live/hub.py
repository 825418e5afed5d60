"""Reads, paints and encodes each event once, and writes it to all viewers.

At most `MAX_UNSENT_BYTES` bytes (or one event) wait for a viewer. A slower one gets missed events in pieces. One that
takes nothing while `MAX_MISSED_BYTES` bytes arrive is dropped, and reconnects.
"""

import asyncio
import json
import time
import zlib
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from judge.broadcast.events import read_event
from judge.broadcast.log import LOG_FILE, LogReader, head_of
from judge.broadcast.state import Live
from judge.referee.policy import Policy
from judge.web.live.paint import Painter, as_sent

POLL_INTERVAL_S = 0.008

ROUND_S_PER_VIEWER = 0.0001
MAX_ROUND_S = 0.25
"""Interval of rounds: per viewer, and maximum."""

BEAT_S = 5.0

PLOTS_S, MAX_PLOTS = 2.0, 64
"""Interval of a game's plots, and games in it."""

MAX_UNSENT_BYTES = 128 << 10

PIECE_BYTES = MAX_UNSENT_BYTES // 2

FEED_S = 0.02

MAX_MISSED_BYTES = 256 << 10

MAX_MISSED_EVENTS = 5000
"""A viewer that misses more events reloads the page."""

STORED_EVENTS = 2 * MAX_MISSED_EVENTS
"""Latest events kept uncompressed."""

EVENTS_PER_BLOCK, MAX_OPEN_BLOCKS = 256, 16
"""Older events per compressed block, and number of expanded blocks."""


WITHIN_A_GAME = frozenset({"playing", "turn", "search", "move"})


@dataclass(frozen=True, slots=True)
class Sent:
    """An encoded event; `game` 0: none."""

    seq: int
    game: int
    is_within: bool
    line: bytes


class Topic(NamedTuple):
    """Events of one game and the contest, or of all (`game` 0); or none within games."""

    game: int = 0
    moves: bool = True

    def has(self, sent: Sent) -> bool:
        """Whether an event is selected."""
        return (self.moves or not sent.is_within) and (not self.game or sent.game in (0, self.game))


class PaintedEvents:
    """All encoded events by number, from 1."""

    def __init__(self) -> None:
        self._last: deque[Sent] = deque(maxlen=STORED_EVENTS)
        self._block: list[Sent] = []
        self._blocks: list[bytes] = []
        self._open: OrderedDict[int, Sequence[Sent]] = OrderedDict()

    @property
    def seq(self) -> int:
        """Number of the last event, or 0."""
        return self._last[-1].seq if self._last else 0

    def add(self, sent: Sent) -> None:
        """Store the next event."""
        self._last.append(sent)
        self._block.append(sent)
        if len(self._block) == EVENTS_PER_BLOCK:
            self._blocks.append(zlib.compress(b"\n".join(each.line for each in self._block), 1))
            self._block = []

    def since(self, seq: int) -> Iterator[Sent]:
        """Events after a number."""
        while seq < self.seq:
            first = self._last[0].seq
            if seq + 1 >= first:
                found: Iterable[Sent] = (self._last[at] for at in range(seq + 1 - first, len(self._last)))
            else:
                found = self._expanded(seq // EVENTS_PER_BLOCK)[seq % EVENTS_PER_BLOCK :]
            for sent in found:
                yield sent
                seq = sent.seq

    def _expanded(self, number: int) -> Sequence[Sent]:
        found = self._open.pop(number, None)
        if found is None:
            found = [sent_of(line) for line in zlib.decompress(self._blocks[number]).split(b"\n")]
        self._open[number] = found
        if len(self._open) > MAX_OPEN_BLOCKS:
            self._open.popitem(last=False)
        return found


@dataclass(slots=True, eq=False)
class Viewer:
    """A connection and its topic."""

    transport: asyncio.Transport
    topic: Topic
    seq: int
    missed: int = 0
    """New events since it took any."""

    @property
    def room(self) -> int:
        """Bytes that can be written now."""
        return MAX_UNSENT_BYTES - self.transport.get_write_buffer_size()


class Hub:
    """A contest's state and viewers."""

    def __init__(self, folder: Path, policy: Policy) -> None:
        self.live = Live()
        self.painter = Painter(policy)
        self._path = folder / LOG_FILE
        self._reader = LogReader(self._path)
        self._stored = PaintedEvents()
        self._unsent: list[Sent] = []
        self.told: Callable[[Sequence[Sent]], None] = lambda _: None
        self._viewers: set[Viewer] = set()
        self._behind: set[Viewer] = set()
        self._feed_at = 0.0
        self._round_at = 0.0
        self._beat_at = 0.0
        self._plots_at = 0.0
        self._plotted: dict[tuple[int, int], tuple[float, int]] = {}
        """Watched games: when to draw plots again, and their number of moves."""

    @property
    def _last(self) -> int:
        return self._stored.seq

    @property
    def viewers(self) -> int:
        """Number of viewers."""
        return len(self._viewers)

    async def run(self) -> None:
        """Read and send until cancelled."""
        while True:
            self.look()
            now = time.monotonic()
            if self._unsent and now >= self._round_at:
                self._send_round()
                self._round_at = now + min(MAX_ROUND_S, ROUND_S_PER_VIEWER * len(self._viewers))
            if self._behind and now >= self._feed_at:
                self._feed_at = now + FEED_S
                for viewer in list(self._behind):
                    self._feed(viewer)
            if now >= self._plots_at:
                self._plots_at = now + PLOTS_S / MAX_PLOTS
                self._send_plots(now)
            if now >= self._beat_at:
                self._beat_at = now + BEAT_S
                self._write(self._viewers, _event("beat", self._now()))
                if self._reader.is_replaced():
                    self._begin_again()
            await asyncio.sleep(POLL_INTERVAL_S)

    def look(self) -> None:
        """Read some new events of the log."""
        for line in self._reader.news():
            self._unsent.append(self._take(line))

    def catch_up(self) -> None:
        """Read the rest of the log, before viewers join; restart if it was recreated."""
        if self._reader.is_replaced():
            self._begin_again()
        while lines := self._reader.news():
            for line in lines:
                self._stored.add(self._take(line))

    def since(self, seq: int, most: int, topic: Topic) -> list[Sent]:
        """At most `most` events of a topic after number `seq`."""
        found = (sent for sent in self._stored.since(seq) if topic.has(sent))
        return [sent for _, sent in zip(range(most), found, strict=False)]

    def join(self, transport: asyncio.Transport, topic: Topic, seq: int) -> Viewer:
        """Send the events after `seq`, and all later ones. Headers are already sent."""
        # A page may show more than was sent.
        is_lost = seq > self.live.seq or self._last - seq > MAX_MISSED_EVENTS
        viewer = Viewer(transport, topic, self._last if is_lost else seq)
        self._viewers.add(viewer)
        if is_lost:
            transport.write(_chunk(_event("again", {"log": self.live.log})))
        else:
            transport.write(_chunk(_event("hello", self._now())))
            self._feed(viewer)
        return viewer

    def leave(self, viewer: Viewer) -> None:
        """Remove a viewer."""
        self._viewers.discard(viewer)
        self._behind.discard(viewer)

    def close(self) -> None:
        """Drop all viewers."""
        for viewer in list(self._viewers):
            viewer.transport.abort()
        self._reader.close()

    def _take(self, line: bytes) -> Sent:
        event = read_event(line)
        self.live.apply(event)
        if head_of(line).type == "move":
            paint = json.dumps(self.painter.of(event), separators=(",", ":"))
            line = line[:-1] + b',"paint":' + paint.encode() + b"}"
        return sent_of(line)

    def _send_round(self) -> None:
        new, self._unsent = self._unsent, []
        for sent in new:
            self._stored.add(sent)
        by_topic: dict[Topic, list[Viewer]] = defaultdict(list)
        for viewer in self._viewers:
            by_topic[viewer.topic].append(viewer)
        framed = [(sent, _framed(sent)) for sent in new]
        for topic, viewers in by_topic.items():
            data = b"".join(data for sent, data in framed if topic.has(sent))
            chunk = _chunk(data) if data else b""
            for viewer in viewers:
                self._tell(viewer, new[0].seq, chunk)
        self.told(new)

    def _tell(self, viewer: Viewer, first: int, chunk: bytes) -> None:
        if viewer.seq == first - 1 and len(chunk) <= viewer.room:
            if chunk:
                viewer.transport.write(chunk)
            viewer.seq = self._last
        elif viewer.seq < self._last:
            if viewer.missed > MAX_MISSED_BYTES:
                self._drop(viewer)
                return
            if viewer in self._behind:
                viewer.missed += len(chunk)
            self._behind.add(viewer)

    def _feed(self, viewer: Viewer) -> None:
        if viewer.transport.is_closing():
            self._drop(viewer)
            return
        if viewer.room <= PIECE_BYTES:
            self._behind.add(viewer)
            return
        piece, size = [], 0
        for sent in self._stored.since(viewer.seq):
            viewer.seq = sent.seq
            if viewer.topic.has(sent):
                piece.append(_framed(sent))
                size += len(piece[-1])
                if size >= PIECE_BYTES:
                    break
        if piece:
            viewer.transport.write(_chunk(b"".join(piece)))
            viewer.missed = 0
        if viewer.seq < self._last:
            self._behind.add(viewer)
        else:
            self._behind.discard(viewer)

    def _drop(self, viewer: Viewer) -> None:
        viewer.transport.abort()
        self.leave(viewer)

    def _send_plots(self, now: float) -> None:
        numbers = {viewer.topic.game for viewer in self._viewers if viewer.topic.moves}
        games = [game for number in numbers if (game := self.live.games.get(number)) is not None]
        plotted = {key: self._plotted.get(key, (now, 0)) for key in ((game.game, game.attempt) for game in games)}
        self._plotted = plotted
        due = {
            at: game
            for game in games
            for at, moves in (plotted[game.game, game.attempt],)
            if at <= now and moves != len(game.moves)
        }
        if due:
            game = due[min(due)]
            plotted[game.game, game.attempt] = now + PLOTS_S, len(game.moves)
            watching = [each for each in self._viewers if each.topic.game == game.game and each.topic.moves]
            self._write(watching, _event("plots", as_sent(game)))

    def _write(self, viewers: Iterable[Viewer], data: bytes) -> None:
        chunk = _chunk(data)
        for viewer in list(viewers):
            if viewer.transport.is_closing():
                self._drop(viewer)
            elif len(chunk) <= viewer.room:
                viewer.transport.write(chunk)

    def _begin_again(self) -> None:
        self._write(self._viewers, _event("again", {"log": ""}))
        self._reader.close()
        self._reader, self.live = LogReader(self._path), Live()
        self._stored = PaintedEvents()
        self._unsent.clear()
        self._behind.clear()
        for viewer in self._viewers:
            viewer.seq = 0

    def _now(self) -> Mapping[str, object]:
        return {"now_ms": round(time.time() * 1000), "viewers": len(self._viewers), "log": self.live.log}


def sent_of(line: bytes) -> Sent:
    """Event of an encoded line."""
    head = head_of(line)
    return Sent(head.seq, head.game, head.type in WITHIN_A_GAME, line)


def _framed(sent: Sent) -> bytes:
    return b"id: %d\ndata: %s\n\n" % (sent.seq, sent.line)


def _event(name: str, data: Mapping[str, object]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)
