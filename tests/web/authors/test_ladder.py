"""An author's agents in a ladder, and challenges of other agents."""

import asyncio
import json
import re
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from typer.testing import CliRunner, Result

from judge.cli import app
from judge.contest.entries import intake_directory
from judge.contest.orders import disqualify, end_season, enter_passed, withdraw
from judge.contest.plan import load_plan
from judge.contest_games import GameState
from judge.publish.load import load_store
from judge.store.orders import OrganiserOrder
from judge.store.practice_games import GONE, PracticeGames, PracticeResult
from judge.submissions.service import IntakeDirectory
from tests.contests import JOINING, LADDER, with_a_submission
from tests.publish.cups import Cup
from tests.site.browser import VIEWS, WIDTHS, Browser
from tests.verify.test_ladder import joins
from tests.web.intake.conftest import POLL_INTERVAL_S, ended, make_token, send
from tests.web.live.serving import serving_all
from tests.web.service import Answer, call, service_of

INTAKE = """
[intake]
challenges_per_day = 3
requests_per_minute = 100000
address_requests_per_minute = 100000
"""


def in_which_zoe_plays(cup: Cup) -> None:
    with_a_submission(cup)
    cup.contest.enter_passed = enter_passed
    cup.play(14)


AT_THE_DESK = replace(JOINING, name="joined", form=f"{LADDER}{INTAKE}", happens=in_which_zoe_plays)


