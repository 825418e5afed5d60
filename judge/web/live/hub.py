"""Reads, paints and encodes each event once, and writes it to all viewers.

At most `MAX_UNSENT_BYTES` bytes (or one event) wait for a viewer. A slower one gets missed events in pieces. One that
takes nothing while `MAX_MISSED_BYTES` bytes arrive is dropped, and reconnects.
"""

import asyncio
import json
import time
import zlib
from bisect import bisect_right
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from starlette.types import Receive

from judge.base.logs import get_logger
from judge.broadcast.events import AnyEvent, Unscored
from judge.broadcast.log import LOG_FILE, EventLine, LogReader
from judge.broadcast.state import Live
from judge.record.policy import Policy
from judge.render.miniature import write_miniature
from judge.web.kit.lanes import Lane
from judge.web.kit.middleware import Metrics
from judge.web.live.paint import Painter, as_sent

POLL_INTERVAL_S = 0.008

LOOK_BYTES = 128 << 10
"""Of the log in one step: others are answered between two steps."""

ROUND_S_PER_VIEWER = 0.0001
MAX_ROUND_S = 0.25
"""Interval of rounds: per viewer, and maximum."""

BEAT_S = 5.0

PLOTS_S, MAX_PLOTS = 2.0, 64
"""Interval of a game's plots, and games in it."""

MAX_UNSENT_BYTES = 64 << 10
PIECE_BYTES = MAX_UNSENT_BYTES // 2
FEED_S = 0.02
MAX_MISSED_BYTES = 256 << 10
MAX_MISSED_EVENTS = 5000
"""A viewer that misses more events reloads the page."""

EVENTS_PER_BLOCK, MAX_OPEN_BLOCKS = 256, 56
"""Events per compressed block, and number of blocks that are also expanded: the latest or last used."""

SCANNED_EVENTS = EVENTS_PER_BLOCK
"""Events that are searched before others are answered."""

WITHIN_A_GAME = frozenset({"playing", "turn", "search", "move"})

MAX_BOARDS = 4000
"""Small boards of ended games, of a kilobyte each."""

log = get_logger()


class Sent(NamedTuple):
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
        return (self.moves or not sent.is_within) and (not self.game or sent.game in (0, self.game))


