"""What an author sees, and that nobody else sees it."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any
from urllib.parse import quote, urlencode, urljoin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.parsing import parse_json
from judge.catalog.files import steps_of
from judge.record.spec import RecordFile
from judge.referee.verify import verify
from judge.testing import Act, Say
from judge.web.authors.games import move_logs
from judge.web.kit.session import CHANGE, proof_of
from tests.examples import examples, sized
from tests.publish.cups import SECRET, referee
from tests.referee.games import BLACK_ROW, WHITE_ROW, brain, spec
from tests.web.authors.desk import AUTHORS, HOSTS, HOUSE, Served, mark, other_of, secrets, served
from tests.web.service import FORM, Answer, call


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("cup")) as found:
        yield found


def test_first_page_has_the_own_submissions_and_games_and_all_machines(desk: Served) -> None:
    page = desk.page("/author/index.html", "ada")

    assert ["3", "1"] == re.findall(r'<th [^>]*><a href="submissions/(\d+)\.html"', page)
    assert ["00001"] == re.findall(r'href="games/(\d+)\.html"', page)
    for slots, host in enumerate(HOSTS, 2):
        assert f'<bdi>{host}</bdi></th><td class="num">{slots}</td>' in page
    for folder, words in (("", "Signed in as"), ("/cs", "Přihlášen:")):
        path = f"{folder}/author/index.html"
        page = desk.page(path, "ada")
        assert f"{words} <b><bdi>ada</bdi></b>" in page
        (target,) = re.findall(r'data-to="([^"]+)"', page)
        assert "/author/submissions" == urljoin(path, target)


def test_refused_submission_names_stage_reason_and_next_step(desk: Served) -> None:
    page = desk.page("/author/submissions/1.html", "ada")

    marks = re.findall(r'<li class="(\w+)"><b>(\w+)</b>', page)
    assert ["received", "unpacked", "built", "stored", "checked"] == [name for _, name in marks]
    assert {"received": "done", "checked": "failed"}.items() <= {n: m for m, n in marks}.items()
    assert f"think less, {mark('ada')}" in page
    assert "Fix it and submit it again." in page
    assert ">   1  Traceback<br>   2  KeyError</pre>" in page
    assert "data-open" not in page
    assert f"cc {mark('ada')}".encode() == desk.ask("GET", "/author/submissions/1.log", desk.tokens["ada"])[2]


@pytest.mark.parametrize("author", AUTHORS)
@pytest.mark.parametrize(
    ("game", "words"),
    [
        ("games/00001", ("Why <bdi>crasher</bdi> lost", "PID 1 reports: ", "stderr is stored for you")),
        ("games/00002.attempt-1", ("This is attempt 1, which does not count.",)),
        ("practice/{stem}", ("Practice game",)),
    ],
)
def test_page_of_a_game_has_only_own_output(desk: Served, author: str, game: str, words: tuple[str, ...]) -> None:
    """That others do not see the page and its files is in tests/golden/access.txt."""
    game = game.format(stem=practice_of(author))
    agent, seat = AUTHORS[author], desk.seat(author, game)
    page = desk.page(f"/author/{game}.html", author)

    assert [] == [word for word in words if word not in page]
    assert f"{SECRET} of {agent}: " in page
    assert 'class="plot' in page
    assert not any(secret.decode() in page for secret in secrets(other_of(author)))
    assert f"{SECRET} {HOUSE}" not in page
    logs = re.findall(r'<div data-agent-log="\d+"><p [^>]*>[^<]+<bdi>(\w+)</bdi></p><pre>(.*?)</pre>', page, re.DOTALL)
    assert {agent} == {name for name, _ in logs}
    assert any(f"DEBUG {SECRET} {agent}" in text for _, text in logs)
    for kind, begin in (("stderr", f"{SECRET} of {agent}: "), ("debug", "")):
        status, _, data = desk.ask("GET", f"/author/{game}.seat-{seat}.{kind}", desk.tokens[author])
        assert (200, True) == (status, data.startswith(begin.encode()) and SECRET.encode() in data)


def practice_of(author: str) -> str:
    return f"{list(AUTHORS).index(author) + 1:05d}"


@pytest.mark.parametrize("author", AUTHORS)
def test_pages_link_to_practice_games_and_void_attempts(desk: Served, author: str) -> None:
    stem = practice_of(author)
    submission = desk.page(f"/author/submissions/{int(stem) + 2}.html", author)
    assert [stem] == re.findall(r'href="../../author/practice/(\d+)\.html"', submission)
    assert "Cvičná partie" in desk.page(f"/cs/author/practice/{stem}.html", author)
    assert 'href="games/00002.attempt-1.html"' in desk.page("/author/index.html", author)
    record = desk.ask("GET", f"/author/practice/{stem}.json", desk.tokens[author])[2]
    assert not verify(parse_json(RecordFile, record, "a record")).problems
    assert SECRET.encode() not in record
    for missing in (
        *(f"practice/{stem}.{end}" for end in ("seat-0.stderr", "seat-0.json", "stderr", "seat-1.html")),
        *(f"games/{name}.html" for name in ("00002", "00002.attempt-2", "00001.attempt-1", "2.attempt-1")),
    ):
        assert 401 == desk.ask("GET", f"/author/{missing}", desk.tokens[author])[0], missing


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("path", ["games/00001", "games/00002.attempt-1", "practice/00001"])
def test_page_names_and_links_record(desk: Served, monkeypatch: pytest.MonkeyPatch, path: str, is_large: bool) -> None:
    if is_large:
        monkeypatch.setattr("judge.web.authors.games.MAX_PAGE_RECORD_BYTES", 100)
    page = desk.page(f"/author/{path}.html", "ada")
    stem = path.rpartition("/")[2]
    folder, name = ("", f"practice-{stem}.json") if "practice" in path else ("records/", f"{stem}.json")
    links = re.findall(rf'href="((?:\.\./\.\./records/)?{re.escape(stem)}\.json)"', page)
    status, headers, data = desk.ask("GET", urljoin(f"/author/{path}.html", links[0]), desk.tokens["ada"])
    private = desk.ask("GET", f"/author/{path}.seat-{desk.seat('ada', path)}.json", desk.tokens["ada"])[2]

    assert 200 == status
    assert json.loads(private)["transcript_sha256"] == parse_json(RecordFile, data, name).record.transcript_sha256
    assert headers.get("content-disposition", f'attachment; filename="{name}"').endswith(f'"{name}"')
    assert {name, f"{folder}{name}"} >= {*re.findall(r"judge verify ([^\s<]+)", page)}
    assert is_large or "judge verify" in page


@pytest.mark.parametrize("author", AUTHORS)
def test_list_of_own_games_says_who_won_and_why(desk: Served, author: str) -> None:
    page = desk.page("/author/index.html", author)
    (row,) = re.findall(r'<a href="games/00001.html">.*?</tr>', page, re.DOTALL)
    won, lost = ("won", "lost") if "<td>won " in row else ("lost", "won")

    assert f"<td>{won} " in row
    assert 'method="get"' in page
    shown = {f"outcome={won}": True, f"outcome={lost}&opponent=": False, "opponent=unknown": False}
    for query, is_shown in shown.items():
        filtered = desk.ask("GET", "/author/index.html", desk.tokens[author], query=query)[2]
        assert is_shown == (b"games/00001.html" in filtered), query


def test_an_author_lets_a_submission_play_again_and_no_other(desk: Served) -> None:
    path = "/author/submissions/3.html"
    assert 401 == desk.ask("POST", path, desk.tokens["eve"], headers=FORM)[0]
    asked, again = (desk.ask("POST", path, desk.tokens["ada"], headers=FORM) for _ in range(2))

    assert (303, "3.html") == (asked[0], asked[1]["location"])
    assert (409, True) == (again[0], b"are still to be played: wait for them" in again[2])
    assert 4 == desk.page(path, "ada").count('<th scope="row" class="num">')


def test_author_is_notified_only_of_their_own(desk: Served) -> None:
    with closing(desk.directory.notices()) as notices:
        notice_kinds = {author: sorted(each.kind for each in notices.of(author, 99)) for author in AUTHORS}
        assert 0 == notices.derive()
    page = desk.page("/author/notices.html", "eve")

    assert {author: ["refused", "result", "test"] for author in AUTHORS} == notice_kinds
    assert f"was refused: it failed: {mark('eve')}" in page
    assert f'value="https://{mark("eve")}.example.org/"' in page
    assert mark("ada") not in page
    assert re.search(r"<pre[^>]*>whsec_[A-Za-z0-9+/=]{44}</pre>", page)


def test_a_webhook_is_set_on_the_page_and_refused_with_the_fix(desk: Served) -> None:
    def post(url: str) -> Answer:
        body = f"webhook={quote(url, safe='')}".encode()
        return desk.ask("POST", "/author/notices.html", desk.tokens["ada"], headers=FORM, body=body)

    with closing(desk.directory.notices()) as notices:
        before = notices.targets("ada")
        refused = post("http://example.org/")
        assert (422, True) == (refused[0], b"use https://" in refused[2])
        assert before == notices.targets("ada")
        assert 303 == post(f"https://{mark('ada')}.example.org/new")[0]
        after = notices.targets("ada")
        assert f"https://{mark('ada')}.example.org/new" == after.webhook
        assert before.secret != after.secret
        assert ["given up"] == [each.state for each in notices.of("ada", 99) if each.kind == "refused"]
        assert {"waiting"} == {each.state for each in notices.of("eve", 99)}
        assert (303, "") == (post("")[0], notices.targets("ada").webhook)


def test_an_upload_from_the_page_is_received_and_counts_as_any_other(desk: Served) -> None:
    upload: dict[str, Any] = {"query": "filename=a.zip", "body": b"x"}
    assert 401 == desk.ask("POST", "/author/submissions", **upload)[0]
    status, _, body = desk.ask("POST", "/author/submissions", desk.tokens["eve"], **upload)
    assert (201, b'{"id":5}') == (status, body)
    assert '<div id="progress" data-open>' in desk.page("/author/submissions/5.html", "eve")


def sign_in(desk: Served, form: Mapping[str, str], current: str = "", **headers: str) -> Answer:
    """Send the form of a link, with the cookie of the current session."""
    return desk.ask("POST", "/author/session", current, headers={**FORM, **headers}, body=urlencode(form).encode())


def test_a_token_or_a_link_is_exchanged_for_a_cookie(desk: Served) -> None:
    """The attributes of the cookie are in tests/golden/access.txt."""
    token = desk.tokens["ada"]
    for text in (token, f"https://example.org/author/index.html#{token}"):
        status, headers, _ = sign_in(desk, {"token": text})
        assert (303, "index.html") == (status, headers["location"])
        assert headers["set-cookie"].startswith(f"judge-author={token};")
    status, headers, _ = sign_in(desk, {"token": "judge-" + "A" * 43})
    assert (401, None) == (status, headers.get("set-cookie"))
    out = desk.ask("POST", "/author/sign-out", token, headers=FORM)
    assert "Max-Age=0" in out[1]["set-cookie"]


def test_a_link_of_another_author_asks_before_it_signs_in(desk: Served) -> None:
    ada, eve = desk.tokens["ada"], desk.tokens["eve"]

    status, headers, page = sign_in(desk, {"token": eve}, ada)

    assert (409, None) == (status, headers.get("set-cookie"))
    assert "You are signed in as <b><bdi>ada</bdi></b>. This link belongs to <b><bdi>eve</bdi></b>." in page.decode()
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page.decode()))
    # The proof is of the session and of the token: the one that Eve has seen is no good for Ada.
    proofs = ["x", proof_of(eve, CHANGE + ada), proof_of(eve, CHANGE + eve), proof_of("", CHANGE + eve)]
    wrong = [{"token": eve}, *({"token": eve, "confirm": proof} for proof in proofs)]
    for each in wrong:
        status, headers, _ = sign_in(desk, each, ada)
        assert (409, None) == (status, headers.get("set-cookie"))
    status, headers, _ = sign_in(desk, {**fields, "token": f"{eve}A"}, ada)
    assert (401, None) == (status, headers.get("set-cookie"))
    status, headers, _ = sign_in(desk, fields, ada)
    assert 303 == status
    assert headers["set-cookie"].startswith(f"judge-author={eve};")


def test_the_own_link_and_a_session_that_has_ended_ask_nothing(desk: Served) -> None:
    for current in (desk.tokens["ada"], "judge-" + "A" * 43, ""):
        assert 303 == sign_in(desk, {"token": desk.tokens["ada"]}, current)[0]


@pytest.mark.parametrize(
    ("origin", "host", "site", "status"),
    [
        *((origin, "here", "", 303) for origin in ("http://here", "http://here:8443", "https://here")),
        ("http://here", "here:80", "", 303),
        ("http://HERE:8000", "here:8000", "", 303),
        ("http://[::1]:8000", "[::1]:8000", "", 303),
        *((origin, "here:80", "", 422) for origin in ("https://evil.example", "http://here.evil.example", "null")),
        *((origin, "here:80", "", 422) for origin in ("http://here:8080", "file://", "http://[", "x")),
        # The origin of a page without a referrer counts if the browser says more.
        ("null", "here", "same-origin", 303),
        ("null", "here", "cross-site", 422),
        ("null", "here", "same-site", 422),
    ],
)
def test_only_a_form_with_the_own_origin_signs_in(desk: Served, origin: str, host: str, site: str, status: int) -> None:
    """The answers of all addresses to a form of another site are in tests/golden/access.txt."""
    headers = {"content-type": FORM["content-type"], "host": host, "origin": origin}
    headers |= {"sec-fetch-site": site} if site else {}
    body = f"token={desk.tokens['ada']}".encode()
    found, sent, _ = desk.ask("POST", "/author/session", headers=headers, body=body)
    assert (status, status == 303) == (found, "set-cookie" in sent)


def test_two_different_cookies_sign_in_no_user_and_the_form_explains_it(desk: Served) -> None:
    ada, eve = desk.tokens["ada"], desk.tokens["eve"]
    both = {"cookie": f"judge-author={eve}; judge-author={ada}"}
    status, _, page = desk.ask("GET", "/author/index.html", headers=both)
    assert (200, True) == (status, b"You are not signed in" in page)
    status, _, answer = sign_in(desk, {"token": ada}, **both)
    assert (422, True) == (status, b"two different cookies judge-author" in answer)
    same = {"cookie": f"judge-author={ada}; judge-author={ada}"}
    assert "ada" in desk.ask("GET", "/author/index.html", headers=same)[2].decode()


THEIRS = """
    /author/submissions/2.html /author/submissions/2.log /author/submissions/2.json
    /author/submissions/4.html /cs/author/submissions/2.html /author/games/00001.seat-{eve}.stderr
    /author/games/00001.seat-{eve}.debug /author/games/00001.seat-{eve}.json /author/practice/00002.html
    /author/games/00002.attempt-1.seat-{other}.json /author/practice/00002.json
    /author/practice/00002.seat-1.stderr /author/practice/00002.seat-1.debug
