"""Results on live pages: places, the end and the winner, the archive of the export, feeds of agents, display names."""

import io
import re
import tarfile
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import httpx
import pytest

from judge.cli.contest.watch import Followed
from judge.cli.show import show
from judge.contest.contest import open_store
from judge.publish.export.export import publish
from judge.publish.verify.export import verify_export
from judge.terminal.contest_screen import game_screen, line_of, overview
from judge.transparency.keys import make_key, public_pem
from judge.web.live.serve import publish_once
from tests.broadcast.logs import PAIR, accept, play_next, recorder
from tests.cli.test_watch import written
from tests.contests import nothing
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.site.browser import Browser
from tests.web.live.serving import serving_all
from tests.web.live.watching import Watched, entries_of, tell, told_by, until, watched
from tests.web.views import check_views, text_of

PAGES = ("live", "index", "crosstable", "rounds", "rounds/001", "journal", "fairness", "verify", "games/00001")
PLAYED = re.compile(r"still played|being played|no game is scheduled", re.IGNORECASE)


def visible_text(contest: Watched, page: str) -> str:
    """The page without what it hides."""
    found = contest.get(f"{page}.html").text
    return re.sub(r"<(\w+)[^>]* hidden>.*?</\1>", "", found, flags=re.DOTALL)


def test_pages_show_the_end_and_the_winner(tmp_path: Path) -> None:
    with watched(tmp_path, PAIR, games=2) as contest:
        assert "/live.html" == contest.get("").headers["location"]
        assert "Games being played" in visible_text(contest, "live")
        assert "This contest has not ended." in visible_text(contest, "verify")
        (status,) = re.findall(r'<p id="connection"[^>]*>', visible_text(contest, "live"))
        assert " hidden " in status  # a script shows it
        assert "Results appear automatically" in status
        assert "Final." not in visible_text(contest, "index")

        for _ in range(2):
            contest.end(*contest.play(3))

        until(lambda: "Final." in visible_text(contest, "live"), "the live page does not say so")
        assert "/index.html" == contest.get("").headers["location"]
        with closing(open_store(contest.cup.planned)) as store:
            first = [line for line in contest.cup.contest.view().table.lines if line.place == 1]
            assert store.results(contest.cup.contest.name)
        banner = r'<section class="banner" id="over".*?</section>'
        for page in ("live", "index"):
            (line,) = re.findall(banner, visible_text(contest, page), re.DOTALL)
            assert "Final." in line
            assert 1 == line.count("<svg")
            assert all(f"<bdi>{each.agent}</bdi>" in line for each in first)
            assert re.search(r"Played (on|from) \d{4}-\d\d-\d\d, \d\d:\d\d (to .* )?UTC", line)
        assert "This contest is over." in visible_text(contest, "verify")
        for page in ("live", "index", "games/00001"):
            assert "Results appear automatically" not in visible_text(contest, page)
        for page in PAGES:
            assert not PLAYED.search(visible_text(contest, page)), page


RULE = {"": "share a place, and the next places", "cs/": "sdílejí místo", "zh/": "并列同一名次"}


def test_live_page_and_first_page_show_the_same_places(tmp_path: Path) -> None:
    row = r'<tr>\s*<td class="num[^"]*">(.*?)</td>.*?<bdi>(.*?)</bdi>'

    def places(page: str, words: str) -> Sequence[tuple[str, str]]:
        answer = contest.get(page)
        assert 200 == answer.status_code, answer.text
        table = answer.text.partition("<thead>")[2].partition("</table>")[0]
        found: list[tuple[str, str]] = re.findall(row, table, re.DOTALL)
        assert 2 == len(found)
        assert (words in answer.text) == (found[0][0] == found[1][0]), page
        return found

    with watched(tmp_path, PAIR, games=2) as contest:
        for played in (1, 2):
            contest.end(*contest.play(3))
            until(lambda: f"<b>{played}</b> game" in contest.get("index.html").text, "the result is not shown")  # noqa: B023
            for folder, words in RULE.items():
                # The service may read the log a moment later than the store.
                until(
                    lambda: places(f"{folder}live.html", words) == places(f"{folder}index.html", words),  # noqa: B023
                    f"{folder}live.html has other places",
                )


