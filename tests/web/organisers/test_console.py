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

from judge.contest.hosts import worker_joined
from judge.contest_games import GameState
from judge.store.types import WORKER, Upload
from judge.transparency.keys import load_key, public_pem
from judge.verify.export import verify_export
from judge.web.organisers import views
from judge.web.organisers.console import Console
from tests.patience import PATIENCE_S
from tests.publish.cups import Cup
from tests.verify.test_ladder import joins
from tests.web.organisers.office import CAST, FORM, PATIENCE, Office, office, office_of, proof, submit, unbegun

PAGES = ("index", "games", "submissions", "authors", "orders", "journal", "settings")


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """A contest that no test changes."""
    with office(tmp_path_factory.mktemp("cup")) as found:
        yield found


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Office]:
    """A contest of a test's own."""
    with office(tmp_path / "cup") as found:
        yield found


# --- what is seen ----------------------------------------------------------------------------------------------------


def test_first_page_shows_running_waiting_and_failed_items(own: Office) -> None:
    issued = own.cup.store.issue(own.cup.contest.name, "host-7", slot="cores 2, 3")
    assert issued is not None
    own.cup.store.remark(own.cup.contest.name, WORKER, worker_joined("host-7", 3))

    page = own.page("index.html")

    assert '<b id="state">open</b>' in page
    assert f"<td><bdi>{issued.first}</bdi></td><td><bdi>{issued.second}</bdi></td>" in page
    assert "<bdi>host-7</bdi></td><td>cores 2, 3</td>" in page
    assert '<bdi>host-7</bdi></th><td class="num">3</td><td class="num">1</td>' in page
    assert re.search(r"Game \d+, attempt 1: <bdi>the Engine was gone</bdi>", page)
    assert re.search(r"Disk: <b>[\d.]+</b> of [\d.]+ GiB free", page)
    assert "Nothing on this machine plays the contest." in page
    assert f"order.html?action=void&amp;target={issued.number}" in page
    assert "is prepared while" not in page
    assert own.cup.store.issue(own.cup.contest.name, "host-7", slot="cores 2, 3")
    assert "is prepared while" in own.page("index.html")


def test_every_game_has_its_league_and_those_to_be_drawn_are_counted(tmp_path: Path) -> None:
    leagues = 'name = "leagues"\ngames = 2\nsizes = [1]\npromoted = 1'
    with Cup(tmp_path / "cup", CAST, leagues, PATIENCE.format(strangers=20)) as cup, office_of(cup) as found:
        cup.store.issue(cup.contest.name, "host-7", slot="core 1")

        page = found.page("index.html")

        assert 2 == page.count("<td>League 2</td>")
        assert "<b>2</b> to be drawn" in page
        assert 2 == found.page("games.html").count("<td>League 2</td>")


def test_a_watcher_sees_the_same_without_orders(seen: Office) -> None:
    for path in PAGES:
        page = seen.page(f"{path}.html", "watch")
        assert "order.html" not in page
        assert "(read-only)" in page
    assert "<button>Pause" not in seen.page("order.html?action=pause", "watch")


def test_the_schedule_has_pages(seen: Office) -> None:
    assert 6 == len(rows(seen.page("games.html")))
    assert 2 == len(rows(seen.page("games.html?after=4")))


def rows(page: str) -> list[str]:
    return re.findall(r'<tr>(<th scope="row" class="num">.*)</tr>', page)


def test_games_have_results_links_and_filters(own: Office) -> None:
    store, contest = own.cup.store, own.cup.contest
    results = {result.number: result for result in contest.results()}
    first = results[1]

    shown = rows(own.page("games.html"))

    assert '<a href="../games/00001.html">1</a>' in shown[0]
    assert f"{first.scores[0]:g} : {first.scores[1]:g}".replace("0.5", "½") in shown[0]
    assert first.reason.split(" ")[0] in shown[0]
    for state in (GameState.PENDING, GameState.DONE):
        assert len(store.listed(contest.name, state)) == len(rows(own.page(f"games.html?show={state.value}"))) > 0
    repeated = [game.number for game in store.games(contest.name) if game.attempt > 1]
    assert len(repeated) == len(rows(own.page("games.html?show=repeated"))) > 0
    failed = [number for number, result in results.items() if any(result.faults)]
    assert len(failed) == len(rows(own.page("games.html?show=failed")))
    of_anna = [game for game in store.games(contest.name) if "anna" in (game.first, game.second)]
    assert len(of_anna) == len(rows(own.page("games.html?agent=anna")))
    assert [] == rows(own.page("games.html?agent=nobody"))
    assert '<option value="anna" selected>' in own.page("games.html?agent=anna")


