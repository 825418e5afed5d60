"""Each check tells the agent that does one thing wrong from the sound one, and says how to fix it."""

import subprocess
import tomllib
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import docker
import pytest

from judge.sandbox.box import BoxKind
from judge.submissions.check import CheckReport, Grade
from judge.submissions.check.report import worst_grade
from tests.examples import of_lanes
from tests.submissions.check import flawed
from tests.submissions.check.conftest import Examine, finding, problems

PASS, WARNING, FAIL = Grade.PASS, Grade.WARNING, Grade.FAIL
QUICK = (
    "clock.turn_ms=1000",
    "clock.tolerance_ms=1000",
    "clock.close_ms=2000",  # not too short beside other tests
    f"limits.memory_bytes={64 << 20}",
)
IS_MOVE = "',' in answer and answer[0].isdigit()"
"""Whether an agent's `answer` is one, in its own words."""

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("runtimes")]


def not_passed(report: CheckReport) -> dict[str, Grade]:
    return {each.check: each.grade for each in problems(report)}


@pytest.mark.parametrize(
    ("agent", "policy"),
    [
        ("house-python", "gomocup-swap2"),
        ("house-stratego", "stratego-seed"),
        ("house-qchess", "qchess-2013"),
    ],
)
def test_a_sound_agent_passes_every_check(examined: Examine, agent: str, policy: str) -> None:
    report = examined(agent, policy)

    assert not_passed(report) == {}
    assert report.untried == ()
    assert report.grade is PASS
    assert all(finding.fix == "" for finding in report.findings)


def test_weak_play_is_a_warning(examined: Examine) -> None:
    report = examined("house-instant", box="process")

    assert not_passed(report) == {"win": WARNING, "block": WARNING, "rule": WARNING}
    assert "it answered 0,0 (a1), wanted 6,7 (g8) or 11,7 (l8)" in finding(report, "win").evidence


FLAWS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("flaws.toml").read_text(encoding="utf-8"))

LATE_CHECKS = {"start", "about", "restart", "time", "line-ending"}
"""Checks in which the judge waits for an agent."""

SEEN_BY_THE_BOX = {"start", "time", "memory", "quiet", "end"}
"""What a box has to see; the others are seen in what the agent says, in whatever box."""

OF_FULL_LANE = {
    *("ends after its first answer", "does not flush", "wants a module that is not there", "thinks without an end"),
    *("echoes the CR that it cannot read", "takes more memory than there is", "says why on stdout and leaves"),
    *("does not know RESTART", "answers BEGIN with words", "answers TURN by a square that is taken"),
    *("is silent about itself", "takes all stones of a board for its opponent's", "talks after its moves"),
    *("stays when it is over", "crashes in a long game", "plays a forbidden square", "does not hear STOP"),
    *("declares that it needs LF", "lays two of three stones in the opening"),
}
"""One of each check that finds a flaw."""


@pytest.mark.parametrize("name", of_lanes(FLAWS, OF_FULL_LANE))
def test_a_flaw_is_found_where_it_is_and_nowhere_else(examined: Examine, tmp_path: Path, name: str) -> None:
    flaw = FLAWS[name]
    source = flaw.get("source", "").lstrip() or flawed.changed(flaw["change"]).replace("IS_MOVE", IS_MOVE)
    expected = {check: Grade(grade) for check, grade in flaw.get("found", {}).items()}
    policy = flaw.get("policy", ["gomocup-standard", "QUICK"])
    # A longer start is waited for twice; an agent that stays is killed in any case.
    brief = ["clock.start_ms=2500"] * (not LATE_CHECKS.isdisjoint(expected)) + ["clock.close_ms=300"] * (
        "end" in expected
    )
    quick = [*QUICK, *brief] if "QUICK" in policy else []
    box: BoxKind = flaw.get("box", "docker" if SEEN_BY_THE_BOX.intersection(expected) else "process")

    agent = flawed.write(tmp_path, source, flaw.get("manifest", ""))
    report = examined(agent, *(word for word in policy if word != "QUICK"), *quick, box=box)

    assert not_passed(report) == expected
    if check := flaw.get("check") or next(iter(expected), ""):
        found = finding(report, check)
        assert flaw["evidence"] in found.evidence
        assert flaw.get("fix", "") in found.fix
    assert report.grade is worst_grade([PASS, *expected.values()])
    assert flaw.get("untried", [*report.untried]) == [*report.untried]


