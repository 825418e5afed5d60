"""Before a contest begins: its public pages, its deadlines, and a service that starts it at the time of its file."""

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from judge.contest.contest import open_store
from judge.contest.entries import intake_directory
from judge.contest.plan import load_plan
from judge.contest.window_keeper import PlanFile
from judge.site.pages import PagePlace
from judge.store.tokens import TokenRole
from judge.store.types import ANNOUNCED
from judge.submissions.service import IntakeDirectory
from judge.transparency.keys import KEY_FILE, make_key
from judge.web.live.app import WaitingContest
from judge.web.live.pages import LivePages
from tests.broadcast.logs import recorder
from tests.patience import PATIENCE_S
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.site.browser import Browser
from tests.web.intake.conftest import Service, ended, make_contest, make_token, send
from tests.web.live.serving import serving_all
from tests.web.live.watching import until
from tests.web.views import check_views

STARTS = datetime(2090, 3, 1, 18, 30, tzinfo=UTC)
MORE = f"""
uploads_per_hour = 0
requests_per_minute = 100000
[contest]
starts = {STARTS.isoformat()}
[[agents]]
path = "house-instant"
name = "zero"
"""
ABOUT = "Weekend cup of freestyle gomoku"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> IntakeDirectory:
    folder = tmp_path_factory.mktemp("cup")
    make_key(folder / KEY_FILE)
    found = make_contest(folder, MORE)
    plan = folder / "contest.toml"
    plan.write_text(f'about = "{ABOUT}"\n{plan.read_text()}')
    return found


@pytest.fixture(scope="module")
def service(directory: IntakeDirectory) -> Iterator[Service]:
    """The service of a contest that waits. What a test changes it changes back."""
    with serving_all(directory.folder) as running:
        yield running


def page(service: Service, path: str = "index.html") -> str:
    answer = httpx.get(f"{service.url}/{path}", timeout=PATIENCE_S)
    assert 200 == answer.status_code, path
    return answer.text


def test_page_has_title_rules_entries_moments_and_commitment(service: Service, directory: IntakeDirectory) -> None:
    with service.client(make_token(directory, "ada")) as ada:
        numbers = [send(ada, content) for content in ("good five", "good second five", "bad six")]
        for number in numbers:
            ended(ada, number)
        shown = page(service)
        for number in numbers:
            ada.delete(f"/submissions/{number}")
    planned = load_plan(directory.folder)
    with closing(open_store(planned)) as store:
        (announced,) = [line for line in store.leaves("cup", 0, 100) if line.event == ANNOUNCED]

    facts = dict(re.findall(r"<dt>([^<]*)</dt><dd>(.*?)</dd>", shown))
    assert ABOUT in shown
    assert "five or more stones without a gap" in shown
    assert "Memory: 350 MiB. An agent that exceeds a limit loses the game." in shown
    assert ("gomoku", "freestyle", "350 MiB") == (facts["Game"], facts["Rule"], facts["Memory"])
    assert "round-robin, 2 games of each pair" == facts["Format"]
    assert "2090-03-01, 18:30 UTC" in facts["Start of the contest"]
    assert 'href="author/index.html">your author' in shown
    assert [("five", "ada"), ("zero", "")] == re.findall(r"<li><bdi>(\w+)</bdi>(?:.*<bdi>(\w+)<.*)?</li>", shown)
    assert announced.digest is not None
    assert f">{announced.digest}</pre>" in shown
    assert re.search(r'fingerprint \(SHA-256\):</p>\s*<pre tabindex="0">[0-9a-f]{64}</pre>', shown)


def test_page_says_when_the_first_game_begins(service: Service, directory: IntakeDirectory) -> None:
    words = {"": "The first game begins after", "cs/": "První partie začne po", "zh/": "第一局将在"}
    for folder, text in words.items():
        (notice,) = re.findall(r'<p class="notice">(.*?)</p>', page(service, f"{folder}index.html"))
        assert text in notice
        assert STARTS.isoformat() in notice
    plan = directory.folder / "contest.toml"
    text = plan.read_text()
    plan.write_text(text.replace(f"starts = {STARTS.isoformat()}", ""))
    until(lambda: "No time is announced for the first game." in page(service), "the page does not follow the file")
    plan.write_text(text)
    until(lambda: STARTS.isoformat() in page(service), "the page does not follow the file")