class PaintedEvents:
    """All encoded events by number, which rises, with gaps where lines of the log are damaged."""

    def __init__(self) -> None:
        self._last: list[Sent] = []
        """Events of the block that is not complete."""
        self._blocks: list[bytes] = []
        self._ends: list[int] = []
        """Last number of each block."""
        self._open: OrderedDict[int, Sequence[Sent]] = OrderedDict()

    @property
    def seq(self) -> int:
        """Number of the last event, or 0."""
        return self._last[-1].seq if self._last else self._ends[-1] if self._ends else 0

    def is_compressed(self, seq: int) -> bool:
        """Whether the next events after a number must be expanded."""
        number = bisect_right(self._ends, seq)
        return number < len(self._blocks) and number not in self._open

    def add(self, sent: Sent) -> None:
        self._last.append(sent)
        if len(self._last) == EVENTS_PER_BLOCK:
            heads = json.dumps([each[:-1] for each in self._last]).encode()
            self._blocks.append(zlib.compress(b"\n".join([heads, *(each.line for each in self._last)]), 1))
            self._ends.append(sent.seq)
            self._keep_open(len(self._blocks) - 1, self._last)
            self._last = []

    def since(self, seq: int) -> Iterator[Sent]:
        for number in range(bisect_right(self._ends, seq), len(self._blocks) + 1):
            block = self._last if number == len(self._blocks) else self._expanded(number)
            yield from islice(block, bisect_right(block, seq, key=lambda sent: sent.seq), None)

    def _expanded(self, number: int) -> Sequence[Sent]:
        found = self._open.get(number)
        if found is None:
            heads, *lines = zlib.decompress(self._blocks[number]).split(b"\n")
            found = [Sent._make([*head, line]) for head, line in zip(json.loads(heads), lines, strict=True)]
        self._keep_open(number, found)
        return found

    def _keep_open(self, number: int, block: Sequence[Sent]) -> None:
        self._open[number] = block
        self._open.move_to_end(number)
        if len(self._open) > MAX_OPEN_BLOCKS:
            self._open.popitem(last=False)


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
    """Events, and viewers of some of them."""

    def __init__(self, log: str) -> None:
        """Event numbers are only valid for this `log`."""
        self._log = log
        self._stored = PaintedEvents()
        self._scanning = Lane()
        self._unsent: list[Sent] = []
        self.metrics: Metrics | None = None
        self._viewers: set[Viewer] = set()
        self._behind: set[Viewer] = set()
        self._feed_at = 0.0
        self._round_at = 0.0
        self._beat_at = 0.0

    @property
    def log(self) -> str:
        """Name of the log; empty before it begins."""
        return self._log

    @property
    def seq(self) -> int:
        """Number of the last event that a page may show."""
        return self._unsent[-1].seq if self._unsent else self._stored.seq

    @property
    def viewers(self) -> int:
        return len(self._viewers)

    def step(self) -> float:
        """Send due events; return the seconds until the next step."""
        now = time.monotonic()
        if self._unsent and now >= self._round_at:
            self._send_round()
            self._round_at = now + min(MAX_ROUND_S, ROUND_S_PER_VIEWER * len(self._viewers))
        if self._behind and now >= self._feed_at:
            self._feed_at = now + FEED_S
            for viewer in list(self._behind):
                self._feed(viewer)
        if now >= self._beat_at:
            self._beat_at = now + BEAT_S
            self._write(self._viewers, _event("beat", self._now()))
        return POLL_INTERVAL_S

    def tell(self, sent: Sent) -> None:
        """Send an event with the next round."""
        self._unsent.append(sent)

    def since(self, seq: int, most: int, topic: Topic) -> list[Sent]:
        """At most `most` events of a topic after number `seq`."""
        return list(islice(filter(topic.has, self._stored.since(seq)), most))

    async def find(self, receive: Receive, client: str, seq: int, most: int, topic: Topic) -> list[Sent]:
        """As `since`; searches of older events take turns. Raises ClientDisconnect if the client goes."""
        found: list[Sent] = []
        while seq < self._stored.seq and len(found) < most:
            scan = partial(self._scan, seq)
            if self._stored.is_compressed(seq):
                scanned = await self._scanning.run(receive, client, scan, in_thread=False)
            else:
                scanned = scan()
            found += filter(topic.has, scanned)
            seq = scanned[-1].seq if scanned else self._stored.seq
        return found[:most]

    def _scan(self, seq: int) -> list[Sent]:
        return list(islice(self._stored.since(seq), SCANNED_EVENTS))

    def join(self, transport: asyncio.Transport, topic: Topic, seq: int) -> Viewer:
        """Send the events after `seq`, and all later ones. Headers are already sent."""
        # A page may show more than was sent.
        is_lost = seq > self.seq or self._stored.seq - seq > MAX_MISSED_EVENTS
        viewer = Viewer(transport, topic, self._stored.seq if is_lost else seq)
        self._viewers.add(viewer)
        if is_lost:
            transport.write(_chunk(_event("again", {"log": self.log})))
        else:
            transport.write(_chunk(_event("hello", self._now())))
            self._feed(viewer)
        return viewer

    def leave(self, viewer: Viewer) -> None:
        self._viewers.discard(viewer)
        self._behind.discard(viewer)

    def close(self) -> None:
        for viewer in list(self._viewers):
            viewer.transport.abort()

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
        if self.metrics is not None:
            self.metrics.count_moves(sent.line for sent in new if sent.is_within)

    def _tell(self, viewer: Viewer, first: int, chunk: bytes) -> None:
        if viewer.seq == first - 1 and len(chunk) <= viewer.room:
            if chunk:
                viewer.transport.write(chunk)
            viewer.seq = self._stored.seq
        elif viewer.seq < self._stored.seq:
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
        if viewer.seq < self._stored.seq:
            self._behind.add(viewer)
        else:
            self._behind.discard(viewer)

    def _drop(self, viewer: Viewer) -> None:
        viewer.transport.abort()
        self.leave(viewer)

    def _write(self, viewers: Iterable[Viewer], data: bytes) -> None:
        chunk = _chunk(data)
        for viewer in list(viewers):
            if viewer.transport.is_closing():
                self._drop(viewer)
            elif len(chunk) <= viewer.room:
                viewer.transport.write(chunk)

    def _begin_again(self) -> None:
        """Forget all events, and have viewers reload their pages."""
        self._write(self._viewers, _event("again", {"log": ""}))
        self._stored = PaintedEvents()
        self._unsent.clear()
        self._behind.clear()
        for viewer in self._viewers:
            viewer.seq = 0

    def _now(self) -> Mapping[str, object]:
        return {"now_ms": round(time.time() * 1000), "viewers": len(self._viewers), "log": self.log}


