"""What an author gets from the intake, over a socket, from the real service: a number, a state, a reason; or a no."""

import hashlib
import json
import shutil
import socket
import subprocess
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
from judge.transparency.keys import KEY_FILE, load_key
from judge.transparency.receipt import MAX_RECEIPT_BYTES, read_receipt
from tests.patience import PATIENCE_S
from tests.web.intake.conftest import Service, ended, send, upload_head
from tests.web.live.watching import until


def error_of(answer: httpx.Response) -> tuple[int, str]:
    assert {"error"} == set(answer.json())
    return answer.status_code, answer.json()["error"]


def test_an_upload_is_received_processed_and_passes(ada: httpx.Client, desk: IntakeDirectory) -> None:
    content = b"good five"
    answer = ada.post("/submissions", params={"filename": "five.zip", "name": "five-2"}, content=content)
    number, receipt = answer.json()["id"], read_receipt(answer.content, "the answer")
    found = ended(ada, number)
    assert ("passed", "five-2", 1, "five.zip") == tuple(found[key] for key in ("state", "name", "version", "filename"))
    digest = hashlib.sha256(content).hexdigest()
    assert (digest, len(content)) == (found["sha256"], found["size"])
    assert content == desk.files.get(digest)
    assert "" == receipt.problem(load_key(desk.folder / KEY_FILE).public_key())
    assert (f"submission {number}", digest) == (receipt.text, receipt.digest)
    assert len(json.dumps(answer.json()["receipt"], separators=(",", ":"))) <= MAX_RECEIPT_BYTES
    assert ["received", "processing", "passed"] == [one["state"] for one in found["journal"]]
    assert [("received", True, "five.zip of ada"), ("checked", True, "1 finding")] == [
        (step["stage"], step["ok"], step["text"]) for step in found["steps"]
    ]
    assert number in [one["id"] for one in ada.get("/submissions").json()["submissions"]]
    pieces = iter([content[:4], content[4:]])
    again = ada.post("/submissions", params={"filename": "five.zip", "name": "five-2"}, content=pieces)
    assert (200, number, True) == (again.status_code, again.json()["id"], again.json()["is_repeated"])


def test_refused_submission_gives_its_reason_log_and_report(ada: httpx.Client) -> None:
    number = send(ada, "bad slow")
    found = ended(ada, number)
    assert ("refused", "failed checks: time (see the report)") == (found["state"], found["why"])
    log = ada.get(f"/submissions/{number}/log")
    assert log.json()["log"].startswith("cc -o five\n")
    report = CheckReport.model_validate(ada.get(f"/submissions/{number}/report").json())
    assert "think less" == report.findings[0].fix
    # What a terminal would obey is escaped in every answer.
    for answer in (log, ada.get(f"/submissions/{number}/report")):
        assert all(32 <= byte < 127 for byte in answer.content)
    without_agent = send(ada, "rubbish")
    assert "it is no archive" == ended(ada, without_agent)["why"]
    assert 200 == ada.get(f"/submissions/{without_agent}/log").status_code
    assert 404 == error_of(ada.get(f"/submissions/{without_agent}/report"))[0]


def test_failure_of_the_host_is_tried_again_and_hidden_from_authors(ada: httpx.Client, desk: IntakeDirectory) -> None:
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
    """The lines of both are in tests/cli/test_submit.py."""
    token, file = tmp_path / "token", tmp_path / "far.zip"
    token.write_text(ada.headers["authorization"].removeprefix("Bearer ") + "\n")

    def typed(text: str, *more: str) -> Result:
        file.write_text(text)
        words = ["submit", str(file), "--url", service.url, "--token-file", str(token), *more]
        return CliRunner().invoke(app, words, catch_exceptions=False)

    good = typed("good far", "--wait")
    assert (0, "passed: far version 1") == (good.exit_code, good.stdout.splitlines()[-1])
    assert "it takes part; you may replace it until the contest begins; its page: http://" in good.stderr
    bad = typed("bad far", "--wait")
    assert (1, "        fix: think less") == (bad.exit_code, bad.stdout.splitlines()[-2])
    assert "/author/submissions/" in bad.stderr
    submission = json.loads(typed("bad far", "--wait", "--json", "--name", "snail").stdout)
    assert ("refused", "snail", "fail") == (
        submission["state"],
        submission["name"],
        submission["report"]["findings"][0]["grade"],
    )
    assert 1 == typed("host", "--wait").exit_code
    link = f"{service.url}/author/index.html#{token.read_text().strip()}"
    file.write_text("good linked")
    words = ["submit", str(file), "--url", link, "--wait", "--json", "--title", "لیا"]
    sent = CliRunner().invoke(app, words, catch_exceptions=False)
    assert (0, "لیا") == (sent.exit_code, json.loads(sent.stdout)["title"])
    assert token.read_text().strip() not in sent.output
    kept = tmp_path / "receipt"
    sent = typed("good far", "--receipt", str(kept))
    assert (0, 1) == (sent.exit_code, len(sent.stdout.splitlines()))
    receipt = read_receipt(kept.read_bytes(), "receipt")
    assert hashlib.sha256(file.read_bytes()).hexdigest() == receipt.digest
    assert "" == receipt.problem(load_key(desk.folder / KEY_FILE).public_key())
    with pytest.raises(InputError, match="exists: give the receipt another name"):
        typed("good far", "--receipt", str(kept))