def test_each_page_has_its_own_title(seen: Office) -> None:
    titles = [re.findall(r"<title>([^<]+)</title>", seen.page(f"{page}.html"))[0] for page in PAGES]

    assert len(PAGES) == len(set(titles))


@pytest.mark.parametrize(("code", "words"), [("cs", ("Partie", "Příkazy")), ("zh", ("对局", "命令"))])
def test_pages_are_in_three_languages(seen: Office, code: str, words: tuple[str, str]) -> None:
    token = seen.tokens["act"]
    for path in (*(f"{page}.html" for page in PAGES), "order.html?action=disqualify&target=anna"):
        status, _, body = seen.ask("GET", f"/{code}/organiser/{path}", token)
        page = body.decode()
        assert 200 == status
        assert all(word in page for word in words)
        # An order's query stays in the links to other languages.
        assert f'href="../../organiser/{path.replace("&", "&amp;")}" lang="en"' in page
    assert 401 == seen.ask("GET", f"/{code}/organiser/games.html")[0]
    assert "lang" not in re.findall(r"<p><bdi>.*</bdi></p>", page)[0]


def test_an_order_in_another_language_leads_to_its_page(own: Office) -> None:
    form = own.form("pause")
    body = urlencode(form).encode()

    status, headers, _ = own.ask("POST", "/cs/organiser/orders", own.tokens["act"], body, **FORM)

    assert (303, f"orders/{form['id']}.html") == (status, headers["location"])
    page = own.ask("GET", f"/cs/organiser/orders/{form['id']}.html", own.tokens["act"])[2].decode()
    assert "je pozastaveno; nehraje se žádná partie" in page


def test_pages_work_before_the_start(tmp_path: Path) -> None:
    tables = "[submissions]\ncloses = 2099-03-31T18:00:00Z\n[contest]\nstarts = 2099-04-01T18:00:00Z\n"
    with unbegun(tmp_path / "cup", tables=tables) as found:
        submit(found, "good")
        submit(found, "bad", "it is slow")
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
        for path in PAGES:
            assert 200 == found.ask("GET", f"/zh/organiser/{path}.html", found.tokens["watch"])[0]
        assert "The contest has not begun." in found.page("games.html")
        assert "both called" not in page
        file = found.directory.folder / "contest.toml"
        file.write_text(f'{file.read_text()}\n[[agents]]\npath = "house-instant"\nname = "good"\n')
        assert "submission 1 of &#39;ada&#39; are both called &#39;good&#39;: give the first" in found.page(
            "index.html"
        )
    with unbegun(tmp_path / "other") as found:
        assert "The contest has no start time." in found.page("index.html")


@pytest.mark.docker
def test_the_host_is_looked_at_when_no_game_is_played(own: Office) -> None:
    store, name = own.cup.store, own.cup.contest.name
    issued = store.issue(name, "here")
    assert issued is not None
    assert "so it does not run while games are played" in own.page("health.html")
    store.annul(issued.id, "to look at the host")

    page = own.page("health.html", "watch")

    assert re.search(r'Worst result: <b lang="en">(green|yellow|red)</b>', page)
    assert "engine" in re.findall(r'<dt><span class="verdict[^>]*>\w+</span> (\w+)</dt>', page)
    assert re.search(r"<li>core \d+: ", page)


# --- what is ordered -------------------------------------------------------------------------------------------------


