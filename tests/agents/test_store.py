"""Agents are stored by the digest of their files, whole and read-only, and go to other hosts as they are."""

import io
import stat
import tarfile
from pathlib import Path

import pytest

from judge.agents.program_files import program_digest
from judge.agents.store import AgentStore, pack_agent
from judge.base.errors import InputError


@pytest.fixture
def store(tmp_path: Path) -> AgentStore:
    return AgentStore(tmp_path / "agents")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program"
    (path / "data").mkdir(parents=True)
    (path / "run").write_bytes(b"\x7fELF")
    (path / "run").chmod(0o755)
    (path / "data" / "book").write_text("h8")
    return path


def test_an_agent_is_stored_by_its_digest_and_read_only(program: Path, store: AgentStore, tmp_path: Path) -> None:
    digest = program_digest(program)

    stored = store.put(program)

    assert tmp_path / "agents" / digest == stored == store.get(digest)
    names = (".", "run", "data", "data/book")
    assert [0o755, 0o555, 0o755, 0o444] == [stat.S_IMODE((stored / name).stat().st_mode) for name in names]
    assert digest == program_digest(stored)
    assert stored == store.put(program)
    assert stored == store.put(stored)
    assert {digest} == store.digests()


def test_resources_of_a_killed_judge_are_removed(program: Path, store: AgentStore, tmp_path: Path) -> None:
    store.put(program)
    half = tmp_path / "agents" / ".new-half"
    (half / "closed").mkdir(parents=True)
    (half / "closed").chmod(0o555)

    (program / "run").write_bytes(b"\x7fELF2")
    store.put(program)

    assert not half.exists()
    assert 2 == sum(1 for path in (tmp_path / "agents").iterdir() if path.is_dir())


def test_files_that_were_changed_are_no_agent_until_it_is_stored_again(
    program: Path, store: AgentStore, tmp_path: Path
) -> None:
    digest = store.put(program).name
    book = store.path(digest) / "data" / "book"
    book.chmod(0o644)
    book.write_text("h9")

    with pytest.raises(InputError, match="the agent's files are missing or were changed"):
        store.get(digest)

    store.put(program)
    assert "h8" == (store.get(digest) / "data" / "book").read_text()
    book.chmod(0o644)
    book.write_text("h9")
    store.remove_damaged(digest)
    assert frozenset() == store.digests()
    with pytest.raises(InputError, match="the agent's files are missing or were changed"):
        store.get(digest)


def test_agent_that_was_stored_since_the_check_is_kept(program: Path, store: AgentStore) -> None:
    """Two contests may send an agent to one worker at the same time."""
    digest = program_digest(program)
    with pytest.raises(InputError):
        store.get(digest)
    store.put(program)

    store.remove_damaged(digest)

    assert digest == program_digest(store.get(digest))


def test_a_digest_is_no_path(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a SHA-256"):
        AgentStore(tmp_path).path("../" + "0" * 61)
    assert [] == list(tmp_path.iterdir())


def test_an_agent_comes_out_as_it_went_in_and_is_the_same_parcel_again(program: Path, store: AgentStore) -> None:
    digest, parcel = program_digest(program), pack_agent(program)
    (program / "run").touch()

    assert parcel == pack_agent(program)
    assert store.put_packed(digest, io.BytesIO(parcel)) == store.get(digest)
    assert {digest} == store.digests()
    modes = [(store.get(digest) / name).stat().st_mode for name in ("run", "data/book")]
    assert [0o555, 0o444] == [stat.S_IMODE(mode) for mode in modes]


def _tar(name: str, kind: bytes = tarfile.REGTYPE, mode: int = 0o644, twice: bool = False) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for _ in range(1 + twice):
            member = tarfile.TarInfo(name)
            member.type, member.mode, member.linkname = kind, mode, "/etc/passwd"
            tar.addfile(member)
    return buffer.getvalue()


NO_AGENT = (
    *(_tar(name) for name in ("../out", "/etc/out", "a/../../out", "a/./b")),
    *(_tar("link", kind) for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE)),
    _tar("setuid", mode=0o4755),
    _tar("again", twice=True),
    b"no tar file at all" * 100,
)


@pytest.mark.parametrize(
    ("data", "words"), [*((data, "not the files of an agent") for data in NO_AGENT), (_tar("run"), "not its own")]
)
def test_a_parcel_of_other_than_plain_files_or_of_another_digest_is_refused(
    data: bytes, words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=words):
        AgentStore(tmp_path / "agents").put_packed("0" * 64, io.BytesIO(data))

    assert {tmp_path / "agents", tmp_path / "agents" / ".lock"} == set(tmp_path.rglob("*"))
