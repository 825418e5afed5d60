"""What a worker keeps: agents whose files are what their digest says, and played games until somebody has them."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.agents.agents import digest_of
from judge.cluster.host import WorkerHost, refuse_other_images
from judge.cluster.messages import Cabinet, Key, pack_agent
from judge.cluster.unacknowledged import Spool
from judge.contest.worker import JobResult
from judge.errors import HostError, InputError
from judge.referee.play import Slot
from judge.store.types import Ended, Seat

KEY = Key("cup, created then", "0123456789abcdef0123", 2)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "program"
    (folder / "data").mkdir(parents=True)
    (folder / "run").write_bytes(b"#!/bin/sh\n")
    (folder / "run").chmod(0o755)
    (folder / "data" / "book").write_bytes(bytes(100_000))
    return folder


def test_an_agent_comes_out_as_it_went_in(program: Path, tmp_path: Path) -> None:
    digest = digest_of(program)
    cabinet = Cabinet(tmp_path / "agents")

    cabinet.put(digest, pack_agent(program))

    assert {digest} == cabinet.digests()
    assert digest == digest_of(cabinet.get(digest))
    assert 0o755 == (cabinet.get(digest) / "run").stat().st_mode & 0o777


def test_the_same_agent_is_the_same_parcel(program: Path) -> None:
    before = pack_agent(program)
    (program / "run").touch()

    assert before == pack_agent(program)


def test_files_that_are_not_of_that_digest_are_refused(program: Path, tmp_path: Path) -> None:
    cabinet = Cabinet(tmp_path / "agents")

    with pytest.raises(InputError, match="not its own"):
        cabinet.put("0" * 64, pack_agent(program))

    assert [] == list((tmp_path / "agents").iterdir())


def test_an_agent_that_was_changed_does_not_play_and_comes_anew(program: Path, tmp_path: Path) -> None:
    digest, cabinet = digest_of(program), Cabinet(tmp_path / "agents")
    cabinet.put(digest, pack_agent(program))
    (tmp_path / "agents" / digest / "run").write_bytes(b"#!/bin/false\n")

    with pytest.raises(HostError, match="were changed"):
        cabinet.get(digest)

    assert frozenset() == cabinet.digests()


def _tar(name: str, kind: bytes = tarfile.REGTYPE, mode: int = 0o644, twice: bool = False) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for _ in range(1 + twice):
            member = tarfile.TarInfo(name)
            member.type, member.mode, member.linkname = kind, mode, "/etc/passwd"
            tar.addfile(member)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        _tar("../out"),
        _tar("/etc/out"),
        _tar("a/../../out"),
        _tar("a/./b"),
        _tar("link", tarfile.SYMTYPE),
        _tar("link", tarfile.LNKTYPE),
        _tar("pipe", tarfile.FIFOTYPE),
        _tar("folder", tarfile.DIRTYPE),
        _tar("setuid", mode=0o4755),
        _tar("again", twice=True),
        b"no tar file at all" * 100,
    ],
)
def test_a_parcel_with_anything_but_plain_files_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not the files of an agent"):
        Cabinet(tmp_path / "agents").put("0" * 64, data)

    assert [tmp_path / "agents"] == list(tmp_path.rglob("*"))


def _played() -> JobResult:
    seat = Seat(None, 3, 1.5)
    ended = Ended("draw", None, "1/2", "full board", "f" * 64, 2.5, (seat, seat))
    return JobResult(ended, b'{"record": "\xff\x00"}', {"e" * 64: bytes(range(256))})


def test_a_played_game_is_kept_until_somebody_has_it(tmp_path: Path) -> None:
    Spool(tmp_path).put(KEY, _played())
    spool = Spool(tmp_path)

    assert {KEY} == spool.keys(KEY.contest)
    assert frozenset() == spool.keys("cup, created at another time")
    assert _played() == spool.get(KEY)
    spool.forget([KEY])
    assert spool.get(KEY) is None


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda _: b"", lambda data: data * 2])
def test_a_damaged_game_is_no_game(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    spool = Spool(tmp_path)
    spool.put(KEY, _played())
    (path,) = tmp_path.rglob("*.json")
    path.write_bytes(damage(path.read_bytes()))

    assert spool.get(KEY) is None
    assert frozenset() == spool.keys(KEY.contest)


def test_two_workers_do_not_share_a_folder(tmp_path: Path) -> None:
    host = WorkerHost("one", tmp_path, [Slot()])
    try:
        with pytest.raises(InputError, match="belongs to a worker that runs"):
            WorkerHost("two", tmp_path, [Slot()])
    finally:
        host.close()


def test_a_worker_with_other_images_is_told_what_to_do() -> None:
    refuse_other_images("w1", {"native": "a"}, {"native": "a"})

    with pytest.raises(HostError, match="w1 has no current image native: run judge images build"):
        refuse_other_images("w1", {"native": "a"}, {"native": ""})
    with pytest.raises(HostError, match="other contents than the contest's: run judge images"):
        refuse_other_images("w1", {"native": "a"}, {"native": "b"})
