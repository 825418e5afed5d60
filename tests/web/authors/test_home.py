"""The first page of an author: the contest, its deadlines and starters, and the state of each agent."""

import io
import re
import time
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from judge.base.resources import IMAGES
from judge.cli.contest.plan import plan
from judge.journal.events import SubmissionState
from judge.store.types import ProcessingResult, Submission, Upload
from judge.submissions.service import IntakeDirectory
from judge.web.authors.views import agents_of, alike
from tests.patience import PATIENCE_S
from tests.site.browser import Browser
from tests.web.authors.desk import served
from tests.web.intake.conftest import POLL_INTERVAL_S, Service, ended, make_contest, make_token, send
from tests.web.live.serving import serving_all
from tests.web.views import check_views, text_of

CLOSES = datetime(2090, 3, 1, 17, 0, tzinfo=UTC)
WINDOWS = f"""
requests_per_minute = 100000
address_requests_per_minute = 100000
strangers_per_minute = 100000
uploads_per_hour = 0
waiting_per_author = 0
[submissions]
closes = {CLOSES.isoformat()}
"""
FORM = {"sec-fetch-site": "same-origin"}
IN = "You take part with version"
GONE = "You do not take part: the agent is withdrawn."


class Home:
    """An author's session in a running service."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token
        self.client = httpx.Client(base_url=url, cookies={"judge-author": token}, timeout=PATIENCE_S)
        self.api = httpx.Client(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=PATIENCE_S)

    def submit(self, content: str, **query: str) -> int:
        number = send(self.api, content, **query)
        ended(self.api, number)
        return number

    def page(self, folder: str = "") -> str:
        answer = self.client.get(f"/{folder}author/index.html")
        assert 200 == answer.status_code, answer.text
        return answer.text

    def enter(self, browser: Browser) -> None:
        """Sign in, in place of the author of the last test."""
        browser.visit(f"{self.url}/author/index.html")
        browser.ask("fetch('sign-out', { method: 'POST' }).then(() => true)")
        browser.leave()
        browser.visit(f"{self.url}/author/index.html#{self.token}")

    def states(self) -> dict[str, str]:
        """The sentence of each agent by name."""
        found = re.findall(r'<article class="own">\s*<h3><bdi>(.*?)</bdi></h3>\s*<p>(.*?)</p>', self.page(), re.DOTALL)
        return {name: " ".join(re.sub(r"<[^>]*>", "", text).split()) for name, text in found}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> IntakeDirectory:
    return make_contest(tmp_path_factory.mktemp("cup"), WINDOWS)


@pytest.fixture(scope="module")
def service(directory: IntakeDirectory) -> Iterator[Service]:
    with serving_all(directory.folder) as running:
        yield running


@pytest.fixture
def home(directory: IntakeDirectory, service: Service) -> Iterator[Home]:
    """The page of a new author.

    At the end its agents are withdrawn, so that other authors may use their names, and the contest's file is as before.
    """
    author, plan_text = f"ada-{uuid.uuid4().hex[:8]}", (directory.folder / "contest.toml").read_text()
    found = Home(service.url, make_token(directory, author))
    with found.client, found.api:
        yield found
        for sent in found.api.get("/submissions").json()["submissions"]:
            found.api.delete(f"/submissions/{sent['id']}")
    (directory.folder / "contest.toml").write_text(plan_text)


def test_page_names_game_limits_runtimes_and_deadline(home: Home) -> None:
    page = home.page()
    facts = dict(re.findall(r"<dt>([^<]*)</dt><dd>(.*?)</dd>", page))

    assert '<a href="https://plastovicka.github.io/protocl2en.htm">gomocup</a>' in page
    shown = tuple(facts[name] for name in ("Game", "Board", "Rule", "Time", "Memory"))
    assert ("gomoku", "20×20", "freestyle", "30 s a move, 3 min a game", "350 MiB") == shown  # noqa: RUF001
    assert {"native", "python", "java"} <= set(facts["Runtimes"].split(", "))
    assert "2090-03-01, 17:00 UTC" in facts["End of submissions"]
    assert f'datetime="{CLOSES.isoformat()}"' in facts["End of submissions"]


def test_state_of_each_agent_is_one_sentence(home: Home) -> None:
    assert {} == home.states()

    home.submit("good five")
    home.submit("good second five", filename="b.zip")
    refused = home.submit("bad six")
    until = "you may replace it until 2090-03-01, 17:00 UTC."

    assert {
        "five": f"{IN} 2; {until}",
        "six": f"You do not take part yet: submission {refused} was refused.",
    } == home.states()
    newer = home.submit("bad five")
    assert f"{IN} 2; {until}" == home.states()["five"]
    assert f'Newer: <a href="submissions/{newer}.html">submission {newer}</a>, refused' in home.page()
    assert "Soutěžíte s verzí 2; můžete ji nahradit do: <time" in home.page("cs/")


def test_withdrawn_agent_does_not_fall_back_to_an_earlier_version(home: Home, directory: IntakeDirectory) -> None:
    for upload in ("good five", "good second five", "good six"):
        home.submit(upload)

    unknown = home.client.post("/author/agents", data={"name": "nine"}, headers=FORM)
    answer = home.client.post("/author/agents", data={"name": "FIVE"}, headers=FORM)

    assert (409, True) == (unknown.status_code, "you have no agent &#39;nine&#39; that takes part" in unknown.text)
    assert (303, "index.html#agents") == (answer.status_code, answer.headers["location"])
    assert GONE == home.states()["five"]
    with closing(directory.register()) as register:
        assert ["six"] == [each.name for each in register.entries()]
    home.submit("good third five")
    assert home.states()["five"].startswith(f"{IN} 3;")


def test_agent_gets_a_name_in_any_script_and_keeps_it_in_new_versions(home: Home, directory: IntakeDirectory) -> None:
    home.submit("good five")
    home.submit("good six")

    def rename(name: str, title: str) -> httpx.Response:
        return home.client.post("/author/agents", data={"action": "rename", "name": name, "title": title}, headers=FORM)

    assert '<input name="title" maxlength="48"' in home.page().partition('<form id="upload"')[2]
    assert 303 == rename("five", " Žofinka 五 ").status_code
    home.submit("good second five")
    with closing(directory.register()) as register:
        assert [("five", 2, "Žofinka 五"), ("six", 1, "")] == [(e.name, e.version, e.title) for e in register.entries()]
    assert '<h3><bdi>Žofinka 五</bdi> <span class="quiet">five</span></h3>' in home.page()
    assert "<li><bdi>Žofinka 五</bdi>" in httpx.get(f"{home.url}/index.html", timeout=PATIENCE_S).text
    for name, title, fault in (
        ("six", "žofinka 五", "another agent is called"),
        ("six", "a\u202eb", "printable characters"),
        ("six", "x" * 49, "at most 48"),
        ("nine", "x", "you have no agent"),
    ):
        refused = rename(name, title)
        assert 409 == refused.status_code
        assert fault in refused.text
    assert 303 == rename("five", "").status_code
    assert "Žofinka" not in home.page()
    query = {"filename": "a.zip", "name": "", "title": "Žofinka 五"}
    sent = home.client.post("/author/submissions", params=query, content=b"good seven", headers=FORM)
    ended(home.api, sent.json()["id"])
    assert '<h3><bdi>Žofinka 五</bdi> <span class="quiet">seven</span></h3>' in home.page()


def test_equal_files_under_two_names_are_a_warning(home: Home) -> None:
    home.submit("good five")
    assert "have the same files" not in home.page()

    home.submit("good five", name="seven")

    assert "<b><bdi>five</bdi></b> and <b><bdi>seven</bdi></b> have the same files" in home.page()


def test_upload_form_is_shown_only_while_submissions_are_open(home: Home, directory: IntakeDirectory) -> None:
    file = directory.folder / "contest.toml"
    text = file.read_text()
    assert 'id="upload"' in home.page()
    for words, times in (
        ("Submissions closed at <time", "opens = 2020-01-01T08:00:00Z\ncloses = 2020-01-02T08:00:00Z"),
        ("Submissions open at <time", "opens = 2080-01-02T08:00:00Z\ncloses = 2090-03-01T17:00:00Z"),
        ('id="upload"', f"closes = {CLOSES.isoformat()}"),
    ):
        file.write_text(re.sub(r"(?m)^closes = .*$", times, text))
        while words not in (page := home.page()):
            time.sleep(POLL_INTERVAL_S)
        assert ('id="upload"' in words) == ('id="upload"' in page) == ("judge submit" in page)


def test_upload_form_checks_the_name_while_it_is_typed(home: Home) -> None:
    (pattern,) = re.findall(r'<input name="name"[^>]* pattern="([^"]+)"', home.page())

    assert all(re.fullmatch(pattern, name) for name in ("mine", "my-agent_2.1"))
    assert not any(re.fullmatch(pattern, name) for name in ("emil cpp", "žofinka", ".hidden", ""))


@pytest.mark.docker  # `contest plan` asks it for images
def test_changed_clocks_are_shown(home: Home, directory: IntakeDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    home.submit("good five")
    assert "with other time limits" not in home.page()

    file = directory.folder / "contest.toml"
    file.write_text('change = ["clock.turn_ms=700"]\n' + file.read_text())

    with pytest.raises(SystemExit):
        plan(directory.folder)
    assert " --set clock.turn_ms=700 checks all requirements" in capsys.readouterr().out
    assert "<b><bdi>five</bdi></b> passed its check with other time limits" in home.page()
    home.submit("good six")
    page = home.page()
    assert 1 == page.count("with other time limits")
    assert "0.7 s" in page or "700 ms" in page


def test_starters_of_the_protocol_are_zips_that_a_program_can_unpack(home: Home) -> None:
    links = re.findall(r'href="../(author/starters/(starter-gomocup-\w+)\.zip)" download>([^<]+)<', home.page())

    assert ["C", "C++", "Java", "Python"] == [language for *_, language in links]
    for path, name, _ in links:
        data = httpx.get(f"{home.url}/{path}", timeout=PATIENCE_S)
        assert "application/zip" == data.headers["content-type"]
        with zipfile.ZipFile(io.BytesIO(data.content)) as archive:
            files = {info.filename: archive.read(info) for info in archive.infolist()}
        built = {"starter", *(path.name for path in (IMAGES / name).glob("*.class"))}
        sources = [path for path in (IMAGES / name).iterdir() if path.is_file() and path.name not in built]
        assert files == {f"{name}/{path.name}": path.read_bytes() for path in sources}
    for path in ("starter-agi-c", "starter-none", "starter-../../house-five"):
        answer = httpx.get(f"{home.url}/author/starters/{path}.zip", timeout=PATIENCE_S)
        assert answer.status_code in (401, 404, 422)


@pytest.mark.slow
def test_page_works_in_a_browser(browser: Browser, home: Home) -> None:
    for name in ("good five", "bad six"):
        home.submit(name)
    home.submit("good five", name="seven")
    home.enter(browser)
    browser.wait_for("document.querySelector('article.own') !== null")
    check_views(browser, home.url, "author/index.html")
    assert [] == browser.errors


def test_deadline_is_shown_in_local_time_and_without_scripts_in_utc(browser: Browser, home: Home) -> None:
    home.enter(browser)
    browser.wait_for("document.querySelector('.moments .left')?.textContent")

    shown = browser.ask("document.querySelector('.moments time').textContent")
    assert "2090" in shown
    assert "2090-03-01, 17:00 UTC" == browser.ask("document.querySelector('.moments time').title")
    days = (CLOSES - datetime.now(UTC)) // timedelta(days=1)
    assert browser.ask("document.querySelector('.moments .left').textContent") in {
        f"(in {count:,} days)" for count in (days, days - 1, days + 1)
    }
    with browser.without_scripts():
        browser.visit(f"{home.url}/author/index.html")
        assert "2090-03-01, 17:00 UTC" in text_of(browser)
        assert "Sending a file from this page needs scripts." in text_of(browser)


def test_agents_have_their_entry_and_their_newest_submission(tmp_path: Path) -> None:
    with closing(make_contest(tmp_path).register()) as register:

        def received(name: str, upload: str) -> Submission:
            taken = register.receive(Upload("ada", name, "a.zip", upload, 1), worker="0" * 32)
            return register.finish(taken.id, taken.attempt, ProcessingResult("", name, None, "{}", None, None))

        first, second, other = received("five", "1" * 64), received("Five", "2" * 64), received("six", "1" * 64)
        register.withdraw(second.id, "ada", "a test")
        found = agents_of(register.submissions("ada"), register.entries("ada"), {})

        assert [("five", first.id, second.id), ("six", other.id, other.id)] == [
            (agent.name, agent.entry and agent.entry.id, agent.last.id) for agent in found
        ]
        assert [SubmissionState.WITHDRAWN, None] == [agent.newer and agent.newer.state for agent in found]
        assert [("five", "six")] == alike(register.entries("ada"))
        assert [] == register.entries("eve")


@pytest.mark.slow
def test_page_after_the_end_has_place_and_points(tmp_path: Path) -> None:
    with served(tmp_path / "cup", is_over=True) as desk:
        shown = desk.page("/author/index.html", "ada")
        assert "The contest is over. Version 1 has place 1. Points: 2." in shown
        assert "The contest is over: new" in shown
        assert "has begun" not in shown
        assert "Soutěž skončila. Verze 1 má 1. místo. Body: 2." in desk.page("/cs/author/index.html", "ada")
