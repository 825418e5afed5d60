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
from tests.intake.conftest import make_token
from tests.live.serving import serving_all
from tests.live.watching import until

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
        assert 200 == httpx.get(f"{service.url}/index.html").status_code
    found = events(planned)
    assert 1 == found.count("accepted") == found.count("begins") == found.count("created") == found.count("closed")
    assert found.index("closed") < found.index("begins") < found.index("created")
