"""An author's agents in a ladder, and challenges of other agents."""

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
from judge.contest.admissions import enter_passed
from judge.contest.entries import intake_directory
from judge.contest.plan import load_plan
from judge.contest_games import GameState
from judge.journal.events import NotEntered, SubmissionState, Withdrawn
from judge.publish.verify.export import verify_export
from judge.store.orders import OrganiserOrder
from judge.store.practice_games import GONE, PracticeGames, PracticeResult
from judge.store.types import NameTakenError, Upload
from judge.submissions.service import IntakeDirectory
from tests.contest.giving import give
from tests.contests import JOINING, LADDER, submit, with_a_submission
from tests.publish.cups import Cup, player
from tests.site.browser import WIDTHS, Browser
from tests.verify.second_opinion import second_opinion
from tests.web.intake.conftest import POLL_INTERVAL_S, make_token
from tests.web.live.serving import serving_all
from tests.web.service import FORM, Answer, ask, service_of
from tests.web.views import check_views

INTAKE = """
[intake]
challenges_per_day = 3
requests_per_minute = 100000
address_requests_per_minute = 100000
"""


def in_which_zoe_plays(cup: Cup) -> None:
    with_a_submission(cup)
    cup.play(14)
    while sum("zoe" in game.agents for game in cup.contest.view().results) <= 3:  # pairs are drawn at random
        cup.play(1)


AT_THE_DESK = replace(JOINING, name="joined", form=f"{LADDER}{INTAKE}", happens=in_which_zoe_plays)


