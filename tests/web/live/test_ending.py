"""Pages after the last game say that the contest is over and who won, and none of them says that it is played."""

import io
import re
import tarfile
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from judge.contest.contest import open_store
from judge.export.export import publish
from judge.publish.load import load_store
from judge.site.site import pages
from judge.translations.language import ENGLISH
from judge.transparency.keys import make_key, public_pem
from judge.verify.export import verify_export
from tests.broadcast.logs import PAIR
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.web.live.watching import Watched, until, watched

PAGES = ("live", "index", "crosstable", "rounds", "rounds/001", "journal", "fairness", "verify", "games/00001")
PLAYED = re.compile(r"still played|being played|no game is scheduled", re.IGNORECASE)


def text_of(contest: Watched, page: str) -> str:
    """The page without what it hides."""
    found = contest.get(f"{page}.html").text
    return re.sub(r"<(\w+)[^>]* hidden>.*?</\1>", "", found, flags=re.DOTALL)


def play_all(contest: Watched, games: int) -> None:
    for _ in range(games):
        game, file, told = contest.play(3)
        for _ in told:
            pass
        contest.end(game, file)


def test_pages_show_the_end_and_the_winner(tmp_path: Path) -> None:
    with watched(tmp_path, PAIR, games=2) as contest:
        assert "/live.html" == contest.get("").headers["location"]
        assert "Games being played" in text_of(contest, "live")
        assert "This contest has not ended." in text_of(contest, "verify")
        (status,) = re.findall(r'<p id="connection"[^>]*>', text_of(contest, "live"))
        assert " hidden " in status  # a script shows it
        assert "Results appear automatically" in status
        for page in ("index", "crosstable", "rounds", "games", "agents/001"):
            assert "Final." not in text_of(contest, page)

        play_all(contest, 2)

        until(lambda: "The contest is over" in text_of(contest, "live"), "the live page does not say so")
        assert "/index.html" == contest.get("").headers["location"]
        with closing(open_store(contest.cup.planned)) as store:
            first = [line for line in contest.cup.contest.standing().table.lines if line.place == 1]
            assert store.results(contest.cup.contest.name)
        for page in ("live", "index", "crosstable", "rounds", "games", "agents/001"):
            (line,) = re.findall(r'<p class="lead" id="over">.*?</p>', text_of(contest, page), re.DOTALL)
            assert "<b>Final.</b>" in line
            assert all(f"<bdi>{each.agent}</bdi>" in line for each in first)
            assert re.search(r"Played (on|from) \d{4}-\d\d-\d\d, \d\d:\d\d (to .* )?UTC", line)
        assert "This contest is over." in text_of(contest, "verify")
        for page in ("live", "index", "games/00001"):
            assert "Results appear automatically" not in text_of(contest, page)
        for page in PAGES:
            assert not PLAYED.search(text_of(contest, page)), page


RULE = {"": "share a place, and the next places", "cs/": "sdílejí místo", "zh/": "并列同一名次"}


def has_played(contest: Watched, games: int) -> bool:
    return f"<b>{games}</b> game" in contest.get("index.html").text


def test_live_page_and_first_page_show_the_same_places(tmp_path: Path) -> None:
    """While the contest runs and after its end, with the rule of shared places."""
    row = r'<tr>\s*<td class="num[^"]*">(.*?)</td>.*?<bdi>(.*?)</bdi>'
    with watched(tmp_path, PAIR, games=2) as contest:
        for played in (1, 2):
            play_all(contest, 1)
            until(partial(has_played, contest, played), "the first page does not show the result")
            for folder, words in RULE.items():
                found = []
                for page in ("live", "index"):
                    text = contest.get(f"{folder}{page}.html").text
                    assert words in text, page
                    table = text[text.index("<thead>") :]
                    found.append(re.findall(row, table[: table.index("</table>")], re.DOTALL))
                assert found[0] == found[1]
                assert 2 == len(found[0])


def test_live_page_has_the_next_game_and_the_reason_of_a_disqualification(tmp_path: Path) -> None:
    """Each a click from the first page, which names the next game and links to its time."""
    cast = {name: STRONG_TO_WEAK[name] for name in ("anna", "bert", "-carl")}
    headings = {"": "Disqualified:", "cs/": "Diskvalifikace:", "zh/": "取消资格"}
    with watched(tmp_path, cast, games=2) as contest:
        play_all(contest, 1)
        contest.cup.store.disqualify(contest.cup.contest.name, "bert", "two programs")
        contest.recorder.finish()
        until(lambda: "two programs" in text_of(contest, "live"), "the live page has no reason")
        games = contest.cup.store.games(contest.cup.contest.name)
        played = next(game for game in games if "bert" in (game.first, game.second) and game.state == "done")
        coming = next(game for game in games if game.state == "pending")
        for folder, heading in headings.items():
            live, index = text_of(contest, f"{folder}live"), text_of(contest, f"{folder}index")
            gone = live[live.index(heading) :]
            assert re.match(r".*?agents/002\.html\"><bdi>bert</bdi></a> .*?two programs", gone, re.DOTALL)
            assert "\N{EN DASH}</td>" in live
            results = live[live.index('id="ended"') : live.index('id="next"')]
            assert re.search(rf"<a href=\"games/{played.number:05d}.html\">[^\n]*</s>", results)
            assert '<p class="notice">' in text_of(contest, f"{folder}games/{played.number:05d}")
            (line,) = re.findall(r'<p id="next-game">(.*?)</p>', index)
            assert f"<bdi>{coming.first}</bdi>" in line
            assert 'href="live.html#next"' in line
            upcoming = live[live.index('id="next"') :]
            assert f"<bdi>{coming.first}</bdi>" in upcoming[: upcoming.index("</ul>")]


