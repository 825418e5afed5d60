"""The service over the wire: it only reads, says its limits, and nobody who watches can hold it up."""

import json
import re
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest

from judge.base.errors import InputError
from judge.contest.plan import load_plan
from judge.web.live.serve import hub_of
from tests.broadcast.logs import PAIR, accept, events, play_next
from tests.examples import sized
from tests.patience import PATIENCE_S
from tests.publish.cups import SECRET, Cup
from tests.web.live.watching import Watched, until, watched

CYCLES = sized(15, 60)
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
    more = "[broadcast]\nconnections_per_address = 20\nrequests_per_minute = 100000\n"
    with watched(tmp_path_factory.mktemp("contest"), PAIR, games=4, more=more) as found:
        game, file, told = found.play()
        for _ in told:
            pass
        found.end(game, file)
        _, _, told = found.play()
        for _ in range(12):
            next(told)
        yield found


class Stream:
    """A reader of server-sent events."""

    def __init__(self, contest: Watched, path: str = "/events", **headers: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", contest.port, timeout=60)
        self._connection.request("GET", path, headers={name.replace("_", "-"): text for name, text in headers.items()})
        self._answer = self._connection.getresponse()

    def event(self) -> dict[str, str]:
        """The next event by its fields."""
        fields: dict[str, str] = {}
        while True:
            line = self._answer.readline()
            assert line, "the stream ended"
            if line == b"\n" and fields:
                return fields
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name and value and not line.startswith(b":"):
                fields[name] = value

    def close(self) -> None:
        self._answer.close()
        self._connection.close()


def unread(contest: Watched) -> socket.socket:
    """A reader with a small window that reads nothing."""
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    slow.connect(("127.0.0.1", contest.port))
    slow.sendall(b"GET /events HTTP/1.1\r\nHost: here\r\n\r\n")
    return slow


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
        for link in re.findall(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"', answer.text):
            target = urljoin(path, link)
            # The pages of the other languages have the same links: those that English ones lead to are enough.
            if target not in seen and not path.startswith(("cs/", "zh/")):
                waiting.append(target)
    assert len(seen) > 20


def test_every_answer_has_a_strict_policy_and_no_page_an_inline_script(contest: Watched) -> None:
    for path in (*PAGES, "feed", "live.js", "nothing-here", "openapi.json"):
        answer = contest.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "unsafe" not in policy, path
        assert "nosniff" == answer.headers["x-content-type-options"], path
    for path in PAGES:
        page = contest.get(path).text
        assert not re.search(r"<script(?![^>]*\bsrc=)", page), path
        assert not re.search(r"<[^>]+\s(on\w+|style)=", page), path
        assert not re.search(r'(?:src|href)="(?:https?:)?//', page), path


def test_the_public_can_change_nothing(contest: Watched) -> None:
    before = (contest.cup.folder / "events.ndjson").read_bytes()
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        for path in ("feed", "live.html", "games/00001.html", "submissions"):
            assert httpx.request(method, f"{contest.url}/{path}").status_code in (404, 405), (method, path)

    assert before == (contest.cup.folder / "events.ndjson").read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        *(
            "../contest.toml",
            "..%2fcontest.db",
            "contest.db",
            "log.jsonl",
            "lock",
            "files/",
            "events.ndjson/../contest.db",
        ),
        *(
            "games/..%2f..%2fcontest.toml",
            "records/00002.json",
            "games/99999.html",
            "games/00001.html/x",
            "data/../x.json",
        ),
        *("%00", "games/%0d%0aset-cookie:x.html", "a" * 300, "agents/999.html", "organiser.key"),
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


@pytest.mark.parametrize(
    "query", ["since=-1", "since=x", "since=1e9", "limit=0", "limit=1001", "game=-1", f"since={1 << 60}"]
)
def test_unsupported_requests_are_refused(contest: Watched, query: str) -> None:
    assert 422 == contest.get(f"feed?{query}").status_code


def test_the_description_names_the_feed(contest: Watched) -> None:
    paths = contest.get("openapi.json").json()["paths"]

    assert {"/feed", "/events", "/health", "/health/live", "/health/ready"} == set(paths)
    assert {"ok": True} == contest.get("health").json()
    assert "application/x-ndjson" in paths["/feed"]["get"]["responses"]["200"]["content"]


def test_a_stream_begins_where_the_reader_was_and_beats(contest: Watched) -> None:
    last = events(contest.cup)[-1]["seq"]
    stream = Stream(contest, "/events?since=2", Last_Event_ID=str(last - 3))
    assert "hello" == stream.event()["event"]
    assert [str(number) for number in range(last - 2, last + 1)] == [stream.event()["id"] for _ in range(3)]
    beat = stream.event()
    stream.close()

    assert "beat" == beat["event"]
    assert {"now_ms", "viewers", "log"} == json.loads(beat["data"]).keys()


@pytest.mark.parametrize("since", [10_000, 1 << 50])
def test_reader_of_another_log_has_to_begin_again(contest: Watched, since: int) -> None:
    stream = Stream(contest, f"/events?since={since}")

    assert "again" == stream.event()["event"]
    stream.close()


def test_connections_per_address_are_limited_exactly(contest: Watched) -> None:
    streams = [Stream(contest) for _ in range(20)]
    for stream in streams:
        assert "hello" == stream.event()["event"]
    with socket.create_connection(("127.0.0.1", contest.port)) as refused:
        refused.settimeout(60)
        try:
            refused.sendall(b"GET /feed HTTP/1.1\r\nHost: here\r\n\r\n")
            assert b"" == refused.recv(100)
        except ConnectionError:
            pass
    for stream in streams:
        stream.close()
    until(lambda: _answers(contest), "connections that were closed are still counted")


def _answers(contest: Watched) -> bool:
    try:
        return contest.get("feed?limit=1").status_code == 200
    except httpx.TransportError:
        return False


def descriptors(contest: Watched) -> int:
    return len(list(Path(f"/proc/{contest.process.pid}/fd").iterdir()))


def test_viewer_that_does_not_read_is_dropped_without_delaying_others(tmp_path: Path) -> None:
    """A reader with a tiny window that stops, and another one that reads all."""
    with watched(tmp_path, PAIR, games=400) as contest:
        slow, quick = unread(contest), Stream(contest)
        assert "hello" == quick.event()["event"]
        ids: list[int] = []

        def read() -> None:
            while not done.is_set():
                event = quick.event()
                if "id" in event:
                    ids.append(int(event["id"]))

        before = descriptors(contest)
        done = threading.Event()
        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        rounds = 0
        while descriptors(contest) >= before:
            game, file, told = contest.play(3)
            for _ in told:
                pass
            accept(contest.cup, game, file)
            contest.recorder.read_store()
            rounds += 1
            assert rounds < 400, "the slow reader is still there"
        target = events(contest.cup)[-1]["seq"]
        until(lambda: bool(ids) and ids[-1] >= target, "the quick reader lacks something")
        done.set()
        thread.join()  # a beat comes every few seconds
        slow.close()
        quick.close()

        assert list(range(ids[0], ids[-1] + 1)) == ids


def test_hours_of_games_and_viewers_leave_nothing(tmp_path: Path) -> None:
    """Games begin and end, viewers come and go: descriptors and memory of the service stay what they were."""
    more = "[broadcast]\nrequests_per_minute = 1000000\n"
    with watched(tmp_path, PAIR, games=2 * CYCLES, more=more) as contest:
        since = 0

        def pass_(count: int) -> int:
            nonlocal since
            for number in range(count):
                game, file, told = contest.play(3)
                path = ("live.html", f"games/{game.number:05d}.html", PAGES[number % len(PAGES)])[number % 3]
                page = contest.get(path)
                assert page.status_code in (200, 404)
                shows = re.search(r'data-seq="(\d+)"', page.text)
                since = since if shows is None else int(shows[1])
                stream = Stream(contest, f"/events?game={game.number}&since={since}")
                assert "hello" == stream.event()["event"]
                for _ in told:
                    pass
                accept(contest.cup, game, file)
                contest.recorder.read_store()
                stream.close()
            status = Path(f"/proc/{contest.process.pid}/status").read_text()
            found = re.search(r"VmRSS:\s+(\d+)", status)
            assert found is not None
            return int(found[1])

        # The last events are stored, the last 256 pages of games that were read, and what the pages show of each game:
        # the first two are as many as they ever are after 800 games.
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


def test_contest_that_has_not_begun_is_reported(tmp_path: Path) -> None:
    with Cup(tmp_path / "cup", PAIR) as cup:
        planned = load_plan(cup.folder)
    (cup.folder / "contest.db").unlink()
    with pytest.raises(InputError, match="has not begun"):
        hub_of(planned)


def test_without_submissions_it_waits_for_a_contest_that_has_not_begun(tmp_path: Path) -> None:
    with watched(tmp_path, PAIR) as contest:
        contest.kill()
        store = contest.cup.folder / "contest.db"
        store.rename(tmp_path / "contest.db")
        contest.start()
        page = contest.get("live.html").text
        assert "The contest has not begun" in page
        assert "author/index.html" not in page
        assert not store.exists()
        (tmp_path / "contest.db").rename(store)
        until(lambda: "The contest has not begun" not in contest.get("live.html").text, "the pages are not there")


def test_result_is_on_the_pages_as_soon_as_in_the_log(tmp_path: Path) -> None:
    with watched(tmp_path, PAIR) as contest:
        contest.get("index.html")
        game, file = play_next(contest.cup)
        contest.end(game, file)
        until(lambda: ">1</b> game<" in contest.get("index.html").text, "the result is not shown")
        assert 200 == contest.get("games/00001.html").status_code


def test_a_page_of_64_games_weighs_no_more_than_any_other(tmp_path: Path) -> None:
    with watched(tmp_path, PAIR, games=64) as contest:
        for _ in range(64):
            for _ in contest.play(2)[2]:
                pass
        until(lambda: contest.get("live.html").text.count("<article") == 64, "the games are not shown")
        with httpx.stream("GET", f"{contest.url}/live.html", timeout=PATIENCE_S) as answer:
            assert sum(map(len, answer.iter_raw())) < 150_000