def test_live_page_has_the_next_game_and_the_reason_of_a_disqualification(tmp_path: Path) -> None:
    """Each a click from the first page, which names the next game and links to its time."""
    cast = {name: STRONG_TO_WEAK[name] for name in ("anna", "bert", "-carl")}
    headings = {"": "Disqualified:", "cs/": "Diskvalifikace:", "zh/": "取消资格"}
    with watched(tmp_path, cast, games=2) as contest:
        contest.end(*contest.play(3))
        contest.cup.store.disqualify(contest.cup.contest.name, "bert", "two programs")
        contest.recorder.finish()
        until(lambda: "two programs" in visible_text(contest, "live"), "the live page has no reason")
        games = contest.cup.store.games(contest.cup.contest.name)
        played = next(game for game in games if "bert" in (game.first, game.second) and game.state == "done")
        coming = next(game for game in games if game.state == "pending")
        for folder, heading in headings.items():
            live, index = visible_text(contest, f"{folder}live"), visible_text(contest, f"{folder}index")
            gone = live[live.index(heading) :]
            assert re.match(r".*?agents/002\.html\"><bdi>bert</bdi></a> .*?two programs", gone, re.DOTALL)
            assert "\N{EN DASH}</td>" in live
            results = live[live.index('id="ended"') : live.index('id="next"')]
            assert re.search(rf"<a href=\"games/{played.number:05d}.html\">[^\n]*</s>", results)
            assert '<p class="notice">' in visible_text(contest, f"{folder}games/{played.number:05d}")
            (line,) = re.findall(r'<p id="next-game">(.*?)</p>', index)
            assert f"<bdi>{coming.first}</bdi>" in line
            assert 'href="live.html#next"' in line
            upcoming = live[live.index('id="next"') :]
            assert f"<bdi>{coming.first}</bdi>" in upcoming[: upcoming.index("</ul>")]


def test_live_page_without_scheduled_games_says_why(tmp_path: Path) -> None:
    with watched(tmp_path, PAIR, games=1) as contest:
        _, _, frames = contest.play(3)
        next(frames)
        words = "The last scheduled games are being played."
        until(lambda: words in visible_text(contest, "live"), "the live page does not say so")
        until(lambda: words in visible_text(contest, "index"), "the first page does not say so")


def test_export_of_the_final_results_is_offered_as_an_archive(tmp_path: Path) -> None:
    """An export during the contest is not; the archive has the signed files, without links and others."""
    with watched(tmp_path, PAIR, games=2, drawn=nothing) as contest:
        key = make_key(contest.cup.folder / "organiser.key")
        pem = tmp_path / "organiser.pem"
        pem.write_bytes(public_pem(key.public_key()))
        contest.kill()
        contest.start()
        exports = contest.cup.folder / "exports"
        contest.end(*contest.play(3))
        publish(contest.cup.contest, exports / "early" / "public", exports / "early" / "private", key)
        contest.end(*contest.play(3))
        until(lambda: "not published the export yet" in visible_text(contest, "verify"), "the page does not say so")
        assert 404 == contest.get("export.tar.gz").status_code

        final = exports / "final" / "public"
        publish(contest.cup.contest, final, exports / "final" / "private", key)
        (final / "extra.txt").write_text("not signed")
        (final / "link").symlink_to(pem)

        name = f"{contest.cup.contest.name}-export"
        commands = f"tar -xf export.tar.gz\njudge contest verify {name} --key organiser.pem"
        for folder in ("", "cs/", "zh/"):
            assert commands in visible_text(contest, f"{folder}verify")
        answer = contest.get("export.tar.gz")
        assert "application/gzip" == answer.headers["content-type"]
        with tarfile.open(fileobj=io.BytesIO(answer.content), mode="r:gz") as tar:
            tar.extractall(tmp_path, filter="data")
        assert [] == verify_export(tmp_path / name, pem).problems
        assert not (tmp_path / name / "extra.txt").exists()

        (final / "manifest.json").write_text("{}")
        assert "not published the export yet" in visible_text(contest, "verify")


