"""What organisers see and order, each order once; and that nobody else sees or orders anything."""

import io
import re
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlencode

import pytest

from judge.contest_games import GameState
from judge.journal.events import Stopped, WorkerJoined
from judge.publish.verify.export import verify_export
from judge.store.types import Upload
from judge.transparency.keys import load_key, public_pem
from judge.web.organisers import views
from judge.web.organisers.console import Console, PendingOrder
from judge.web.player.status import HostCheck, PlayerFiles, PlayerStatus
from tests.contest.giving import previewed
from tests.patience import PATIENCE_S, until
from tests.verify.test_ladder import joins
from tests.web.event_loop import without_store_reads
from tests.web.organisers.office import PATIENCE, Office, office, office_in, proof, submit, unbegun
from tests.web.service import FORM

PAGES = ("index", "games", "submissions", "authors", "orders", "journal", "settings")


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """A contest that no test changes."""
    with office(tmp_path_factory.mktemp("cup")) as found:
        yield found


@pytest.fixture
def fresh_office(tmp_path: Path) -> Iterator[Office]:
    with office(tmp_path / "cup") as found:
        yield found


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Office]:
    """A contest with one game, which is quickly exported."""
    with office(tmp_path / "cup", played=1) as found:
        yield found


def test_first_page_shows_running_waiting_and_failed_items(fresh_office: Office) -> None:
    issued = fresh_office.cup.store.issue(fresh_office.cup.contest.name, "host-7", slot="cores 2, 3")
    assert issued is not None
    fresh_office.cup.store.remark(fresh_office.cup.contest.name, WorkerJoined("host-7", 3))

    page = fresh_office.page("index.html")

    assert '<b id="state">running</b>' in page
    assert f"<td><bdi>{issued.first}</bdi></td><td><bdi>{issued.second}</bdi></td>" in page
    assert "<bdi>host-7</bdi></td><td>cores 2, 3</td>" in page
    assert '<bdi>host-7</bdi></th><td class="num">3</td><td class="num">1</td>' in page
    assert re.search(r"Game \d+, attempt 1: <bdi>the Engine was gone</bdi>", page)
    assert re.search(r"Disk: <b>[\d.]+</b> of [\d.]+ GiB free", page)
    assert "Nothing on this machine plays the contest." in page
    assert f"order.html?action=void&amp;target={issued.number}" in page
    assert "is prepared while" not in page
    assert fresh_office.cup.store.issue(fresh_office.cup.contest.name, "host-7", slot="cores 2, 3")
    assert "is prepared while" in fresh_office.page("index.html")


def test_first_page_of_a_contest_that_is_over_awaits_no_game_and_offers_no_pause(small: Office) -> None:
    small.cup.play()
    page = small.page("index.html")

    assert '<b id="state">over</b>' in page
    assert "none yet" not in page.partition("Last orders")[0]
    assert "action=pause" not in page


def test_link_of_another_organiser_asks_without_a_store_read_in_the_event_loop(seen: Office) -> None:
    form = urlencode({"token": seen.tokens["watch"]}).encode()
    with without_store_reads():
        status, headers, page = seen.ask("POST", "/organiser/session", seen.tokens["act"], form, **FORM)
    assert (409, None) == (status, headers.get("set-cookie"))
    assert all(f"<bdi>{name}</bdi>" in page.decode() for name in ("Olga", "Walt"))


def test_pages_change_nothing_and_offer_orders_only_to_those_who_may_act(seen: Office) -> None:
    before = seen.dump()
    acting, watching = ([seen.page(f"{path}.html", who) for path in PAGES] for who in ("act", "watch"))

    assert len(PAGES) == len({re.findall(r"<title>([^<]+)</title>", page)[0] for page in acting})
    assert "order.html" in acting[0]
    assert not any("order.html" in page for page in watching)
    assert all("(read-only)" in page for page in watching)
    for order in ("pause", "resume", "export", "publish", "void&target=1"):
        assert "<button>" in seen.page(f"order.html?action={order}")
    assert "<button>Pause" not in seen.page("order.html?action=pause", "watch")
    assert before == seen.dump()


def rows(page: str) -> list[str]:
    return re.findall(r'<tr>(<th scope="row" class="num">.*)</tr>', page)


