"""What a worker has: agents whose files are what their digest says, and a folder of its own."""

from pathlib import Path

import pytest

from judge.agents.agents import program_digest
from judge.agents.store import pack_agent
from judge.cluster.machine import Machine, code_digest, refuse_other_images
from judge.cluster.messages import Broken, Lacks, Order, Unfit, read_answer
from judge.errors import HostError, InputError
from judge.matches import Match
from judge.referee.play import Slot
from tests.referee.games import spec

SPEC = spec().model_copy(update={"box": "process"}).model_dump_json()


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "program"
    (folder / "data").mkdir(parents=True)
    (folder / "run").write_bytes(b"#!/bin/sh\n")
    (folder / "run").chmod(0o755)
    (folder / "data" / "book").write_bytes(bytes(100_000))
    return folder


def test_an_agent_comes_when_it_is_missing_or_was_changed(program: Path, tmp_path: Path) -> None:
    digest = program_digest(program)
    match = Match("0123456789abcdef0123", 1, 1, 1, 0, "one", "two", SPEC)
    order = Order(contest="cup", match=match, agents=(digest,), states={}, images={}, code=code_digest())
    machine = Machine("one", tmp_path / "worker", [Slot()], allows_processes=True)
    try:
        assert Lacks(agents=(digest,)) == machine.play(order, {}, lambda: True)
        assert Lacks(agents=(digest,)) == machine.play(order, {digest: pack_agent(program)[:50_000]}, lambda: True)
        assert isinstance(machine.play(order, {digest: pack_agent(program)}, lambda: True), Broken)
        assert isinstance(machine.play(order, {}, lambda: True), Broken)
        book = tmp_path / "worker" / "agents" / digest / "data" / "book"
        book.chmod(0o644)
        book.write_bytes(b"other")

        assert Lacks(agents=(digest,)) == machine.play(order, {}, lambda: True)
    finally:
        machine.close()


def test_a_worker_runs_no_agent_outside_of_a_container_unless_it_is_told_to(tmp_path: Path) -> None:
    """Whoever has a key of the cluster may send it orders."""
    match = Match("0123456789abcdef0123", 1, 1, 1, 0, "one", "two", SPEC)
    order = Order(contest="cup", match=match, agents=(), states={}, images={}, code=code_digest())
    machine = Machine("one", tmp_path, [Slot()])
    try:
        answer = machine.play(order, {}, lambda: True)
    finally:
        machine.close()

    assert isinstance(answer, Unfit)
    assert "one plays in containers only" in answer.why


@pytest.mark.parametrize("data", [b"", b"{}", b'{"kind": "won"}', b'{"kind": "lacks", "agents": 1}', "text", None])
def test_an_answer_that_is_none_is_refused(data: object) -> None:
    with pytest.raises(InputError, match="the answer is not"):
        read_answer(data)


def test_two_workers_do_not_share_a_folder(tmp_path: Path) -> None:
    machine = Machine("one", tmp_path, [Slot()])
    try:
        with pytest.raises(InputError, match="belongs to a worker that runs"):
            Machine("two", tmp_path, [Slot()])
    finally:
        machine.close()


def test_a_worker_with_other_images_is_told_what_to_do() -> None:
    refuse_other_images("w1", {"native": "a"}, {"native": "a"})

    with pytest.raises(HostError, match="w1 has no current image native: run judge images build"):
        refuse_other_images("w1", {"native": "a"}, {"native": ""})
    with pytest.raises(HostError, match="other contents than the contest's: run judge images"):
        refuse_other_images("w1", {"native": "a"}, {"native": "b"})