"""
"""Pages and files that are eve's, or of her seat."""


@pytest.mark.parametrize("path", THEIRS.split())
def test_answer_to_another_author_does_not_depend_on_the_token(desk: Served, path: str) -> None:
    """The answers of all addresses to each role are in tests/golden/access.txt."""
    path = path.format(eve=desk.seat("eve", "games/00001"), other=desk.seat("eve", "games/00002.attempt-1"))
    there = desk.tokens["eve"]
    answers = [desk.ask("GET", path, token) for token in ("", desk.tokens["ada"], there[:-1], f"{there}A", "x" * 5000)]

    assert 401 == answers[0][0]
    assert answers[:1] * len(answers) == answers


ALL_REQUESTS, REQUESTS, DRAWN = sized(500, 10_000), 100, 16
"""Requests that are tried, requests of one example, and bytes that a request is made of."""

METHODS = ("GET", "GET", "GET", "HEAD", "POST", "DELETE", "PUT", "OPTIONS")
WHOLE = """
    /author/submissions/2.html /author/submissions/2.log /author/submissions/2.json /submissions/2/report
    /author/games/00001.seat-0.json /author/games/00001.seat-1.json /author/games/00001.seat-1.stderr
    /author/games/00002.attempt-1.html /author/games/00002.attempt-1.seat-0.stderr
    /author/games/00002.attempt-1.seat-1.stderr /author/games/00002.attempt-1.seat-1.json
    /author/games/00001.seat-0.stderr /author/games/00001.seat-1.debug /zh/author/submissions/2.html
    /author/notices.html /zh/author/notices.html /author/submissions/4.html /author/practice/00002.html
    /author/practice/00002.json /author/practice/00002.seat-1.json /author/practice/00002.seat-1.stderr
    /submissions/4/practice /submissions /submissions/2 /submissions/2/log /author/index.html
"""
PIECES = (
    *("practice", "00002.seat-1", "4", "notices"),
    *("author", "cs", "zh", "submissions", "games", "records", "data", "feed", "contest", "agents", "session", ".."),
    *("1", "2", "3", "00001", "00002", "index", "report", "log", "json", "html", "stderr", "debug", "seat-0", "seat-1"),
    *("/", "/", "/", "/", ".", ".", ".", "%2f", "%00", "\u202e", "-1", "contest.db", "files", "attempt-1", "live", " "),
)
QUERIES = ("", "", "before=3", "limit=50", "author=eve", "since=0", "filename=a", "game=1")
NAMES = ("accept", "x-forwarded-for", "host", "range", "last-event-id", "x-original-url", "origin", "x-author")
VALUES = ("*/*", "/author/submissions/2.log", "eve", "127.0.0.1", "bytes=0-", "null")


