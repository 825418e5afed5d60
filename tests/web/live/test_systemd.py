"""The units of systemd in a guest: they start, answer, stop, and start again after a kill."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.examples import evidence
from tests.patience import until
from tests.web.live.guest import Guest, booted
from tests.web.live.test_front import COMING

pytestmark = [pytest.mark.docker, pytest.mark.long, evidence]

SERVE, PLAY, WORKER = "judge-serve@cup.service", "judge-play@cup.service", "judge-worker.service"

READY, METRICS = "http://127.0.0.1:8000/health/ready", "http://127.0.0.1:9100/metrics"

JUDGE = "/srv/judge/.venv/bin/judge"


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    with booted(tmp_path_factory.mktemp("guest")) as found:
        yield found


def killed(guest: Guest, unit: str) -> str:
    """Kill the unit's process; return its number."""
    (pid,) = guest.state(unit, "MainPID")
    guest.run("kill", "-9", pid)
    return pid


def test_service_starts_answers_restarts_and_stops(guest: Guest) -> None:
    guest.write("cup/contest.toml", COMING)
    guest.control("start", SERVE)
    until(lambda: guest.answers(READY), "the service does not answer")
    assert guest.answers(METRICS)
    assert ["active", "running", "judge"] == guest.state(SERVE, "ActiveState", "SubState", "User")

    pid = killed(guest, SERVE)
    until(lambda: guest.state(SERVE, "MainPID")[0] not in (pid, "0"), "systemd does not start the service again")
    until(lambda: guest.answers(READY), "the service does not answer after a kill")
    guest.control("restart", SERVE)
    until(lambda: guest.answers(READY), "the service does not answer after a restart")
    guest.control("stop", SERVE)
    assert not guest.answers(READY)
    assert ["inactive", "success"] == guest.state(SERVE, "ActiveState", "Result")


def test_player_starts_restarts_and_stops(guest: Guest) -> None:
    guest.write("cup/contest.toml", COMING)
    guest.control("start", PLAY)
    pid = killed(guest, PLAY)
    until(lambda: guest.state(PLAY, "MainPID")[0] not in (pid, "0"), "systemd does not start the player again")
    guest.control("stop", PLAY)
    assert ["inactive", "success"] == guest.state(PLAY, "ActiveState", "Result")


def test_worker_joins_restarts_and_stops(guest: Guest) -> None:
    for words in (("keys", "127.0.0.1"), ("keys", "one", "--scheduler", "tls://127.0.0.1:8786")):
        made = guest.run(JUDGE, "cluster", *words)
        assert 0 == made.returncode, made.stderr
    guest.run("cp", "keys/one.join", "worker.join")
    with ExitStack() as stack:
        scheduler = guest.start(JUDGE, "scheduler", "--listen", "tls://127.0.0.1:8786", "--tls", "keys/127.0.0.1")
        stack.callback(scheduler.wait)
        stack.callback(scheduler.terminate)

        def joined() -> int:
            return guest.journal(WORKER).count("worker serves")

        guest.control("start", WORKER)
        until(lambda: joined() == 1, f"the worker does not join: {guest.journal(WORKER)}")
        pid = killed(guest, WORKER)
        until(lambda: joined() == 2, "systemd does not start the worker again")
        assert pid != guest.state(WORKER, "MainPID")[0]
        guest.control("restart", WORKER)
        until(lambda: joined() == 3, "the worker does not join after a restart")
        guest.control("stop", WORKER)
        assert ["inactive", "success"] == guest.state(WORKER, "ActiveState", "Result")