def test_order_previews_changed_places_and_is_done_once(own: Office) -> None:
    contest = own.cup.contest
    before = {line.agent: (line.place, line.points) for line in contest.standing().table.lines}
    form = own.form("disqualify", "anna", why="two entries\nof one author")
    said = own.page("order.html?action=disqualify&target=anna")

    first, second = own.post(form), own.post(form)

    assert (303, f"orders/{form['id']}.html") == (first[0], first[1]["location"])
    # Each answer has its own id.
    same = [(status, {**headers, "x-request-id": ""}) for status, headers, _ in (first, second)]
    assert same[0] == same[1]
    assert first[1]["x-request-id"] != second[1]["x-request-id"]
    told = [line for line in contest.store.journal(contest.name) if line.event == "disqualified"]
    assert [("anna: two entries of one author", "Olga")] == [(line.text, line.who) for line in told]
    after = {line.agent: (line.place, line.points) for line in contest.standing().table.lines}
    moved = [agent for agent in before if before[agent] != after[agent]]
    assert moved
    rows = re.findall(
        r'<tr><th scope="row"><bdi>([^<]*)</bdi></th><td class="num">(\d+)</td><td class="num">(\d+|\u2013)</td>', said
    )
    assert {agent: (before[agent][0], after[agent][0]) for agent in moved if agent != "anna"} == {
        agent: (int(now), int(then)) for agent, now, then in rows if agent != "anna"
    }
    assert ("anna", "1", "\u2013") in rows
    done = own.page(f"orders/{form['id']}.html")
    assert "anna is disqualified" in done
    assert "Olga" in done
    assert "two entries of one author" in own.page("orders.html", "watch")
    assert 422 == own.ask("GET", "/organiser/order.html?action=disqualify&target=anna", own.tokens["act"])[0]


def test_a_void_is_of_the_result_that_was_looked_at(own: Office) -> None:
    store, name = own.cup.store, own.cup.contest.name
    form, late = own.form("void", "1"), own.form("void", "1")

    assert 303 == own.post(form)[0]
    own.cup.play(1)
    status, _, body = own.post(late)

    assert 422 == status
    assert b"attempt 2 is the current one, not 1" in body
    assert 303 == own.post(form)[0]
    assert 1 == sum(line.event == "annulled" for line in store.journal(name))
    assert GameState.DONE == store.games(name)[0].state


def test_a_contest_is_paused_and_resumed_with_the_reasons_in_its_journal(own: Office) -> None:
    assert "is paused" in own.order("pause", why="lunch")
    assert "lunch" in own.page("index.html")
    assert "is open" in own.order("resume", why="fed")
    lines = own.cup.store.journal(own.cup.contest.name)[-2:]
    assert [("paused", "lunch", "Olga"), ("open", "fed", "Olga")] == [(x.event, x.text, x.who) for x in lines]


def test_single_stopped_game_is_resumed_and_the_journal_names_the_organiser(own: Office) -> None:
    store, name = own.cup.store, own.cup.contest.name
    own.order("void", "1")
    held = []
    while (issued := store.issue(name, "here")) is not None:
        store.void(issued.id, issued.attempt, "the Engine was gone", None, allowed=1)
        held.append(issued)
    store.set_state(name, "stopped", "too many voids")
    one, other, *rest = held
    assert f"order.html?action=replay&amp;target={one.number}" in own.page("index.html")
    assert f"Other games that stay stopped: {1 + len(rest)}." in own.page(
        f"order.html?action=replay&target={one.number}"
    )
    form = own.form("replay", str(one.number), why="the disk has room again")

    first, second = own.post(form), own.post(form)

    assert 303 == first[0] == second[0]
    states = {game.number: game.state for game in store.games(name)}
    assert (GameState.PENDING, GameState.HELD) == (states[one.number], states[other.number])
    assert "open" == store.state(name)
    journal = own.page("journal.html", "watch")
    told = rf"Game {one.number}: <b>released</b> · <b><bdi>Olga</bdi></b>: <bdi>the disk has room again</bdi>"
    assert 1 == journal.count(told)
    assert "The public journal omits their names." in journal
    assert 422 == own.ask("GET", f"/organiser/order.html?action=replay&target={one.number}", own.tokens["act"])[0]
    again = {**form, "id": "0" * 32}
    assert b"only a game stopped after too many voids" in own.post(again)[2]


