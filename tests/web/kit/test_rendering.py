"""What is computed from records: once for all who wait, in turn, within bounds, and not for clients that have gone."""

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import ClientDisconnect

from judge.base.errors import InputError
from judge.store.files import Files
from judge.web.kit import rendering
from judge.web.kit.lanes import Lane
from judge.web.kit.rendering import ByteCache, RecordTask, RenderedResponse, Renderer
from tests.web.event_loop import in_event_loop, stays, until

CALLS: list[str] = []


def double(files: Path, digest: str, *_: object) -> bytes:
    CALLS.append(digest)
    return 2 * Files(files).get(digest)


def count_up(files: Path, digest: str, log: Path, wait_for: Path) -> bytes:
    with log.open("a") as file:
        file.write(f"{os.getpid()}\n")
    while not wait_for.exists():
        time.sleep(0.01)
    return Files(files).get(digest)[:10]


def exhaust(_files: Path, _digest: str) -> bytes:
    return b"x" * (4 * rendering.TASK_MEMORY_BYTES)


def refuse(_files: Path, _digest: str) -> bytes:
    raise InputError("damaged")


def goes_with(event: asyncio.Event) -> Callable[[], Awaitable[Any]]:
    async def receive() -> Any:
        await event.wait()
        return {"type": "http.disconnect"}

    return receive


@pytest.fixture
def small(tmp_path: Path) -> RecordTask:
    return RecordTask(tmp_path, Files(tmp_path).put(b"record"), double)


@pytest.fixture
def large(tmp_path: Path) -> RecordTask:
    digest = Files(tmp_path).put(bytes(rendering.LARGE_RECORD_BYTES + 1))
    return RecordTask(tmp_path, digest, count_up, (tmp_path / "log", tmp_path / "go"))


@in_event_loop
async def test_task_runs_once_for_all_who_ask_at_once_or_later(small: RecordTask) -> None:
    CALLS.clear()
    with closing(Renderer()) as renderer:
        found = await asyncio.gather(*(renderer.render(stays, f"10.0.0.{n}", small) for n in range(50)))
        assert [b"recordrecord"] * 50 == found
        assert b"recordrecord" == await renderer.with_same_caches().render(stays, "x", small)
    assert 1 == len(CALLS)


def test_tasks_with_other_arguments_have_other_results(small: RecordTask) -> None:
    assert small.key != RecordTask(small.files, small.digest, double, (1,)).key
    assert small.key == RecordTask(small.files, small.digest, double).key


@in_event_loop
async def test_large_record_is_read_once_in_a_process_for_all_who_wait(large: RecordTask, tmp_path: Path) -> None:
    with closing(Renderer()) as renderer:
        asked = [asyncio.create_task(renderer.render(stays, f"10.0.0.{n}", large)) for n in range(20)]
        await until((tmp_path / "log").exists)
        (tmp_path / "go").touch()
        found = await asyncio.gather(*asked)
        (path,) = set(found)
        assert isinstance(path, Path)
        assert bytes(10) == path.read_bytes()
        assert path == await renderer.render(stays, "x", large)
    assert not path.exists()
    pids = (tmp_path / "log").read_text().split()
    assert 1 == len(pids)
    assert str(os.getpid()) not in pids


@in_event_loop
async def test_process_ends_when_its_last_client_goes(large: RecordTask, tmp_path: Path) -> None:
    gone = asyncio.Event()
    with closing(Renderer()) as renderer:
        asked = [asyncio.create_task(renderer.render(goes_with(gone), f"10.0.0.{n}", large)) for n in range(3)]
        await until(lambda: (tmp_path / "log").exists() and bool((tmp_path / "log").read_text()))
        pid = int((tmp_path / "log").read_text())
        gone.set()
        for each in asked:
            with pytest.raises(ClientDisconnect):
                await each
        await until(lambda: not Path(f"/proc/{pid}").exists())
        assert not renderer._flights


