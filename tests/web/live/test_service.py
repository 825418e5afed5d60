"""One service: the public pages and the intake of a contest on one port, before it begins and after."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from judge.base.locks import lock
from judge.cli.submit import open_intake
from judge.transparency.checkpoint import read_checkpoint
from judge.transparency.keys import KEY_FILE, make_key
from tests.broadcast.logs import PAIR, accept, play_next, recorder
from tests.examples import of_evidence
from tests.publish.cups import SECRET, Cup
from tests.site.browser import Browser
from tests.web.intake.conftest import Service, ended, make_token, send
from tests.web.live.serving import serving_all
from tests.web.live.watching import until
from tests.web.organisers import office

PATIENCE = office.PATIENCE.replace("[broadcast]", "uploads_per_hour = 0\n[broadcast]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    other, folder = tmp_path_factory.mktemp("other"), tmp_path_factory.mktemp("cup")
    with Cup(other, PAIR, more=PATIENCE):
        shutil.copy(other / "contest.toml", folder)
    make_key(folder / KEY_FILE)
    return folder


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Service]:
    with serving_all(folder) as running:
        yield running


@pytest.fixture(scope="module")
def ada(folder: Path, service: Service) -> Iterator[httpx.Client]:
    with service.client(make_token(open_intake(folder), "ada")) as client:
        yield client


@pytest.fixture(scope="module")
def begun(folder: Path, service: Service, ada: httpx.Client) -> Iterator[Cup]:
    """The contest, which begins while the service runs, with an agent of ada's; one game is over."""
    sent = {"anna": send(ada, "good entered")}
    assert "The contest has not begun" in ada.get("/live.html").text
    with Cup(folder, PAIR, more=PATIENCE, submissions=sent) as cup, recorder(cup) as log:
        accept(cup, *play_next(cup))
        log.read_store()
        log.finish()
        until(lambda: ada.get("/games/00001.html").status_code == 200, "the pages are not there")
        yield cup


def test_pages_before_the_start_report_it_and_receive_agents(ada: httpx.Client) -> None:
    page = ada.get("/live.html")
    assert "The contest has not begun" in page.text
    assert "text/html; charset=utf-8" == page.headers["content-type"]
    assert "Soutěž ještě nezačala" in ada.get("/cs/index.html").text
    assert 200 == ada.get("/style.css").status_code
    for path in ("/feed", "/events", "/data/games.csv", "/nothing", "/games/00001.html"):
        assert 404 == ada.get(path).status_code, path
    assert ada.get("/contest").json()["has_begun"] is False
    number = send(ada, "good five")
    assert "passed" == ended(ada, number)["state"]
    # What has happened is in the log already: the announcement, and what came in.
    log = read_checkpoint(ada.get("/log/checkpoint").content, "it")
    assert 3 == log.size
    assert b'"event":"announced"' in ada.get("/log/tile/entries/000.p/1").content
    assert 404 == ada.get("/log/tile/0/001").status_code


@pytest.mark.usefixtures("begun")
def test_it_is_shown_as_soon_as_it_has_begun_and_still_receives(ada: httpx.Client, service: Service) -> None:
    assert 200 == ada.get("/feed").status_code
    assert "passed" == ended(ada, send(ada, "good late"))["state"]
    assert ada.get("/contest").json()["has_begun"] is True
    with service.client() as stranger:
        assert 401 == stranger.get("/submissions").status_code
        assert {"ok": True} == stranger.get("/health").json() == stranger.get("/health/ready").json()
        assert {"ok": True} == stranger.get("/health/live").json()
        ids = [stranger.get("/health/live").headers["x-request-id"] for _ in range(2)]
        assert 2 == len({each for each in ids if re.fullmatch("[0-9a-f]{16}", each)})


def test_submission_waiting_for_a_slot_reports_it(folder: Path, service: Service, tmp_path: Path) -> None:
    token, core = make_token(open_intake(folder), "ola"), tmp_path / "core"
    core.touch()
    with service.client(token) as ola, core.open() as taken:
        lock(taken)
        number = send(ola, f"lock {core} slow")

        def page() -> str:
            return ola.get(f"/author/submissions/{number}.html", headers={"cookie": f"judge-author={token}"}).text

        until(lambda: '<li class="held"><b>unpacked</b> <span>waiting for a free core</span>' in page(), "it waits")
        taken.close()
        assert "passed" == ended(ola, number)["state"]
        assert "waiting for a free core" not in page()


def test_link_signs_in_and_upload_is_followed(browser: Browser, folder: Path, service: Service, tmp_path: Path) -> None:
    token = make_token(open_intake(folder), "eve")
    browser.leave()
    browser.visit(f"{service.url}/author/index.html#{token}")
    browser.wait_for("document.getElementById('upload')?.hidden === false")
    assert "" == browser.ask("location.hash + document.cookie")
    assert f"--url {service.url} " in browser.ask("document.querySelector('main').textContent")
    browser.set_view(360)
    browser.check(360)

    goes_on = tmp_path / "on"
    (tmp_path / "six.zip").write_text(f"hold {goes_on}")
    browser.choose("file", tmp_path / "six.zip")
    browser.ask("document.querySelector('#upload [name=name]').value = 'six'")
    browser.ask("document.querySelector('#upload button').click()")
    browser.wait_for("document.querySelector('.stages .done + .now') !== null")
    assert [] == browser.violations()
    goes_on.touch()
    browser.wait_for("document.getElementById('state')?.textContent === 'passed'")
    assert browser.ask("document.getElementById('told').textContent").endswith("passed")
    assert "six version 1" in browser.ask("document.querySelector('main').innerText")
    assert [] == browser.errors
    browser.set_view(1000)
    assert token not in service.log.read_text()


@pytest.mark.usefixtures("begun")
@pytest.mark.parametrize("dark", [*of_evidence(False), True])
def test_an_own_game_is_for_every_reader(browser: Browser, ada: httpx.Client, service: Service, dark: bool) -> None:
    browser.visit(f"{service.url}/author/index.html")
    browser.ask("fetch('sign-out', { method: 'POST' }).then(() => true)")
    browser.visit(f"{service.url}/author/index.html#{ada.headers['authorization'].removeprefix('Bearer ')}")
    browser.wait_for("document.querySelector('a[href=\"games/00001.html\"]') !== null")
    browser.set_view(360, dark)
    assert [] == browser.violations()
    browser.visit(f"{service.url}/author/games/00001.html")
    assert SECRET in browser.ask("document.querySelector('main').innerText")
    browser.check(360)
    for key in ("Home", "ArrowRight", "ArrowRight", "End"):
        browser.press(key)
        at = browser.ask("document.querySelector('.controls input').value")
        shown = browser.ask(
            "[...document.querySelectorAll('[data-agent-log]')].filter((log) => !log.hidden)"
            ".map((log) => log.dataset.agentLog)"
        )
        assert set(shown) <= {at}
        assert bool(shown) == browser.ask("document.querySelector('[data-no-log]').hidden")
    browser.set_view(1000)