def test_the_journal_has_pages(own: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "SHOWN_JOURNAL_LINES", 5)
    lines = len(own.cup.store.journal(own.cup.contest.name))
    path, found = "journal.html", 0
    while True:
        page = own.page(path)
        found += page.count("<li><time>")
        more = re.search(r'href="(journal.html\?before=\d+)"', page)
        if more is None:
            break
        path = more[1]

    assert lines == found > 5


def test_submissions_are_decided(own: Office) -> None:
    register = own.console.state.register
    good, bad = submit(own, "good"), submit(own, "bad", "it is slow")
    assert "it is slow" in own.page(f"submissions/{bad}.html")

    approve = own.ask("GET", f"/organiser/order.html?action=approve&target={bad}", own.tokens["act"])
    assert (422, True) == (approve[0], b"The contest has begun: its entries do not change." in approve[2])
    assert "action=approve" not in own.page(f"submissions/{bad}.html")
    assert "refused" in own.order("refuse", str(good), why="stolen")
    assert "withdrawn" in own.order("withdraw", str(bad))
    assert "received" in own.order("retry", str(good))

    assert ("Olga", "stolen") == next((x.who, x.why) for x in register.journal(good) if x.state == "refused")
    page = own.page(f"submissions/{good}.html", "watch")
    assert "refused · <bdi>Olga</bdi>: <bdi>stolen</bdi>" in page
    refused = own.post({**own.form("withdraw", str(bad)), "action": "approve", "id": "0" * 32})
    assert 422 == refused[0]
    assert b"its entries do not change" in refused[2]


def test_a_refused_submission_is_approved_before_the_start(tmp_path: Path) -> None:
    with unbegun(tmp_path / "cup") as own:
        bad = submit(own, "bad", "it is slow")
        assert "action=approve" in own.page(f"submissions/{bad}.html")
        assert "approved" in own.order("approve", str(bad))
        page = own.page("index.html")

    assert page.count("standings") == page.count("crosstable.html") == 0


def test_an_export_and_the_pages_are_written_once(tmp_path: Path) -> None:
    with office(tmp_path / "cup", played=1) as own:
        _exports_and_publishes(own)


def test_an_export_that_fails_says_why_on_its_page(tmp_path: Path) -> None:
    with office(tmp_path / "cup", played=1) as own:
        form = own.form("export")
        (own.cup.folder / "exports").write_text("a file is in the way")

        status, headers, _ = own.post(form)

        assert 303 == status
        assert "the export is not written" in own.done(headers["location"])
        (own.cup.folder / "exports").unlink()
        assert 303 == own.post(form)[0]
        assert "private for the authors; manifest" in own.done(headers["location"])


def test_an_export_answers_at_once_and_another_one_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_go = Event()
    with office(tmp_path / "cup", played=1) as own:
        right = Console.written

        def slow(console: Console, *given: Any) -> str:
            may_go.wait(PATIENCE_S)
            return right(console, *given)

        monkeypatch.setattr(Console, "written", slow)
        form, other = own.form("export"), own.form("publish")
        status, headers, _ = own.post(form)
        assert 303 == status
        assert "The files are being written" in own.page(headers["location"])
        assert 303 == own.post(form)[0]
        assert b"another export is being written" in own.post(other)[2]
        may_go.set()
        assert "private for the authors; manifest" in own.done(headers["location"])


