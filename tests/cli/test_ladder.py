"""Commands of a ladder show ratings, intervals, trends, games and times, and no rounds."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from judge.cli.contest.tables import standings
from judge.cli.contest.watch import Followed
from judge.cli.stats import stats
from judge.terminal import contest_tables
from judge.terminal.contest_screen import overview
from tests.broadcast.logs import recorder
from tests.cli.test_watch import written
from tests.publish.cups import Cup
from tests.verify.test_ladder import joins


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    with joins(tmp_path_factory.mktemp("played")) as cup:
        cup.play(14)
        yield cup


def test_standings_and_stats_show_the_ladder(played: Cup, capsys: pytest.CaptureFixture[str]) -> None:
    folder = played.folder
    expected = {agent: found.elo for agent, found in played.contest.read().ladder.items()}
    for command in (standings, lambda path: stats([path])):
        command(folder)
        text = capsys.readouterr().out
        assert all(re.search(rf" {agent} .* {elo:.0f} .* ago$", text, re.MULTILINE) for agent, elo in expected.items())
        assert "valid at any time" in text
    standings(folder, as_json=True)
    shown = json.loads(capsys.readouterr().out)["ladder"]
    assert expected == {agent: each["elo"] for agent, each in shown.items()}


@pytest.mark.parametrize("width", [60, 100, None])
def test_a_narrow_terminal_shows_fewer_columns(
    played: Cup, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int | None
) -> None:
    console = partial(Console, width=width or 40, force_terminal=width is not None)
    monkeypatch.setattr(contest_tables, "Console", console)
    contest = played.contest.read()
    contest_tables.print_ladder(contest)
    title, head, *rows, explanation = re.sub("\x1b[^m]*m", "", capsys.readouterr().out).splitlines()
    assert "valid at any time" in explanation
    assert len(rows) == len(contest.ladder), title
    assert all(row.rstrip().endswith("ago") for row in rows)
    words = head.split()
    assert words[:4] == ["agent", "rating", "Elo", "±"]
    assert ("open" in words, "trend" in words) == {60: (False, False), 100: (True, True), None: (True, True)}[width]


def test_last_game_of_an_old_ladder_is_days_ago(played: Cup) -> None:
    agent = next(each for each in played.contest.read().ladder.values() if each.history)
    last = datetime.fromisoformat(agent.history[-1].at)

    shown = [contest_tables.ladder_cells(agent, last + timedelta(hours=hours))[-1] for hours in (23, 120_508)]
    assert ["23 h ago", "5021 d 4 h ago"] == shown


def test_watch_shows_ratings_of_a_ladder(tmp_path: Path) -> None:
    with joins(tmp_path / "cup") as cup, recorder(cup) as log:
        cup.play(8)
        log.read_store()
        log.finish()
        with closing(Followed(cup.contest)) as followed:
            list(followed.news())
            shown = written(overview(followed.live, 0, followed.ratings()))
            rated = cup.contest.read().ladder
        cup.play()
        log.read_store()
        log.finish()
        with closing(Followed(cup.contest)) as followed:
            list(followed.events())
            ended = written(overview(followed.live, 0, followed.ratings()))
    for agent, found in rated.items():
        row = next(line for line in shown.splitlines() if re.search(rf"^ *\d+ +{agent} ", line))
        assert f" {found.elo:.0f} " in row
        assert not found.history or " ago " in row
    assert not re.search(r" \d+ s ago\b", ended)
    assert len(rated) <= len(re.findall(r" \d{4}-\d\d-\d\d \d\d:\d\d\b", ended))