class Desk:
    """A ladder with an agent of eve, and its service."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.cup: Cup = stack.enter_context(AT_THE_DESK.contest(folder))
        self.cup.contest.enter_passed = enter_passed
        self.directory: IntakeDirectory = intake_directory(load_plan(folder))
        self.service, self.console = stack.enter_context(service_of(folder))
        console, self.site = self.console, "same-origin"
        self.token = console.state.authors.tokens.make("eve", "organiser")
        self.other = console.state.authors.tokens.make("bob", "organiser")

    def ask(self, path: str, token: str, form: Mapping[str, str] | None = None) -> Answer:
        headers = {"cookie": f"judge-author={token}", "sec-fetch-site": self.site}
        if form is None:
            return asyncio.run(call(self.service, "GET", path, headers))
        headers["content-type"] = "application/x-www-form-urlencoded"
        return asyncio.run(call(self.service, "POST", path, headers, body=urlencode(form).encode()))

    def page(self, folder: str = "") -> str:
        status, _, body = self.ask(f"/{folder}author/index.html", self.token)
        assert status == 200
        return body.decode()

    def challenge(self, opponent: str, submission: str = "1", token: str = "") -> tuple[int, str]:
        form = {"submission": submission, "opponent": opponent}
        status, _, body = self.ask("/author/challenges", token or self.token, form)
        return status, re.sub(r"\s+", " ", body.decode())


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with ExitStack() as stack:
        yield Desk(tmp_path / "cup", stack)


def test_page_shows_rating_place_opponents_and_results_with_evidence(desk: Desk) -> None:
    contest = load_store(desk.cup.contest)
    found, page = contest.ladder["zoe"], desk.page()
    assert len(found.history) > 3
    assert f"<b>{found.elo:.0f}</b> Elo" in page
    assert f"(± {found.reach:.0f})" in page
    assert f"place <b>{contest.lines['zoe'].place}</b>" in page
    assert "share a place, and the next places are left out" in page
    results = [game for game in contest.results if "zoe" in game.agents]
    for agent in {*contest.by_name} - {"zoe"}:
        met = [game for game in results if agent in game.agents]
        row = next(row for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL) if f">{agent}</bdi></a></th>" in row)
        won = sum(game.winner == "zoe" for game in met)
        assert f'<td class="num">{len(met)}</td>' in row
        if met:
            assert f"{won} / 0 / {len(met) - won}" in row
    won_games = [game for game in results if game.winner == "zoe"]
    # The pairs are drawn, so it may have lost all its games.
    chosen, heading = (max, "Best results") if won_games else (min, "Worst results")
    others = {agent for game in won_games or results for agent in game.agents} - {"zoe"}
    elo = chosen(contest.ladder[agent].elo for agent in others)
    listed = page[page.index(heading) :]
    assert f"({elo:.0f} Elo)" in listed[: listed.index("</li>")]
    number = re.search(r'href="games/(\d+)\.html"', listed)
    assert number is not None
    status, _, body = desk.ask(f"/author/games/{number[1]}.html", desk.token)
    assert status == 200
    assert b"zoe" in body


def test_another_author_has_no_section(desk: Desk) -> None:
    status, _, body = desk.ask("/author/index.html", desk.other)
    assert status == 200
    assert b'id="ladder"' not in body


def test_a_challenge_is_queued_and_stays_out_of_the_ladder(desk: Desk) -> None:
    before = load_store(desk.cup.contest)
    assert desk.challenge("anna")[0] == 303
    page = desk.page()
    assert "It never counts" in page
    listed = page[page.index('id="challenges"') :]
    assert re.search(r"<bdi>(zoe|anna)</bdi></td><td><bdi>(zoe|anna)</bdi></td><td>pending", listed)
    after = load_store(desk.cup.contest)
    assert (before.journal, before.games, before.document) == (after.journal, after.games, after.document)
    with closing(desk.directory.practice_games()) as games:
        (game,) = games.challenges("eve", 9)
        assert ("anna", "anna", 1) == (game.challenged, game.opponent, game.submission)
        assert games.take("1" * 32) is not None


def test_challenges_have_a_limit_and_need_an_own_agent_and_an_opponent(desk: Desk) -> None:
    assert desk.challenge("anna", token=desk.other)[0] == 401
    assert "does not take part: choose another opponent" in desk.challenge("nobody")[1]
    assert desk.challenge("anna", submission="x")[0] == 401
    for opponent in ("anna", "bert", "dora"):
        assert desk.challenge(opponent)[0] == 303
    status, page = desk.challenge("anna")
    assert status == 409
    assert "an author may request 3 challenges in 24 hours" in page


def test_a_challenge_of_an_agent_that_leaves_is_cancelled(desk: Desk) -> None:
    assert desk.challenge("anna")[0] == 303
    withdraw(desk.cup.contest, OrganiserOrder("Olga", "withdraw-agent", "anna", "it is ill"))
    with closing(desk.directory.practice_games()) as games:
        assert games.take("1" * 32) is None
        (game,) = games.challenges("eve", 9)
        assert (GameState.CANCELLED, GONE) == (game.state, game.why)
    assert "její soupeř už nehraje" in desk.page("cs/")
    assert desk.challenge("anna")[0] == 409


def api(desk: Desk, method: str, path: str, token: str, **query: str) -> tuple[int, dict[str, Any]]:
    headers = {"authorization": f"Bearer {token}"}
    status, _, body = asyncio.run(call(desk.service, method, path, headers, query=urlencode(query)))
    return status, json.loads(body)


def test_programs_challenge_over_the_api_with_the_limits_of_the_page(desk: Desk) -> None:
    path = "/submissions/1/challenges"
    assert (200, {"games": []}) == api(desk, "GET", path, desk.token)
    status, found = api(desk, "POST", path, desk.token, opponent="anna")
    assert 201 == status
    (game,) = found["games"]
    assert ("pending", "zoe", "anna", "anna") == tuple(
        game[key] for key in ("state", "agent", "challenged", "opponent")
    )
    assert (200, found) == api(desk, "GET", path, desk.token)
    assert desk.challenge("bert")[0] == 303
    assert ["bert", "anna"] == [each["challenged"] for each in api(desk, "GET", path, desk.token)[1]["games"]]
    assert 201 == api(desk, "POST", path, desk.token, opponent="dora")[0]
    status, refused = api(desk, "POST", path, desk.token, opponent="anna")
    assert (429, "an author may request 3 challenges in 24 hours: try again later") == (status, refused["error"])


@pytest.mark.parametrize(
    ("number", "opponent", "author", "status", "words"),
    [
        ("1", "nobody", "eve", 409, "nobody does not take part: choose another opponent"),
        ("1", "Anne", "eve", 409, "Anne does not take part: did you mean 'anna'?"),
        ("1", "ZOE", "eve", 409, "an agent does not play against itself: choose another opponent"),
        ("1", "", "eve", 422, "opponent"),
        ("1", "x" * 65, "eve", 422, "opponent"),
        ("2", "anna", "eve", 404, "there is no submission 2"),
        ("1", "anna", "bob", 404, "there is no submission 1"),
        ("1", "anna", "", 401, "token"),
    ],
)
def test_the_api_refuses_challenges_with_the_reason(
    desk: Desk, number: str, opponent: str, author: str, status: int, words: str
) -> None:
    token = {"eve": desk.token, "bob": desk.other}.get(author, "")
    found, body = api(desk, "POST", f"/submissions/{number}/challenges", token, opponent=opponent)
    assert found == status
    assert words in body["error"]


def test_disqualified_agent_plays_no_challenges(desk: Desk) -> None:
    disqualify(desk.cup.contest, OrganiserOrder("Olga", "disqualify", "zoe", "it cheats"))
    status, body = api(desk, "POST", "/submissions/1/challenges", desk.token, opponent="anna")
    assert (409, "a disqualified agent plays no challenges") == (status, body["error"])


def test_no_challenges_are_played_after_the_season(desk: Desk) -> None:
    end_season(desk.cup.contest, OrganiserOrder("Olga", "end-season", "", "the term is over"))
    desk.cup.play()
    assert desk.cup.contest.is_over()
    status, body = api(desk, "POST", "/submissions/1/challenges", desk.token, opponent="anna")
    assert (409, "no challenges are played now") == (status, body["error"])
    assert desk.challenge("anna")[0] == 409


def challenge(*words: str) -> Result:
    return CliRunner().invoke(app, ["challenge", *words], env={"COLUMNS": "200"})


@pytest.mark.slow
def test_command_requests_a_challenge_of_a_running_service_and_prints_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.cli.challenge.POLL_INTERVAL_S", POLL_INTERVAL_S)
    with joins(tmp_path / "cup", INTAKE) as cup:
        cup.play(14)
        directory = intake_directory(load_plan(tmp_path / "cup"))
        link = f"#{make_token(directory, 'eve')}"
        with serving_all(directory.folder) as service, closing(directory.practice_games()) as games:
            url = f"{service.url}/author/index.html{link}"
            done = challenge("zoe", "anna", "--url", url)
            assert (0, "challenge 1: zoe of submission 1 - anna\n") == (done.exit_code, done.stdout)
            assert "author/index.html#challenges" in done.stderr
            taken = games.take("1" * 32)
            assert taken is not None
            played = PracticeResult("zoe", "anna", 1, "win", 0, "5 in a row", "0" * 64, 1.5)
            games.finish(taken.id, taken.attempt, played)
            withdraw(cup.contest, OrganiserOrder("Olga", "withdraw-agent", "bert", "it is ill"))
            refused = challenge("1", "bert", "--url", url)
            assert "bert does not take part" in str(refused.exception)
            unknown = challenge("zo", "anna", "--url", url)
            assert "no submission of 'zo' passed: did you mean 'zoe'?" in str(unknown.exception)
            asked = challenge("1", "dora", "--url", url, "--json")
            assert ("dora", "pending") == tuple(json.loads(asked.stdout)[key] for key in ("challenged", "state"))
            with ThreadPoolExecutor(1) as pool:
                waiting = pool.submit(challenge, "zoe", "anna", "--url", url, "--wait")
                finish_next(games, "dora", played)
                finish_next(games, "anna", played)
                assert (0, "anna wins: 5 in a row") == (
                    waiting.result().exit_code,
                    waiting.result().stdout.splitlines()[-1],
                )
            assert "--token-file is missing" in str(challenge("zoe", "anna", "--url", service.url).exception)


@pytest.mark.slow
def test_name_of_a_listed_agent_is_refused_when_it_is_uploaded(tmp_path: Path) -> None:
    with joins(tmp_path / "cup", INTAKE) as cup:
        directory = intake_directory(load_plan(tmp_path / "cup"))
        taken = "the contest's file lists an agent called 'ANNA': choose another name"
        with serving_all(directory.folder) as service, service.client(make_token(directory, "eve")) as eve:
            named = eve.post("/submissions", params={"filename": "a.zip", "name": "ANNA"}, content=b"good five")
            assert (409, taken) == (named.status_code, named.json()["error"])
            found = ended(eve, send(eve, "good ANNA"))
            assert ("refused", taken) == (found["state"], found["why"])
            assert "passed" == ended(eve, send(eve, "good five", title="Žofinka 五"))["state"]
        enter_passed(cup.contest)
        cup.contest.refresh()
        assert "Žofinka 五" == cup.contest.snapshot.by_name()["five"].title


def finish_next(games: PracticeGames, opponent: str, result: PracticeResult) -> None:
    while (taken := games.take("1" * 32)) is None:
        time.sleep(POLL_INTERVAL_S)
    assert opponent == taken.challenged
    games.finish(taken.id, taken.attempt, replace(result, opponent=opponent))


@pytest.mark.slow
@pytest.mark.parametrize("acting_width", WIDTHS)
def test_page_and_challenge_work_in_a_browser_without_script(
    browser: Browser, tmp_path: Path, acting_width: int
) -> None:
    with joins(tmp_path / "cup", INTAKE) as cup:
        cup.play(14)
    directory = intake_directory(load_plan(tmp_path / "cup"))
    with serving_all(directory.folder) as service:
        browser.leave()
        browser.visit(f"{service.url}/author/index.html#{make_token(directory, 'eve')}")
        browser.wait_for("document.querySelector('#ladder') !== null")
        for folder, width, dark in VIEWS:
            browser.visit(f"{service.url}/{folder}author/index.html")
            browser.look(width, dark)
            assert browser.ask("document.documentElement.scrollWidth") <= width
            assert [] == browser.violations()
        browser.look(acting_width)
        browser.block_scripts(True)
        try:
            browser.visit(f"{service.url}/author/index.html")
            browser.ask("document.querySelector('button[name=opponent]').click()")
            browser.wait_for("document.querySelector('#challenges ~ .wide tbody th') !== null")
            assert "#challenges" == browser.ask("location.hash")
        finally:
            browser.block_scripts(False)
    browser.look(1280)
