"""What an author gets from the intake, over a socket, from the real service: a number, a state, a reason; or a no."""

import hashlib
import json
import re
import shutil
import socket
import subprocess
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from judge.base.errors import HostError, InputError
from judge.cli import app
from judge.submissions.check import CheckReport
from judge.submissions.service import IntakeDirectory
from judge.transparency.keys import load_key
from judge.transparency.log import KEY_FILE
from judge.transparency.receipt import MAX_RECEIPT_BYTES, read_receipt
from judge.web.kit.connections import listening, parse_listen_address
from tests.patience import PATIENCE_S
from tests.web.intake.conftest import Service, ended, send
from tests.web.live.watching import until


def error_of(answer: httpx.Response) -> tuple[int, str]:
    assert {"error"} == set(answer.json())
    return answer.status_code, answer.json()["error"]


def test_an_upload_is_received_processed_and_passes(ada: httpx.Client, desk: IntakeDirectory) -> None:
    content = b"good five"
    number = send(ada, content, "five.zip", name="five-2")
    found = ended(ada, number)
    assert ("passed", "five-2", 1, "five.zip") == tuple(found[key] for key in ("state", "name", "version", "filename"))
    digest = hashlib.sha256(content).hexdigest()
    assert (digest, len(content)) == (found["sha256"], found["size"])
    assert content == desk.files.get(digest)
    assert ["received", "processing", "passed"] == [one["state"] for one in found["journal"]]
    assert [("received", True, "five.zip of ada"), ("checked", True, "1 finding")] == [
        (step["stage"], step["ok"], step["text"]) for step in found["steps"]
    ]
    assert number in [one["id"] for one in ada.get("/submissions").json()["submissions"]]


def test_same_bytes_are_one_submission_also_in_chunks_and_at_once(
    new_client: Callable[[str], httpx.Client],
) -> None:
    zoe = new_client("zoe")
    content = b"good twin"

    def post(chunked: bool, filename: str = "a.zip", name: str = "") -> httpx.Response:
        body = iter([content[:4], content[4:]]) if chunked else content
        return zoe.post("/submissions", params={"filename": filename, "name": name}, content=body)

    with ThreadPoolExecutor(4) as threads:
        # An upload that meets another one of this author's may be refused, never doubled.
        answers = [each for each in threads.map(post, [False, True, False, True]) if each.status_code != 429]
    answers += [post(chunked=True, filename="a (1).zip")]
    number = answers[0].json()["id"]
    passed = ended(zoe, number)
    answers += [post(chunked=False)]

    assert {number} == {each.json()["id"] for each in answers}
    assert [201] == [each.status_code for each in answers if not each.json()["is_repeated"]]
    assert {200} == {each.status_code for each in answers if each.json()["is_repeated"]}
    assert [number] == [each["id"] for each in zoe.get("/submissions").json()["submissions"]]

    other = ended(zoe, post(chunked=False, name="triplet").json()["id"])
    assert ("passed", "triplet") == (other["state"], other["name"])
    assert f"you have another agent with the same files: {passed['name']}" in other["why"]


def test_an_author_gets_a_signed_receipt_for_the_bytes(ada: httpx.Client, desk: IntakeDirectory) -> None:
    answer = ada.post("/submissions?filename=a.zip", content=b"good receipt")
    receipt = read_receipt(answer.content, "the answer")

    assert "" == receipt.problem(load_key(desk.folder / KEY_FILE).public_key())
    assert f"submission {answer.json()['id']}" == receipt.text
    assert hashlib.sha256(b"good receipt").hexdigest() == receipt.digest
    assert len(json.dumps(answer.json()["receipt"], separators=(",", ":"))) <= MAX_RECEIPT_BYTES


def test_refused_submission_gives_its_reason_log_and_report(ada: httpx.Client) -> None:
    number = send(ada, "bad slow")
    found = ended(ada, number)
    assert ("refused", "failed checks: time (see the report)") == (
        found["state"],
        found["why"],
    )
    log = ada.get(f"/submissions/{number}/log")
    assert log.json()["log"].startswith("cc -o five\n")
    report = CheckReport.model_validate(ada.get(f"/submissions/{number}/report").json())
    assert "think less" == report.findings[0].fix
    # What a terminal would obey is escaped in every answer.
    for answer in (log, ada.get(f"/submissions/{number}/report")):
        assert all(32 <= byte < 127 for byte in answer.content)


