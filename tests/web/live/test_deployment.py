"""The page on running the service behind a server: its unit, its nginx, and the numbers for Prometheus."""

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from judge.cli.submit import open_intake
from judge.contest.plan import BroadcastPlan
from judge.store.tokens import TokenRole
from judge.submissions.intake import IntakePolicy
from tests.attacks.serving import make_contest
from tests.broadcast.logs import PAIR, accept, play_next, recorder
from tests.publish.cups import Cup
from tests.web.intake.conftest import Service, make_token
from tests.web.live.serving import serving_all
from tests.web.live.watching import free_port, until, watched
from tests.web.organisers import office

ROOT = Path(__file__).resolve().parents[3]
SYSTEMD = ROOT / "scripts/systemd"
PAGE = (ROOT / "docs/serve-behind-a-proxy.md").read_text()
NGINX = (ROOT / "examples/compose/nginx.conf").read_text()

PATIENCE = office.PATIENCE.replace("[broadcast]", "upload_bytes = 200000\n[broadcast]")


UNITS = {"judge-serve@.service": 40, "judge-play@.service": 40, "judge-worker.service": 80}
"""Units, and the most exposure that `systemd-analyze security` may report, in tenths. The worker is root."""


@pytest.mark.parametrize("name", UNITS)
def test_systemd_accepts_the_unit_and_its_hardening(name: str, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not here")
    program = tmp_path / "judge"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / name
    unit.write_text((SYSTEMD / name).read_text().replace("/srv/judge/.venv/bin/judge", str(program)))

    verified = analyzed("verify", "--man=no", str(unit))
    secured = analyzed("security", "--offline=yes", f"--threshold={UNITS[name]}", str(unit))

    of_it = [line for line in verified.stderr.splitlines() if name.partition(".")[0] in line]
    assert (0, []) == (verified.returncode, of_it), verified.stderr
    assert 0 == secured.returncode, secured.stdout[-200:]


def analyzed(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, timeout=60, check=False)


def test_the_page_shows_the_unit_of_the_repository() -> None:
    shown = re.findall(r"^```ini\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert [(SYSTEMD / "judge-serve@.service").read_text()] == shown


@dataclass
class Behind:
    service: Service
    client: httpx.Client
    token: str
    organiser: str


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    """A contest whose first game is over."""
    folder = tmp_path_factory.mktemp("nginx")
    with Cup(folder / "cup", PAIR, more=PATIENCE) as cup:
        directory = open_intake(cup.folder)
        with recorder(cup) as log:
            accept(cup, *play_next(cup))
            log.read_store()
            log.finish()
        organiser = make_token(directory, "Olga", TokenRole.ORGANISER)
        with nginx(cup.folder) as (service, port):
            address = f"https://localhost:{port}/cup"
            with httpx.Client(base_url=address, verify=False, timeout=60) as client:  # noqa: S501
                yield Behind(service, client, make_token(directory, "ada"), organiser)


@contextmanager
def nginx(contest: Path, *others: Path) -> Iterator[tuple[Service, int]]:
    """A service behind nginx, with the configuration of the page and a certificate of its own; the port of nginx."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin")
    if program is None:
        pytest.skip("nginx is not here: apt-get install nginx-light")
    folder, port = contest.parent, free_port()
    with serving_all(contest, "127.0.0.1", "/cup", *others) as service:
        (folder / "nginx.conf").write_text(configuration(folder, port, service))
        process = subprocess.Popen([program, "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")])
        try:
            until(lambda: listens(port), f"nginx does not answer: see {folder}/error.log")
            yield service, port
        finally:
            process.terminate()
            process.wait(60)


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def configuration(folder: Path, port: int, service: Service) -> str:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    request = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1")
    names = ("-subj", "/CN=localhost", "-keyout", str(key), "-out", str(certificate))
    subprocess.run(["openssl", *request, *names], check=True, capture_output=True, timeout=60)
    text = NGINX
    for old, new in {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "server_name example.org": "server_name localhost",
        "/etc/ssl/example.org.pem": str(certificate),
        "/etc/ssl/example.org.key": str(key),
        "http://judge:8000/": f"{service.url}/",
        " /tmp/nginx": f" {folder}/nginx",
    }.items():
        assert old in text
        text = text.replace(old, new)
    return f"daemon off;\nmaster_process off;\nerror_log {folder}/error.log;\n{text}"


def test_pages_and_events_come_through_nginx_at_once(behind: Behind) -> None:
    assert "/cup/live.html" == behind.client.get("/").headers["location"]
    assert 200 == behind.client.get("/live.html").status_code
    with behind.client.stream("GET", "/events?since=0") as stream:
        lines = stream.iter_lines()
        # The stream is still open, so nothing was held back until its end.
        assert ": events" == next(lines)
        assert "event: beat" in lines


def test_address_cannot_be_claimed_by_another(behind: Behind) -> None:
    answer = behind.client.get("/submissions", headers={"x-forwarded-for": "192.0.2.66", "authorization": "Bearer x"})
    assert 401 == answer.status_code

    def logged() -> list[dict[str, object]]:
        return [line for line in behind.service.logged() if line.get("status") == 401]

    until(lambda: bool(logged()), "the request is not in the log")
    assert {"127.0.0.1"} == {line["address"] for line in logged()}


def test_an_upload_that_is_too_large_is_refused_by_the_service_and_with_its_reason(behind: Behind) -> None:
    send = {"params": {"filename": "a.zip"}, "headers": {"authorization": f"Bearer {behind.token}"}}
    refused = behind.client.post("/submissions", content=b"x" * 200_001, **send)  # type: ignore[arg-type]
    words = "an upload has at most 200000 bytes: send a smaller one"
    assert (413, words) == (refused.status_code, refused.json()["error"])
    assert 201 == behind.client.post("/submissions", content=b"x" * 200_000, **send).status_code  # type: ignore[arg-type]
    (mebibytes,) = re.findall(r"client_max_body_size (\d+)m;", NGINX)
    assert IntakePolicy().upload_bytes < int(mebibytes) << 20 <= IntakePolicy().upload_bytes + (2 << 20)


def test_cookies_go_over_tls_alone(behind: Behind) -> None:
    for part, token in (("author", behind.token), ("organiser", behind.organiser)):
        answer = behind.client.post(f"/{part}/session", data={"token": token})
        assert 303 == answer.status_code
        parts = answer.headers["set-cookie"].split("; ")
        assert parts[0].startswith(f"__Host-judge-{part}-cup=judge-")
        assert {"Secure", "Path=/", "HttpOnly"} <= set(parts[1:])
        assert "domain" not in answer.headers["set-cookie"].lower()
    page = behind.client.get("/organiser/index.html")
    assert "Signed in as <b><bdi>Olga</bdi></b>" in page.text
    # A neighbour under the same domain can set a cookie of the plain name, but none with the prefix.
    behind.client.cookies.clear()
    planted = behind.client.get("/organiser/index.html", headers={"cookie": f"judge-organiser={behind.organiser}"})
    assert "You are not signed in" in planted.text


SIMILAR_NAMES = ("cup-1", "cup.1", "cup_1", "cup-1_", "-cup-1", "Cup-1")


def test_sessions_of_contests_with_similar_names_are_separate(tmp_path: Path) -> None:
    tokens = {}
    for name in SIMILAR_NAMES:
        planned = make_contest(tmp_path / name)
        planned.path.write_text(planned.path.read_text().replace("selftest", name))
        tokens[name] = make_token(open_intake(planned.path), f"Olga of {name}", TokenRole.ORGANISER)
    with (
        nginx(*(tmp_path / name for name in SIMILAR_NAMES)) as (_, port),
        httpx.Client(base_url=f"https://localhost:{port}/cup", verify=False, timeout=60) as browser,  # noqa: S501
    ):
        for name in SIMILAR_NAMES:
            assert 303 == browser.post(f"/{name}/organiser/session", data={"token": tokens[name]}).status_code
        for name in SIMILAR_NAMES:
            page = browser.get(f"/{name}/organiser/index.html").text
            assert f"Signed in as <b><bdi>Olga of {name}</bdi></b>" in page
        assert 303 == browser.post("/cup.1/organiser/sign-out").status_code
        pages = {name: browser.get(f"/{name}/organiser/index.html").text for name in SIMILAR_NAMES}
        assert ["cup.1"] == [name for name, page in pages.items() if "You are not signed in" in page]


def test_form_from_another_origin_is_refused_through_nginx(behind: Behind) -> None:
    own_origin = str(behind.client.base_url.copy_with(path="/")).rstrip("/")
    for origin, status in (
        (own_origin, 303),
        (own_origin.replace("https", "http"), 422),
        ("https://evil.example", 422),
    ):
        answer = behind.client.post("/author/session", data={"token": behind.token}, headers={"origin": origin})
        assert status == answer.status_code, origin
    behind.client.cookies.clear()


def test_the_limits_of_nginx_are_those_of_the_service() -> None:
    (of_client,) = re.findall(r"limit_conn judge_clients (\d+);", NGINX)
    assert 2 * BroadcastPlan().connections_per_address == int(of_client)
    limits = IntakePolicy()
    named = {name: float(seconds) for name, seconds in re.findall(r"(\w+_timeout) (\d+)s;", NGINX)}
    assert (limits.head_s, limits.head_s) == (named["client_header_timeout"], named["keepalive_timeout"])
    assert (limits.idle_s, limits.request_s) == (named["client_body_timeout"], named["send_timeout"])
    (connections,) = re.findall(r"worker_connections (\d+);", NGINX)
    assert int(connections) >= 2 * BroadcastPlan().viewers + 2 * 128


def test_prometheus_metrics_have_a_separate_address(tmp_path: Path) -> None:
    port = free_port()
    with watched(tmp_path, PAIR) as contest:
        contest.kill()
        contest.start("--metrics", f"127.0.0.1:{port}")
        contest.get("index.html")
        contest.get("nothing.html")
        contest.end(*contest.play())

        def metrics() -> dict[str, float]:
            text = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=60).text
            rows = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
            return {name: float(value) for name, _, value in rows}

        until(lambda: metrics().get("judge_move_told_seconds_count", 0) > 5, "moves are not counted")
        found = metrics()
        assert 404 == contest.get("metrics").status_code

    assert (1, 1) == (found['judge_games{state="done"}'], found['judge_games{state="pending"}'])
    assert (1, 0) == (found['judge_attempts{state="accepted"}'], found['judge_attempts{state="void"}'])
    assert 1 == found["judge_contest_open"] == found["judge_store_up"]
    assert 0 == found["judge_player_up"] == found["judge_viewers"]
    assert min(found["judge_disk_free_bytes"], found["judge_memory_available_bytes"]) > 0
    assert found['judge_http_answers_total{part="pages",status="200"}'] >= 1
    assert found['judge_http_answers_total{part="pages",status="404"}'] >= 1
    assert found['judge_http_request_seconds_count{part="pages"}'] >= 2
    names = {name.partition("{")[0].removesuffix("_total") for name in found}
    shown = {re.sub(r"_(bucket|count|sum|created)$", "", name) for name in names}
    assert {name.removesuffix("_total") for name in re.findall(r"`(judge_\w+)", PAGE)} == shown
    asked = set(re.findall(r"judge_\w+", (SYSTEMD / "grafana.json").read_text()))
    assert asked <= {name.partition("{")[0] for name in found}
    assert shown == {re.sub("_(total|bucket)$", "", name) for name in asked}
