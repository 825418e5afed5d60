"""Several contests under one address: the page that lists them, its feed, and each contest in its folder."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from judge.contest.plan import load_plan
from judge.submissions.intake import IntakePolicy
from judge.web.kit.middleware import Metrics
from judge.web.live.front import FrontPage
from judge.web.live.serve import opened_service
from tests import forked
from tests.broadcast.logs import PAIR, accept, play_next, recorder
from tests.examples import of_evidence
from tests.forked import ForkedProcess
from tests.golden.routes import serving
from tests.publish.cups import Cup
from tests.site.browser import Browser
from tests.web.event_loop import without_store_reads
from tests.web.live.serving import serving_all
from tests.web.live.watching import entries_of, free_port, until
from tests.web.views import check_views

COMING = """
name = "next-cup"
title = "The next cup"
about = "Ours <b>next</b>"
policy = "gomocup-standard"
zone = "UTC"
contest = { starts = 2099-03-01T18:00:00 }
format = { name = "round-robin" }
"""


def started(stack: ExitStack, folder: Path, port: int, *words: str) -> ForkedProcess[str]:
    """A read-only service that listens; the stack ends it."""
    command = [sys.executable, "-m", "judge.cli", "serve", *words, "--read-only", "--listen", f"127.0.0.1:{port}"]
    process = ForkedProcess[str](command, cwd=folder, stderr=-1, text=True)
    assert process.stderr is not None
    for end in (process.stderr.close, process.wait, process.kill):
        stack.callback(end)
    said = process.stderr.readline()
    assert f" contests on http://127.0.0.1:{port}" in said, said + process.stderr.read()
    return process


def begun(stack: ExitStack, folder: Path, name: str, games: int, **options: Any) -> Callable[[], None]:
    """A contest of two games, of which the first are over; plays the next one."""
    form = 'name = "round-robin"\ngames = 2'
    cup = stack.enter_context(Cup(folder, PAIR, form=form, name=name, **options))
    log = stack.enter_context(recorder(cup))

    def play() -> None:
        accept(cup, *play_next(cup))
        log.finish()

    log.finish()
    for _ in range(games):
        play()
    return play


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a contest that is over, one that is played, and one that has not begun."""
    folder = tmp_path_factory.mktemp("front")
    with ExitStack() as stack:
        for name, games in (("last-cup", 2), ("this-cup", 1)):
            begun(stack, folder / name, name, games, about=f"About {name}.")
        (folder / "next").mkdir()
        (folder / "next/contest.toml").write_text(COMING)
        port = free_port()
        started(stack, folder, port, "last-cup", "this-cup", "next", "--title", "Our contests")
        yield f"http://127.0.0.1:{port}"


def test_loops_and_pages_of_the_front_page_read_no_store_in_the_event_loop(tmp_path: Path) -> None:
    with ExitStack() as stack:
        begun(stack, tmp_path / "this-cup", "this-cup", 1)
        (tmp_path / "next").mkdir()
        (tmp_path / "next/contest.toml").write_text(COMING)
        plans = [load_plan(tmp_path / name) for name in ("this-cup", "next")]
        hosted = [stack.enter_context(opened_service(plan, None, Metrics())) for plan in plans]
        front = FrontPage("Ours", hosted, 100_000, IntakePolicy())
        stack.enter_context(without_store_reads())
        client = stack.enter_context(serving(front, IntakePolicy(), lifespan="on"))
        until(lambda: "judge-log" in client.get("/this-cup/feed").headers, "the contest is not shown")
        for path in ("/", "/feed.xml", "/health", "/this-cup/live.html", "/this-cup/index.html", "/next-cup/live.html"):
            assert 200 == client.get(path).status_code, path


