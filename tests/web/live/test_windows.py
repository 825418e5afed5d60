"""A contest that nobody starts: a service that runs closes submissions and plays it at the moments of its file."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from judge.cli.submit import open_intake
from judge.contest.contest import Contest, has_begun, open_store
from judge.contest.plan import Planned, load_plan
from judge.contest.run_lock import player_of
from judge.contest.window_keeper import PlanFile
from judge.web.live.pages import LivePages
from judge.web.live.serve import hub_of
from judge.web.live.waiting import WaitingContest
from tests.broadcast.logs import recorder
from tests.patience import PATIENCE_S
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.web.intake.conftest import make_token
from tests.web.live.serving import serving_all
from tests.web.live.watching import until

PLAN = """\
name = "cup"
policy = "gomocup-fastgame"
[format]
name = "round-robin"
games = 1
[submissions]
closes = {closes}
[contest]
starts = {starts}
[[agents]]
path = "house-instant"
name = "one"
[[agents]]
path = "house-instant"
name = "two"
"""

CLOSES_S, STARTS_S = 1, 4


@pytest.fixture
def planned(tmp_path: Path) -> Iterator[Planned]:
    """A contest that is to start in a few seconds; what plays it ends with the test."""
    now = datetime.now(UTC)
    closes, starts = (now + timedelta(seconds=each) for each in (CLOSES_S, STARTS_S))
    path = tmp_path / "contest.toml"
    path.write_text(PLAN.format(closes=closes.isoformat(), starts=starts.isoformat()))
    found = load_plan(path)
    yield found
    player = player_of(found)
    if player is not None and player.isdigit():
        os.kill(int(player), signal.SIGKILL)


def events(planned: Planned) -> list[str]:
    with closing(open_store(planned)) as store:
        return [line.event for line in store.leaves(planned.name, 0, 1000)]


def is_over(planned: Planned) -> bool:
    with closing(open_store(planned)) as store:
        if not has_begun(store, planned) or not store.pairings(planned.name):
            return False
        return Contest(store, planned).is_over()


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


def test_a_file_that_was_changed_before_its_pages_began_shows_its_moments(tmp_path: Path) -> None:
    with Cup(tmp_path, STRONG_TO_WEAK, more=MOMENTS) as cup:
        cup.planned.path.write_text(
            cup.planned.path.read_text().replace("2027-03-31T23:59:59Z", "2027-04-02T12:00:00Z")
        )

        closes = PlanFile(cup.planned).windows().closes

        assert closes is not None
        assert (4, 2) == (closes.month, closes.day)


def test_deadlines_are_shown_before_and_during_the_contest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Cup(tmp_path, STRONG_TO_WEAK, more=MOMENTS) as cup, recorder(cup) as log:
        log.read_store()
        file = PlanFile(cup.planned)
        with closing(hub_of(cup.planned)) as hub, closing(LivePages(cup.planned, hub.painter)) as pages:
            hub.catch_up()

            def page(path: str, version: int) -> str:
                place = pages.place(path)
                if place.path == "live.html":
                    return pages.games.all(hub.live, 0, 1, place).data.decode()
                monkeypatch.setattr(pages, "_load_at", 0.0)  # else it is not read so soon again
                return (pages.get(path, hub.live, version) or pytest.fail(path)).data.decode()

            for folder, words in SHOWN.items():
                waiting = WaitingContest(file, None, tuple, True).page(f"{folder}index.html")
                assert waiting is not None
                for shown in (waiting.data.decode(), page(f"{folder}index.html", 1), page(f"{folder}live.html", 1)):
                    assert [] == [each for each in words if each not in shown]
                    assert '<time datetime="2027-03-01T08:30:00+00:00" data-moment>' in shown
            plan = cup.planned.path.read_text()
            cup.planned.path.write_text(plan.replace("2027-03-31T23:59:59Z", "2027-04-02T12:00:00Z"))
            assert "2027-04-02, 12:00 UTC" in page("index.html", 2)
            cup.planned.path.write_text("name =")
            assert "2027-04-02, 12:00 UTC" in page("index.html", 3)
            cup.planned.path.write_text(plan.replace(MOMENTS, ""))
            assert "<time" not in page("index.html", 4)


@pytest.mark.docker
def test_it_closes_starts_and_plays_once_although_the_service_is_killed(planned: Planned) -> None:
    folder = planned.folder
    token = make_token(open_intake(folder), "ada")
    with serving_all(folder) as service:
        until(lambda: "closed" in events(planned), "submissions are not closed")
        with service.client(token) as ada:
            refused = ada.post("/submissions", params={"filename": "a.zip"}, content=b"x")
            assert ada.get("/contest").json()["starts"].startswith(str(datetime.now(UTC).year))
        assert 409 == refused.status_code
        assert f"submissions closed at {planned.plan.submissions.closes:%Y-%m-%d %H:%M:%S} UTC" in refused.text
        until(lambda: player_of(planned) is not None, "nobody plays it")
        service.process.kill()
    with serving_all(folder) as service:
        until(lambda: is_over(planned), "it was not played")
        until(lambda: player_of(planned) is None, "its process does not end")
        assert 200 == httpx.get(f"{service.url}/index.html", timeout=PATIENCE_S).status_code
    found = events(planned)
    assert 1 == found.count("accepted") == found.count("begins") == found.count("created") == found.count("closed")
    assert found.index("closed") < found.index("begins") < found.index("created")
