"""Authors withdraw their agents from a running ladder, and read whether an agent takes part."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge.cli import app
from judge.contest.entries import intake_directory
from judge.contest.orders import (
    disqualify,
    end_season,
    enter_passed,
    freeze_admissions,
    reopen_admissions,
    withdraw,
)
from judge.contest.plan import load_plan
from judge.store.orders import OrganiserOrder
from judge.store.types import NOT_ENTERED, WITHDRAWN, NameTakenError, State, Upload
from judge.verify.export import verify_export
from tests.broadcast.test_recorder import until
from tests.contests import submit
from tests.publish.cups import player
from tests.site.browser import VIEWS, WIDTHS, Browser
from tests.verify.second_opinion import second_opinion
from tests.verify.test_ladder import joins
from tests.web.authors.test_ladder import INTAKE, Desk, api
from tests.web.intake.conftest import make_token
from tests.web.live.serving import serving_all
from tests.web.service import call

IN = "You take part with version"
REPLACED = "a new version that passes its check replaces it."


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with ExitStack() as stack:
        found = Desk(tmp_path / "cup", stack)
        found.cup.cast = {**found.cup.cast, "zoe.2": player("zoe.2", 0.9)}
        yield found


def sentence(desk: Desk, folder: str = "", agent: str = "zoe") -> str:
    """The state of an agent on eve's page."""
    page = desk.page(folder)
    found = re.search(rf"<h3><bdi>{agent}</bdi></h3>\s*<p>(.*?)</p>", page, re.DOTALL)
    assert found is not None
    return re.sub(r"<[^>]*>|\s+(?=\s)", "", found[1]).strip()


def leave(desk: Desk, token: str = "", agent: str = "zoe") -> tuple[int, str]:
    status, _, body = desk.ask("/author/agents", token or desk.token, {"name": agent})
    return status, body.decode()


def withdrawals(desk: Desk) -> list[tuple[str, str | None]]:
    lines = desk.cup.store.last_lines(desk.cup.contest.name, 9, WITHDRAWN)
    assert all(line.number is not None for line in lines)
    return [(line.text, line.who) for line in reversed(lines)]


def test_withdrawal_by_the_author_is_one_public_order_and_can_be_repeated(desk: Desk) -> None:
    assert f"{IN} 1; {REPLACED}" == sentence(desk)
    assert "it is not paired any more" in desk.page()
    drawn = len(desk.cup.store.games(desk.cup.contest.name))
    for _ in range(2):
        assert 303 == leave(desk)[0]
    assert [("zoe: withdrawn by its author", "eve")] == withdrawals(desk)
    assert "You no longer take part: withdrawn by its author" == sentence(desk)
    assert "Již nesoutěžíte" in sentence(desk, "cs/")
    assert "您不再参赛" in sentence(desk, "zh/")
    assert 'name="name" value="zoe"' not in desk.page()
    desk.cup.play(6)
    games = desk.cup.store.games(desk.cup.contest.name)
    assert len(games) > drawn
    assert not [game for game in games[drawn:] if "zoe" in (game.first, game.second)]
    (order,) = desk.console.orders.latest(1)
    assert ("eve", "withdraw-agent", "zoe", "withdrawn by its author") == (
        order.order.who,
        order.order.action,
        order.order.target,
        order.order.why,
    )


def test_only_own_agents_are_withdrawn_and_only_from_the_own_site(desk: Desk) -> None:
    status, page = leave(desk, desk.other)
    assert (409, True) == (status, "you have no agent &#39;zoe&#39; that takes part" in page)
    assert 409 == leave(desk, agent="anna")[0]
    assert 404 == api(desk, "POST", "/submissions/1/withdrawal", desk.other)[0]
    assert 404 == api(desk, "DELETE", "/submissions/1", desk.other)[0]
    assert 401 == api(desk, "POST", "/submissions/1/withdrawal", "")[0]
    desk.site = "cross-site"
    assert 422 == leave(desk)[0]
    assert [] == withdrawals(desk)


@pytest.mark.parametrize(("method", "path"), [("POST", "/submissions/1/withdrawal"), ("DELETE", "/submissions/1")])
def test_programs_withdraw_over_the_api_repeatedly(desk: Desk, method: str, path: str) -> None:
    for _ in range(2):
        status, found = api(desk, method, path, desk.token)
        assert (200, "withdrawn", "zoe") == (status, found["state"], found["name"])
    assert [("zoe: withdrawn by its author", "eve")] == withdrawals(desk)


