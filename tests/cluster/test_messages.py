"""What a worker has: agents whose files are what their digest says and come in pieces, and a folder of its own."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from judge.agents.program_files import program_digest
from judge.agents.store import pack_agent
from judge.base.durable_files import PARTIAL
from judge.base.errors import InputError
from judge.cluster.cluster import needed_images
from judge.cluster.live_moves import GameClient
from judge.cluster.machine import Arrivals, Machine, code_digest
from judge.cluster.messages import Arrived, Lacks, Order, Parcel, ParcelPiece, Played, Receipt, Unfit, read_answer
from judge.contest_games import ScheduledGame
from judge.games.types import Verdict
from judge.play.venue import Slot
from judge.record.spec import GameSpec, RecordFile
from judge.sandbox.docker import requirements
from judge.sandbox.docker.images import NO_IMAGE
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


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with closing(Machine("one", tmp_path / "worker", [Slot()], allows_processes=True)) as found:
        yield found


@pytest.fixture
def order(program: Path) -> Order:
    digest = program_digest(program)
    one, two = (seat.model_copy(update={"digest": digest, "command": ("./run",)}) for seat in spec().seats)
    game_spec = spec().model_copy(update={"box": "process", "seats": (one, two)})
    game = ScheduledGame("0123456789abcdef0123", 1, 1, 1, 0, "one", "two", game_spec.model_dump_json())
    return Order(contest="cup", game=game, agents=(digest,), states={}, images={}, code=code_digest())


@dataclass
class Sender:
    """A contest's host that sends an agent's files in pieces of any size."""

    agent: str
    data: bytes

    def piece(self, machine: Machine, begin: int, end: int, data: bytes | None = None) -> Receipt:
        """Send a piece; `data` is what arrives of it."""
        sent = self.data[begin:end]
        parcel = Parcel(agent=self.agent, digest=hashlib.sha256(self.data).hexdigest(), size=len(self.data))
        piece = ParcelPiece(parcel=parcel, begin=begin, digest=hashlib.sha256(sent).hexdigest())
        return machine.receive(piece, sent if data is None else data)

    def ask(self, machine: Machine) -> Receipt:
        return self.piece(machine, 0, 0)


@pytest.fixture
def sender(program: Path) -> Sender:
    return Sender(program_digest(program), pack_agent(program))


def test_missing_or_changed_agent_is_received(machine: Machine, order: Order, sender: Sender, tmp_path: Path) -> None:
    size = len(sender.data)
    lacks = Lacks(agents=(sender.agent,), images=())
    assert lacks == machine.play(order, GameClient())
    assert Arrived(bytes=0) == sender.ask(machine)
    assert Arrived(bytes=40_000) == sender.piece(machine, 0, 40_000)
    assert lacks == machine.play(order, GameClient())
    assert Arrived(bytes=size) == sender.piece(machine, 40_000, size)
    assert lacks == machine.play(order, GameClient())
    assert Arrived(bytes=size, is_whole=True) == sender.ask(machine)

    played = machine.play(order, GameClient())
    assert isinstance(played, Played)
    assert Verdict.CRASH is RecordFile.model_validate_json(played.record).record.verdict
    assert Arrived(bytes=size, is_whole=True) == sender.ask(machine)
    assert ["lock"] == [path.name for path in (tmp_path / "worker" / "arrivals").iterdir()]
    book = tmp_path / "worker" / "agents" / sender.agent / "data" / "book"
    book.chmod(0o644)
    book.write_bytes(b"other")

    assert lacks == machine.play(order, GameClient())
    assert Arrived(bytes=0) == sender.ask(machine)


def test_broken_transfer_resumes_where_it_stopped_until_it_is_forgotten(
    machine: Machine, sender: Sender, tmp_path: Path
) -> None:
    sender.piece(machine, 0, 40_000)
    machine.close()
    with closing(Machine("one", tmp_path / "worker", [Slot()], allows_processes=True)) as again:
        assert Arrived(bytes=40_000) == sender.ask(again)

    (path,) = (tmp_path / "worker" / "arrivals").glob(f"*{PARTIAL}")
    os.utime(path, (0, 0))
    Arrivals(path.parent)
    assert not path.exists()


def test_a_piece_that_is_damaged_or_of_another_place_is_not_taken(machine: Machine, sender: Sender) -> None:
    size = len(sender.data)
    sender.piece(machine, 0, 40_000)
    here = Arrived(bytes=40_000)

    assert here == sender.piece(machine, 40_000, 80_000, b"x" * 40_000)
    assert here == sender.piece(machine, 30_000, 80_000)
    assert here == sender.piece(machine, 50_000, 80_000)
    assert here == sender.piece(machine, 40_000, size, sender.data[40_000:] + b"more")
    assert here == sender.ask(machine)


def test_damaged_whole_is_sent_again(machine: Machine, sender: Sender) -> None:
    size = len(sender.data)
    broken = replace(sender, data=sender.data[:-1] + b"x")
    sender.piece(machine, 0, 512)
    (path,) = (machine.folder / "arrivals").glob(f"*{PARTIAL}")
    path.write_bytes(broken.data)  # as a disk leaves it after a loss of power

    assert Arrived(bytes=0) == sender.ask(machine)
    assert Arrived(bytes=size) == sender.piece(machine, 0, size)
    assert Arrived(bytes=size, is_whole=True) == sender.ask(machine)


def test_mislabelled_file_is_refused(machine: Machine, sender: Sender) -> None:
    """Every digest on the way is right."""
    other = replace(sender, agent="0" * 64)
    other.piece(machine, 0, len(other.data))

    answer = other.ask(machine)

    assert isinstance(answer, Unfit)
    assert "are not its own" in answer.why
    assert Arrived(bytes=0) == other.ask(machine)


def test_more_than_the_disk_has_is_refused(machine: Machine, sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=len(sender.data)))

    answer = sender.piece(machine, 0, 40_000)

    assert isinstance(answer, Unfit)
    assert "no room for the agent" in answer.why


@pytest.mark.parametrize(
    ("game", "slots", "why"),
    [
        # The owner of a key of the cluster may send it orders.
        (GameSpec.model_validate_json(SPEC), [Slot()], "one plays in containers only"),
        (
            spec(clock={"ponder": True}),
            [Slot((1, 2), (0,)), Slot((3,), (0,))],
            "need 2 cores for a game, and a slot has 1; start judge worker with more --cores",
        ),
        (spec(), [Slot()], "each clock includes the Engine's delay: the judge and the Engine share no kernel"),
    ],
    ids=["processes", "cores for pondering", "an Engine on another machine"],
)
def test_worker_that_cannot_play_a_game_is_unfit(
    order: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: GameSpec, slots: list[Slot], why: str
) -> None:
    monkeypatch.setattr(requirements, "host_obstacle", lambda *_: "the judge and the Engine share no kernel")
    wanted = replace(order.game, spec=game.model_dump_json())
    with closing(Machine("one", tmp_path, slots)) as machine:
        answer = machine.play(order.model_copy(update={"game": wanted}), GameClient())
        with pytest.raises(InputError, match="is used by a running worker"):
            Machine("two", tmp_path, [Slot()])

    assert isinstance(answer, Unfit)
    assert why in answer.why


@pytest.mark.parametrize("data", [b"", b"{}", b'{"kind": "won"}', b'{"kind": "lacks", "agents": 1}', "text", None])
def test_invalid_answer_is_refused(data: object) -> None:
    with pytest.raises(InputError, match=r"the answer (is not JSON|has an unknown or invalid form)"):
        read_answer(data)


def test_worker_is_sent_only_the_images_of_its_game() -> None:
    spec = GameSpec.model_validate_json(SPEC)
    images = dict.fromkeys(("native", "python", "wine", "keeper"), NO_IMAGE)

    assert {seat.runtime for seat in spec.seats} | {"keeper"} == set(needed_images(spec, images))