def test_submission_without_an_agent_has_a_log_and_no_report(ada: httpx.Client) -> None:
    number = send(ada, "rubbish")
    assert "it is no archive" == ended(ada, number)["why"]
    assert 200 == ada.get(f"/submissions/{number}/log").status_code
    assert 404 == error_of(ada.get(f"/submissions/{number}/report"))[0]


def test_a_failure_of_the_host_is_tried_again_and_never_the_authors_business(
    ada: httpx.Client, desk: IntakeDirectory
) -> None:
    number = send(ada, "host")
    found = ended(ada, number)
    assert ("failed", 2) == (found["state"], str(found["journal"]).count("'failed'"))
    assert "does not count against the submission" in found["why"]
    assert str(desk.folder) not in str(found)


def test_upload_that_kills_its_workers_costs_no_other_upload(ada: httpx.Client, eve: httpx.Client) -> None:
    killer, good = send(ada, "crash"), send(eve, "good eves")
    assert "passed" == ended(eve, good)["state"]
    assert "failed" == ended(ada, killer)["state"]
    assert "passed" == ended(ada, send(ada, "good after"))["state"]


def test_remote_terminal_gets_the_same_as_the_organisers_terminal(
    service: Service, ada: httpx.Client, desk: IntakeDirectory, tmp_path: Path
) -> None:
    """`judge submit --url`, with the words and exit codes of `judge submit` on its machine."""
    token, file = tmp_path / "token", tmp_path / "far.zip"
    token.write_text(ada.headers["authorization"].removeprefix("Bearer ") + "\n")

    def typed(text: str, *more: str) -> Result:
        file.write_text(text)
        words = ["submit", str(file), "--url", service.url, "--token-file", str(token), *more]
        return CliRunner().invoke(app, words, catch_exceptions=False)

    good = typed("good far", "--wait")
    assert 0 == good.exit_code
    lines = good.stdout.splitlines()
    assert [
        "ok    received  far.zip of ada (0.0 s)",
        "ok    checked   1 finding (0.2 s)",
        "passed: far version 1",
    ] == lines[1:]
    assert re.fullmatch(r"submission \d+: far.zip, 8 bytes, SHA-256 [0-9a-f]{16}", lines[0])
    assert "it takes part; you may replace it until the contest begins; its page: http://" in good.stderr
    bad = typed("bad far", "--wait")
    assert 1 == bad.exit_code
    assert "fail    time: a turn: it took 9000 of 5000 ms \\x1b[31m" in bad.stdout.splitlines()
    assert "        fix: think less" in bad.stdout.splitlines()
    assert "refused: failed checks: time (see the report)" == bad.stdout.splitlines()[-1]
    assert "/author/submissions/" in bad.stderr
    told = json.loads(typed("bad far", "--wait", "--json", "--name", "snail").stdout)
    assert ("refused", "snail", "fail") == (told["state"], told["name"], told["report"]["findings"][0]["grade"])
    assert 1 == typed("host", "--wait").exit_code
    kept = tmp_path / "receipt"
    sent = typed("good far", "--receipt", str(kept))
    assert (0, 1) == (sent.exit_code, len(sent.stdout.splitlines()))
    receipt = read_receipt(kept.read_bytes(), "receipt")
    assert hashlib.sha256(file.read_bytes()).hexdigest() == receipt.digest
    assert "" == receipt.problem(load_key(desk.folder / KEY_FILE).public_key())
    with pytest.raises(InputError, match="exists: give the receipt another name"):
        typed("good far", "--receipt", str(kept))


def test_remote_terminal_accepts_the_link_of_the_authors_page(
    service: Service, ada: httpx.Client, tmp_path: Path
) -> None:
    file = tmp_path / "linked.zip"
    file.write_text("good linked")
    token = ada.headers["authorization"].removeprefix("Bearer ")

    sent = CliRunner().invoke(
        app,
        ["submit", str(file), "--url", f"{service.url}/author/index.html#{token}", "--wait"],
        catch_exceptions=False,
    )

    assert 0 == sent.exit_code
    assert "passed: linked version 1" == sent.stdout.splitlines()[-1]
    assert token not in sent.output


