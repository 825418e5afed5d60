"""An organiser in a browser: from the link to an order that is given, by the keyboard's way and on a phone."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from judge.cli.submit import open_intake
from judge.store.tokens import TokenRole, Tokens
from tests.publish.cups import Cup
from tests.site.browser import VIEWS, WIDTHS, Browser
from tests.verify.test_ladder import joins
from tests.web.live.serving import serving_all
from tests.web.organisers.office import CAST, PATIENCE

PAGES = (
    *(f"{page}.html" for page in ("index", "games", "submissions", "orders", "journal", "settings", "authors")),
    "order.html?action=pause",
    "order.html?action=message",
)


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    """A contest of which some games are over."""
    with Cup(tmp_path / "cup", CAST, more=PATIENCE.format(strangers=1000)) as found:
        found.play(5, void=(2,))
        yield found


def test_a_link_signs_in_and_an_order_is_shown_given_and_done(browser: Browser, cup: Cup) -> None:
    directory = open_intake(cup.folder)
    with closing(Tokens(directory.store_url, directory.contest)) as tokens:
        token = tokens.make("Olga", "test", TokenRole.ACT)
    with serving_all(cup.folder) as service:
        browser.leave()
        browser.visit(f"{service.url}/organiser/index.html#{token}")
        browser.wait_for("document.getElementById('state')?.textContent === 'open'")
        assert "" == browser.ask("location.hash + document.cookie")
        browser.ask("[...document.querySelectorAll('a')].find(a => a.href.includes('disqualify&target=anna')).click()")
        browser.wait_for("document.querySelector('input[name=why]') !== null")
        assert "Changes of the standings" in browser.ask("document.querySelector('main').innerText")
        browser.ask("document.querySelector('input[name=why]').value = 'two entries'")
        browser.ask("document.querySelector('input[name=why]').form.querySelector('button').click()")
        browser.wait_for("document.querySelector('h1')?.textContent === 'Done'")
        assert "anna is disqualified" in browser.ask("document.querySelector('main').innerText")
        browser.visit(f"{service.url}/organiser/index.html")
        # A page follows the contest by itself.
        cup.store.set_state(cup.contest.name, "paused", "lunch")
        browser.wait_for("document.getElementById('state')?.textContent === 'paused'")
        assert [] == browser.errors
        assert token not in service.log.read_text()
        for page in PAGES:
            for language, width, dark in VIEWS:
                browser.visit(f"{service.url}/{language}organiser/{page}")
                browser.look(width, dark)
                assert browser.ask("document.documentElement.scrollWidth") <= width, page
                assert [] == browser.violations(), (language, page)
        browser.look(1000)
        browser.leave()


def test_agent_is_withdrawn_by_keyboard_and_pages_show_it(browser: Browser, cup: Cup) -> None:
    tokens = Tokens(open_intake(cup.folder).store_url, open_intake(cup.folder).contest)
    with closing(tokens), serving_all(cup.folder) as service:
        browser.leave()
        browser.visit(f"{service.url}/organiser/index.html#{tokens.make('Olga', 'test', TokenRole.ACT)}")
        browser.wait_for("document.getElementById('state')?.textContent === 'open'")
        browser.ask("[...document.links].find(a => a.href.includes('withdraw-agent&target=anna')).focus()")
        browser.press("Enter")
        browser.wait_for("document.querySelector('input[name=why]') !== null")
        assert "Played games of anna that no longer count" in browser.ask("document.querySelector('main').innerText")
        for language, width, dark in VIEWS:
            browser.visit(f"{service.url}/{language}organiser/order.html?action=withdraw-agent&target=anna")
            browser.look(width, dark)
            assert [] == browser.violations(), language
        browser.visit(f"{service.url}/organiser/order.html?action=withdraw-agent&target=anna")
        browser.ask("document.querySelector('input[name=why]').value = 'the author asked for it'")
        browser.ask("document.querySelector('input[name=why]').focus()")
        browser.press("Enter")
        browser.wait_for("document.querySelector('h1')?.textContent === 'Done'")
        assert "anna is withdrawn; its games do not count" in browser.ask("document.querySelector('main').innerText")
        for page in ("organiser/index.html", "index.html", "agents/001.html"):
            for language, width, dark in VIEWS:
                browser.visit(f"{service.url}/{language}{page}")
                browser.look(width, dark)
                assert browser.ask("document.documentElement.scrollWidth") <= width, page
                assert [] == browser.violations(), (language, page)
                assert "the author asked for it" in browser.ask("document.querySelector('main').innerText"), page
        words = r"Its \d+ games? (do|does) not count, because it has withdrawn\."
        assert re.search(words, _text(browser, f"{service.url}/agents/001.html"))
        assert [] == browser.errors
        browser.look(1000)
        browser.leave()


def _text(browser: Browser, address: str) -> str:
    browser.visit(address)
    return str(browser.ask("document.querySelector('main').innerText"))


def test_link_of_a_mail_works_by_keyboard_without_script(browser: Browser, cup: Cup) -> None:
    with closing(open_intake(cup.folder).notices()) as notices, serving_all(cup.folder) as service:
        notices.set_email("ada", "ada@example.org")
        (mail,) = notices.of("ada", 9)
        browser.leave()
        for language, width, dark in VIEWS:
            browser.visit(f"{service.url}/{language}author/unsubscribe.html?notice={mail.id}")
            browser.look(width, dark)
            assert [] == browser.violations(), language
        browser.block_scripts(True)
        try:
            browser.visit(f"{service.url}/author/unsubscribe.html?notice={mail.id}")
            while browser.ask("document.activeElement.tagName") != "BUTTON":
                browser.press("Tab")
            browser.press("Enter")
            browser.wait_for("document.querySelector('.lead') !== null")
        finally:
            browser.block_scripts(False)
        assert "" == notices.targets("ada").email
        browser.look(1000)


@pytest.mark.parametrize("acting_width", WIDTHS)
def test_a_season_is_ended_by_keyboard_without_script(browser: Browser, tmp_path: Path, acting_width: int) -> None:
    with joins(tmp_path / "cup", PATIENCE.format(strangers=1000)) as cup:
        directory = open_intake(cup.folder)
        with closing(Tokens(directory.store_url, directory.contest)) as tokens, serving_all(cup.folder) as service:
            browser.leave()
            browser.visit(f"{service.url}/organiser/index.html#{tokens.make('Olga', 'test', TokenRole.ACT)}")
            browser.wait_for("document.getElementById('state')?.textContent === 'open'")
            for language, width, dark in VIEWS:
                browser.look(width, dark)
                for page in ("index.html", "games.html", "order.html?action=end-season"):
                    browser.visit(f"{service.url}/{language}organiser/{page}")
                    assert browser.ask("document.documentElement.scrollWidth") <= width, page
                    assert [] == browser.violations(), (language, page)
            browser.look(acting_width)
            browser.block_scripts(True)
            try:
                browser.visit(f"{service.url}/organiser/index.html")
                browser.ask("[...document.links].find(a => a.href.includes('end-season')).focus()")
                browser.press("Enter")
                browser.wait_for("document.querySelector('input[name=why]') !== null")
                browser.ask("document.querySelector('input[name=why]').value = 'it is decided'")
                browser.ask("document.querySelector('input[name=why]').focus()")
                browser.press("Enter")
                browser.wait_for("document.querySelector('h1')?.textContent === 'Done'")
            finally:
                browser.block_scripts(False)
            (line,) = cup.store.last_lines(cup.contest.name, 1, "season-ended")
            assert line.text == "it is decided"
    browser.look(1000)