class Desk:
    """A ladder with an agent of eve, and its service."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.cup: Cup = stack.enter_context(AT_THE_DESK.contest(folder))
        self.cup.cast = {**self.cup.cast, "zoe.2": player("zoe.2", 0.9)}
        self.directory: IntakeDirectory = intake_directory(load_plan(folder))
        self.service, self.console = stack.enter_context(service_of(folder))
        tokens = self.console.state.authors.tokens
        self.token, self.other = (tokens.make(author, "organiser") for author in ("eve", "bob"))

    def ask(self, path: str, token: str, form: Mapping[str, str] | None = None) -> Answer:
        method, body = ("GET", b"") if form is None else ("POST", urlencode(form).encode())
        return ask(self.service, method, path, f"judge-author={token}", body, **FORM)

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
    contest = desk.cup.contest.read()
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
    assert b'id="ladder"' not in desk.ask("/author/index.html", desk.other)[2]


def test_a_challenge_is_queued_and_stays_out_of_the_ladder(desk: Desk) -> None:
    before = desk.cup.contest.read()
    assert desk.challenge("anna", token=desk.other)[0] == 401
    assert desk.challenge("anna", submission="x")[0] == 401
    assert "does not take part: choose another opponent" in desk.challenge("nobody")[1]
    assert desk.challenge("anna")[0] == 303
    page = desk.page()
    assert "It never counts" in page
    listed = page[page.index('id="challenges"') :]
    assert re.search(r"<bdi>(zoe|anna)</bdi></td><td><bdi>(zoe|anna)</bdi></td><td>pending", listed)
    after = desk.cup.contest.read()
    assert (before.journal, before.games, before.document) == (after.journal, after.games, after.document)
    with closing(desk.directory.practice_games()) as games:
        (game,) = games.challenges("eve", 9)
        assert ("anna", "anna", 1) == (game.challenged, game.opponent, game.submission)
        assert games.take("1" * 32) is not None


def test_a_challenge_of_an_agent_that_leaves_is_cancelled(desk: Desk) -> None:
    assert desk.challenge("anna")[0] == 303
    give(desk.cup.contest, OrganiserOrder("Olga", "withdraw-agent", "anna", "it is ill"))
    with closing(desk.directory.practice_games()) as games:
        assert games.take("1" * 32) is None
        (game,) = games.challenges("eve", 9)
        assert (GameState.CANCELLED, GONE) == (game.state, game.why)
    assert "její soupeř už nehraje" in desk.page("cs/")
    assert desk.challenge("anna")[0] == 409


def api(desk: Desk, method: str, path: str, token: str, **query: str) -> tuple[int, dict[str, Any]]:
    status, _, body = ask(desk.service, method, f"{path}?{urlencode(query)}", authorization=f"Bearer {token}")
    return status, json.loads(body)


def test_programs_challenge_over_the_api_with_the_limits_of_the_page(desk: Desk) -> None:
    path = "/submissions/1/challenges"
    assert (200, {"games": []}) == api(desk, "GET", path, desk.token)
    status, found = api(desk, "POST", path, desk.token, opponent="anna")
    assert 201 == status
    (game,) = found["games"]
    assert {"state": "pending", "agent": "zoe", "challenged": "anna", "opponent": "anna"}.items() <= game.items()
    assert (200, found) == api(desk, "GET", path, desk.token)
    assert desk.challenge("bert")[0] == 303
    assert ["bert", "anna"] == [each["challenged"] for each in api(desk, "GET", path, desk.token)[1]["games"]]
    assert 201 == api(desk, "POST", path, desk.token, opponent="dora")[0]
    status, refused = api(desk, "POST", path, desk.token, opponent="anna")
    words = "an author may request 3 challenges in 24 hours: try again later"
    assert (429, words) == (status, refused["error"])
    status, page = desk.challenge("anna")
    assert (409, True) == (status, words.partition(":")[0] in page)


def test_the_api_refuses_challenges_with_the_reason(desk: Desk) -> None:
    for number, opponent, token, status, words in (
        ("1", "nobody", desk.token, 409, "nobody does not take part: choose another opponent"),
        ("1", "Anne", desk.token, 409, "Anne does not take part: did you mean 'anna'?"),
        ("1", "ZOE", desk.token, 409, "an agent does not play against itself: choose another opponent"),
        ("1", "", desk.token, 422, "opponent"),
        ("1", "x" * 65, desk.token, 422, "opponent"),
        ("2", "anna", desk.token, 404, "there is no submission 2"),
        ("1", "anna", desk.other, 404, "there is no submission 1"),
        ("1", "anna", "", 401, "token"),
    ):
        found, body = api(desk, "POST", f"/submissions/{number}/challenges", token, opponent=opponent)
        assert (status, True) == (found, words in body["error"]), body


@pytest.mark.parametrize(
    ("action", "target", "words"),
    [
        ("disqualify", "zoe", "a disqualified agent plays no challenges"),
        ("end-season", "", "no challenges are played now"),
    ],
)
def test_no_challenges_are_played_after_an_end(desk: Desk, action: str, target: str, words: str) -> None:
    give(desk.cup.contest, OrganiserOrder("Olga", action, target, "it is decided"))
    if action == "end-season":
        desk.cup.play()
    status, body = api(desk, "POST", "/submissions/1/challenges", desk.token, opponent="anna")
    assert (409, words) == (status, body["error"])
    assert desk.challenge("anna")[0] == 409


def challenge(*words: str) -> Result:
    return CliRunner().invoke(app, ["challenge", *words], env={"COLUMNS": "200"})


@pytest.mark.slow
def test_command_requests_a_challenge_and_prints_its_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.cli.submit_remote.POLL_INTERVAL_S", POLL_INTERVAL_S)
    with AT_THE_DESK.contest(tmp_path / "cup") as cup:
        directory = intake_directory(load_plan(cup.folder))
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
            give(cup.contest, OrganiserOrder("Olga", "withdraw-agent", "bert", "it is ill"))
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
                done = waiting.result()
                assert (0, "anna wins: 5 in a row") == (done.exit_code, done.stdout.splitlines()[-1])
            assert "--token-file is missing" in str(challenge("zoe", "anna", "--url", service.url).exception)


def finish_next(games: PracticeGames, opponent: str, result: PracticeResult) -> None:
    while (taken := games.take("1" * 32)) is None:
        time.sleep(POLL_INTERVAL_S)
    assert opponent == taken.challenged
    games.finish(taken.id, taken.attempt, replace(result, opponent=opponent))


@pytest.mark.slow
@pytest.mark.parametrize("acting_width", WIDTHS)
def test_author_challenges_and_leaves_in_a_plain_browser(browser: Browser, tmp_path: Path, acting_width: int) -> None:
    with AT_THE_DESK.contest(tmp_path / "cup") as cup:
        directory = intake_directory(load_plan(cup.folder))
        with serving_all(directory.folder) as service:
            browser.leave()
            browser.visit(f"{service.url}/author/index.html#{make_token(directory, 'eve')}")
            browser.wait_for("document.querySelector('#ladder') !== null")
            check_views(browser, service.url, "author/index.html")
            browser.set_view(acting_width)
            with browser.without_scripts():
                browser.visit(f"{service.url}/author/index.html")
                browser.ask("document.querySelector('button[name=opponent]').click()")
                browser.wait_for("document.querySelector('#challenges ~ .wide tbody th') !== null")
                assert "#challenges" == browser.ask("location.hash")
            browser.visit(f"{service.url}/author/index.html")
            browser.ask("document.querySelectorAll('article.own details').forEach((each) => each.open = true)")
            assert [] == browser.violations()
            with browser.without_scripts():
                browser.visit(f"{service.url}/author/index.html")
                button = "document.querySelector('article.own details:last-of-type button')"
                browser.ask(f"{button}.click(), {button}.click()")
                browser.wait_for("document.querySelector('article.own p')?.innerText.startsWith('You no longer')")
            browser.visit(f"{service.url}/author/index.html")
            assert [] == browser.violations()
        (line,) = cup.store.last_lines(cup.contest.name, 9, Withdrawn)
        assert ("zoe: withdrawn by its author", "eve") == (line.text, line.who)
    browser.set_view(1280)


IN = "You take part with version"
REPLACED = "a new version that passes its check replaces it."


def sentence(desk: Desk, folder: str = "", agent: str = "zoe") -> str:
    """The state of an agent on eve's page."""
    page = desk.page(folder)
    found = re.search(rf"<h3><bdi>{agent}</bdi></h3>\s*<p>(.*?)</p>", page, re.DOTALL)
    assert found is not None
    return re.sub(r"<[^>]*>|\s+(?=\s)", "", found[1]).strip()


