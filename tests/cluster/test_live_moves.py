"""The moves of a game on another machine are told while it is played, and by nobody but the worker that plays it."""

import asyncio
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import Client, Worker

from judge.broadcast.pipe import BEGIN, TRANSCRIPT, Announced, frames, sent_ms
from judge.cluster.bound_scheduler import BoundScheduler
from judge.cluster.connection import NO_PAGES
from judge.cluster.live_moves import MAX_PLAYS, FollowedGame, GameClient, LiveMoves, relay_moves
from judge.cluster.security import invite, make_keys, parse_address, read_join_file, security_of
from judge.record.spec import RecordFile
from judge.record.transcript import Entry, EntryKind, unpack_entries, unseal
from judge.referee.replay import rejoined
from tests.cluster.machines import Cup, Machines
from tests.patience import PATIENCE_S, until


class Listener:
    """Where a recorder would listen: what it is told, connection by connection."""

    def __init__(self, address: Path) -> None:
        self.address = address
        self.connections: list[tuple[Announced, list[Entry]]] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(address))
        self._socket.listen(8)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def answers(self, connection: int) -> int:
        """How many lines of its agents have come."""
        entries = self.connections[connection][1] if len(self.connections) > connection else []
        return sum(entry.kind is EntryKind.READ for entry in entries)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._hear, args=(connection,), daemon=True).start()

    def _hear(self, connection: socket.socket) -> None:
        read, entries = bytearray(), list[Entry]()
        with connection:
            while data := connection.recv(1 << 16):
                read += data
                for kind, frame in frames(read):
                    if kind == BEGIN:
                        self.connections.append((Announced.model_validate_json(frame), entries))
                    else:
                        entries.extend(unpack_entries(sent_ms(frame)[1]))


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    with closing(Listener(tmp_path / "listener")) as found:
        yield found


@pytest.fixture
def cup(cup: Cup, listener: Listener, monkeypatch: pytest.MonkeyPatch) -> Cup:
    """Its games are told to the listener."""
    job = cup.contest.job
    monkeypatch.setattr(cup.contest, "job", lambda game, _=None: job(game, listener.address))
    return cup


@pytest.mark.docker
def test_broadcast_game_restarts_when_its_worker_is_lost(cup: Cup, machines: Machines, listener: Listener) -> None:
    machines.fix("w1", "w2")
    machines.wait_for_scheduler()
    cup.store.schedule("cup", cup.games(1, 1))
    lost: list[str] = []

    def lose_it() -> None:
        lost.extend(name for name in machines.workers if "game taken" in machines.says(name))
        worker = machines.workers[lost[0]]
        worker.kill()
        worker.wait()

    with closing(cup.cluster(machines)) as cluster:
        cup.play_in_steps(
            cluster,
            # It is in its first turn, and waits at the gate: what was told came before the end.
            (lambda: listener.answers(0) > 0 and cup.waiting() > 0, lose_it),
            (lambda: listener.answers(1) > 0, cup.open_gate),
        )

    [result] = cup.store.results("cup")
    file = RecordFile.model_validate_json(cup.files.get(result.record))
    assert [file.record.placement.host] != lost
    assert [(1, 1, 1), (1, 1, 2)] == [
        (announced.game, announced.attempt, announced.play) for announced, _ in listener.connections
    ]
    assert all(announced.spec == file.record.spec for announced, _ in listener.connections)
    # All of it came, of the play that counts; and of the other one no more than its beginning.
    whole_game = [(entry.ns, entry.seat, entry.kind) for entry in rejoined(unseal(file.transcript))]
    entries = [(entry.ns, entry.seat, entry.kind) for entry in listener.connections[1][1]]
    assert whole_game == entries
    assert len(listener.connections[0][1]) < len(entries)


def followed(cup: Cup, listener: Listener) -> FollowedGame:
    cup.store.schedule("cup", cup.games(1, 1))
    issued = cup.store.issue("cup", "")
    assert issued
    return FollowedGame(cup.contest.job(issued), listener.address)


def told_by_a_game(*answers: bytes) -> bytes:
    """What the process of a game writes to its worker's socket."""
    packed = [struct.pack("<QbcI", number, 0, b"<", len(data)) + data for number, data in enumerate(answers)]
    parts = [(BEGIN, b"{}"), *((TRANSCRIPT, bytes(8) + each) for each in packed)]
    return b"".join(struct.pack("<cI", kind, len(data)) + data for kind, data in parts)


def test_only_the_worker_that_began_is_heard_and_nothing_out_of_order(cup: Cup, listener: Listener) -> None:
    game, moves = followed(cup, listener), LiveMoves()
    moves.follow("t-1", game)

    def say(worker: str, begin: int, data: bytes, task: str = "t-1") -> None:
        moves.receive((0.0, {"task": task, "begin": begin, "data": data, "worker": worker}))

    data = told_by_a_game(b"one", b"two", b"three")
    half = len(data) // 2
    say("w1", 0, data[:half])
    say("w2", half, data[half:])  # another worker
    say("w1", half + 1, data[half + 1 :])  # a piece is missing
    say("w1", half, data[half:], task="t-2")  # nobody's
    say("w1", half, data[half:])
    until(lambda: listener.answers(0) == 3, "all that it says")
    say("w2", 0, data)  # it was given the game
    say("w1", len(data), told_by_a_game(b"four"))
    until(lambda: listener.answers(1) == 3, "all that the next one says")
    moves.forget("t-1")
    say("w2", len(data), told_by_a_game(b"four"))

    assert [1, 2] == [announced.play for announced, _ in listener.connections]
    assert [[b"one", b"two", b"three"]] * 2 == [
        [entry.data for entry in entries] for _, entries in listener.connections
    ]


