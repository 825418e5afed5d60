"""Display names on pages of games, on live pages, in the feed and in the terminal."""

import io
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from judge.cli.contest.game import game
from judge.cli.contest.watch import Followed
from judge.terminal.contest_screen import game_screen, line_of, overview
from tests.broadcast.logs import PAIR, accept, recorder
from tests.publish.cups import Cup
from tests.site.browser import VIEWS, Browser
from tests.web.live.serving import serving_all
from tests.web.live.watching import told_by

FIRST, SECOND = PAIR
TITLES = {FIRST: "Žofinka 五子", SECOND: "نرد"}
FORM = 'name = "round-robin"\ngames = 4'


@pytest.mark.parametrize("game_is_over", [True, False])
def test_pages_show_display_names(browser: Browser, tmp_path: Path, game_is_over: bool) -> None:
    with Cup(tmp_path, PAIR, form=FORM, titles=TITLES) as cup, recorder(cup) as log:
        log.read_store()
        played, file, told = told_by(cup, log)
        for _ in range(6):
            next(told)
        if game_is_over:
            for _ in told:
                pass
            accept(cup, played, file)
            log.finish()
        with serving_all(cup.folder) as service:
            browser.leave()
            for language, width, dark in VIEWS:
                browser.look(width, dark)
                for page in ("live.html", "games/00001.html"):
                    browser.visit(f"{service.url}/{language}{page}")
                    assert browser.ask("document.documentElement.scrollWidth") <= width, page
                    assert [] == browser.violations(), (language, page)
                    shown = browser.ask("document.querySelector('main').innerText")
                    assert all(title in shown for title in TITLES.values()), (language, page)
                    names = browser.ask("[...document.querySelectorAll('main bdi')].map(e => e.textContent)")
                    assert not {FIRST, SECOND} & set(names), (language, page)
            assert [] == browser.errors
            browser.look(1000)
            browser.leave()
            feed = httpx.get(f"{service.url}/agents/001.xml", timeout=60).text
            assert all(title in feed for title in TITLES.values()) == game_is_over


def test_terminal_shows_display_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Cup(tmp_path, PAIR, form=FORM, titles=TITLES) as cup, recorder(cup) as log:
        with closing(Followed(cup.contest)) as followed:
            log.read_store()
            played, file, told = told_by(cup, log)
            for _ in range(6):
                next(told)
            lines = [line_of(event, followed.live) for event in followed.news()]
            assert f"game 1: {TITLES[played.first]} - {TITLES[played.second]}" in lines
            for shown in (written(overview(followed.live, 0)), written(game_screen(followed.live, 1, 0))):
                assert all(title in shown for title in TITLES.values())
            for _ in told:
                pass
            accept(cup, played, file)
            log.finish()
            lines = [line_of(event, followed.live) for event in followed.news()]
            assert any(line.startswith("table: ") and TITLES[FIRST] in line for line in lines)
            (result,) = [end.outcome for end, _ in followed.live.ended]
            assert any(result.startswith(title) for title in TITLES.values())
        capsys.readouterr()
        game("1", cup.folder)
        printed = capsys.readouterr().out
        assert all(title in printed for title in TITLES.values())


def written(shown: object) -> str:
    console = Console(file=io.StringIO(), width=160, height=40)
    console.print(shown)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]