def test_page_lists_running_coming_and_past_contests(front: str) -> None:
    page = httpx.get(f"{front}/", timeout=60)

    assert 200 == page.status_code
    assert "default-src 'none'" in page.headers["content-security-policy"]
    order = [page.text.index(f">{name}</bdi></a>") for name in ("this-cup", "The next cup", "last-cup")]
    assert sorted(order) == order
    for words in ("1 of 2 games are played", "2099-03-01, 18:00 UTC", "About last-cup.", "<title>Our contests</title>"):
        assert words in page.text
    assert "Ours &lt;b&gt;next" in page.text
    assert 'href="last-cup/index.html"' in page.text
    assert 'href="../last-cup/cs/index.html"' in httpx.get(f"{front}/cs/index.html").text


def test_feed_has_each_change_of_state_newest_first(front: str) -> None:
    answer = httpx.get(f"{front}/feed.xml", timeout=60)

    assert "application/atom+xml" == answer.headers["content-type"].partition(";")[0]
    entries = entries_of(answer.content)
    assert {
        ("last-cup has begun", "last-cup/"),
        ("last-cup is over", "last-cup/"),
        ("this-cup has begun", "this-cup/"),
        ("The next cup is announced", "next-cup/"),
    } == {(entry["title"], entry["link"]) for entry in entries}
    times = [entry["updated"] for entry in entries]
    assert sorted(times, reverse=True) == times
    assert f"<updated>{times[0]}</updated>" in answer.text.partition("<entry>")[0]


def test_each_contest_is_complete_in_its_folder(front: str) -> None:
    for name, page in (("last-cup", "index.html"), ("this-cup", "live.html"), ("next-cup", "live.html")):
        found = httpx.get(f"{front}/{name}/{page}", timeout=60)
        shown = "The next cup" if name == "next-cup" else name
        assert (200, True) == (found.status_code, f"<bdi>{shown}</bdi>" in found.text), name
    assert "/this-cup/" == httpx.get(f"{front}/this-cup").headers["location"]
    assert "/last-cup/index.html" == httpx.get(f"{front}/last-cup/").headers["location"]
    assert "/this-cup/live.html" == httpx.get(f"{front}/this-cup/").headers["location"]
    feeds = [httpx.get(f"{front}/{name}/feed").headers.get("judge-log") for name in ("last-cup", "this-cup")]
    assert None not in feeds
    assert 2 == len(set(feeds))
    for path in ("next-cup/feed", "other/index.html", "last-cup/../../etc/passwd"):
        assert 404 == httpx.get(f"{front}/{path}").status_code
    with httpx.stream("GET", f"{front}/this-cup/events", timeout=60) as stream:
        assert "data: " in next(text for text in stream.iter_text() if "data:" in text)


SERVED_CUP = """
name = "spring"
about = "All leagues"
[[machines]]
name = "one"
cores = 2
[[leagues]]
name = "fast"
about = "Fast games"
policy = "gomocup-fastgame"
format = { name = "round-robin" }
contest = { starts = 2013-03-01T18:00:00Z }
[[leagues]]
name = "standard"
policy = "gomocup-standard"
format = { name = "round-robin" }
[[leagues]]
name = "finals"
policy = "gomocup-standard"
format = { name = "round-robin" }
after = "standard"
"""