def test_remote_terminal_gets_errors(service: Service, desk: IntakeDirectory, tmp_path: Path) -> None:
    token, file = tmp_path / "token", tmp_path / "far.zip"
    token.write_text("judge-" + "A" * 43)
    file.write_text("good far")
    large = tmp_path / "large.zip"
    large.write_bytes(b"x" * (desk.intake.upload_bytes + 1))
    to = ["--url", service.url, "--token-file", str(token)]
    for words, why in (
        ([str(file), *to], "the token is missing or not valid"),
        ([str(large), *to], f"at most {desk.intake.upload_bytes}"),
        ([str(file), *to[:2]], "--token-file is missing"),
        ([str(file), "--url", f"{service.url}/author/index.html#"], "the text after #: must contain only"),
        ([str(file), *to, "--title", "x" * 49], "at most 48 printable characters"),
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
    assert 422 == error_of(ada.post("/submissions?filename=a.zip"))[0]


def test_oversized_upload_is_refused_before_its_first_byte(service: Service, ada: httpx.Client) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as client:
        client.sendall(upload_head(ada, 99999999999, "Expect: 100-continue"))
        assert client.recv(4096).startswith(b"HTTP/1.1 413 ")


URLENCODED, JSON = "application/x-www-form-urlencoded", "application/json"
MULTIPART = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\ngood five\r\n--x--\r\n'


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"content-type": "multipart/form-data; boundary=x"}, MULTIPART),
        ({"content-type": "application/octet-stream"}, MULTIPART),
        ({"content-type": URLENCODED}, b"good five"),
        ({"content-type": JSON}, b"good five"),
        ({"content-encoding": "gzip"}, b"good five"),
    ],
    ids=["form", "form of another type", "urlencoded", "JSON", "gzip"],
)
def test_a_form_of_curl_is_refused_at_once_with_the_command_that_works(
    ada: httpx.Client, desk: IntakeDirectory, headers: dict[str, str], body: bytes
) -> None:
    before = set(desk.files.digests())
    status, error = error_of(ada.post("/submissions?filename=mine.zip", content=body, headers=headers))
    assert (415, True) == (status, "send the bytes of the file: curl --data-binary @FILE" in error)
    assert before == set(desk.files.digests())


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not here")
@pytest.mark.parametrize("more", [(), ("-H", "Content-Type: application/zip"), ("-H", "Content-Type:")], ids=" ".join)
def test_the_bytes_of_a_file_are_received_whatever_type_curl_gives_them(
    ada: httpx.Client, service: Service, desk: IntakeDirectory, tmp_path: Path, more: tuple[str, ...]
) -> None:
    """Also the type of a form, which curl sends if nothing is said: the bytes decide."""
    content = f"good five\n\r\n\0{' '.join(more)}".encode()
    (tmp_path / "mine.zip").write_bytes(content)
    token = f"Authorization: {ada.headers['authorization']}"
    words = ["curl", "-s", "-w", "%{http_code}", "-o", "answer", "-H", token, *more, "--data-binary", "@mine.zip"]
    command = [*words, f"{service.url}/submissions?filename=mine.zip"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert "201" == done.stdout
    assert content == desk.files.get(hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize(
    ("filename", "name"),
    [
        *(
            (filename, "")
            for filename in ("", "../../etc/passwd", "a\\b", "..", "\u202egpz.exe", "x" * 256, "a\x1b[31m")
        ),
        *(("a.zip", name) for name in ("a b", ".hidden", "<script>", "a\n")),
    ],
)
def test_names_are_checked(ada: httpx.Client, filename: str, name: str) -> None:
    answer = ada.post("/submissions", params={"filename": filename, "name": name}, content=b"good x")
    assert 422 == error_of(answer)[0]
    assert all(32 <= byte < 127 for byte in answer.content)


def test_answers_name_no_server_and_permit_no_other_origin(ada: httpx.Client, service: Service) -> None:
    """The other headers that protect an answer are in tests/golden/routes.txt."""
    with service.client() as stranger:
        answers = [stranger.get("/health"), stranger.get("/submissions"), stranger.put("/contest"), ada.get("/x")]
    assert [200, 401, 405, 404] == [answer.status_code for answer in answers]
    assert "Bearer" == answers[1].headers["www-authenticate"]
    for answer in answers:
        assert not {"server", "access-control-allow-origin"} & set(answer.headers)


def test_no_token_is_in_the_log(service: Service, ada: httpx.Client, eve: httpx.Client) -> None:
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
    for data in (b"\x16\x03\x01\x02\x00 hello\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", service.port)) as client:
            client.sendall(data)
            assert client.recv(4096)[:13] in (b"HTTP/1.1 400 ", b"HTTP/1.1 431 ")
    with service.client() as stranger:
        assert 200 == stranger.get("/health").status_code


def test_unfinished_head_is_not_waited_for(service: Service) -> None:
    head = b"GET /health HTTP/1.1\r\nHost: x\r\n"
    with ExitStack() as stack:
        for begun in (b"", b"GET /health HTT", head + b"X-Slow: ", head + b"\r\nGET /health HTTP/1.1\r\nX"):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", service.port)))
            client.sendall(begun)
            stack.callback(all_of, client)


def all_of(client: socket.socket) -> bytes:
    """All that comes until the other side ends it, politely or not."""
    got = b""
    with suppress(ConnectionResetError):
        while chunk := client.recv(4096):
            got += chunk
    return got


def test_unfinished_body_gets_an_error(service: Service, ada: httpx.Client) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as client:
        client.sendall(upload_head(ada, 100) + b"good")
        answer = all_of(client)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"send the upload again" in answer


def test_nothing_half_received_is_left(desk: IntakeDirectory) -> None:
    assert [] == list(Path(desk.uploads, "incoming").iterdir())
