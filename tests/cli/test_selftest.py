"""`judge selftest`, whole: what holds, what does not, and what is left when a person ends it."""

import signal
from pathlib import Path

import docker
import pytest

from judge.base.owner import directories
from tests.cli.conftest import Judge
from tests.cli.running import begin, box_of


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
def test_passed_checks_are_reported_with_figures(judge: Judge) -> None:
    ran = judge("selftest", "--only", "C8,E13", "--json", code=0)

    document = ran.document
    assert (document["tried"], document["held"]) == (4, 4)
    assert ["C8", "E13.after", "E13.start", "E13.turn"] == [attack["id"] for attack in document["attacks"]]
    assert "plays on; denied core-limit, core" == document["attacks"][0]["expected"]
    assert "holds" == document["attacks"][0]["meaning"]
    assert document["judge_late_ms"] > 0
    assert "ok: E13.turn, " in ran.err


@pytest.mark.docker
@pytest.mark.alone
@pytest.mark.usefixtures("nothing_left")
def test_a_defence_that_does_not_hold_is_named_and_exits_1(judge: Judge) -> None:
    """A policy that lets agents ponder has no defence against pondering, if there is a core to ponder on."""
    ran = judge("selftest", "--only", "A9.thread,G12", "--set", "box.freeze=none", code=1)

    assert "an agent could think in its" in ran.out
    assert "pondering was not denied" in ran.out
    assert "1 of 2 did not end as expected: A9.thread" in ran.err
    assert "\x1b" not in ran.out


@pytest.mark.parametrize("name", ["Z9", "S1"])
def test_an_attack_that_there_is_not_is_a_mistake(judge: Judge, name: str) -> None:
    assert f"there is no attack '{name}'" in judge("selftest", "--only", f"A1,{name}", code=2).err


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
def test_nothing_is_left_when_a_person_ends_it(tmp_path: Path, client: docker.DockerClient) -> None:
    with begin(tmp_path, "selftest", "--only", "A1") as process:
        box_of(client, process)
        process.send_signal(signal.SIGINT)
        process.communicate()

    assert 0 != process.returncode
    assert [] == [path for path, owner in directories() if owner and owner.pid == process.pid]