def test_remote_terminal_gets_errors(service: Service, desk: IntakeDirectory, tmp_path: Path) -> None:
    token, file = tmp_path / "token", tmp_path / "far.zip"
    token.write_text("judge-" + "A" * 43)
    file.write_text("good far")
    large = tmp_path / "large.zip"
    large.write_bytes(b"x" * (desk.intake.upload_bytes + 1))
    to = ["--url", service.url, "--token-file", str(token)]
    for words, why in (
        ([str(file), *to], "the token is missing or not valid"),
        ([str(tmp_path / "nothing"), *to], "No such file"),
        ([str(tmp_path), *to], "a directory; pack it"),
        ([str(large), *to], f"at most {desk.intake.upload_bytes}"),
        ([str(file), *to[:2]], "--token-file is missing"),
        ([str(file), "--url", f"{service.url}/author/index.html#"], "the text after #: must contain only"),
        ([str(file), str(desk.folder), *to], "leave out CONTEST"),
        ([str(file), "--url", "example.org", *to[2:]], "not an address"),
        ([str(file), "--url", "http://[", *to[2:]], "not an address"),
        ([str(file), "--url", f"{service.url}/elsewhere", *to[2:]], "Not Found"),
        ([str(file), str(desk.folder), *to[2:]], "--url is missing"),
        ([str(file), *to[:3], str(file)], "must contain only the organiser's token"),
    ):
        with pytest.raises(InputError, match=why):
            CliRunner().invoke(app, ["submit", *words], catch_exceptions=False)
    nobody = ["submit", str(file), "--url", "http://127.0.0.1:9", *to[2:]]
    with pytest.raises(HostError, match="refused"):
        CliRunner().invoke(app, nobody, catch_exceptions=False)


def test_authors_know_nothing_of_each_other(ada: httpx.Client, eve: httpx.Client) -> None:
    number = send(ada, "good adas")
    ended(ada, number)
    for path in ("", "/log", "/report"):
        assert 404 == error_of(eve.get(f"/submissions/{number}{path}"))[0]
    theirs = error_of(eve.delete(f"/submissions/{number}"))
    nobodys = error_of(eve.delete("/submissions/999999"))
    assert theirs == (nobodys[0], nobodys[1].replace("999999", str(number)))
    assert number not in [one["id"] for one in eve.get("/submissions").json()["submissions"]]
    taken = eve.post("/submissions", params={"filename": "a", "name": "ADAS"}, content=b"good x")
    assert (409, "an agent of another author is called 'ADAS' already: choose another name") == (error_of(taken))


def test_an_author_withdraws(ada: httpx.Client) -> None:
    number = send(ada, "good late")
    ended(ada, number)
    for _ in range(2):
        assert "withdrawn" == ada.delete(f"/submissions/{number}").json()["state"]
    assert "withdrawn" == ada.get(f"/submissions/{number}").json()["state"]


def test_one_upload_never_blocks_another(service: Service, ada: httpx.Client, eve: httpx.Client) -> None:
    """While one author's bytes trickle in, another's are received, and everybody is answered."""
    with socket.create_connection(("127.0.0.1", service.port)) as slow:
        head = "POST /submissions?filename=a.zip HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n"
        token = f"Authorization: {ada.headers['authorization']}\r\n\r\n"
        slow.sendall((head + token + "good").encode())
        assert 201 == eve.post("/submissions?filename=b.zip", content=b"good six").status_code
        assert {"ok": True} == eve.get("/health").json()


@pytest.mark.parametrize("token", ["", "nonsense", "judge-" + "A" * 43])
def test_token_without_rights_shows_nothing(service: Service, token: str) -> None:
    with service.client(token) as stranger:
        for method, path in (
            ("GET", "/submissions"),
            ("GET", "/submissions/1"),
            ("DELETE", "/submissions/1"),
            ("POST", "/submissions?filename=a.zip"),
        ):
            answer = stranger.request(method, path)
            assert 401 == error_of(answer)[0]
            assert "Bearer" == answer.headers["www-authenticate"]
        assert "cup" == stranger.get("/contest").json()["name"]


def test_oversized_body_is_refused_before_and_while_it_is_sent(ada: httpx.Client, desk: IntakeDirectory) -> None:
    limit = desk.intake.upload_bytes

    def kept() -> list[Path]:
        return [path for path in desk.uploads.rglob("*") if path.is_file()]

    before = kept()

    def pieces() -> Any:
        for _ in range(100):
            yield b"x" * 65536

    declared = ada.post("/submissions?filename=a.zip", content=b"x" * (limit + 1))
    chunked = ada.post("/submissions?filename=a.zip", content=pieces())
    for answer in (declared, chunked):
        assert (413, f"an upload has at most {limit} bytes: send a smaller one") == error_of(answer)
    assert before == kept()
    assert 201 == ada.post("/submissions?filename=a", content=b"x" * limit).status_code


