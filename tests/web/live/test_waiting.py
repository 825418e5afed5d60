"""The public pages before a contest begins."""

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import httpx
import pytest

from judge.contest.contest import open_store
from judge.contest.plan import load_plan
from judge.store.tokens import TokenRole, Tokens
from judge.store.types import ANNOUNCED
from judge.submissions.service import IntakeDirectory
from judge.transparency.keys import make_key
from judge.transparency.log import KEY_FILE
from tests.patience import PATIENCE_S
from tests.site.browser import VIEWS, Browser
from tests.web.intake.conftest import Service, ended, make_contest, make_token, send
from tests.web.live.serving import serving_all
from tests.web.live.watching import until

STARTS = datetime(2090, 3, 1, 18, 30, tzinfo=UTC)
MORE = f"""
uploads_per_hour = 0
[contest]
starts = {STARTS.isoformat()}
[[agents]]
path = "house-instant"
name = "zero"
"""
ABOUT = "Weekend cup of freestyle gomoku"


def announced_contest(folder: Path) -> IntakeDirectory:
    make_key(folder / KEY_FILE)
    found = make_contest(folder, MORE.replace("[contest]", "requests_per_minute = 100000\n[contest]"))
    plan = folder / "contest.toml"
    plan.write_text(f'about = "{ABOUT}"\n{plan.read_text()}')
    return found


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service of a contest that no test changes."""
    with serving_all(announced_contest(tmp_path_factory.mktemp("cup")).folder) as running:
        yield running


@pytest.fixture
def directory(tmp_path: Path) -> IntakeDirectory:
    return announced_contest(tmp_path)


@pytest.fixture
def own_service(directory: IntakeDirectory) -> Iterator[Service]:
    with serving_all(directory.folder) as running:
        yield running


def page(service: Service, path: str = "index.html") -> str:
    answer = httpx.get(f"{service.url}/{path}", timeout=PATIENCE_S)
    assert 200 == answer.status_code, path
    return answer.text


def test_page_has_title_rules_way_in_entries_moments_and_commitment(
    own_service: Service, directory: IntakeDirectory
) -> None:
    with own_service.client(make_token(directory, "ada")) as ada:
        for content in ("good five", "good second five", "bad six"):
            ended(ada, send(ada, content))
    shown = page(own_service)
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
    assert ["five", "zero"] == re.findall(r"<li><bdi>(\w+)</bdi></li>", shown)
    assert announced.digest is not None
    assert f">{announced.digest}</pre>" in shown
    key = re.search(r'fingerprint \(SHA-256\):</p>\s*<pre tabindex="0">([0-9a-f]+)</pre>', shown)
    assert key is not None
    assert 64 == len(key[1])


def test_page_says_when_the_first_game_begins(own_service: Service, directory: IntakeDirectory) -> None:
    words = {"": "The first game begins after", "cs/": "První partie začne po", "zh/": "第一局将在"}
    for folder, text in words.items():
        (notice,) = re.findall(r'<p class="notice">(.*?)</p>', page(own_service, f"{folder}index.html"))
        assert text in notice
        assert STARTS.isoformat() in notice
    plan = directory.folder / "contest.toml"
    plan.write_text(plan.read_text().replace(f"starts = {STARTS.isoformat()}", ""))
    until(lambda: "No time is announced for the first game." in page(own_service), "the page does not follow the file")


@pytest.mark.parametrize("name", ["live", "index", "crosstable", "games", "rounds", "journal", "fairness", "verify"])
def test_every_page_of_the_menu_exists_before_the_start(service: Service, name: str) -> None:
    assert ABOUT in page(service, f"{name}.html")


def test_menu_offers_no_page_without_contents(service: Service) -> None:
    menu = re.search(r'<nav aria-label="Pages">(.*?)</nav>', page(service), re.DOTALL)

    assert menu is not None
    assert ["index.html", "author/index.html"] == re.findall(r'href="([^"]*)"', menu[1])


def test_menus_of_authors_and_organisers_offer_no_page_without_contents(
    own_service: Service, directory: IntakeDirectory
) -> None:
    """Signed in or not."""
    author = make_token(directory, "ada")
    with closing(Tokens(directory.store_url, directory.contest)) as tokens:
        organiser = tokens.make("Olga", "test", TokenRole.ACT)
    with own_service.client(author) as ada:
        assert "passed" == ended(ada, send(ada, "good five"))["state"]
    cookies = {"author": f"judge-author={author}", "organiser": f"judge-organiser={organiser}", "": ""}
    paths = {
        "": ["author/index.html", "organiser/index.html"],
        "author": ["author/index.html", "author/submissions/1.html"],
        "organiser": [f"organiser/{name}.html" for name in ("index", "submissions", "authors", "settings", "orders")],
    }
    for folder, (who, pages) in product(("", "cs/", "zh/"), paths.items()):
        for path in pages:
            address = f"{own_service.url}/{folder}{path}"
            answer = httpx.get(address, headers={"cookie": cookies[who]}, timeout=PATIENCE_S)
            assert 200 == answer.status_code or not who, path
            menu = re.search(r"<nav aria-label=[^>]*>(.*?)</nav>", answer.text, re.DOTALL)
            assert menu is not None, path
            links = [str(httpx.URL(address).join(href)) for href in re.findall(r'href="([^"]*)"', menu[1])]
            names = {link.removeprefix(f"{own_service.url}/{folder}") for link in links}
            assert {"index.html", "author/index.html"} == names, path


def test_waiting_page_works_in_a_browser(browser: Browser, service: Service) -> None:
    browser.leave()
    for folder, width, dark in VIEWS:
        browser.visit(f"{service.url}/{folder}index.html")
        browser.wait_for("document.querySelector('.moments .left')?.textContent")
        browser.look(width, dark)
        assert browser.ask("document.documentElement.scrollWidth") <= width
        assert [] == browser.violations()
    # The page asks for events, which do not exist before the start.
    assert [] == [error for error in browser.errors if f"{service.url}/events" not in error]
    browser.look(1280)
    browser.leave()