@pytest.mark.slow
def test_agent_that_left_returns_as_a_new_version_with_its_rating_and_both_verifiers_follow(
    desk: Desk, tmp_path: Path
) -> None:
    assert 303 == leave(desk)[0]
    submit(desk.cup, "zoe", "eve")
    entry = desk.cup.contest.snapshot.by_name()["zoe"]
    enter_passed(desk.cup.contest)
    desk.cup.contest.refresh()
    back = desk.cup.contest.snapshot.by_name()["zoe.2"]
    assert ("zoe", 2, entry.seat.digest) == (back.parent, back.submission, back.seat.digest)
    assert f"{IN} 2; {REPLACED}" == sentence(desk)
    desk.cup.play()
    assert "the season has ended" in sentence(desk)
    public = desk.cup.export(tmp_path)
    assert [] == list(verify_export(public.directory, public.public_key).problems)
    assert [] == second_opinion(public.directory, public.public_key)


def test_delayed_return_is_found(desk: Desk, tmp_path: Path) -> None:
    assert 303 == leave(desk)[0]
    submit(desk.cup, "zoe", "eve")
    desk.cup.contest.enter_passed = lambda _: False
    desk.cup.play()
    public = desk.cup.export(tmp_path)
    problem = "submission 2, zoe, had passed, but had not entered"
    assert any(problem in each for each in verify_export(public.directory, public.public_key).problems)


def test_withdrawal_includes_versions_that_are_still_processed(desk: Desk) -> None:
    with closing(desk.directory.register()) as register:
        number = register.receive(Upload("eve", "zoe", "zoe.zip", desk.directory.files.put(b"zoe 2"), 5)).id
        assert 303 == leave(desk)[0]
        assert State.WITHDRAWN == register.get(number).state
        with pytest.raises(NameTakenError):
            register.receive(Upload("bob", "ZOE", "zoe.zip", desk.directory.files.put(b"bob"), 3))


def test_agent_that_is_withdrawn_while_it_is_entered_does_not_join(desk: Desk) -> None:
    submit(desk.cup, "zoe", "eve", "2")
    store = desk.cup.contest.store

    def carry_out(*given: object) -> object:
        assert 303 == leave(desk)[0]
        return type(store).carry_out(store, *given)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "carry_out", carry_out, raising=False)
        enter_passed(desk.cup.contest)
    assert "zoe.2" not in {entry.name for entry in desk.cup.store.entries(desk.cup.contest.name)}


def test_page_states_why_an_agent_no_longer_takes_part(desk: Desk) -> None:
    contest = desk.cup.contest
    withdraw(contest, OrganiserOrder("Olga", "withdraw-agent", "zoe", "it is ill"))
    assert "You no longer take part: it is ill" == sentence(desk)
    submit(desk.cup, "zoe", "eve", "2")
    assert "Newer:" in desk.page()
    enter_passed(contest)
    assert f"{IN} 2; {REPLACED}" == sentence(desk)
    disqualify(contest, OrganiserOrder("Olga", "disqualify", "zoe.2", "it cheats"))
    assert "You no longer take part: disqualified, it cheats" == sentence(desk)


def test_page_states_that_admissions_are_frozen_or_the_season_has_ended(desk: Desk) -> None:
    contest = desk.cup.contest
    freeze_admissions(contest, OrganiserOrder("Olga", "freeze-admissions", "", "the last week"))
    assert f"{IN} 1; a new version waits until admissions are open again." == sentence(desk)
    end_season(contest, OrganiserOrder("Olga", "end-season", "", "the term is over"))
    assert f"{IN} 1; the season has ended." == sentence(desk)
    status, page = leave(desk)
    assert (409, True) == (status, "has ended already" in page)
    assert 409 == api(desk, "POST", "/submissions/1/withdrawal", desk.token)[0]
    assert [] == withdrawals(desk)


def test_page_states_why_an_agent_that_passed_has_not_joined(desk: Desk) -> None:
    contest = desk.cup.contest
    submit(desk.cup, "kim", "eve")
    submission = "You do not take part yet: submission 2 passed and"
    assert f"{submission} joins before the next game is drawn." == sentence(desk, agent="kim")
    contest.store.log_once(contest.name, NOT_ENTERED, "kim: kim needs a runtime", "judge")
    assert "You do not take part yet: kim needs a runtime" == sentence(desk, agent="kim")
    freeze_admissions(contest, OrganiserOrder("Olga", "freeze-admissions", "", "the last week"))
    assert f"{submission} waits until admissions are open again." == sentence(desk, agent="kim")
    assert api(desk, "GET", "/contest", "")[1]["joins_later"]
    end_season(contest, OrganiserOrder("Olga", "end-season", "", "the term is over"))
    assert "You do not take part: no version had joined when the season ended." == sentence(desk, agent="kim")
    assert "The season has ended: new submissions are checked" in desk.page()
    assert not api(desk, "GET", "/contest", "")[1]["joins_later"]


