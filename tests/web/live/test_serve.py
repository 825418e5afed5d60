"""The service over the wire: its pages, feed and stream of events."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest

from tests.broadcast.logs import PAIR, accept, events
from tests.examples import evidence, sized
from tests.patience import PATIENCE_S
from tests.publish.cups import SECRET
from tests.web.live.watching import TLS, Watched, tell, until, watched
from tests.web.service import INLINE

CYCLES = sized(8, 60)
"""How many games are played, with as many viewers, before what is left of them is counted, and again after it; 2000 are
those of ten hours."""

PAGES = (
    *("live.html", "index.html", "crosstable.html", "rounds.html", "rounds/001.html", "journal.html", "fairness.html"),
    "verify.html",
    *("agents/001.html", "games/00001.html", "games/00002.html"),
)


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """One game is over, and one is played."""
    more = "[broadcast]\nrequests_per_minute = 100000\n"
    with watched(tmp_path_factory.mktemp("contest"), PAIR, games=4, more=more) as found:
        found.end(*found.play())
        _, _, frames = found.play()
        tell(frames, 12)
        yield found


@contextmanager
def stream(contest: Watched, path: str, **headers: str) -> Iterator[Iterator[dict[str, str]]]:
    """The events of a stream, by their fields."""
    with httpx.stream("GET", f"{contest.url}{path}", headers=headers, timeout=60, verify=TLS) as answer:
        yield events_of(answer.iter_lines())


def events_of(lines: Iterator[str]) -> Iterator[dict[str, str]]:
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if name and value:
            fields[name] = value
        elif fields and not line:
            yield fields
            fields = {}


def numbers(answer: httpx.Response) -> list[int]:
    return [json.loads(line)["seq"] for line in answer.text.splitlines()]


def test_every_page_and_file_that_a_page_links_to_is_there(contest: Watched) -> None:
    seen, waiting = set(), ["live.html"]
    while waiting:
        path = waiting.pop()
        seen.add(path)
        answer = contest.get(path)
        assert 200 == answer.status_code, path
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        assert not INLINE.search(answer.content), path
        assert not re.search(r'(?:src|href)="(?:https?:)?//', answer.text), path
        for link in re.findall(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"', answer.text):
            target = urljoin(path, link)
            # The pages of the other languages have the same links: those that English ones lead to are enough.
            if target not in seen and not path.startswith(("cs/", "zh/")):
                waiting.append(target)
    assert len(seen) > 20


@pytest.mark.parametrize(
    "path",
    [
        *("../contest.toml", "..%2fcontest.db", "contest.db", "log.jsonl", "lock", "files/", "data/../x.json"),
        *("events.ndjson/../contest.db", "games/..%2f..%2fcontest.toml", "records/00002.json", "games/99999.html"),
        *("games/00001.html/x", "%00", "games/%0d%0aset-cookie:x.html", "a" * 300, "agents/999.html", "organiser.key"),
    ],
)
def test_private_pages_do_not_exist_publicly(contest: Watched, path: str) -> None:
    with socket.create_connection(("127.0.0.1", contest.port)) as connection:
        connection.sendall(f"GET /{path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))

    assert answer.split(b" ")[1] in (b"404", b"400", b"422"), answer[:200]
    assert b"set-cookie" not in answer.lower()


def test_nothing_private_is_in_any_answer(contest: Watched) -> None:
    for path in (*PAGES, "feed", "records/00001.json", "contest.json", "data/games.json"):
        assert SECRET not in contest.get(path).text, path
    assert str(contest.cup.contest.secret) not in contest.get("index.html").text + contest.get("feed").text


def test_the_feed_has_every_event_once_in_whole_lines_however_it_is_asked(contest: Watched) -> None:
    last = events(contest.cup)[-1]["seq"]
    got: list[int] = []
    while some := numbers(contest.get(f"feed?since={got[-1] if got else 0}&limit=7")):
        assert len(some) <= 7
        got += some

    assert list(range(1, last + 1)) == got
    answer = contest.get("feed")
    assert got == numbers(answer)
    assert events(contest.cup)[0]["log"] == answer.headers["judge-log"]
    of_two = [json.loads(line) for line in contest.get("feed?game=2").text.splitlines()]
    assert {2} == {event["game"] for event in of_two if "game" in event}
    types = {json.loads(line)["type"] for line in contest.get("feed?moves=false").text.splitlines()}
    assert "ended" in types
    assert not types & {"move", "turn", "search", "playing"}


def test_a_stream_begins_where_the_reader_was_and_beats(contest: Watched) -> None:
    last = events(contest.cup)[-1]["seq"]
    with stream(contest, "/events?since=2", **{"last-event-id": str(last - 3)}) as received:
        assert "hello" == next(received)["event"]
        assert [str(number) for number in range(last - 2, last + 1)] == [next(received)["id"] for _ in range(3)]
        beat = next(received)

    assert "beat" == beat["event"]
    assert {"now_ms", "viewers", "log"} == json.loads(beat["data"]).keys()


@pytest.mark.parametrize("since", [10_000, 1 << 50])
def test_reader_of_another_log_has_to_begin_again(contest: Watched, since: int) -> None:
    with stream(contest, f"/events?since={since}") as received:
        assert "again" == next(received)["event"]


def descriptors(contest: Watched) -> int:
    return len(list(Path(f"/proc/{contest.process.pid}/fd").iterdir()))


def test_hours_of_games_and_viewers_leave_nothing(tmp_path: Path) -> None:
    """Games begin and end, viewers come and go: descriptors and memory of the service stay what they were."""
    more = "[broadcast]\nrequests_per_minute = 1000000\n"
    with watched(tmp_path, PAIR, games=2 * CYCLES, more=more) as contest:
        since = 0

        def pass_(count: int) -> int:
            nonlocal since
            for number in range(count):
                game, file, frames = contest.play(3)
                path = ("live.html", f"games/{game.number:05d}.html", PAGES[number % len(PAGES)])[number % 3]
                page = contest.get(path)
                assert page.status_code in (200, 404)
                shows = re.search(r'data-seq="(\d+)"', page.text)
                since = since if shows is None else int(shows[1])
                with stream(contest, f"/events?game={game.number}&since={since}") as received:
                    assert "hello" == next(received)["event"]
                    tell(frames)
                    accept(contest.cup, game, file)
                    contest.recorder.read_store()
            status = Path(f"/proc/{contest.process.pid}/status").read_text()
            return int(status.partition("VmRSS:")[2].split()[0])

        before = pass_(CYCLES)
        open_ = descriptors(contest)
        after = pass_(CYCLES)

        until(lambda: descriptors(contest) <= open_, "descriptors are left")
        # And a game that is over stays in the tables: some 9 KiB.
        assert after - before < 4096 + 12 * CYCLES, (before, after)


def test_forwarded_addresses_count_only_where_a_proxy_is_named(tmp_path: Path) -> None:
    more = "[broadcast]\nrequests_per_minute = 5\n"
    with watched(tmp_path, PAIR, more=more) as contest:

        def ask(number: int) -> int:
            headers = {"x-forwarded-for": f"10.0.0.{number}"}
            return httpx.get(f"{contest.url}/feed", headers=headers, timeout=PATIENCE_S).status_code

        assert 429 in [ask(number) for number in range(8)]
        contest.kill()
        contest.start("--proxy", "127.0.0.1", "--root-path", "/cup")
        assert {200} == {ask(number) for number in range(8)}
        assert 429 in [ask(1) for _ in range(8)]
        top = httpx.get(f"{contest.url}/", headers={"x-forwarded-for": "10.0.1.1"}, timeout=PATIENCE_S)
        assert "/cup/live.html" == top.headers["location"]


@evidence
def test_a_page_of_64_games_weighs_no_more_than_any_other(tmp_path: Path) -> None:
    with watched(tmp_path, PAIR, games=64) as contest:
        for _ in range(64):
            for _ in contest.play(2)[2]:
                pass
        until(lambda: contest.get("live.html").text.count("<h2><a href") == 64, "the games are not shown")
        with httpx.stream("GET", f"{contest.url}/live.html", timeout=PATIENCE_S) as answer:
            assert sum(map(len, answer.iter_raw())) < 150_000
