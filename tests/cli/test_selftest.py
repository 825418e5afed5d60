"""`judge selftest`, whole: what holds, what does not, and what is left when a person ends it."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import docker
import pytest

from judge import DISTRIBUTION
from judge.attacks import services
from judge.attacks.services import SERVICE_ATTACKS, Result
from judge.base.errors import HostError
from judge.base.owner import directories
from judge.base.procfs import status_field
from judge.cli import selftest as commands
from tests.cli.conftest import Judge, owner_of
from tests.cluster.machines import children, until
from tests.forked import ForkedProcess


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
def test_passed_checks_are_reported_with_figures(judge: Judge) -> None:
    ran = judge("selftest", "--only", "C8,E13", "--controls", "--json")

    assert 0 == ran.code, ran.err
    document = json.loads(ran.out)
    assert (document["tried"], document["held"]) == (6, 6)
    assert ["C8", "C8", "E13.after", "E13.after", "E13.start", "E13.turn"] == [
        attack["id"] for attack in document["attacks"]
    ]
    assert "plays on; denied core-limit, core" == document["attacks"][0]["expected"]
    assert "the attack works with the defence off" == document["attacks"][1]["meaning"]
    assert document["judge_late_ms"] > 0


def test_attacks_on_services_need_no_engine_and_have_the_same_figures(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere")

    ran = judge("selftest", "--only", "W5,U1", "--controls", "--json")

    assert 0 == ran.code, ran.err
    document = json.loads(ran.out)
    assert (document["tried"], document["held"], document["judge_late_ms"]) == (4, 4, 0)
    assert ["U1", "U1", "W5", "W5"] == [attack["id"] for attack in document["attacks"]]
    assert [None, "upload_bytes", None, "the check of slots"] == [
        attack["defence_off"] for attack in document["attacks"]
    ]
    assert document["attacks"][0]["seen"].endswith("it gets status 413")
    assert "holds" == document["attacks"][2]["meaning"]
    assert "ok: control of W5, " in ran.err


def start_nothing(_directory: Path, _is_off: bool) -> Result:
    """Fail as an attack whose service does not start."""
    raise HostError("judge serve ended: no space")


def connect_to_nothing(_directory: Path, _is_off: bool) -> Result:
    """Fail as an attack whose service has ended."""
    raise ConnectionRefusedError("Connection refused")


@pytest.mark.parametrize(
    ("play", "why"),
    [
        ("start_nothing", "judge serve ended: no space"),
        ("connect_to_nothing", "the service does not answer: Connection refused"),
    ],
)
def test_attack_without_its_service_is_reported_as_not_tried(
    play: str, why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    attack = replace(SERVICE_ATTACKS[0], play=f"{__name__}:{play}")
    monkeypatch.setattr(commands, "SERVICE_ATTACKS", (attack,))

    with pytest.raises(HostError, match="1 of 1 did not end as expected: S1"):
        commands.selftest(only="services", as_json=True)

    document = json.loads(capsys.readouterr().out)
    assert (0, 0) == (document["tried"], document["held"])
    assert f"not tried: {why}" == document["attacks"][0]["seen"]


def test_attacks_that_need_a_missing_package_are_skipped_with_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(services, "find_spec", lambda _: None)

    commands.selftest(only="W1,S1")

    assert capsys.readouterr().err.splitlines() == [
        f"skipped: S1: {DISTRIBUTION}[web] is not installed",
        f"skipped: W1: {DISTRIBUTION}[cluster] is not installed",
    ]


@pytest.mark.docker
@pytest.mark.alone
@pytest.mark.usefixtures("nothing_left")
def test_a_defence_that_does_not_hold_is_named_and_exits_1(judge: Judge) -> None:
    """A policy that lets agents ponder has no defence against pondering, if there is a core to ponder on."""
    ran = judge("selftest", "--only", "A9.thread,G12", "--set", "box.freeze=none")

    assert 1 == ran.code
    assert "an agent could think in its" in ran.out
    assert "pondering was not denied" in ran.out
    assert "1 of 2 did not end as expected: A9.thread" in ran.err
    assert "\x1b" not in ran.out


def test_an_attack_that_there_is_not_is_a_mistake(judge: Judge) -> None:
    ran = judge("selftest", "--only", "A1,Z9")

    assert 2 == ran.code
    assert "there is no attack 'Z9'" in ran.err


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
def test_nothing_is_left_when_a_person_ends_it(tmp_path: Path) -> None:
    """Ctrl-C in the middle of an attack."""
    command = [sys.executable, "-m", "judge.cli", "selftest", "--only", "A1", "--controls"]
    with ForkedProcess(command, cwd=tmp_path, stdout=subprocess.DEVNULL, text=True) as process:
        wait_for_a_box(process)
        process.send_signal(signal.SIGINT)

    assert 0 != process.returncode
    assert [] == [path for path, owner in directories() if owner and owner.pid == process.pid]


def test_a_service_ends_with_a_selftest_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "judge.cli", "selftest", "--only", "S1"]
    with ForkedProcess(command, cwd=tmp_path, stdout=subprocess.DEVNULL, text=True) as process:
        until(lambda: bool(children(process.pid)) or process.poll() is not None, "a service")
        (service,) = children(process.pid)
        until(lambda: "weak_command" in command_line(service), "its command")
        process.kill()

    until(lambda: status_field(service, "State")[:1] in ("", "Z"), "the end of the service")


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def wait_for_a_box(judge: subprocess.Popen[str]) -> None:
    client = docker.from_env()
    try:
        while judge.poll() is None:
            boxes = client.containers.list(filters={"label": ["judge.seat=0"]}, ignore_removed=True)
            if any(owner_of(box.labels).pid == judge.pid for box in boxes):
                return
    finally:
        client.close()
    raise AssertionError(f"it ended with code {judge.returncode} before it had a box")