def leave(desk: Desk, token: str = "", agent: str = "zoe", **more: str) -> tuple[int, str]:
    """Send the form of an agent, which withdraws it or has another `action`."""
    status, _, body = desk.ask("/author/agents", token or desk.token, {"name": agent, **more})
    return status, body.decode()


def withdrawals(desk: Desk) -> list[tuple[str, str | None]]:
    lines = desk.cup.store.last_lines(desk.cup.contest.name, 9, Withdrawn)
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
    (latest,) = desk.console.orders.latest(1)
    expected = OrganiserOrder("eve", "withdraw-agent", "zoe", "withdrawn by its author")
    assert expected == replace(latest.order, id=expected.id)


def test_only_own_agents_are_withdrawn(desk: Desk) -> None:
    status, page = leave(desk, desk.other)
    assert (409, True) == (status, "you have no agent &#39;zoe&#39; that takes part" in page)
    assert 409 == leave(desk, agent="anna")[0]
    assert 404 == api(desk, "POST", "/submissions/1/withdrawal", desk.other)[0]
    assert 404 == api(desk, "DELETE", "/submissions/1", desk.other)[0]
    assert 401 == api(desk, "POST", "/submissions/1/withdrawal", "")[0]
    assert [] == withdrawals(desk)


@pytest.mark.parametrize(("method", "path"), [("POST", "/submissions/1/withdrawal"), ("DELETE", "/submissions/1")])
def test_programs_withdraw_over_the_api_repeatedly(desk: Desk, method: str, path: str) -> None:
    for _ in range(2):
        status, found = api(desk, method, path, desk.token)
        assert (200, "withdrawn", "zoe") == (status, found["state"], found["name"])
    assert [("zoe: withdrawn by its author", "eve")] == withdrawals(desk)


@pytest.mark.slow
def test_agent_that_left_returns_as_a_new_version_and_both_verifiers_follow(desk: Desk, tmp_path: Path) -> None:
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