def test_games_have_results_links_filters_and_pages(seen: Office) -> None:
    store, contest = seen.cup.store, seen.cup.contest
    results = {result.number: result for result in contest.view().results}
    games = store.games(contest.name)
    first = results[1]

    shown = rows(seen.page("games.html"))

    assert 6 == len(shown)
    assert 2 == len(rows(seen.page("games.html?after=4")))
    assert '<a href="../games/00001.html">1</a>' in shown[0]
    assert f"{first.scores[0]:g} : {first.scores[1]:g}".replace("0.5", "½") in shown[0]
    assert first.reason.split(" ")[0] in shown[0]
    expected = {
        "show=pending": sum(game.state is GameState.PENDING for game in games),
        "show=done": sum(game.state is GameState.DONE for game in games),
        "show=repeated": sum(game.attempt > 1 for game in games),
        "show=failed": sum(any(result.faults) for result in results.values()),
        "agent=anna": sum("anna" in (game.first, game.second) for game in games),
        "agent=nobody": 0,
    }
    assert expected == {query: len(rows(seen.page(f"games.html?{query}"))) for query in expected}
    assert min(count for query, count in expected.items() if query not in ("show=failed", "agent=nobody")) > 0
    assert '<option value="anna" selected>' in seen.page("games.html?agent=anna")


def test_pages_work_before_the_start(tmp_path: Path) -> None:
    tables = "[submissions]\ncloses = 2099-03-31T18:00:00Z\n[contest]\nstarts = 2099-04-01T18:00:00Z\n"
    with unbegun(tmp_path / "cup", tables=tables) as found:
        submit(found, "good")
        bad = submit(found, "bad", "it is slow")
        with closing(found.directory.register()) as register:
            register.receive(Upload("bob", "late", "late.zip", "a" * 64, 1))

        page = found.page("index.html")

        assert '<b id="state">not begun</b>' in page
        assert "<bdi>left</bdi>" in page
        entries, waiting, refused = (page.index(f"<h2>{each}") for each in ("Entries", "Waiting", "Refused and failed"))
        assert entries < page.index("<bdi>good</bdi>") < waiting < page.index("<bdi>late</bdi>") < refused
        assert refused < page.index("<bdi>bad</bdi>") < page.index("it is slow")
        assert "2099-04-01, 18:00 UTC" in page
        assert "This service starts the contest at that time." in page
        assert page.count("standings") == page.count("crosstable.html") == 0
        for path in PAGES:
            assert 200 == found.ask("GET", f"/zh/organiser/{path}.html", found.tokens["watch"])[0]
        assert "The contest has not begun." in found.page("games.html")
        assert "action=approve" in found.page(f"submissions/{bad}.html")
        assert "approved" in found.order("approve", str(bad))
        assert "both called" not in page
        file = found.directory.folder / "contest.toml"
        file.write_text(f'{file.read_text()}\n[[agents]]\npath = "house-instant"\nname = "good"\n')
        twice = "submission 1 of &#39;ada&#39; are both called &#39;good&#39;: give the first"
        assert twice in found.page("index.html")
    with unbegun(tmp_path / "other") as found:
        assert "The contest has no start time." in found.page("index.html")


@pytest.mark.docker
def test_player_examines_its_host_when_no_game_is_played(fresh_office: Office) -> None:
    store, name = fresh_office.cup.store, fresh_office.cup.contest.name
    issued = store.issue(name, "here")
    assert issued is not None
    assert "so it does not run while games are played" in fresh_office.page("health.html")
    store.annul(issued.id, "to look at the host")
    assert "and there is none" in fresh_office.page("health.html")
    with closing(PlayerFiles(fresh_office.cup.folder, name)) as files, closing(HostCheck(files)) as check:
        assert files.take()
        assert "It runs now" in fresh_office.page("health.html")
        check.step(is_playing=True)
        check.step(is_playing=False)

        def is_checked() -> bool:
            check.step(is_playing=True)
            return check.checked_at is not None

        until(is_checked, "the host is not examined")
        files.write(PlayerStatus(findings=tuple(check.findings), checked_at=check.checked_at))
        page = fresh_office.page("health.html", "watch")

    assert re.search(r'Worst result: <b lang="en">(green|yellow|red)</b>', page)
    assert "engine" in re.findall(r'<dt><span class="verdict[^>]*>\w+</span> (\w+)</dt>', page)
    assert re.search(r"<li>core \d+: ", page)
    assert "reserves its cores while it runs" in page


