"""Settings that organisers change in the browser until the start, and late submissions that they permit."""

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import pytest

from judge.contest.contest import open_store
from judge.contest.plan import load_plan
from judge.contest.run_lock import alone
from judge.journal.events import SettingsChanged
from judge.journal.state import JournalLine
from judge.store.types import NotNowError
from tests.web.organisers.office import Office, office, unbegun
from tests.web.service import FORM, Answer

KEYS = 'zone = "Europe/Prague"  # ours'
TABLES = """
[submissions]
closes = 2099-03-31T18:00:00 # evening
[contest]
starts = 2099-04-01T18:00:00Z
"""
FINAL = b"The contest has begun: its title, description, clocks and times are final."


@pytest.fixture
def found(tmp_path: Path) -> Iterator[Office]:
    with unbegun(tmp_path / "cup", KEYS, TABLES) as each:
        yield each


def settings_form(found: Office, **changes: str) -> dict[str, str]:
    page = found.page("settings.html")
    fields = dict(re.findall(r'<input [^>]*name="(\w+)" value="([^"]*)"', page))
    return {**fields, "why": "the authors asked", **changes}


def send(found: Office, form: Mapping[str, str], who: str = "act") -> Answer:
    return found.ask("POST", "/organiser/settings.html", found.tokens[who], urlencode(form).encode(), **FORM)


def journal(found: Office) -> list[JournalLine]:
    planned = found.console.planned
    with closing(open_store(planned)) as store:
        return store.last_lines(planned.name, 10, SettingsChanged)


def test_settings_change_the_file_once_and_are_in_the_journal_with_the_reason(found: Office) -> None:
    path = found.console.planned.path
    form = settings_form(found)
    shown = {"about": "a cup in spring", "closes": "2099-03-31T18:00:00", "starts": "2099-04-01T20:00:00"}
    assert shown.items() <= form.items()
    form |= {"title": 'The "Spring" Cup', "closes": "2099-03-30T12:00", "turn_ms": "700"}

    first, second = send(found, form), send(found, form)

    assert (303, f"orders/{form['id']}.html") == (first[0], first[1]["location"])
    assert (303, first[1]["location"]) == (second[0], second[1]["location"])
    changed = load_plan(path)
    assert ('The "Spring" Cup', 700) == (changed.plan.title, changed.policy.clock.turn_ms)
    assert datetime(2099, 3, 30, 10, tzinfo=UTC) == changed.plan.windows.closes
    assert "starts = 2099-04-01T18:00:00Z" in changed.text  # unchanged
    (line,) = journal(found)
    assert "Olga" == line.who
    assert line.text.endswith(": the authors asked")
    assert "closes: 2099-03-31T18:00:00 -> 2099-03-30T12:00:00" in line.text
    assert "turn_ms: 30000 -> 700" in line.text
    assert "settings changed: title: none" in found.page(first[1]["location"])
    assert "the authors asked" in found.page("journal.html")
    for page in (found.page("index.html"), found.ask("GET", "/index.html")[2].decode()):
        assert "The &#34;Spring&#34; Cup" in page
        assert "2099-03-30, 10:00 UTC" in page
    assert "a cup in spring" in found.ask("GET", "/cs/index.html")[2].decode()


def test_a_time_is_removed_with_an_empty_field(found: Office) -> None:
    assert 303 == send(found, settings_form(found, starts=""))[0]
    assert load_plan(found.console.planned.path).plan.windows.starts is None
    assert "The contest has no start time." in found.page("index.html")