def test_feed_has_each_result_of_the_agent_newest_first(browser: Browser, tmp_path: Path) -> None:
    form = 'name = "round-robin"\ngames = 4'
    with Cup(tmp_path / "cup", PAIR, form=form) as cup, recorder(cup) as log:
        for _ in range(2):
            accept(cup, *play_next(cup))
        log.finish()
        with serving_all(cup.folder) as service:
            answer = httpx.get(f"{service.url}/agents/001.xml", timeout=60)
            assert "application/atom+xml" == answer.headers["content-type"].partition(";")[0]
            found = entries_of(answer.content)
            assert ["../games/00002.html", "../games/00001.html"] == [entry["link"] for entry in found]
            first, second = PAIR
            assert found[0]["title"].startswith(f"{second} – {first} ")  # noqa: RUF001
            assert 200 == httpx.get(f"{service.url}/agents/{found[0]['link']}", timeout=60).status_code
            czech = entries_of(httpx.get(f"{service.url}/cs/agents/001.xml", timeout=60).content)
            for one, other in zip(found, czech, strict=True):
                assert (one["title"], one["link"]) == (other["title"], other["link"])
                assert one["summary"] != other["summary"]

            browser.leave()
            check_views(browser, service.url, "agents/001.html", "live.html?agent=1")
            for page in ("agents/001.html", "live.html?agent=1"):
                browser.visit(f"{service.url}/{page}")
                browser.ask("[...document.links].find(a => a.href.endsWith('agents/001.xml')).focus()")
                assert "A" == browser.ask("document.activeElement.tagName")
            browser.leave()
        # A repeated game is a new entry.
        cup.store.annul(cup.store.games(cup.contest.name)[0].id, "the wrong board")
        accept(cup, *play_next(cup))
        log.finish()
        publish_once(cup.planned.path, tmp_path / "public")
        identities = [entry["id"] for entry in entries_of((tmp_path / "public/agents/001.xml").read_bytes())]
        assert 2 == len(identities) == len(set(identities))
        assert any(identity.endswith(":1:2") for identity in identities)


FIRST, SECOND = PAIR
TITLES = {FIRST: "Žofinka 五子", SECOND: "نرد"}
FORM = 'name = "round-robin"\ngames = 4'


def test_pages_show_display_names_during_a_game_and_after_it(browser: Browser, tmp_path: Path) -> None:
    with watched(tmp_path, PAIR, form=FORM, titles=TITLES) as contest:
        game, file, frames = contest.play()
        tell(frames, 6)

        def are_in_feed(expected: bool) -> bool:
            return expected == all(title in contest.get("agents/001.xml").text for title in TITLES.values())

        for game_is_over in (False, True):
            if game_is_over:
                contest.end(game, file, frames)
            until(partial(are_in_feed, game_is_over), "the feed has other names")
            browser.leave()
            check_views(browser, contest.url, "live.html", "games/00001.html")
            for page in ("live.html", "games/00001.html"):
                browser.visit(f"{contest.url}/{page}")
                assert all(title in text_of(browser) for title in TITLES.values()), page
                names = browser.ask("[...document.querySelectorAll('main bdi')].map(e => e.textContent)")
                assert not {FIRST, SECOND} & set(names), page
            assert [] == browser.errors
        browser.leave()


def test_terminal_shows_display_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Cup(tmp_path, PAIR, form=FORM, titles=TITLES) as cup, recorder(cup) as log:
        with closing(Followed(cup.contest)) as followed:
            log.read_store()
            played, file, frames = told_by(cup, log)
            tell(frames, 6)
            lines = [line_of(event, followed.live) for event in followed.news()]
            assert f"game 1: {TITLES[played.first]} - {TITLES[played.second]}" in lines
            for shown in (written(overview(followed.live, 0)), written(game_screen(followed.live, 1, 0))):
                assert all(title in shown for title in TITLES.values())
            tell(frames)
            accept(cup, played, file)
            log.finish()
            lines = [line_of(event, followed.live) for event in followed.news()]
            assert any(line.startswith("table: ") and TITLES[FIRST] in line for line in lines)
            (result,) = [end.outcome for end, _ in followed.live.ended]
            assert any(result.startswith(title) for title in TITLES.values())
        capsys.readouterr()
        show([cup.folder], game="1")
        printed = capsys.readouterr().out
        assert all(title in printed for title in TITLES.values())