def test_order_previews_changed_places_and_is_done_once(fresh_office: Office) -> None:
    contest = fresh_office.cup.contest
    form = fresh_office.form("disqualify", "anna", why="two entries\nof one author")
    page = fresh_office.page("order.html?action=disqualify&target=anna")
    rows = re.findall(r"<tr><th [^>]*><bdi>([^<]*)</bdi></th><td [^>]*>(\d+)</td><td [^>]*>(\d+|\u2013)</td>", page)
    changes = previewed(contest, "disqualify", "anna").changes
    place = str(contest.view().lines["anna"].place)
    assert [("anna", place, "\u2013")] == [row for row in rows if row[2] == "\u2013"] != rows
    assert [
        (each.agent, str(each.places[0]), "\u2013" if each.is_out else str(each.places[1])) for each in changes
    ] == rows

    first, second = fresh_office.post(form), fresh_office.post(form)

    assert (303, f"orders/{form['id']}.html") == (first[0], first[1]["location"])
    # Each answer has its own id.
    same = [(status, {**headers, "x-request-id": ""}) for status, headers, _ in (first, second)]
    assert same[0] == same[1]
    assert first[1]["x-request-id"] != second[1]["x-request-id"]
    lines = [line for line in contest.store.journal(contest.name) if line.event == "disqualified"]
    assert [("anna: two entries of one author", "Olga")] == [(line.text, line.who) for line in lines]
    done = fresh_office.page(f"orders/{form['id']}.html")
    assert "anna is disqualified" in done
    assert "Olga" in done
    assert "two entries of one author" in fresh_office.page("orders.html", "watch")
    path = "/organiser/order.html?action=disqualify&target=anna"
    assert 422 == fresh_office.ask("GET", path, fresh_office.tokens["act"])[0]


def test_a_void_is_of_the_result_that_was_looked_at(fresh_office: Office) -> None:
    store, name = fresh_office.cup.store, fresh_office.cup.contest.name
    form, late = fresh_office.form("void", "1"), fresh_office.form("void", "1")

    assert 303 == fresh_office.post(form)[0]
    fresh_office.cup.play(1)
    status, _, body = fresh_office.post(late)

    assert 422 == status
    assert b"attempt 2 is the current one, not 1" in body
    assert 303 == fresh_office.post(form)[0]
    assert 1 == sum(line.event == "annulled" for line in store.journal(name))
    assert GameState.DONE == store.games(name)[0].state


def test_a_contest_is_paused_and_resumed_with_the_reasons_in_its_journal(fresh_office: Office) -> None:
    """The first order is given in another language."""
    form = fresh_office.form("pause", why="lunch")
    token = fresh_office.tokens["act"]
    status, headers, _ = fresh_office.ask("POST", "/cs/organiser/orders", token, urlencode(form).encode(), **FORM)
    assert (303, f"orders/{form['id']}.html") == (status, headers["location"])
    page = fresh_office.ask("GET", f"/cs/organiser/orders/{form['id']}.html", token)[2].decode()
    assert "je pozastaveno; nehraje se žádná partie" in page
    assert "lunch" in fresh_office.page("index.html")

    assert "is open" in fresh_office.order("resume", why="fed")

    lines = fresh_office.cup.store.journal(fresh_office.cup.contest.name)[-2:]
    assert [("paused", "lunch", "Olga"), ("open", "fed", "Olga")] == [(x.event, x.text, x.who) for x in lines]


def test_single_stopped_game_is_resumed_and_the_journal_names_the_organiser(fresh_office: Office) -> None:
    store, name = fresh_office.cup.store, fresh_office.cup.contest.name
    fresh_office.order("void", "1")
    stopped_games = []
    while (issued := store.issue(name, "here")) is not None:
        store.void(issued.id, issued.attempt, "the Engine was gone", None, allowed=1)
        stopped_games.append(issued)
    store.set_state(name, Stopped("anna", "bert", 3, "too many voids"))
    one, other, *rest = stopped_games
    replay = f"order.html?action=replay&target={one.number}"
    assert replay.replace("&", "&amp;") in fresh_office.page("index.html")
    assert f"Other games that stay stopped: {1 + len(rest)}." in fresh_office.page(replay)
    form = fresh_office.form("replay", str(one.number), why="the disk has room again")

    first, second = fresh_office.post(form), fresh_office.post(form)

    assert 303 == first[0] == second[0]
    states = {game.number: game.state for game in store.games(name)}
    assert (GameState.PENDING, GameState.HELD) == (states[one.number], states[other.number])
    assert "open" == store.state(name)
    journal = fresh_office.page("journal.html", "watch")
    line = rf"Game {one.number}: <b>released</b> · <b><bdi>Olga</bdi></b>: <bdi>the disk has room again</bdi>"
    assert 1 == journal.count(line)
    assert "The public journal omits their names." in journal
    assert 422 == fresh_office.ask("GET", f"/organiser/{replay}", fresh_office.tokens["act"])[0]
    assert b"only a game stopped after too many voids" in fresh_office.post({**form, "id": "0" * 32})[2]