def files_below(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def files_of(data: bytes) -> dict[str, bytes]:
    """The files of a tar stream, without the name of its one directory."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        return {each.name.partition("/")[2]: (tar.extractfile(each) or io.BytesIO()).read() for each in tar}


def _exports_and_publishes(own: Office) -> None:
    form = own.form("export")
    # What a kill leaves: a private part with its name, and a public one that is not complete.
    left = own.cup.folder / "exports" / form["id"]
    (left / "private").mkdir(parents=True)
    (left / "private" / "anna").write_text("half")
    (left / ".public.partial").mkdir()
    first, second = own.post(form), own.post(form)
    assert 303 == first[0] == second[0], first[2]
    done = own.done(first[1]["location"])
    exports = list((own.cup.folder / "exports").iterdir())
    assert [left] == exports
    assert ["private", "public"] == sorted(path.name for path in left.iterdir())
    assert not (left / "private" / "anna").is_file()
    public_key = own.cup.folder / "organiser.pem"
    public_key.write_bytes(public_pem(load_key(own.cup.folder / "organiser.key").public_key()))
    report = verify_export(exports[0] / "public", public_key)
    assert [] == report.problems
    assert report.manifest.digest in done
    assert 303 == own.post(form)[0]
    assert done == own.page(first[1]["location"])
    for part in ("public", "private"):
        path = f"exports/{form['id']}/{part}.tar"
        assert f"""organiser/{path}">Download""" in done
        status, _, body = own.ask("GET", f"/organiser/{path}", own.tokens["act"])
        assert 200 == status
        assert files_below(left / part) == files_of(body)
    assert "private.tar" not in own.page(first[1]["location"], "watch")
    assert 200 == own.ask("GET", f"/organiser/exports/{form['id']}/public.tar", own.tokens["watch"])[0]
    assert 403 == own.ask("GET", f"/organiser/exports/{form['id']}/private.tar", own.tokens["watch"])[0]
    for other in (form["id"].replace(form["id"][0], "0" if form["id"][0] != "0" else "1"), "..", "x" * 32):
        assert 404 == own.ask("GET", f"/organiser/exports/{other}/public.tar", own.tokens["act"])[0]
    assert "published" in own.order("publish")
    assert (own.cup.folder / "published" / "index.html").exists()


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
        ({"action": "void", "target": "99"}, "is no game"),
        ({"action": "approve", "target": "1e3"}, "named by its number"),
    ],
)
def test_a_form_that_is_wrong_changes_nothing(seen: Office, change: dict[str, str], word: str) -> None:
    before = seen.dump()

    status, _, body = seen.post({**seen.form("pause"), **change})

    assert 422 == status
    assert word in body.decode()
    assert before == seen.dump()


# --- nobody else -----------------------------------------------------------------------------------------------------

WAYS = [("GET", "/organiser/games.html"), ("POST", "/organiser/orders")]
"""The answers of all addresses to each role are in tests/golden/access.txt and routes.txt."""


@pytest.mark.parametrize("kind", ["none", "wrong", "nonsense", "long", "author", "revoked"])
def test_there_is_no_way_in_without_an_organisers_token(seen: Office, kind: str) -> None:
    before = seen.dump()
    others = {"none": "", "wrong": "judge-" + "A" * 43, "nonsense": "\"'%00", "long": "x" * 5000}
    token = others.get(kind) or seen.tokens.get(kind, "")
    form = {"action": "pause", "target": "", "id": "0" * 32, "why": "x", "attempt": "0", "proof": proof(token)}
    for method, path in WAYS:
        status, headers, body = seen.ask(method, path, token, urlencode(form).encode(), **FORM)
        assert 401 == status, (method, path)
        assert "set-cookie" not in headers
        assert b"" == body or b"You are not signed in, or your token is not valid any more." in body
        assert b"spring-cup" in body or method == "HEAD"
        assert b"anna" not in body
        header = {"authorization": f"Bearer {seen.tokens['act']}"}
        bearer = seen.ask(method, path, "", urlencode(form).encode(), **FORM, **header)
        assert (status, body) == (bearer[0], bearer[2])
    first = seen.ask("GET", "/organiser/index.html", token)
    assert 200 == first[0]
    assert b"You are not signed in, or your token is not valid any more." in first[2]
    assert b"anna" not in first[2]
    assert before == seen.dump()


def test_a_watcher_orders_nothing(seen: Office) -> None:
    before = seen.dump()
    form = {**seen.form("pause"), "proof": proof(seen.tokens["watch"])}

    status, _, body = seen.post(form, "watch")

    assert 403 == status
    assert b"your access is read-only" in body
    assert before == seen.dump()


