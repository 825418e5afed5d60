"""Pages after the last game say that the contest is over and who won, and none of them says that it is played."""

import re
from contextlib import closing
from pathlib import Path

import pytest

from judge.contest.contest import open_store
from judge.publish.load import load_store
from judge.site.site import pages
from judge.translations.language import ENGLISH
from tests.broadcast.logs import PAIR
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.web.live.watching import Watched, until, watched

PAGES = ("live", "index", "crosstable", "rounds", "rounds/001", "journal", "fairness", "verify", "games/00001")
PLAYED = re.compile(r"still played|being played|none is scheduled", re.IGNORECASE)


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
            assert re.search(r"Played from \d{4}-\d\d-\d\d, \d\d:\d\d to .* UTC", line)
        assert "This contest is over." in text_of(contest, "verify")
        for page in ("live", "index", "games/00001"):
            assert "Results appear automatically" not in text_of(contest, page)
        for page in PAGES:
            assert not PLAYED.search(text_of(contest, page)), page


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
    whole = text.replace("½", "")
    return (float(whole) if whole else 0.0) + (0.5 if "½" in text else 0.0)