def test_oversized_upload_is_refused_before_its_first_byte(service: Service, ada: httpx.Client) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as client:
        client.sendall(
            b"POST /submissions?filename=a.zip HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n"
            b"Expect: 100-continue\r\nAuthorization: " + ada.headers["authorization"].encode() + b"\r\n\r\n"
        )
        assert client.recv(4096).startswith(b"HTTP/1.1 413 ")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not here")
@pytest.mark.parametrize(
    "how",
    [
        ("-F", "file=@mine.zip"),
        ("-d", "@mine.zip"),
        ("-d", "@mine.py"),
        ("--data-urlencode", "file@mine.zip"),
        ("-H", "Content-Type: application/octet-stream", "-F", "file=@mine.zip"),
        ("-H", "Content-Type: application/json", "--data-binary", "@mine.zip"),
        ("-H", "Content-Encoding: gzip", "--data-binary", "@mine.zip"),
    ],
    ids=" ".join,
)
def test_a_form_is_refused_at_once_with_the_command_that_works(
    ada: httpx.Client, service: Service, desk: IntakeDirectory, tmp_path: Path, how: tuple[str, ...]
) -> None:
    (tmp_path / "mine.py").write_text("good five\nprint()\n")
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as packed:
        packed.write(tmp_path / "mine.py", "mine.py")
    before = set(desk.files.digests())
    status, body = curl(ada, service, tmp_path, *how)
    assert 415 == status, body
    assert "send the bytes of the file: curl --data-binary @FILE" in json.loads(body)["error"]
    assert before == set(desk.files.digests())


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not here")
@pytest.mark.parametrize("more", [(), ("-H", "Content-Type: application/zip"), ("-H", "Content-Type:")], ids=" ".join)
def test_the_bytes_of_a_file_are_received_whatever_type_curl_gives_them(
    ada: httpx.Client, service: Service, desk: IntakeDirectory, tmp_path: Path, more: tuple[str, ...]
) -> None:
    content = f"good five\n\r\n\0{' '.join(more)}".encode()
    (tmp_path / "mine.zip").write_bytes(content)
    status, body = curl(ada, service, tmp_path, *more, "--data-binary", "@mine.zip")
    assert 201 == status, body
    assert content == desk.files.get(hashlib.sha256(content).hexdigest())


def curl(client: httpx.Client, service: Service, folder: Path, *how: str) -> tuple[int, str]:
    """The status and the body of the answer to an upload by curl."""
    words = ["curl", "-s", "-w", "\n%{http_code}", "-H", f"Authorization: {client.headers['authorization']}", *how]
    command = [*words, f"{service.url}/submissions?filename=mine.zip"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    body, _, status = done.stdout.rpartition("\n")
    return int(status), body


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"filename": ""},
        {"filename": "../../etc/passwd"},
        {"filename": "a\\b"},
        {"filename": ".."},
        {"filename": "a\x1b[31m.zip"},
        {"filename": "\u202egpz.exe"},
        {"filename": "x" * 256},
        {"filename": "a.zip", "name": "a b"},
        {"filename": "a.zip", "name": ".hidden"},
        {"filename": "a.zip", "name": "<script>"},
        {"filename": "a.zip", "name": "a\n"},
    ],
)
def test_names_are_checked(ada: httpx.Client, query: dict[str, str]) -> None:
    answer = ada.post("/submissions", params=query, content=b"good x")
    assert 422 == error_of(answer)[0]
    assert all(32 <= byte < 127 for byte in answer.content)


def test_empty_upload_is_refused(ada: httpx.Client) -> None:
    assert 422 == error_of(ada.post("/submissions?filename=a.zip"))[0]


def test_a_file_name_comes_back_as_data_in_whatever_language(ada: httpx.Client) -> None:
    name = "<b>пять<b> \"'&.zip"
    answer = ada.get(f"/submissions/{send(ada, 'rubbish', name)}")
    assert name == answer.json()["filename"]
    assert answer.headers["content-type"] == "application/json"


def test_every_response_has_strict_security_headers(ada: httpx.Client, service: Service) -> None:
    with service.client() as stranger:
        answers = [
            stranger.get("/health"),
            stranger.get("/submissions"),
            stranger.get("/nowhere"),
            stranger.put("/contest"),
            ada.get("/submissions/0"),
        ]
    assert [200, 401, 404, 405, 422] == [answer.status_code for answer in answers]
    for answer in answers:
        assert "nosniff" == answer.headers["x-content-type-options"]
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "no-store" == answer.headers["cache-control"]
        assert "server" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers


