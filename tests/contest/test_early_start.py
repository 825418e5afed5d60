"""A contest does not begin before the moments that its file announces, unless it is told to."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.base.moments import moment_text
from judge.contest.begin import announce, begin
from judge.contest.contest import has_begun, open_store
from judge.contest.plan import Planned, load_plan
from judge.journal.events import Moment, StartTimeReached
from tests.cli.conftest import Judge, judge  # noqa: F401 - a fixture
from tests.cli.contests import JUDGE
from tests.cli.terminal import Terminal
from tests.examples import evidence

pytestmark = pytest.mark.docker

PLAN = """name = "cup"
policy = "gomocup-fastgame"
{moments}
[format]
name = "round-robin"
games = 1
[[agents]]
path = "house-instant"
name = "one"
[[agents]]
path = "house-instant"
name = "two"
"""

SOON = datetime(2099, 1, 1, 18, tzinfo=UTC)
LATER = SOON + timedelta(hours=1)
PAST = datetime(2020, 1, 1, 18, tzinfo=UTC)


def planned(folder: Path, closes: datetime | None, starts: datetime | None) -> Planned:
    text = "" if closes is None else f"[submissions]\ncloses = {closes.isoformat()}\n"
    text += "" if starts is None else f"[contest]\nstarts = {starts.isoformat()}\n"
    path = folder / "contest.toml"
    path.write_text(PLAN.format(moments=text))
    return load_plan(path)


OPEN = f"submissions are open until {moment_text(SOON)}"
STARTS = f"it starts by itself at {moment_text(LATER)} while judge serve runs"


@pytest.mark.parametrize(
    ("closes", "starts", "said"),
    [
        (SOON, LATER, f"{OPEN}; {STARTS}"),
        (PAST, LATER, STARTS),
        (None, LATER, STARTS),
        (SOON, None, f"{OPEN}; judge contest run .*contest.toml begins it then"),
    ],
)
def test_a_contest_does_not_begin_before_its_moments(
    tmp_path: Path, closes: datetime | None, starts: datetime | None, said: str
) -> None:
    plan = planned(tmp_path, closes, starts)
    pattern = said.replace("(", r"\(").replace(")", r"\)")
    with closing(open_store(plan)) as store:
        with pytest.raises(InputError, match=f"cup has not begun: {pattern}; --now begins it now"):
            begin(store, plan, {})
        assert not has_begun(store, plan)
        assert not store.leaves("cup", 0, 10)
        assert "judge contest run" not in str(plan.not_begun()) or starts is None
        assert moment_text(starts or closes or PAST) in str(plan.not_begun())

        begin(store, plan, {}, is_early=True)
        assert has_begun(store, plan)
        begin(store, plan, {})  # it continues


@pytest.mark.parametrize(
    ("closes", "starts"),
    [(PAST, PAST), *(pytest.param(*each, marks=evidence) for each in ((None, None), (PAST, None), (None, PAST)))],
)
def test_a_contest_begins_after_its_moments(tmp_path: Path, closes: datetime | None, starts: datetime | None) -> None:
    plan = planned(tmp_path, closes, starts)
    with closing(open_store(plan)) as store:
        begin(store, plan, {})
        assert has_begun(store, plan)


def test_stage_begun_by_the_clock_stays_begun_after_the_clock_is_set_back(tmp_path: Path) -> None:
    plan = planned(tmp_path, SOON, LATER)
    with closing(open_store(plan)) as store:
        announce(store, plan)
        store.log_once("cup", StartTimeReached(Moment.of(LATER)), "the clock")
        begin(store, plan, {})
        assert has_begun(store, plan)


def test_run_refuses_with_the_moments_and_its_hints_do_not_advise_it(tmp_path: Path, judge: Judge) -> None:  # noqa: F811
    planned(tmp_path, SOON, LATER)

    for options in ((), ("--cluster", "tcp://127.0.0.1:9")):
        ended = judge("contest", "run", "contest.toml", *options)
        assert 2 == ended.code, ended
        assert f"{OPEN}; {STARTS}" in ended.err
        assert "judge contest run" not in ended.err
    assert f"nothing is missing; {OPEN}; {STARTS}" in judge("contest", "plan", "contest.toml").out


@pytest.mark.parametrize("answer", ["n", "y"])
def test_now_asks_on_a_terminal(tmp_path: Path, answer: str) -> None:
    waiting = planned(tmp_path, SOON, LATER)
    with closing(open_store(waiting)) as store:
        announce(store, waiting)
        command = [*JUDGE, "contest", "run", str(waiting.path), "--now"]
        terminal = Terminal(command, waiting.folder, columns=100, rows=30)
        terminal.until(lambda text: "cannot be undone" in text)
        assert not has_begun(store, waiting)
        terminal.type(f"{answer}\n")
        said = terminal.to_the_end()

        assert (answer == "y") is has_begun(store, waiting)
        assert (2 if answer == "n" else 0) == terminal.code, said
        assert (answer == "n") is (b"was not started" in terminal.written)