def request_of(drawn: bytes) -> tuple[str, str, str, bool, bool, dict[str, str]]:
    """A request: method, path, query, whether it has the cookie and the header with the token, other headers."""

    def one_of(choices: Sequence[str], at: int) -> str:
        return choices[drawn[at] % len(choices)]

    pieces = "".join(one_of(PIECES, at) for at in range(6, 6 + drawn[5] % 10))
    path = one_of(WHOLE.split(), 4) if drawn[5] >= 192 else f"/author/{pieces}" if drawn[5] >= 96 else f"/{pieces}"
    has_cookie, has_header = drawn[2] % 4 != 0, drawn[2] % 4 != 1
    return one_of(METHODS, 0), path, one_of(QUERIES, 1), has_cookie, has_header, {one_of(NAMES, 3): one_of(VALUES, 15)}


@settings(max_examples=max(1, examples(ALL_REQUESTS) // REQUESTS), deadline=None)
@given(st.binary(min_size=REQUESTS * DRAWN, max_size=REQUESTS * DRAWN))
def test_no_request_of_one_author_gets_a_private_byte_of_another(desk: Served, drawn: bytes) -> None:
    token = desk.tokens["ada"]
    with closing(desk.directory.notices()) as notices:
        theirs = [*secrets("eve"), notices.targets("eve").secret.encode(), desk.tokens["eve"].encode()]

    async def all_of_them() -> list[Answer]:
        found = []
        for at in range(0, len(drawn), DRAWN):
            method, path, query, has_cookie, has_header, headers = request_of(drawn[at : at + DRAWN])
            if path.startswith("/events") and method == "GET":
                continue  # a stream of public events needs a connection
            if has_cookie:
                headers["cookie"] = f"judge-author={token}"
            if has_header:
                headers["authorization"] = f"Bearer {token}"
            found.append(await call(desk.service, method, path, headers, query))
        return found

    for answer in asyncio.run(all_of_them()):
        text = repr(answer).encode()
        assert answer[0] < 500, answer[:2]
        for secret in theirs:
            assert secret not in answer[2], answer[:2]
            assert secret not in text


def test_the_secrets_would_be_seen(desk: Served) -> None:
    """What the requests above look for is there for the author whose it is."""
    seen = desk.page("/author/submissions/2.html", "eve") + desk.page("/author/games/00001.html", "eve")

    assert all(secret.decode() in seen for secret in secrets("eve"))


def test_private_output_belongs_to_the_move_during_which_it_was_written() -> None:
    plain, count = brain(*BLACK_ROW), 0

    def hear(line: str) -> Sequence[Act]:
        nonlocal count
        acts = plain(line)
        if line.split()[:1] in (["BEGIN"], ["TURN"]):
            count += 1
            return [Say(f"DEBUG move {count}\r\n".encode()), *acts]
        return acts

    file = referee(spec(), [hear, brain(*WHITE_ROW)])
    replay = steps_of(file)

    logs = move_logs(file, replay, 0)

    step_numbers = [number for number, step in enumerate(replay.steps) if step.seat == 0]
    assert [(step_numbers[at], f"DEBUG move {at + 1}") for at in range(len(step_numbers))] == [
        (log["step"], "".join(map(str, log["shown"])).strip()) for log in logs
    ]
    assert [] == list(move_logs(file, replay, 1))