def test_the_journal_has_pages(seen: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "SHOWN_JOURNAL_LINES", 5)
    path, found = "journal.html", 0
    while path:
        page = seen.page(path)
        found += page.count("<li><time>")
        path = "".join(re.findall(r'href="(journal.html\?before=\d+)"', page))

    assert len(seen.cup.store.journal(seen.cup.contest.name)) == found > 5


def test_submissions_are_decided(fresh_office: Office) -> None:
    register = fresh_office.console.state.register
    good, bad = submit(fresh_office, "good"), submit(fresh_office, "bad", "it is slow")
    assert "it is slow" in fresh_office.page(f"submissions/{bad}.html")

    approve = fresh_office.ask("GET", f"/organiser/order.html?action=approve&target={bad}", fresh_office.tokens["act"])
    assert (422, True) == (approve[0], b"The contest has begun: its entries do not change." in approve[2])
    assert "action=approve" not in fresh_office.page(f"submissions/{bad}.html")
    assert "refused" in fresh_office.order("refuse", str(good), why="stolen")
    assert "withdrawn" in fresh_office.order("withdraw", str(bad))
    assert "received" in fresh_office.order("retry", str(good))

    assert ("Olga", "stolen") == next((x.who, x.why) for x in register.journal(good) if x.state == "refused")
    page = fresh_office.page(f"submissions/{good}.html", "watch")
    assert "refused · <bdi>Olga</bdi>: <bdi>stolen</bdi>" in page
    refused = fresh_office.post({**fresh_office.form("withdraw", str(bad)), "action": "approve", "id": "0" * 32})
    assert (422, True) == (refused[0], b"its entries do not change" in refused[2])


def test_an_export_that_fails_says_why_on_its_page(small: Office) -> None:
    form = small.form("export")
    (small.cup.folder / "exports").write_text("a file is in the way")

    status, headers, _ = small.post(form)

    assert 303 == status
    assert "the export is not written" in small.done(headers["location"])
    (small.cup.folder / "exports").unlink()
    assert 303 == small.post(form)[0]
    assert "private for the authors; manifest" in small.done(headers["location"])


