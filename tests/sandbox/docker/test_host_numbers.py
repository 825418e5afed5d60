"""Numbers that an agent can read and other boxes can move: each of them is documented, or it does not move."""

import fnmatch
import json
import shutil
import tomllib
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest

from judge.host.build_images import build_images
from judge.sandbox.box import BoxPolicy, Limits, Tenant
from judge.sandbox.docker.hardening import KERNEL_FILES
from judge.sandbox.docker.run_in_box import Command, run_in_box
from judge.sandbox.open_box import open_box
from tests.sandbox.guest import Guest

pytestmark = pytest.mark.docker

PROGRAM = Path(__file__).parents[1] / "agents" / "host_numbers.py"
REASONS = Path(__file__).parents[3] / "docs/system-calls.toml"
PATIENCE_S = 120.0
OUTPUT_BYTES = 1 << 24


@pytest.fixture
def program(tmp_path: Path) -> Path:
    build_images(["python"])
    folder = tmp_path / "numbers"
    folder.mkdir(mode=0o755)
    tmp_path.chmod(0o755)
    shutil.copy(PROGRAM, folder)
    return folder


def read_numbers(program: Path) -> dict[str, object]:
    """What a fresh box shows, by file or object."""
    output = BytesIO()
    words = ("/usr/bin/python3", f"/agent/{PROGRAM.name}", "read")
    command = Command("numbers", program, words, "python", Limits(), PATIENCE_S, OUTPUT_BYTES, OUTPUT_BYTES)
    result = run_in_box(command, BoxPolicy(), output)
    assert result.is_success, f"{result.report}, {result.stderr}"
    return dict(json.loads(output.getvalue()))


def moved(before: dict[str, object], after: dict[str, object]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def undocumented(names: set[str]) -> list[str]:
    rows = tomllib.loads(REASONS.read_text(encoding="utf-8"))["numbers"]
    known = [pattern for row in rows for pattern in row["names"]]
    return sorted(name for name in names if not any(fnmatch.fnmatchcase(name, pattern) for pattern in known))


def test_every_number_that_another_box_moves_is_documented(program: Path) -> None:
    before = read_numbers(program)
    tenant = Tenant("writer", program, ("python3", PROGRAM.name, "write"), "python", 0, "writer")
    with closing(Guest(open_box("docker", tenant, Limits(), BoxPolicy()), program)) as writer:
        writer.move_in()
        assert "moved" == writer.line()
        during = read_numbers(program)
    after = read_numbers(program)

    assert [] == undocumented(moved(before, during) | moved(before, after))
    assert len(before) > 100


def test_counters_of_the_whole_host_stand_still_and_sessions_take_no_number_of_it(program: Path) -> None:
    first, second = read_numbers(program), read_numbers(program)
    assert first["session after setsid"] == first["/proc/self/autogroup"]
    for name in KERNEL_FILES:
        assert first[f"/proc/{name}"]
        assert first[f"/proc/{name}"] == second[f"/proc/{name}"]