def test_live_page_without_scheduled_games_says_why(tmp_path: Path) -> None:
    with watched(tmp_path, PAIR, games=1) as contest:
        _, _, told = contest.play(3)
        next(told)
        words = "The last scheduled games are being played."
        until(lambda: words in text_of(contest, "live"), "the live page does not say so")
        until(lambda: words in text_of(contest, "index"), "the first page does not say so")


@pytest.mark.parametrize("most", [64, 0], ids=["each game", "sums"])
def test_games_of_a_disqualified_agent_do_not_count_in_the_crosstable(
    tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.site.site.MOST_IN_CELL", most)
    cast = {name: STRONG_TO_WEAK[name] for name in ("anna", "bert", "-carl")}
    with Cup(tmp_path, cast, form='name = "round-robin"\ngames = 2') as cup:
        cup.play(6)
        cup.contest.store.disqualify(cup.contest.name, "bert", "a test")
        contest = load_store(cup.contest)
    page = pages(contest, {}, [ENGLISH])["crosstable.html"]().decode()
    scores = {"1": 1.0, "½": 0.5, "0": 0.0}
    rows = re.findall(r"<tr><td class=\"num\">.*?</tr>", page, re.DOTALL)
    assert 3 == len(rows)
    for row in rows:
        (points,) = re.findall(r'<td class="num strong">([^<]*)</td>', row)
        counted = re.sub(r"<s>.*?</s>", "", row, flags=re.DOTALL)
        if most:
            cells = re.findall(r'class="score \w+"[^>]*>([^<]*)</a>', counted)
            assert sum(scores[cell] for cell in cells) == _number(points), row
        else:
            sums = re.findall(r">([\d½]+)/\d+</a>", counted)
            assert sum(map(_number, sums)) == _number(points), row
    assert "bert" in rows[-1]
    if most:
        assert 8 == page.count("<s>")
        assert "Games that are struck through do not count" in page
    standings = pages(contest, {}, [ENGLISH])["index.html"]().decode()
    row = r"<tr>\s*<td class=\"num place\">(.*?)</td>\s*(?:<td[^>]*>[^<]*</td>\s*)?<th scope=\"row\">(.*?)</th>"
    last = re.findall(row, standings, re.DOTALL)
    assert "\N{EN DASH}" == last[-1][0]
    assert "bert" in last[-1][1]


def _number(text: str) -> float:
    whole = text.replace("½", "").replace("\N{EN DASH}", "")
    return (float(whole) if whole else 0.0) + (0.5 if "½" in text else 0.0)


def test_export_of_the_final_results_is_offered_as_an_archive(tmp_path: Path) -> None:
    """An export during the contest is not; the archive has the signed files, without links and others."""
    with watched(tmp_path, PAIR, games=2) as contest:
        key = make_key(contest.cup.folder / "organiser.key")
        pem = tmp_path / "organiser.pem"
        pem.write_bytes(public_pem(key.public_key()))
        contest.kill()
        contest.start()
        exports = contest.cup.folder / "exports"
        play_all(contest, 1)
        publish(contest.cup.contest, exports / "early" / "public", exports / "early" / "private", key)
        play_all(contest, 1)
        until(lambda: "not published the export yet" in text_of(contest, "verify"), "the page does not say so")
        assert 404 == contest.get("export.tar.gz").status_code

        final = exports / "final" / "public"
        publish(contest.cup.contest, final, exports / "final" / "private", key)
        (final / "extra.txt").write_text("not signed")
        (final / "link").symlink_to(pem)

        name = f"{contest.cup.contest.name}-export"
        commands = (
            "curl -fO ADDRESS/export.tar.gz",
            "tar -xf export.tar.gz",
            f"judge contest verify {name} --key organiser.pem",
        )
        for folder in ("", "cs/", "zh/"):
            assert "\n".join(commands) in text_of(contest, f"{folder}verify")
        answer = contest.get("export.tar.gz")
        assert "application/gzip" == answer.headers["content-type"]
        with tarfile.open(fileobj=io.BytesIO(answer.content), mode="r:gz") as tar:
            tar.extractall(tmp_path, filter="data")
        assert [] == verify_export(tmp_path / name, pem).problems
        assert not (tmp_path / name / "extra.txt").exists()

        (final / "manifest.json").write_text("{}")
        assert "not published the export yet" in text_of(contest, "verify")
