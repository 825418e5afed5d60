"""`judge doctor`, as an organiser runs it and pastes it into a mail."""

from collections.abc import Sequence

import pytest

from judge.cli.doctor import page
from judge.host.build_images import build_images
from judge.host.findings import HostFinding, Light
from tests.cli.conftest import Judge


def test_a_report_fits_a_mail() -> None:
    finding = HostFinding("load", Light.YELLOW, "others \x1b[31m " + "took much " * 20, "stop what runs " * 9)
    lines = list(page(finding))
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("yellow load      others \\x1b[31m took")
    assert "                 fix: stop what runs stop" in "\n".join(lines)


@pytest.mark.docker
def test_a_host_is_described_in_plain_lines_with_the_worst_first(judge: Judge) -> None:
    build_images(["native", "python"])
    # Between the two, other tests build and remove images.
    ran, problems = judge("doctor", "--all"), judge("doctor")
    lines = ran.out.splitlines()
    lights = lights_of(lines)
    assert sorted(lights, key=["red", "yellow", "green"].index) == lights
    assert "green" in lights
    *shown, passed, total = problems.out.splitlines()
    count = passed.removesuffix(" checks passed (judge doctor --all prints them)")
    yellow, red = (lights_of(shown).count(light) for light in ("yellow", "red"))
    assert f"{count} green, {yellow} yellow, {red} red" == total
    assert "green" not in lights_of(shown)
    assert max(map(len, lines)) <= 80
    assert ("", False) == (ran.err, "\x1b" in ran.out)
    assert ran.code == int("red" in lights)


def lights_of(lines: Sequence[str]) -> list[str]:
    return [line.split()[0] for line in lines if line.startswith(("green", "yellow", "red"))]


def test_a_script_gets_a_document_and_a_code(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent.sock")
    document = judge("doctor", "--json", code=1).document
    assert document["worst"] == "red"
    assert document["findings"][0]["check"] == "engine"
    assert set(document["findings"][0]) == {"check", "light", "says", "fix"}
