"""An organiser in a browser: from the link to an order that is given, by the keyboard's way and on a phone."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from judge.cli.submit import open_intake
from judge.journal.events import Paused, SeasonEnded
from judge.store.tokens import TokenRole
from tests.publish.cups import Cup
from tests.site.browser import WIDTHS, Browser
from tests.verify.test_ladder import joins
from tests.web.intake.conftest import Service, make_token
from tests.web.live.serving import serving_all
from tests.web.organisers.office import CAST, PATIENCE
from tests.web.views import check_views, text_of

PAGES = (
    *(f"{page}.html" for page in ("index", "games", "submissions", "orders", "journal", "settings", "authors")),
    "order.html?action=pause",
    "order.html?action=message",
)


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    with Cup(tmp_path / "cup", CAST, more=PATIENCE) as found:
        found.play(5, void=(2,))
        yield found


@contextmanager
def signed_in(browser: Browser, cup: Cup) -> Iterator[Service]:
    token = make_token(open_intake(cup.folder), "Olga", TokenRole.ORGANISER)
    with serving_all(cup.folder) as service:
        browser.leave()
        browser.visit(f"{service.url}/organiser/index.html#{token}")
        browser.wait_for("document.getElementById('state')?.textContent === 'running'")
        assert "" == browser.ask("location.hash + document.cookie")
        yield service
        assert token not in service.log.read_text()
        browser.set_view(1000)
        browser.leave()


def order(browser: Browser, link: str, why: str, preview: str = "") -> str:
    """Give an order by keyboard; what the page says that reports it."""
    browser.ask(f"[...document.links].find(a => a.href.includes('{link}')).focus()")
    browser.press("Enter")
    browser.wait_for("document.querySelector('input[name=why]') !== null")
    assert preview in text_of(browser)
    browser.ask(f"document.querySelector('input[name=why]').value = '{why}'")
    browser.ask("document.querySelector('input[name=why]').focus()")
    browser.press("Enter")
    browser.wait_for("document.querySelector('h1')?.textContent === 'Done'")
    return text_of(browser)


def test_a_link_signs_in_and_an_order_is_shown_given_and_done(browser: Browser, cup: Cup) -> None:
    with signed_in(browser, cup) as service:
        done = order(browser, "disqualify&target=anna", "two entries", "Changes of the standings")
        assert "anna is disqualified" in done
        browser.visit(f"{service.url}/organiser/index.html")
        # A page follows the contest by itself.
        cup.store.set_state(cup.contest.name, Paused("lunch"))
        browser.wait_for("document.getElementById('state')?.textContent === 'paused'")
        assert [] == browser.errors
        check_views(browser, service.url, *(f"organiser/{page}" for page in PAGES))


def test_link_of_a_mail_works_by_keyboard_without_script(browser: Browser, cup: Cup) -> None:
    with closing(open_intake(cup.folder).notices()) as notices, serving_all(cup.folder) as service:
        notices.set_email("ada", "ada@example.org")
        (mail,) = notices.of("ada", 9)
        page = f"author/unsubscribe.html?notice={mail.id}"
        browser.leave()
        check_views(browser, service.url, page)
        with browser.without_scripts():
            browser.visit(f"{service.url}/{page}")
            while browser.ask("document.activeElement.tagName") != "BUTTON":
                browser.press("Tab")
            browser.press("Enter")
            browser.wait_for("document.querySelector('.lead') !== null")
        assert "" == notices.targets("ada").email


@pytest.mark.parametrize("acting_width", WIDTHS)
def test_a_season_is_ended_by_keyboard_without_script(browser: Browser, tmp_path: Path, acting_width: int) -> None:
    with joins(tmp_path / "cup", PATIENCE) as cup, signed_in(browser, cup) as service:
        pages = ("index.html", "games.html", "order.html?action=end-season")
        check_views(browser, service.url, *(f"organiser/{page}" for page in pages))
        browser.set_view(acting_width)
        with browser.without_scripts():
            browser.visit(f"{service.url}/organiser/index.html")
            order(browser, "end-season", "it is decided")
        (line,) = cup.store.last_lines(cup.contest.name, 1, SeasonEnded)
        assert line.text == "it is decided"