def test_withdrawal_includes_versions_that_are_still_processed(desk: Desk) -> None:
    with closing(desk.directory.register()) as register:
        number = register.receive(Upload("eve", "zoe", "zoe.zip", desk.directory.files.put(b"zoe 2"), 5)).id
        assert 303 == leave(desk)[0]
        assert SubmissionState.WITHDRAWN == register.get(number).state
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
    give(contest, OrganiserOrder("Olga", "withdraw-agent", "zoe", "it is ill"))
    assert "You no longer take part: it is ill" == sentence(desk)
    submit(desk.cup, "zoe", "eve", "2")
    assert "Newer:" in desk.page()
    enter_passed(contest)
    assert f"{IN} 2; {REPLACED}" == sentence(desk)
    give(contest, OrganiserOrder("Olga", "disqualify", "zoe.2", "it cheats"))
    assert "You no longer take part: disqualified, it cheats" == sentence(desk)


def test_page_states_what_frozen_admissions_and_the_end_of_a_season_mean_for_each_agent(desk: Desk) -> None:
    contest = desk.cup.contest
    submit(desk.cup, "kim", "eve")
    submission = "You do not take part yet: submission 2 passed and"
    assert f"{submission} joins before the next game is drawn." == sentence(desk, agent="kim")
    contest.store.log_once(contest.name, NotEntered("kim", "kim needs a runtime"), "judge")
    assert "You do not take part yet: kim needs a runtime" == sentence(desk, agent="kim")
    give(contest, OrganiserOrder("Olga", "freeze-admissions", "", "the last week"))
    assert f"{submission} waits until admissions are open again." == sentence(desk, agent="kim")
    assert f"{IN} 1; a new version waits until admissions are open again." == sentence(desk)
    assert api(desk, "GET", "/contest", "")[1]["joins_later"]
    give(contest, OrganiserOrder("Olga", "end-season", "", "the term is over"))
    assert "You do not take part: no version had joined when the season ended." == sentence(desk, agent="kim")
    assert f"{IN} 1; the season has ended." == sentence(desk)
    assert "The season has ended: new submissions are checked" in desk.page()
    status, page = leave(desk)
    assert (409, True) == (status, "has ended already" in page)
    assert 409 == api(desk, "POST", "/submissions/1/withdrawal", desk.token)[0]
    assert [] == withdrawals(desk)
    assert not api(desk, "GET", "/contest", "")[1]["joins_later"]


def rename(desk: Desk, name: str, title: str) -> tuple[int, str]:
    return leave(desk, agent=name, action="rename", title=title)


def test_agent_that_joins_a_running_ladder_has_the_name_that_its_author_chose(desk: Desk) -> None:
    contest, title = desk.cup.contest, "Žofinka 五"
    assert 303 == rename(desk, "zoe", title)[0]
    page = desk.page()
    assert "<h3><bdi>zoe</bdi></h3>" in page
    assert f'value="{title}"' in page
    give(contest, OrganiserOrder("Olga", "freeze-admissions", "", "the last week"))
    submit(desk.cup, "kim", "eve")
    assert 303 == rename(desk, "kim", "킴")[0]
    for taken in ("anna", title):
        status, refused = rename(desk, "kim", taken)
        assert (409, True) == (status, "another agent is called" in refused)
    give(contest, OrganiserOrder("Olga", "reopen-admissions", "", "again"))
    submit(desk.cup, "zoe", "eve", "2")
    enter_passed(contest)
    contest.refresh()
    entries = contest.snapshot.by_name()
    assert ["", title, "킴"] == [entries[name].title for name in ("zoe", "zoe.2", "kim")]

    assert f'<h3><bdi>{title}</bdi> <span class="quiet">zoe</span></h3>' in desk.page()
    give(contest, OrganiserOrder("Olga", "end-season", "", "the term is over"))
    status, refused = rename(desk, "kim", "k")
    assert (409, True) == (status, "its names no longer change" in refused)


def test_command_notes_that_an_agent_of_a_withdrawn_submission_continues(desk: Desk) -> None:
    words = ["submissions", "withdraw", "1", str(desk.cup.folder), "--why", "its author asked"]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert (0, True) == (done.exit_code, "zoe continues to take part; next: judge contest withdraw zoe" in done.stderr)
    assert f"{IN} 1; {REPLACED}" == sentence(desk)