LOADER = "#!/bin/sh\necho 'run: error while loading shared libraries: lib{name}.so.7: cannot open' >&2\nexit 127\n"
MISSING = {
    "an interpreter": ("#!/usr/bin/node\n", '["./run"]', "the program node", "the runtime node has it"),
    "what env looks for": ("#!/usr/bin/env node\n", '["./run"]', "the program node", "the runtime node has it"),
    "a command": ("", '["java", "-jar", "run"]', "the program java", 'set runtime = "java" in agent.toml'),
    "what a shell calls": ("#!/bin/sh\nperl run.pl\n", '["./run"]', "the program perl", "send it with the agent"),
    "a library": (LOADER, '["./run"]', "the library lib{name}.so.7", "the runtime {name} has it"),
}
"""What there is not: the agent, its command, and what its author has to hear; `name` is that of `riddle`."""


@pytest.fixture
def riddle() -> Iterator[str]:
    """An organiser's runtime that says that it has a library, which is called like it."""
    name = f"test-{uuid.uuid4().hex[:20]}"
    label = f'LABEL judge.image={name} judge.runtime="{{\\"provides\\":[\\"lib{name}.so.7\\"]}}"'
    with closing(docker.from_env()) as client:
        client.api.import_image_from_data(b"\0" * 1024, f"judge/{name}", "1", changes=[label])
        yield name
        client.images.remove(f"judge/{name}:1")


@pytest.mark.parametrize("case", of_lanes(MISSING, ("an interpreter", "a library")))
def test_missing_module_error_names_the_runtime_that_has_it(
    examined: Examine, tmp_path: Path, riddle: str, case: str
) -> None:
    program, command, what, fix = MISSING[case]
    (tmp_path / "run").write_text(program.format(name=riddle))
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "agent.toml").write_text(f'name = "poor"\ncommand = {command}\n')

    report = examined(str(tmp_path), "gomocup-standard", *QUICK)

    said = finding(report, "start").fix
    assert said.startswith(f"{what.format(name=riddle)} is missing here: ")
    assert fix.format(name=riddle) in said
    assert ("policy gomocup-standard has to admit it" in said) == (riddle in said or "node" in said)


def test_module_next_to_another_folder_is_not_missing(examined: Examine, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("import src.board\n")
    (tmp_path / "agent.toml").write_text('name = "poor"\nruntime = "python"\ncommand = ["python3", "src/main.py"]\n')

    report = examined(str(tmp_path), "gomocup-standard", *QUICK)

    assert finding(report, "start").fix.startswith("src is in your archive, but Python searches for it in")


def test_a_library_that_is_missing_is_named(examined: Examine, tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text("int mine(void) { return 1; }\n")
    (tmp_path / "main.c").write_text("int mine(void);\nint main(void) { return mine(); }\n")
    for words in (
        ["-shared", "-fPIC", "-o", "libmine.so.3", "mine.c"],
        ["-o", "pbrain-x", "main.c", "-L.", "-l:libmine.so.3"],
    ):
        subprocess.run(["gcc", *words], cwd=tmp_path, check=True)

    report = examined(str(tmp_path / "pbrain-x"))

    assert not_passed(report) == {"start": FAIL}
    assert "exited with code 127" in finding(report, "start").evidence
    assert "the library libmine.so.3 is missing here: link statically" in (finding(report, "start").fix)