def test_a_list_is_read_by_pages(eve: httpx.Client) -> None:
    numbers = [send(eve, f"rubbish {number}") for number in range(3)]
    first = eve.get("/submissions", params={"limit": 2}).json()
    assert numbers[:0:-1] == [one["id"] for one in first["submissions"]]
    then = eve.get("/submissions", params={"limit": 2, "before": first["before"]}).json()
    assert numbers[0] == then["submissions"][0]["id"]


def test_many_authors_at_once_are_all_received(service: Service, desk: IntakeDirectory) -> None:
    from tests.web.intake.conftest import make_token

    got: list[str] = []

    def submit(number: int) -> None:
        with service.client(make_token(desk, f"author {number}")) as client:
            got.append(ended(client, send(client, f"good agent{number}"))["state"])

    threads = [threading.Thread(target=submit, args=[n]) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ["passed"] * 8 == got


def test_no_token_is_in_the_log(service: Service, ada: httpx.Client, eve: httpx.Client) -> None:
    """Wherever a careless author puts it."""
    eve.get("/submissions")
    httpx.get(f"{service.url}/submissions", timeout=PATIENCE_S)
    token = ada.headers["authorization"].removeprefix("Bearer ")
    ada.get(f"/submissions/{token}")
    ada.get("/submissions", params={"token": token, "before": token})
    ada.post("/submissions", params={"filename": token, "name": token}, content=b"rubbish")
    assert 404 == ada.get(f"/{token}").status_code
    text = service.log.read_text()
    assert token.removeprefix("judge-") not in text
    requests = [line for line in service.logged() if line["event"] == "request"]
    assert {"ada", "eve", None} <= {line["author"] for line in requests}
    assert "/submissions/{id}" in {line["route"] for line in requests}
    answer = eve.get("/submissions")

    def is_logged() -> bool:
        of_it = [line for line in service.logged() if line.get("request") == answer.headers["x-request-id"]]
        return ["eve"] == [line["author"] for line in of_it if line["event"] == "request"]

    until(is_logged, "the request is not in the log")


def test_non_http_data_ends_no_service(service: Service) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as client:
        client.sendall(b"\x16\x03\x01\x02\x00 hello\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 400 ")
    with socket.create_connection(("127.0.0.1", service.port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n")
        assert client.recv(4096)[:13] in (b"HTTP/1.1 400 ", b"HTTP/1.1 431 ")
    with service.client() as stranger:
        assert 200 == stranger.get("/health").status_code


UNENDED = [
    b"",
    b"GET /health HTT",
    b"GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ",
    b"GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /health HTTP/1.1\r\nX",
]


def test_no_part_of_an_answer_waits_for_the_part_before() -> None:
    with (
        listening(parse_listen_address("127.0.0.1:0"), beyond_loopback=False) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_unfinished_head_is_not_waited_for(service: Service) -> None:
    with ExitStack() as closing:
        for begun in UNENDED:
            client = socket.create_connection(("127.0.0.1", service.port))
            closing.enter_context(client)
            client.sendall(begun)
            closing.callback(all_of, client)


def all_of(client: socket.socket) -> bytes:
    """All that comes until the other side ends it, politely or not."""
    got = b""
    with suppress(ConnectionResetError):
        while chunk := client.recv(4096):
            got += chunk
    return got


def test_unfinished_body_gets_an_error(service: Service, ada: httpx.Client) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as client:
        client.sendall(
            b"POST /submissions?filename=a.zip HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nAuthorization: "
            + ada.headers["authorization"].encode()
            + b"\r\n\r\ngood"
        )
        answer = all_of(client)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"send the upload again" in answer


def test_openapi_lists_every_possible_status(service: Service) -> None:
    with service.client() as stranger:
        described = stranger.get("/openapi.json").json()
    paths = described["paths"]
    assert {"200", "201", "401", "408", "409", "413", "415", "422", "429", "503"} == set(
        paths["/submissions"]["post"]["responses"]
    )
    assert {"/health", "/contest", "/submissions", "/submissions/{id}"} <= set(paths)
    assert "application/octet-stream" in json.dumps(paths["/submissions"]["post"]["requestBody"])
    assert "HTTPValidationError" not in described["components"]["schemas"]


def test_nothing_half_received_is_left(desk: IntakeDirectory) -> None:
    assert [] == list(Path(desk.uploads, "incoming").iterdir())
