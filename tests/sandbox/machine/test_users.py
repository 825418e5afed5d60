"""Users of boxes: no two boxes of a host are the same one, whoever's judges they are."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from judge.base.errors import HostError
from judge.host.build_images import build_images
from judge.sandbox.box import Channel
from judge.sandbox.machine import users
from judge.sandbox.machine.users import User, claim_user
from tests.sandbox.conftest import ATTACH, PIPES, Lodge, of

FIRST = 30000 + os.getpid() % 10000 * 3
"""Ids from here on are not used by anything else on this host, not even by another run of these tests."""
THREE = {FIRST, FIRST + 1, FIRST + 2}

ANOTHER_JUDGE = """
import sys
from judge.sandbox.machine import users
users.FIRST_AGENT_ID, users.AGENT_IDS = int(sys.argv[1]), 3
user = users.claim_user()
print(user.uid, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "FIRST_AGENT_ID", FIRST)
    monkeypatch.setattr(users, "AGENT_IDS", 3)


@pytest.fixture
def claimed() -> Iterator[Callable[[], User]]:
    """Claim users of the few; all are let go at the end."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(claim_user()))


def test_each_claim_gets_another_user_until_they_run_out(claimed: Callable[[], User]) -> None:
    mine = [claimed() for _ in range(3)]

    assert THREE == {user.uid for user in mine}
    with pytest.raises(HostError, match=rf"All 3 users from {FIRST} on "):
        claim_user()
    mine[1].close()
    assert mine[1].uid == claimed().uid


def test_ids_of_users_of_the_host_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "FIRST_AGENT_ID", os.getuid())
    monkeypatch.setattr(users, "AGENT_IDS", 1)

    with pytest.raises(HostError, match="are those of boxes or users on this host"):
        claim_user()


def test_user_of_another_judge_stays_reserved_until_that_judge_dies(claimed: Callable[[], User]) -> None:
    command, pipe = [sys.executable, "-c", ANOTHER_JUDGE, str(FIRST)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as judge:
        uid = int(judge.stdout.readline()) if judge.stdout else 0
        others = {claimed().uid, claimed().uid}
        with pytest.raises(HostError):
            claim_user()
        judge.kill()

    assert THREE == {uid, *others}
    assert uid == claimed().uid


@of(PIPES, evidence=[ATTACH])
def test_two_boxes_of_one_seat_are_two_users_and_let_go_of_them(lodge: Lodge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "AGENT_IDS", 2)
    first, second = (lodge(seat=0).move_in() for _ in range(2))
    uids = {guest.ask("status Uid").split()[0] for guest in (first, second)}
    assert uids == {str(FIRST), str(FIRST + 1)}

    first.close()
    third = lodge(seat=1).move_in()
    assert third.ask("write /home/agent/own") == "open 0"
    assert third.ask("status Uid").split()[0] in uids


ASK_PYTHON = """
import getpass, grp, os, pwd
print(getpass.getuser(), pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name)
print(os.path.expanduser("~agent"), pwd.getpwnam("agent").pw_uid == os.getuid(), os.environ["USER"])
os.environ.clear()
print(getpass.getuser(), os.path.expanduser("~"))
"""
ASK_NODE = "const u = require('os').userInfo(); console.log(u.username, u.homedir)"
NAMED: dict[str, tuple[tuple[str, ...], str, set[str]]] = {
    "python": (("python3", "main"), ASK_PYTHON, {"agent agent agent", "/home/agent True agent", "agent /home/agent"}),
    "node": (("node", "main"), ASK_NODE, {"agent /home/agent"}),
    "java": (("java", "-XshowSettings:properties", "-version"), "", {"user.name = agent", "user.home = /home/agent"}),
}
"""By runtime: a command, its program, and lines that it prints."""


@of(PIPES, evidence=[ATTACH])
@pytest.mark.parametrize("runtime", NAMED)
def test_the_user_of_an_agent_has_a_name(lodge: Lodge, tmp_path: Path, runtime: str) -> None:
    build_images([runtime])
    command, program, lines = NAMED[runtime]
    tmp_path.chmod(0o755)
    (tmp_path / "main").write_text(program, encoding="ascii")
    guest = lodge(*command, staged=tmp_path, runtime=runtime).move_in()
    guest.end()

    said = (guest.heard[Channel.OUT] + guest.heard[Channel.ERR]).decode().split("\n")
    assert lines <= {line.strip() for line in said}