def rename(desk: Desk, name: str, title: str) -> tuple[int, str]:
    status, _, body = desk.ask("/author/agents", desk.token, {"action": "rename", "name": name, "title": title})
    return status, body.decode()


def test_agent_that_joins_a_running_ladder_has_the_name_that_its_author_chose(desk: Desk) -> None:
    contest, title = desk.cup.contest, "Žofinka 五"
    assert 303 == rename(desk, "zoe", title)[0]
    page = desk.page()
    assert "<h3><bdi>zoe</bdi></h3>" in page
    assert f'value="{title}"' in page
    freeze_admissions(contest, OrganiserOrder("Olga", "freeze-admissions", "", "the last week"))
    submit(desk.cup, "kim", "eve")
    assert 303 == rename(desk, "kim", "킴")[0]
    for taken in ("anna", title):
        status, refused = rename(desk, "kim", taken)
        assert (409, True) == (status, "another agent is called" in refused)
    reopen_admissions(contest, OrganiserOrder("Olga", "reopen-admissions", "", "again"))
    submit(desk.cup, "zoe", "eve", "2")
    enter_passed(contest)
    contest.refresh()
    entries = contest.snapshot.by_name()
    assert ["", title, "킴"] == [entries[name].title for name in ("zoe", "zoe.2", "kim")]

    def are_shown() -> bool:
        status, _, standings = asyncio.run(call(desk.service, "GET", "/index.html", {}))
        assert 200 == status
        return title in standings.decode() and "킴" in standings.decode()

    until(are_shown, "the standings lack the names")  # they are read again after a while
    assert f'<h3><bdi>{title}</bdi> <span class="quiet">zoe</span></h3>' in desk.page()
    end_season(contest, OrganiserOrder("Olga", "end-season", "", "the term is over"))
    status, refused = rename(desk, "kim", "k")
    assert (409, True) == (status, "its names no longer change" in refused)


def test_agent_that_left_does_not_count_for_the_limit_of_an_author(desk: Desk) -> None:
    withdraw(desk.cup.contest, OrganiserOrder("Olga", "withdraw-agent", "zoe", "it is ill"))
    with closing(desk.directory.register()) as register:
        row = register.get(1)
        with register.change() as inner:
            taken = inner.receive(Upload("eve", "kim", "kim.zip", row.upload, 5), worker="0" * 32)
            assert [] == inner._other_names(inner._connection, taken, "kim")  # type: ignore[arg-type]


def test_command_notes_that_an_agent_of_a_withdrawn_submission_continues(desk: Desk) -> None:
    words = ["submissions", "withdraw", "1", str(desk.cup.folder), "--why", "its author asked"]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert (0, True) == (done.exit_code, "zoe continues to take part; next: judge contest withdraw zoe" in done.stderr)
    assert f"{IN} 1; {REPLACED}" == sentence(desk)


@pytest.mark.slow
@pytest.mark.parametrize("acting_width", WIDTHS)
def test_author_leaves_in_a_browser_by_a_double_click_without_script(
    browser: Browser, tmp_path: Path, acting_width: int
) -> None:
    with joins(tmp_path / "cup", INTAKE) as cup:
        cup.play(10)
        directory = intake_directory(load_plan(tmp_path / "cup"))
        with serving_all(directory.folder) as service:
            browser.leave()
            browser.visit(f"{service.url}/author/index.html#{make_token(directory, 'eve')}")
            browser.wait_for("document.querySelector('article.own') !== null")
            browser.ask("document.querySelectorAll('article.own details').forEach((each) => each.open = true)")
            browser.look(acting_width)
            assert [] == browser.violations()
            browser.block_scripts(True)
            try:
                browser.visit(f"{service.url}/author/index.html")
                button = "document.querySelector('article.own details:last-of-type button')"
                browser.ask(f"{button}.click(), {button}.click()")
                browser.wait_for("document.querySelector('article.own p')?.innerText.startsWith('You no longer')")
            finally:
                browser.block_scripts(False)
            for folder, width, dark in VIEWS:
                browser.visit(f"{service.url}/{folder}author/index.html")
                browser.look(width, dark)
                assert browser.ask("document.documentElement.scrollWidth") <= width
                assert [] == browser.violations()
        (line,) = cup.store.last_lines(cup.contest.name, 9, WITHDRAWN)
        assert ("zoe: withdrawn by its author", "eve") == (line.text, line.who)
    browser.look(1280)