@in_event_loop
async def test_small_pages_do_not_wait_for_a_large_record(large: RecordTask, small: RecordTask, tmp_path: Path) -> None:
    with closing(Renderer()) as renderer:
        waiting = asyncio.create_task(renderer.render(stays, "10.0.0.1", large))
        await until((tmp_path / "log").exists)
        assert b"recordrecord" == await renderer.render(stays, "10.0.0.2", small)
        (tmp_path / "go").touch()
        await waiting


@in_event_loop
async def test_record_that_needs_too_much_memory_is_refused(large: RecordTask) -> None:
    task = RecordTask(large.files, large.digest, exhaust)
    with closing(Renderer()) as renderer, pytest.raises(InputError, match="too large to be shown"):
        await renderer.render(stays, "10.0.0.1", task)


@pytest.mark.parametrize("is_large", [False, True])
@in_event_loop
async def test_error_reaches_all_who_wait_and_is_not_kept(is_large: bool, large: RecordTask, small: RecordTask) -> None:
    task = RecordTask(large.files, large.digest if is_large else small.digest, refuse)
    with closing(Renderer()) as renderer:
        for _ in range(2):
            asked = (renderer.render(stays, "10.0.0.1", task) for _ in range(2))
            found = await asyncio.gather(*asked, return_exceptions=True)
            assert ["damaged", "damaged"] == [str(each) for each in found]


@in_event_loop
async def test_networks_get_their_turns_alternately() -> None:
    lane, order = Lane(), list[str]()

    async def take(client: str) -> None:
        async with lane.turn(client):
            order.append(client)
            await asyncio.sleep(0)

    await asyncio.gather(*map(take, [*["10.0.0.1"] * 6, "10.0.1.1", "10.0.2.1"]))
    assert ["10.0.0.1", "10.0.0.1", "10.0.1.1", "10.0.2.1"] == order[:4]


@in_event_loop
async def test_client_that_goes_gives_its_turn_away() -> None:
    lane = Lane()
    async with lane.turn("a"):
        waiting = [asyncio.create_task(lane.turn(name).__aenter__()) for name in "bc"]
        await asyncio.sleep(0)
        waiting[0].cancel()
    await waiting[1]
    assert not lane._is_free
    with contextlib.suppress(asyncio.CancelledError):
        await waiting[0]


@in_event_loop
async def test_clients_that_go_leave_one_thread_at_work() -> None:
    """A thread cannot be cancelled: its turn lasts until it has ended."""
    lane, go, working = Lane(), threading.Event(), list[int]()
    most = 0

    def work() -> None:
        nonlocal most
        working.append(1)
        most = max(most, len(working))
        go.wait()
        working.pop()

    clients = []
    for number in range(20):
        gone = asyncio.Event()
        clients.append(asyncio.create_task(lane.run(goes_with(gone), f"10.0.{number}.1", work)))
        await until(lambda: len(working) == len(clients) or bool(lane._waiting))
        gone.set()
        await asyncio.wait(clients)
    go.set()
    found = await asyncio.gather(*clients, return_exceptions=True)
    async with lane.turn("10.0.0.1"):
        assert ([], 1) == (working, most)
    assert all(isinstance(each, ClientDisconnect) for each in found)


def test_cache_keeps_no_more_bytes_than_it_may() -> None:
    dropped: list[str] = []

    class Noting(ByteCache[str]):
        def drop(self, value: str) -> None:
            dropped.append(value)

    cache = Noting(10)
    for name in "abc":
        cache.put(name, name, 4)
    assert ["a"] == dropped
    assert cache.get("b") == "b"
    cache.put("d", "d", 4)
    assert ["a", "c"] == dropped
    cache.put("e", "e", 11)
    assert ["a", "c", "b", "d", "e"] == dropped
    assert 0 == cache._bytes


@in_event_loop
async def test_download_of_a_large_record_is_sent_from_a_file(large: RecordTask, tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    with closing(Renderer()) as renderer:
        response = RenderedResponse(renderer, large, "application/json", {"content-disposition": "attachment"})
        scope = {"type": "http", "method": "GET", "headers": [], "client": ("10.0.0.1", 1)}
        await response(scope, stays, send)
    assert 200 == sent[0]["status"]
    assert bytes(10) == b"".join(message.get("body", b"") for message in sent[1:])