def test_every_page_of_the_menu_exists_before_the_start(service: Service) -> None:
    """The addresses are in tests/golden/routes.txt."""
    for name in ("live", "index", "crosstable", "games", "rounds", "journal", "fairness", "verify"):
        assert ABOUT in page(service, f"{name}.html"), name


def test_menus_offer_no_page_without_contents(service: Service, directory: IntakeDirectory) -> None:
    """On public pages in each language, and on those of authors and organisers, signed in or not."""
    author = make_token(directory, "eve")
    organiser = make_token(directory, "Olga", TokenRole.ORGANISER)
    with service.client(author) as eve:
        number = send(eve, "refused")
        ended(eve, number)
    cookies = {"author": f"judge-author={author}", "organiser": f"judge-organiser={organiser}", "": ""}
    paths = {
        "": ["index.html", "author/index.html", "organiser/index.html"],
        "author": ["author/index.html", f"author/submissions/{number}.html"],
        "organiser": [f"organiser/{name}.html" for name in ("index", "submissions", "authors", "settings", "orders")],
    }
    for folder, who in (("", "author"), ("", "organiser"), *((folder, "") for folder in ("", "cs/", "zh/"))):
        for path in paths[who]:
            address = f"{service.url}/{folder}{path}"
            answer = httpx.get(address, headers={"cookie": cookies[who]}, timeout=PATIENCE_S)
            assert 200 == answer.status_code or not who, path
            menu = re.search(r"<nav aria-label=[^>]*>(.*?)</nav>", answer.text, re.DOTALL)
            assert menu is not None, path
            links = [str(httpx.URL(address).join(href)) for href in re.findall(r'href="([^"]*)"', menu[1])]
            names = {link.removeprefix(f"{service.url}/{folder}") for link in links}
            assert {"index.html", "author/index.html"} == names, path
            assert "verify.html" not in answer.text, path


def test_waiting_page_works_in_a_browser(browser: Browser, service: Service) -> None:
    browser.leave()
    check_views(browser, service.url, "index.html")
    browser.wait_for("document.querySelector('.moments .left')?.textContent")
    # The page asks for events, which do not exist before the start.
    assert [] == [error for error in browser.errors if f"{service.url}/events" not in error]
    browser.leave()


MOMENTS = """
[submissions]
opens = 2027-03-01T09:30:00+01:00
closes = 2027-03-31T23:59:59Z
"""
SHOWN = {
    "": ("Start of submissions", "2027-03-01, 08:30 UTC", "2027-03-31, 23:59:59 UTC"),
    "cs/": ("Začátek příjmu programů", "01. 03. 2027, 08:30 UTC", "31. 03. 2027, 23:59:59 UTC"),
    "zh/": ("提交开始", "2027年03月01日 08:30 UTC", "2027年03月31日 23:59:59 UTC"),
}


def test_deadlines_are_shown_before_and_during_the_contest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Cup(tmp_path, STRONG_TO_WEAK, more=MOMENTS) as cup, recorder(cup) as log:
        log.read_store()
        file = PlanFile(cup.planned)
        with closing(LivePages(cup.planned)) as pages, closing(intake_directory(cup.planned).register()) as register:
            pages.hub.catch_up()

            def page(path: str) -> str:
                place = PagePlace.of_file(path)
                if place.path == "live.html":
                    return pages.games.all(pages.hub.live, 0, place).data.decode()
                monkeypatch.setattr(pages, "_load_at", 0.0)  # else it is not read so soon again
                return (pages.get(path) or pytest.fail(path)).data.decode()

            for folder, words in SHOWN.items():
                waiting = WaitingContest(file, None, register).page(f"{folder}index.html")
                assert waiting is not None
                for shown in (waiting.data.decode(), page(f"{folder}index.html"), page(f"{folder}live.html")):
                    assert [] == [each for each in words if each not in shown]
                    assert '<time datetime="2027-03-01T08:30:00+00:00" data-moment>' in shown
            plan = cup.planned.path.read_text()
            cup.planned.path.write_text(plan.replace("2027-03-31T23:59:59Z", "2027-04-02T12:00:00Z"))
            assert "2027-04-02, 12:00 UTC" in page("index.html")
            cup.planned.path.write_text("name =")
            assert "2027-04-02, 12:00 UTC" in page("index.html")
            cup.planned.path.write_text(plan.replace(MOMENTS, ""))
            assert "<time" not in page("index.html")