@pytest.fixture(scope="module")
def served_cup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a cup: one league is over, one is played, one waits for it."""
    folder = tmp_path_factory.mktemp("cup")
    (folder / "cup.toml").write_text(SERVED_CUP)
    with ExitStack() as stack:
        for league, games in (("fast", 2), ("standard", 1)):
            begun(stack, folder / league, f"spring-{league}", games)
        port = free_port()
        started(stack, folder, port, "cup.toml")
        yield f"http://127.0.0.1:{port}"


def text_of(address: str) -> str:
    answer = httpx.get(address, timeout=60)
    assert 200 == answer.status_code, address
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    return answer.text


def row_of(page: str, league: str) -> str:
    return next(row for row in page.split("<tr>") if f"<bdi>{league}</bdi>" in row and 'scope="row"' in row)


@pytest.mark.parametrize(
    ("folder", "medals", "provisional", "note"),
    [
        ("", "Medals", "provisional", "Places of running leagues are provisional."),
        ("cs/", "Medaile", "předběžně", "Umístění v probíhajících ligách je předběžné."),
        ("zh/", "奖牌", "暂定", "进行中的联赛的名次是暂定的。"),
    ],
)
def test_front_page_of_a_cup_has_medals_and_marks_provisional_leaders(
    folder: str, medals: str, provisional: str, note: str, served_cup: str
) -> None:
    page = text_of(f"{served_cup}/{folder}index.html")

    assert page.index('<h2 id="winners">') < page.index(f'<h2 id="medals">{medals}</h2>') < page.index('id="leagues"')
    assert note in page
    winners = page.split('<article class="banner">')[1:]
    assert [False, True] == [provisional in winner for winner in winners]
    assert all(f"<bdi>{name}</bdi>" in winner for name, winner in zip(("fast", "standard"), winners, strict=True))
    top = "../" if folder else ""
    assert f'href="{top}spring-fast/{folder}index.html"' in row_of(page, "fast")
    assert f'href="{top}spring-standard/{folder}live.html"' in row_of(page, "standard")
    assert "href" not in row_of(page, "finals").partition("</tr>")[0]
    assert f'href="{top}feed.xml"' in page
    assert "cup.json" not in page


def test_agent_of_a_served_cup_has_a_page_with_all_its_leagues(served_cup: str) -> None:
    pages = [text_of(f"{served_cup}/agents/{number:03d}.html") for number in (1, 2)]

    for page in pages:
        assert "over" in row_of(page, "fast")
        assert "running" in row_of(page, "standard")
        assert "Places of running leagues are provisional." in page
        for path in re.findall(r'href="\.\./(spring-[^"]+)"', page):
            text_of(f"{served_cup}/{path}")
    assert any("<dt>Gold</dt><dd>1</dd>" in page for page in pages)
    assert "2013-03-01, 18:00" in text_of(f"{served_cup}/schedule.html")
    assert 404 == httpx.get(f"{served_cup}/agents/003.html").status_code
    assert 404 == httpx.get(f"{served_cup}/cup.json").status_code


def test_axe_finds_nothing_wrong_with_the_pages_of_a_served_cup(browser: Browser, served_cup: str) -> None:
    browser.leave()
    check_views(browser, served_cup, "index.html", "agents.html", "agents/001.html", "schedule.html")
    assert [] == browser.errors


@pytest.mark.parametrize("folder", [*of_evidence(""), "cs/"])
def test_open_page_of_a_cup_shows_a_new_result_and_a_new_league(browser: Browser, tmp_path: Path, folder: str) -> None:
    """Without a reload, and again after a restart of the service."""
    (tmp_path / "cup.toml").write_text(SERVED_CUP)
    (tmp_path / "standard").mkdir()

    def shows(words: str) -> bool:
        return words in str(browser.ask("document.querySelector('main')?.textContent"))

    with ExitStack() as stack:
        play = begun(stack, tmp_path / "fast", "spring-fast", 1)
        plan = (tmp_path / "fast/contest.toml").read_text()
        (tmp_path / "standard/contest.toml").write_text(plan.replace("spring-fast", "spring-standard"))
        port = free_port()
        process = started(stack, tmp_path, port, "cup.toml")
        browser.visit(f"http://127.0.0.1:{port}/{folder}index.html")
        assert shows("1 / 2")
        browser.ask("window.kept = 1")

        play()
        until(lambda: shows("2 / 2"), "the new result is not shown")
        play = begun(stack, tmp_path / "standard", "spring-standard", 0)
        until(lambda: shows("0 / 2"), "the league that began is not shown")
        assert 1 == browser.ask("window.kept")

        process.kill()
        process.wait()
        play()
        started(stack, tmp_path, port, "cup.toml")
        until(lambda: shows("1 / 2"), "the page does not continue after a restart")
        browser.leave()
        browser.errors.clear()  # of the time without a service


CUP = """
name = "spring"
[intake]
requests_per_minute = 100000
address_requests_per_minute = 100000
[[leagues]]
name = "fast"
policy = "gomocup-fastgame"
format = { name = "round-robin" }
[[leagues]]
name = "standard"
policy = "gomocup-standard"
format = { name = "round-robin" }
"""


def judge(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return forked.run([sys.executable, "-m", "judge.cli", *words], cwd=folder, text=True)


def test_author_submits_once_to_several_leagues_of_a_served_cup(tmp_path: Path) -> None:
    entry = '[[entries]]\npath = "house-instant"\nname = "listed"\nleagues = ["fast"]\n'
    (tmp_path / "cup.toml").write_text(CUP + entry)
    (tmp_path / "authors.txt").write_text("ada\n")
    (tmp_path / "mine.bin").write_bytes(b"good mine")
    with serving_all(tmp_path) as service:
        assert "spring" in httpx.get(f"{service.url}/").text
        made = judge(tmp_path, "tokens", "make-all", "authors.txt", "--url", service.url)
        assert 0 == made.returncode, made.stderr
        (tmp_path / "links.csv").write_text(made.stdout)
        words = ("submit", "mine.bin", "--links", "links.csv", "--wait", "--league")
        sent = judge(tmp_path, *words, "fast", "--league", "standard")
        assert 0 == sent.returncode, sent.stdout + sent.stderr
        unknown = judge(tmp_path, *words, "fats")
        assert (2, True) == (unknown.returncode, "no such league; did you mean 'fast'?" in unknown.stderr)
        (tmp_path / "mine.bin").write_bytes(b"bad mine")
        refused = judge(tmp_path, *words, "standard")
        assert (1, True) == (refused.returncode, "refused by standard" in refused.stdout), refused.stderr
        (tmp_path / "mine.bin").write_bytes(b"good listed")
        half = judge(tmp_path, *words, "fast", "--league", "standard", "--name", "listed", "--title", "Žofinka")
        assert (1, True) == (half.returncode, "passed: listed version 1\nrefused by fast" in half.stdout), half.stdout
        assert "the contest's file lists an agent called 'listed': choose another name" in half.stderr
    status = json.loads(judge(tmp_path, "contest", "status", "--json").stdout)
    entries = {name: league["entries"] for name, league in status["leagues"].items()}
    mine, listed = ({"name": name, "author": "ada"} for name in ("mine", "listed"))
    assert entries == {"fast": [mine], "standard": [listed, mine]}


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ("a/contest.toml", "b/contest.toml", "two contests are named next-cup"),
        ("next-cup.toml", "other.toml", "next-cup.toml and other.toml are in one folder: move one of them"),
    ],
)
def test_contests_that_share_a_name_or_a_folder_are_refused(tmp_path: Path, first: str, second: str, why: str) -> None:
    for path in (first, second):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(COMING.replace("next-cup", "other" if path == "other.toml" else "next-cup"))

    ran = judge(tmp_path, "serve", first, second, "--read-only", "--listen", "127.0.0.1:0")

    assert (2, True) == (ran.returncode, why in ran.stderr), ran.stderr


def test_second_service_on_a_port_is_refused_with_the_process_that_has_it(tmp_path: Path) -> None:
    (tmp_path / "contest.toml").write_text(COMING)
    with socket.create_server(("127.0.0.1", 0)) as first:
        place = f"127.0.0.1:{first.getsockname()[1]}"
        ran = judge(tmp_path, "serve", "--read-only", "--listen", place)

    assert 2 == ran.returncode
    assert f"--listen {place}: " in ran.stderr
    assert f"process {os.getpid()}, listens there: end it, or give another port" in ran.stderr