def test_the_end_of_a_season_is_a_time_of_the_settings(found: Office, tmp_path: Path) -> None:
    assert "ends" not in settings_form(found)
    with unbegun(tmp_path / "ladder", KEYS, "ends = 2099-06-30T18:00:00 # holidays" + TABLES, "ladder") as ladder:
        path = ladder.console.planned.path
        form = settings_form(ladder, ends="2099-07-01T12:00")
        assert 303 == send(ladder, form)[0]
        assert datetime(2099, 7, 1, 10, tzinfo=UTC) == load_plan(path).plan.season_end
        assert "ends = 2099-07-01T12:00:00 # holidays" in path.read_text()
        (line,) = journal(ladder)
        assert "ends: 2099-06-30T18:00:00 -> 2099-07-01T12:00:00" in line.text
        status, _, body = send(ladder, settings_form(ladder, ends="2099-03-01T12:00"))
        assert (422, True) == (status, b"format.ends is" in body)
        assert 303 == send(ladder, settings_form(ladder, ends=""))[0]
        assert load_plan(path).plan.season_end is None


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"closes": "2099-05-01T18:00"}, "before submissions.closes"),
        ({"closes": "tomorrow"}, "closes: write a time such as 2027-03-31T18:00"),
        ({"turn_ms": "fast"}, "turn_ms: write whole milliseconds"),
        ({"turn_ms": "-5"}, "turn_ms: write whole milliseconds"),
        ({"title": "x" * 49}, "at most 48 characters"),
        ({"about": "x" * 401}, "about: more than 400 characters"),
        ({}, "nothing was changed"),
        ({"title": "new", "why": " "}, "reason is missing"),
        ({"title": "new", "version": "0" * 64}, "was changed in the meantime"),
        ({"title": "new", "id": "7"}, "no number"),
    ],
)
def test_a_wrong_form_changes_nothing_and_keeps_its_values(found: Office, change: dict[str, str], word: str) -> None:
    before = found.console.planned.path.read_bytes()

    status, _, body = send(found, settings_form(found, **change))

    assert 422 == status
    assert word in body.decode()
    assert f'name="title" value="{change.get("title", "")}"' in body.decode()
    assert before == found.console.planned.path.read_bytes()
    assert [] == journal(found)


def test_time_controls_are_one_field(tmp_path: Path) -> None:
    with unbegun(tmp_path / "cup", 'change = ["clock.control=60+0.6"]') as found:
        form = settings_form(found, control="90+1")
        assert "turn_ms" not in form
        assert 303 == send(found, form)[0]
        assert "90+1" == load_plan(tmp_path / "cup").policy.clock.control
        assert 422 == send(found, settings_form(found, control="soon"))[0]


def test_a_contest_that_begins_has_final_settings(found: Office, tmp_path: Path) -> None:
    planned = found.console.planned
    form = settings_form(found, title="late")
    with alone(planned):
        status, _, body = send(found, form)
        assert (422, True) == (status, b"another judge" in body)
    with closing(open_store(planned)) as store:
        store.freeze(planned.name, "a" * 64, [])

    status, _, body = send(found, form)

    assert (422, True) == (status, FINAL in body)
    assert [] == journal(found)
    assert "late" not in planned.path.read_text()
    with office(tmp_path / "begun", played=0) as begun:
        assert FINAL.decode() in begun.page("settings.html")
        assert "<button>Save" not in begun.page("settings.html")


def test_a_watcher_changes_nothing(found: Office) -> None:
    form = settings_form(found, title="new")
    assert 403 == send(found, form, "watch")[0]
    assert "Your access is read-only." in found.page("settings.html", "watch")


def upload(found: Office, author: str) -> int:
    headers = {"authorization": f"Bearer {found.tokens[author]}", "content-type": "application/zip"}
    status, _, _ = found.ask("POST", "/submissions?filename=late.zip", "", b"PK\x03\x04 late", **headers)
    return status


def test_author_with_permission_submits_after_the_end_until_the_start(tmp_path: Path) -> None:
    with unbegun(tmp_path / "cup", tables="[submissions]\ncloses = 2020-03-31T18:00:00Z\n") as found:
        found.console.state.authors.tokens.make("bob", "test")
        check = found.console.state.receiver.check_open
        assert 409 == upload(found, "author")
        assert "order.html?action=late&amp;target=ada" in found.page("authors.html")
        form = found.form("late", "ada", why="the site was down")

        first, second = found.post(form), found.post(form)

        assert (303, 303) == (first[0], second[0])
        assert "ada may submit until the contest begins" in found.page(first[1]["location"])
        assert 1 == found.page("journal.html").count("ada: the site was down")
        assert 201 == upload(found, "author")
        with pytest.raises(NotNowError, match="submissions closed at"):
            check("bob")
        page = found.ask("GET", "/organiser/order.html?action=late&target=nobody", found.tokens["act"])
        assert b"there is no author" in page[2]
        with closing(open_store(found.console.planned)) as store:
            store.freeze(found.console.planned.name, "a" * 64, [])
        assert 409 == upload(found, "author")
        final = b"The contest has begun: a late submission cannot be permitted any more."
        page = found.ask("GET", "/organiser/order.html?action=late&target=ada", found.tokens["act"])
        for status, _, body in (page, found.post({**form, "id": "0" * 32})):
            assert (422, True) == (status, final in body)
        assert "action=late" not in found.page("authors.html")