def test_another_site_orders_nothing(seen: Office) -> None:
    before = seen.dump()
    form = seen.form("pause")

    assert 422 == seen.post(form, sec_fetch_site="cross-site")[0]
    assert 422 == seen.post({**form, "proof": proof(seen.tokens["watch"])})[0]
    assert 422 == seen.ask("POST", "/organiser/session", "", b"token=x", **{**FORM, "sec-fetch-site": "same-site"})[0]
    assert before == seen.dump()


def test_looking_changes_nothing(seen: Office) -> None:
    before = seen.dump()
    actions = [f"order.html?action={action}" for action in ("pause", "resume", "export", "publish")]
    for path in (*(f"{page}.html" for page in PAGES), *actions, "order.html?action=void&target=1"):
        seen.page(path)
    assert before == seen.dump()


def test_a_token_becomes_a_cookie_of_these_pages_alone(seen: Office) -> None:
    token = seen.tokens["act"]
    body = urlencode({"token": f"https://example.org/organiser/index.html#{token}"}).encode()

    status, headers, _ = seen.ask("POST", "/organiser/session", "", body, **FORM)

    assert (303, "index.html") == (status, headers["location"])
    cookie = headers["set-cookie"]
    assert cookie.startswith(f"judge-organiser={token};")
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= set(cookie.split("; "))
    out = seen.ask("POST", "/organiser/sign-out", token, b"", **FORM)
    assert "Max-Age=0" in out[1]["set-cookie"]
    assert 307 == seen.ask("GET", "/organiser")[0]
    wrong = seen.ask("POST", "/organiser/session", "", b"token=judge-wrong", **FORM)
    assert 401 == wrong[0]
    assert "set-cookie" not in wrong[1]


def test_token_guesser_has_to_wait(tmp_path: Path) -> None:
    with office(tmp_path / "cup", played=0, strangers=3) as found:
        answers = [found.ask("GET", "/organiser/games.html", f"judge-{n}")[0] for n in range(5)]
        assert [401, 401, 401, 429, 429] == answers
        assert 200 == found.ask("GET", "/organiser/index.html", found.tokens["watch"])[0]


@pytest.mark.parametrize("path", ["index.html", "order.html?action=pause", "nothing", "submissions/1.log"])
def test_no_page_has_an_inline_script(seen: Office, path: str) -> None:
    for token in (seen.tokens["act"], ""):
        body = seen.ask("GET", f"/organiser/{path}", token)[2]
        assert not re.search(rb"<script(?![^>]*\bsrc=)|<[^>]+\s(on\w+|style)=", body)


def test_a_season_of_a_ladder_is_frozen_reopened_and_ended_with_reasons(tmp_path: Path) -> None:
    with joins(tmp_path / "cup", PATIENCE.format(strangers=1000)) as cup, office_of(cup) as own:
        page = own.page("index.html")
        assert "Admissions are open" in page
        assert "reopen-admissions" not in page
        assert not re.search(r"(?i)\brounds?\b", re.sub(r"<[^>]*>", " ", page))
        assert "action=enter&amp;target=zoe" in page
        assert "takes part from now on" in own.order("enter", "zoe", why="as asked")
        assert "zoe continues to take part" in own.page("order.html?action=withdraw&target=1")
        assert "no longer takes part" in own.order("withdraw-agent", "zoe", why="it is ill")
        own.order("freeze-admissions", why="the last week")
        page = own.page("index.html")
        assert "the last week" in page
        assert "action=freeze-admissions" not in page
        own.order("reopen-admissions", why="one more")
        assert "has ended" in own.order("end-season", why="it is decided")
        page = own.page("index.html")
        assert "Freeze admissions" not in page
        assert "End the season" not in page
        told = [(line.event, line.who) for line in cup.store.journal(cup.contest.name)[-5:]]
        events = ("entered", "agent-withdrawn", "admissions-frozen", "admissions-reopened", "season-ended")
        assert [(event, "Olga") for event in events] == [each for each in told if each[0] in events]