def test_an_export_answers_at_once_and_another_one_waits(small: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    may_go, right = Event(), Console.written

    def slow(console: Console, *given: Any) -> str:
        may_go.wait(PATIENCE_S)
        return right(console, *given)

    monkeypatch.setattr(Console, "written", slow)
    form, other = small.form("export"), small.form("publish")
    status, headers, _ = small.post(form)
    assert 303 == status
    assert "The files are being written" in small.page(headers["location"])
    assert 303 == small.post(form)[0]
    assert b"another export is being written" in small.post(other)[2]
    may_go.set()
    assert "private for the authors; manifest" in small.done(headers["location"])


def test_orders_that_end_wait_for_one_that_begins_and_reads_them(small: Office) -> None:
    """Else a dictionary changes during the search for orders that are carried out."""
    console, were_alone = small.console, list[bool]()

    class Pending(dict[str, PendingOrder]):
        def __setitem__(self, number: str, order: PendingOrder) -> None:
            were_alone.append(console._starting.locked())
            super().__setitem__(number, order)

        def __delitem__(self, number: str) -> None:
            were_alone.append(console._starting.locked())
            super().__delitem__(number)

    console._pending = Pending()
    (small.cup.folder / "exports").write_text("a file is in the way")
    _, headers, _ = small.post(small.form("export"))
    assert "the export is not written" in small.done(headers["location"])
    assert "published" in small.order("publish")

    assert [True] * 4 == were_alone


def files_below(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def files_of(data: bytes) -> dict[str, bytes]:
    """The files of a tar stream, without the name of its one directory."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        return {each.name.partition("/")[2]: (tar.extractfile(each) or io.BytesIO()).read() for each in tar}


def test_an_export_and_the_pages_are_written_once(small: Office) -> None:
    form = small.form("export")
    # What a kill leaves: a private part with its name, and a public one that is not complete.
    left = small.cup.folder / "exports" / form["id"]
    (left / "private").mkdir(parents=True)
    (left / "private" / "anna").write_text("half")
    (left / ".public.partial").mkdir()
    first, second = small.post(form), small.post(form)
    assert 303 == first[0] == second[0], first[2]
    done = small.done(first[1]["location"])
    assert [left] == list((small.cup.folder / "exports").iterdir())
    assert ["private", "public"] == sorted(path.name for path in left.iterdir())
    assert not (left / "private" / "anna").is_file()
    public_key = small.cup.folder / "organiser.pem"
    public_key.write_bytes(public_pem(load_key(small.cup.folder / "organiser.key").public_key()))
    report = verify_export(left / "public", public_key)
    assert [] == report.problems
    assert report.manifest.digest in done
    assert 303 == small.post(form)[0]
    assert done == small.page(first[1]["location"])

    def tar(number: str, part: str, who: str) -> tuple[int, bytes]:
        status, _, body = small.ask("GET", f"/organiser/exports/{number}/{part}.tar", small.tokens[who])
        return status, body

    for part in ("public", "private"):
        assert f"""organiser/exports/{form["id"]}/{part}.tar">Download""" in done
        status, body = tar(form["id"], part, "act")
        assert (200, files_below(left / part)) == (status, files_of(body))
    assert "private.tar" not in small.page(first[1]["location"], "watch")
    assert [200, 403] == [tar(form["id"], part, "watch")[0] for part in ("public", "private")]
    for other in (form["id"].replace(form["id"][0], "0" if form["id"][0] != "0" else "1"), "..", "x" * 32):
        assert 404 == tar(other, "public", "act")[0]
    assert "published" in small.order("publish")
    assert (small.cup.folder / "published" / "index.html").exists()


def test_a_season_of_a_ladder_is_frozen_reopened_and_ended_with_reasons(tmp_path: Path) -> None:
    with joins(tmp_path / "cup", PATIENCE) as cup, office_in(cup.folder, cup) as found:
        page = found.page("index.html")
        assert "Admissions are open" in page
        assert "reopen-admissions" not in page
        assert not re.search(r"(?i)\brounds?\b", re.sub(r"<[^>]*>", " ", page))
        assert "action=enter&amp;target=zoe" in page
        assert "takes part from now on" in found.order("enter", "zoe", why="as asked")
        assert "zoe continues to take part" in found.page("order.html?action=withdraw&target=1")
        assert "no longer takes part" in found.order("withdraw-agent", "zoe", why="it is ill")
        found.order("freeze-admissions", why="the last week")
        page = found.page("index.html")
        assert "the last week" in page
        assert "action=freeze-admissions" not in page
        found.order("reopen-admissions", why="one more")
        assert "has ended" in found.order("end-season", why="it is decided")
        page = found.page("index.html")
        assert "Freeze admissions" not in page
        assert "End the season" not in page
        journal_events = [(line.event, line.who) for line in cup.store.journal(cup.contest.name)[-5:]]
        events = ("entered", "agent-withdrawn", "admissions-frozen", "admissions-reopened", "season-ended")
        assert [(event, "Olga") for event in events] == [each for each in journal_events if each[0] in events]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"why": " "}, "reason is missing"),
        ({"why": "x" * 1001}, "more than 1000"),
        ({"id": "7"}, "no number"),
        ({"action": "destroy"}, "no such order"),
        ({"target": "x" * 200}, "was changed"),
        ({"attempt": "-1"}, "was changed"),
        ({"proof": "0" * 64}, "not from a page"),
        ({"proof": ""}, "not from a page"),
        ({"proof": "of another token"}, "not from a page"),
        ({"action": "void", "target": "99"}, "is no game"),
        ({"action": "approve", "target": "1e3"}, "named by its number"),
    ],
)
def test_a_form_that_is_wrong_changes_nothing(seen: Office, change: dict[str, str], word: str) -> None:
    before = seen.dump()
    if change.get("proof") == "of another token":
        change = {"proof": proof(seen.tokens["watch"])}

    status, _, body = seen.post({**seen.form("pause"), **change})

    assert 422 == status
    assert word in body.decode()
    assert before == seen.dump()