class ContestHub(Hub):
    """A contest's state and events, from its log."""

    def __init__(self, folder: Path, policy: Policy) -> None:
        super().__init__("")
        self.live = Live()
        self.painter = Painter(policy)
        self.boards: dict[int, str] = {}
        """Last positions of the newest games that have ended."""
        self._reader = LogReader(folder / LOG_FILE)
        self._is_outdated = False
        self._look_for_other_at = 0.0
        self._plots_at = 0.0
        self._plotted: dict[tuple[int, int], tuple[float, int]] = {}
        """Watched games: when to draw plots again, and their number of moves."""

    @property
    def log(self) -> str:
        return self.live.log

    @property
    def seq(self) -> int:
        return self.live.seq

    def step(self) -> float:
        now = time.monotonic()
        if self._is_outdated or (now >= self._look_for_other_at and self._reader.is_replaced()):
            self._begin_again()
        if now >= self._look_for_other_at:
            self._look_for_other_at = now + BEAT_S
        self.read_events(LOOK_BYTES)
        if now >= self._plots_at:
            self._plots_at = now + PLOTS_S / MAX_PLOTS
            self._send_plots(now)
        return super().step()

    def read_events(self, *most_bytes: int) -> None:
        self._unsent += self._news(*most_bytes) or ()

    def catch_up(self) -> None:
        """Read the rest of the log, before viewers join; restart if it was recreated."""
        if self._is_outdated or self._reader.is_replaced():
            self._begin_again()
        while (news := self._news()) is not None:
            for sent in news:
                self._stored.add(sent)

    def close(self) -> None:
        super().close()
        self._reader.close()

    def _news(self, *most_bytes: int) -> Sequence[Sent] | None:
        try:
            news = self._reader.news(*most_bytes)
            return None if news is None else [sent for line in news if (sent := self._take(line)) is not None]
        except OSError:  # nothing was read
            raise
        except BaseException:
            self._is_outdated = True
            raise

    def _take(self, line: EventLine) -> Sent | None:
        event, data = line.event, line.data
        try:
            self.live.apply(event)
            self._keep_board(event)
            if paint := self.painter.of(event, self.live):
                data = data[:-1] + b',"paint":' + json.dumps(paint, separators=(",", ":")).encode() + b"}"
        except (MemoryError, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - events before it may be damaged
            log.warning("an event cannot be shown and is skipped", seq=event.seq, error=repr(error))
            return None
        return Sent(event.seq, getattr(event, "game", 0), event.type in WITHIN_A_GAME, data)

    def _keep_board(self, event: AnyEvent) -> None:
        """An annulled game has none until it has ended again."""
        if isinstance(event, Unscored):
            self.boards.pop(event.game, None)
        last = self.live.last_games[-1] if self.live.last_games else None
        if last is not None and last.end is event and (view := last.view()) is not None:
            self.boards[event.game] = write_miniature(view)
            if len(self.boards) > MAX_BOARDS:
                del self.boards[next(iter(self.boards))]

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

    def _begin_again(self) -> None:
        super()._begin_again()
        self._reader.restart()
        self.live = Live()
        self.boards.clear()
        self._is_outdated = False


def _framed(sent: Sent) -> bytes:
    return b"id: %d\ndata: %s\n\n" % (sent.seq, sent.line)


def _event(name: str, data: Mapping[str, object]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)
