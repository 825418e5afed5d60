"""What the scripts start runs where the judge expects it."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from judge.host.distribution import commands_for
from judge.sandbox.machine.cores import available, parse_processors, place_slots, whole_cores
from tests import changed
from tests.changed import OF_ALL

SCRIPTS = Path(__file__).parents[1] / "scripts"
LIB = SCRIPTS / "lib.sh"

DAEMON = """#!/bin/sh
grep Cpus_allowed_list /proc/self/status
"""


def bash(script: str, **environment: str) -> str:
    words = ["bash", "-euc", f"source {LIB}\n{script}"]
    return subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, **environment}).stdout


def test_the_engine_gets_the_judges_core() -> None:
    processors = bash("judges_processors").strip()
    placement = place_slots(whole_cores())

    if placement.shared:
        assert "" == processors
    else:
        assert set(placement.judge) == parse_processors(processors)


def test_an_engine_on_a_single_processor_is_not_pinned() -> None:
    one = str(min(available()))

    assert "" == bash(f"taskset -pc {one} $$ >/dev/null\njudges_processors").strip()


@pytest.mark.parametrize("is_wished", [False, True], ids=["as the judge is placed", "as the operator says"])
def test_daemon_starts_at_the_given_address(tmp_path: Path, is_wished: bool) -> None:
    (tmp_path / "dockerd").write_text(DAEMON)
    (tmp_path / "dockerd").chmod(0o755)
    log = tmp_path / "log"
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "JUDGE_ENGINE_LOG": str(log)}
    placement, highest = place_slots(whole_cores()), max(available())
    expected = frozenset(available() if placement.shared else placement.judge)
    if is_wished:
        environment["JUDGE_ENGINE_PROCESSORS"] = str(highest)
        expected = frozenset({highest})
    script = "launch_dockerd\nwhile [[ -d /proc/$ENGINE_LAUNCHED ]]; do sleep 0.01; done"

    bash(script, **environment)

    assert expected == parse_processors(log.read_text().split(":")[1])


@dataclass(frozen=True)
class Limit:
    """A limit of the kernel that a function of the library lowers, if no program would lose what it uses."""

    function: str
    file: str
    used: str
    line: str
    most: int

    def ensure(self, folder: Path, before: str, used: int) -> tuple[str, str]:
        limit, uses = folder / "limit", folder / "7"
        limit.write_text(before)
        uses.write_text(used * self.line)
        output = bash(self.function, **{self.file: str(limit), self.used: str(uses)})
        return limit.read_text().strip(), output


EPOLL = Limit(
    "ensure_watch_limit",
    "WATCH_LIMIT_FILE",
    "WATCHES_IN_USE",
    "tfd:        5 events:       19 data:                5\n",
    4096,
)
MAPS = Limit("ensure_map_limit", "MAP_LIMIT_FILE", "MAPS_IN_USE", "00400000-00401000 r--p 00000000 00:00 0\n", 1024)


@pytest.mark.parametrize(
    ("limit", "before", "after"),
    [
        *((EPOLL, *each) for each in [("16385", "8192"), ("5000000", "8192"), ("16384", "16384"), ("9", "9")]),
        *((MAPS, *each) for each in [("65530", "2048"), ("2049", "2048"), ("2048", "2048"), ("9", "9")]),
    ],
)
def test_a_limit_is_lowered_and_never_raised(limit: Limit, before: str, after: str, tmp_path: Path) -> None:
    assert after == limit.ensure(tmp_path, before, limit.most)[0]


@pytest.mark.parametrize("limit", [EPOLL, MAPS])
def test_a_limit_stays_where_programs_would_lose_theirs(limit: Limit, tmp_path: Path) -> None:
    after, output = limit.ensure(tmp_path, "65530", limit.most + 1)

    assert "65530" == after
    assert str(limit.most + 1) in output


def test_the_guests_script_names_each_attack_that_has_not_passed() -> None:
    words = [str(SCRIPTS / "test-cgroup2"), "--guest", "nothing", "--todo", "--only", "A1,B10", "doctor", "attacks"]

    done = subprocess.run(words, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (3, "")
    assert "   to be done: doctor attack:A1 control:A1 attack:B10 control:B10\n" == done.stdout


def test_each_test_with_more_for_the_evidence_belongs_to_a_part_of_it() -> None:
    parts = re.findall(r'^ +\w+\) echo "\$0 (.+)" ;;$', (SCRIPTS / "test").read_text(), re.MULTILINE)
    places = [SCRIPTS.parent / word for part in parts for word in part.split() if word.startswith("tests/")]
    has_more = re.compile(r"^from tests\.examples import .*\b(evidence|EVIDENCE|of_evidence|sized)\b", re.MULTILINE)
    paths = [path for path in Path(__file__).parent.rglob("*.py") if has_more.search(path.read_text())]

    assert len(paths) > 50
    assert [] == [path for path in paths if not any(path.is_relative_to(place) for place in places)]


def test_scripts_print_the_commands_of_this_distribution() -> None:
    assert [commands_for(need) for need in ("engine", "join", "python")] == bash(
        "commands_for engine; commands_for join; commands_for python"
    ).splitlines()


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("judge/cli/play.py", {"tests/cli", *OF_ALL}),
        (
            "judge/publish/verify/export.py",
            {"tests/verify", "tests/cup", "tests/cli/test_cup.py", "tests/web", "tests/cli", *OF_ALL},
        ),
        ("judge/translations/cs.po", {"tests/translations"}),
        ("docs/play.md", {"tests/test_docs.py"}),
        ("tests/golden/export.txt", {"tests/golden"}),
        ("tests/verify/test_draw.py", {"tests/verify/test_draw.py"}),
        ("scripts/test", set()),
    ],
)
def test_changed_file_has_the_tests_of_its_package_and_importers(file: str, expected: set[str]) -> None:
    assert sorted(expected) == changed.tests_of([file])


def test_clean_tree_has_no_tests(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(changed, "changed_files", list)
    changed.main()

    assert "" == capsys.readouterr().out
