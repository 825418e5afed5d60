"""A contest that is watched: its recorder in the test, its service in a process of its own, and a network to cut."""

import contextlib
import socket
import ssl
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree

import httpx

from judge.contest.event_log.moves import Connection
from judge.contest.event_log.recorder import Recorder
from judge.contest_games import ScheduledGame
from judge.record.spec import RecordFile
from judge.store.contests import Store
from judge.testing import Agent, Say
from tests import patience
from tests.broadcast.logs import accept, play_next, recorder
from tests.broadcast.test_recorder import frames_of
from tests.forked import ForkedProcess
from tests.publish.cups import Cast, Cup

TLS = ssl.create_default_context()
"""Else httpx reads all certificates of the host for each request."""


class Watched:
    """A contest with its recorder and its service."""

    def __init__(self, cup: Cup) -> None:
        self.cup = cup
        self._stack = contextlib.ExitStack()
        self.recorder = self._stack.enter_context(recorder(cup))
        self.recorder.read_store()
        self.port = free_port()
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, *options: str) -> None:
        """Start the service, on the same port each time."""
        listen = f"127.0.0.1:{self.port}"
        words = [sys.executable, "-m", "judge.cli", "serve", str(self.cup.folder), "--read-only", "--listen", listen]
        self.process: ForkedProcess[str] = ForkedProcess([*words, *options], stderr=-1, text=True)
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        assert listen in said, said + self.process.stderr.read()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()

    def close(self) -> None:
        self.kill()
        self._stack.close()

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"{self.url}/{path}", timeout=60, verify=TLS)

    def play(self, parts: int = 20) -> tuple[ScheduledGame, RecordFile, Iterator[None]]:
        """The next game, and what tells it piece by piece."""
        return told_by(self.cup, self.recorder, parts)

    def end(self, game: ScheduledGame, file: RecordFile, frames: Iterator[None]) -> None:
        """The rest of a game is told, it has its result, and the standings are told."""
        tell(frames)
        accept(self.cup, game, file)
        self.recorder.finish()


def until(is_so: Callable[[], object], what: str) -> None:
    """As `patience.until`; seldom enough for a service that limits the requests of a minute."""
    patience.until(is_so, what, every_s=0.2)


@contextmanager
def watched(
    folder: Path,
    cast: Cast,
    games: int = 2,
    more: str = "",
    form: str = "",
    titles: Mapping[str, str] | None = None,
    drawn: Callable[[Store], object] | None = None,
) -> Iterator[Watched]:
    """A contest that is watched, of a format or else a round robin of so many games a pairing; `drawn` as for `Cup`."""
    form = form or f'name = "round-robin"\ngames = {games}'
    more = f"{more}\n[failures]\nafter = 1000"
    cup = Cup(folder / "cup", cast, form, more, titles=titles, drawn=drawn)
    with cup, contextlib.closing(Watched(cup)) as found:
        yield found


def tell(frames: Iterator[None], parts: int | None = None) -> None:
    """The next parts of a game, or all that are left."""
    for _ in islice(frames, parts):
        pass


def told_by(cup: Cup, log: Recorder, parts: int = 20) -> tuple[ScheduledGame, RecordFile, Iterator[None]]:
    """The next game of a contest, which is played, and what tells its log of it piece by piece."""
    game, file = play_next(cup)
    log.read_store()

    def send_frames() -> Iterator[None]:
        connection = Connection()
        for data in frames_of(game, file, parts):
            log.moves.receive(connection, data)
            yield
        assert connection.running is not None

    return game, file, send_frames()


def talker(make: Callable[[int], Agent], message: str) -> Callable[[int], Agent]:
    """An agent that also prints a message with each answer."""

    def make_talker(seed: int) -> Agent:
        plain = make(seed)
        return lambda line: [Say(f"MESSAGE {message}\r\n".encode(), 0), *acts] if (acts := plain(line)) else acts

    return make_talker


ATOM = "{http://www.w3.org/2005/Atom}"


def entries_of(feed: bytes) -> list[dict[str, str]]:
    """The fields of each entry of an Atom feed; of a link its address."""
    entries = ElementTree.fromstring(feed).iter(f"{ATOM}entry")  # noqa: S314 our own
    return [{each.tag.removeprefix(ATOM): each.get("href") or each.text or "" for each in entry} for entry in entries]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
