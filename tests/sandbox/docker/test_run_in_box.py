"""One command in a box of its own: whatever it does, it ends, and nothing of it is left."""

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from subprocess import Popen

import docker
import pytest

from judge.base.errors import HostError
from judge.base.owner import Owner
from judge.host.build_images import build_images
from judge.sandbox.box import BoxPolicy, Limits
from judge.sandbox.docker.docker_box import DockerBox
from judge.sandbox.docker.run_in_box import Command, CommandEnd, CommandResult, Stderr, run_in_box
from judge.sandbox.machine.cgroup import parse_mounts
from tests.attacks.games import new_cgroup
from tests.attacks.weak_box import below, weak_boxes

pytestmark = pytest.mark.docker

MIB = 1 << 20
SMALL = Limits(memory_bytes=64 * MIB, temporary_bytes=4 * MIB, scratch_bytes=MIB, processes=8)

Do = Callable[..., tuple[CommandResult, bytes]]


@pytest.fixture(scope="module", autouse=True)
def image() -> None:
    build_images(["python"])


@pytest.fixture
def do(tmp_path: Path) -> Iterator[Do]:
    """Run a program in Python in a box; `job` are other limits than usual."""
    tmp_path.chmod(0o755)
    (tmp_path / "upload").write_text("as it was")

    def run(program: str, **job: object) -> tuple[CommandResult, bytes]:
        usual = Command(
            name="test-workshop",
            directory=tmp_path,
            command=("/usr/bin/python3", "-I", "/agent/program"),
            image="python",
            limits=SMALL,
            seconds=30,
            output_bytes=MIB,
            stderr_bytes=MIB,
        )
        (tmp_path / "program").write_text(program)
        output = io.BytesIO()
        done = run_in_box(replace(usual, **job), BoxPolicy(), output)  # type: ignore[arg-type]
        return done, output.getvalue()

    yield run
    with closing(docker.from_env()) as client:
        mine = f"judge.owner={Owner.me().encode()}"
        assert [] == client.containers.list(all=True, filters={"label": mine}, ignore_removed=True)


def test_written_output_is_passed_on(do: Do) -> None:
    done, output = do("import sys\nsys.stderr.write('said')\nprint(open('/agent/upload').read() * 2, end='')")

    assert done.is_success
    assert (b"as it wasas it was", b"said") == (output, bytes(done.stderr.first))


def test_given_input_stays_unchanged(do: Do, tmp_path: Path) -> None:
    done, _ = do(
        "import os, sys\n"
        "for path in ('/agent/upload', '/agent/new', '/etc/passwd', '/judge/new'):\n"
        "    try:\n        open(path, 'w')\n"
        "    except OSError as error:\n        sys.stderr.write(f'{error.errno} ')\n"
        "open('/home/agent/new', 'w'); open('/tmp/new', 'w')"
    )

    assert done.is_success
    assert b"30 30 30 30 " == bytes(done.stderr.first)  # EROFS
    assert "as it was" == (tmp_path / "upload").read_text()


@pytest.mark.parametrize(
    ("program", "end"),
    [
        ("import time\ntime.sleep(1000)", CommandEnd.TIME),
        ("import os\nwhile True: os.write(1, bytes(9999))", CommandEnd.OUTPUT),
        ("import os\nwhile True: os.write(2, bytes(9999))", CommandEnd.STDERR),
        ("x = bytearray(1 << 30)", CommandEnd.MEMORY),
    ],
)
def test_each_limit_ends_it(do: Do, program: str, end: CommandEnd) -> None:
    done, output = do(program, seconds=1 if end is CommandEnd.TIME else 30)

    assert end is done.end
    assert not done.is_success
    assert len(output) <= MIB


@pytest.mark.skipif("memory" not in parse_mounts(Path("/proc/self/mountinfo").read_text()), reason="needs cgroup v1")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes cgroups")
def test_kill_below_the_cap_is_the_hosts_fault(do: Do) -> None:
    """A host, or a cgroup above the box, with too little memory kills a compiler that may use more."""
    with new_cgroup() as (name, memory), weak_boxes([below(name)], {}, ["test-workshop"]):
        (memory / "memory.limit_in_bytes").write_text(str(48 * MIB))
        with pytest.raises(HostError, match="although its box was never at its cap"):
            do("b'x' * (100 << 20)", limits=SMALL.model_copy(update={"memory_bytes": 300 * MIB}))


def test_a_command_that_is_not_there_is_the_hosts_fault(do: Do) -> None:
    with pytest.raises(HostError, match="No such file or directory; run: judge images build python"):
        do("", command=("/usr/bin/python9",))


def test_the_middle_of_a_long_talk_is_let_go() -> None:
    talk = Stderr(8)
    for piece in (b"12", b"3456789", b"abc", b"defg"):
        talk.add(piece)

    assert (b"1234", b"defg", 8) == (bytes(talk.first), bytes(talk.last), talk.omitted_bytes)


def test_it_returns_when_all_of_its_processes_are_gone(do: Do, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build can read /proc/self/pagemap, which no kill interrupts, on cores that others get afterwards."""
    ended, leave = [], DockerBox.leave

    def wait_for_the_end(box: DockerBox) -> float:
        took = leave(box)
        ended.append(box.is_gone())
        return took

    monkeypatch.setattr(DockerBox, "leave", wait_for_the_end)
    done, _ = do("while True: pass", seconds=1)
    assert (CommandEnd.TIME, [True]) == (done.end, ended)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may kill PID 1 of a container from the host")
def test_box_that_ends_for_an_unknown_reason_is_not_the_hosts_fault(do: Do) -> None:
    with Popen([sys.executable, "-c", KILLER, str(Owner.me().encode())]) as killer:
        done, _ = do("import time\nwhile time.process_time() < 0.2: pass\ntime.sleep(60)", seconds=60)
    assert 0 == killer.returncode
    assert (CommandEnd.LOST, False) == (done.end, done.is_success)


KILLER = """
import os, signal, sys, time, docker
client = docker.from_env()
while time.process_time() < 30:
    for each in client.containers.list(filters={"label": f"judge.owner={sys.argv[1]}"}, ignore_removed=True):
        found = client.api.inspect_container(each.id)["State"]["Pid"]
        try:
            with open(f"/proc/{found}/task/{found}/children") as file:
                children = file.read().split()
            for child in children:
                with open(f"/proc/{child}/stat") as file:
                    ticks = file.read().rpartition(")")[2].split()[11:13]
                if any(map(int, ticks)):
                    os.kill(found, signal.SIGKILL)
                    sys.exit()
        except FileNotFoundError:
            pass  # it has just ended
sys.exit("no agent ran")
"""
"""Kills PID 1 without the Engine, once its agent has used processor time."""