def test_a_worker_that_begins_without_an_end_is_not_heard_for_ever(cup: Cup, listener: Listener) -> None:
    game, moves = followed(cup, listener), LiveMoves()
    moves.follow("t-1", game)

    for number in range(MAX_PLAYS + 5):
        moves.receive((0.0, {"task": "t-1", "begin": 0, "data": told_by_a_game(b"one"), "worker": "w1"}))
        last = min(number, MAX_PLAYS - 1)
        until(partial(listener.answers, last), "what it says")
    moves.close()

    assert list(range(1, MAX_PLAYS + 1)) == [announced.play for announced, _ in listener.connections]


@pytest.mark.parametrize(
    "said",
    [
        None,
        {"task": "t-2"},
        {"begin": "0"},
        {"begin": -1},
        {"data": "text"},
        {"more": 1},
        {"data": bytes(1 << 19)},
        {"data": TRANSCRIPT + struct.pack("<I", 3) + b"abc"},
        {"data": TRANSCRIPT + struct.pack("<I", 1 << 31)},
    ],
)
def test_invalid_piece_is_dropped(cup: Cup, listener: Listener, said: dict[str, Any] | None) -> None:
    moves = LiveMoves()
    moves.follow("t-1", followed(cup, listener))

    valid = {"task": "t-1", "begin": 0, "data": told_by_a_game(b"one"), "worker": "w1"}
    moves.receive((0.0, said and valid | said))
    moves.close()

    assert [] == listener.connections


def test_game_that_ends_early_or_abruptly_keeps_no_caller_waiting(tmp_path: Path) -> None:
    sent: list[tuple[int, bytes]] = []

    class Client(GameClient):
        def send_moves(self, begin: int, data: bytes) -> None:
            sent.append((begin, data))

    for number, words in enumerate([b"", b"half a fra"]):
        folder = tmp_path / str(number)
        folder.mkdir()
        with relay_moves(Client(), folder) as address:
            if words:
                connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                connection.connect(str(address))
                connection.sendall(words)
        # The connection is still open: a process that was left behind may have it.

    assert [(0, b"half a fra")] == sent
    connection.close()


def test_worker_reports_its_games_only_to_their_contest(tmp_path: Path) -> None:
    """By the real messages of dask's, over TLS: one of two workers tells of what the other one plays."""
    (contest,) = make_keys(tmp_path / "keys", ["contest"], 1)
    files = invite(tmp_path / "keys", ["n1", "n2"], parse_address("tls://127.0.0.1:8786"), 1)
    with dask.config.set({"temporary-directory": str(tmp_path)}):
        heard = asyncio.run(tell_of_each_other(contest, files))

    assert {("n1", b"what it plays"), ("n2", b"what it plays")} == set(heard)
    assert 2 == len(heard)


TOLD = threading.Event()


def play_until_all_is_told() -> None:
    TOLD.wait(PATIENCE_S)


async def tell_of_each_other(contest: Path, files: Sequence[Path]) -> list[tuple[str, bytes]]:
    """What the client of a contest hears: from whom, and what."""
    loopback: dict[str, Any] = {"host": "127.0.0.1", "port": 0, "protocol": "tls://", "dashboard_address": NO_PAGES}
    security = security_of(parse_address("tls://127.0.0.1"), contest, takes_workers=True)
    heard: list[tuple[str, bytes]] = []
    async with AsyncExitStack() as stack:
        scheduler = await stack.enter_async_context(BoundScheduler(security=security, dashboard=False, **loopback))
        options = {"nthreads": 1, "resources": {"slot": 1}, **loopback}
        workers = [
            await stack.enter_async_context(
                Worker(scheduler.address, name=name, security=read_join_file(file).security(), **options)
            )
            for name, file in zip(("n1", "n2"), files, strict=True)
        ]
        names = {worker.address: str(worker.name) for worker in workers}
        client = await stack.enter_async_context(Client(scheduler.address, security=security, asynchronous=True))
        client.subscribe_topic("judge-0", lambda event: heard.append((names[event[1]["worker"]], event[1]["data"])))
        tasks = [
            client.submit(play_until_all_is_told, key=f"judge-0-{number}", workers=[worker.address], pure=False)
            for number, worker in enumerate(workers)
        ]
        while not all(worker.state.executing for worker in workers):
            await asyncio.sleep(0.01)
        for number, worker in enumerate(workers):
            for topic, task, data in (
                ("judge-0", f"judge-0-{1 - number}", b"what another one plays"),
                ("judge-0", "judge-0-9", b"what nobody plays"),
                ("judge-1", f"judge-0-{number}", b"to another contest"),
                (["judge-0", "judge-1"], f"judge-0-{number}", b"to several"),
                ("judge-0", f"judge-0-{number}", "no bytes"),
                ("judge-0", f"judge-0-{number}", b"what it plays"),
            ):
                worker.log_event(topic, {"task": task, "begin": 0, "data": data})
        while len(heard) < len(workers):
            await asyncio.sleep(0.01)
        TOLD.set()
        await client.gather(tasks)
    return heard
