"""What is kept of a folder, and that nothing an agent can leave gets anything else out of the parser."""

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.sandbox.archive import (
    EMPTY,
    MAX_DEPTH,
    MAX_PATH,
    PAGE_BYTES,
    Archive,
    Capacity,
    UnkeptError,
    measure_folder,
    pack_folder,
    parse_folder,
)
from tests.attacks.uploads import special, tarred

ROOM = Capacity(64 * PAGE_BYTES, 100)

names = st.binary(min_size=1, max_size=40).filter(
    lambda name: name not in (b".", b"..") and not {0, ord("/")} & set(name)
)


def tar(*members: tuple[str | tarfile.TarInfo, bytes]) -> bytes:
    """A tar file as the container writes it: files by name, or whatever a member says it is."""
    return tarred(
        *(what if isinstance(what, tarfile.TarInfo) else (what, content) for what, content in members),
        format=tarfile.GNU_FORMAT,
    )


def contents(archive: Archive) -> dict[str, bytes | None]:
    """What a tar file holds, read by somebody else."""
    with tarfile.open(fileobj=io.BytesIO(archive.data), encoding="utf-8", errors="surrogateescape") as opened:
        return {m.name: f.read() if (f := opened.extractfile(m)) else None for m in opened}


def test_equal_contents_pack_to_equal_bytes() -> None:
    changed = {"mode": 0o4755, "mtime": 1234, "uid": 20001, "uname": "agent"}

    first, _ = parse_folder(tarred(("./b", b"x"), ("./a", b"y"), format=tarfile.GNU_FORMAT, **changed), ROOM)
    second, _ = parse_folder(tar(("./a", b"y"), ("./b", b"x")), ROOM)

    assert (first.data, first.digest) == (second.data, second.digest)
    assert {"a": b"y", "b": b"x"} == contents(first)


@given(st.dictionaries(names, st.binary(max_size=3 * PAGE_BYTES), max_size=5))
def test_a_state_survives_whatever_its_files_are_called(files: dict[bytes, bytes]) -> None:
    state = pack_folder(dict(files))

    assert (state, ()) == parse_folder(state.data, ROOM)
    assert state == measure_folder(state.data)


def test_a_file_takes_whole_pages_and_a_directory_none() -> None:
    state = pack_folder({b"d": None, b"d/one": b"x", b"d/two": b"x" * (PAGE_BYTES + 1), b"d/none": b""})

    assert (3 * PAGE_BYTES, 4) == (state.size_bytes, state.inodes)
    assert "84ff92691f909a05b224e1c56abb4864f01b4f8e3c854e4bb4c7baf1d3f6d652" == EMPTY.digest
    assert (EMPTY, ()) == parse_folder(tar((special("./", tarfile.DIRTYPE), b"")), ROOM)


SPECIAL = dict.fromkeys(
    (tarfile.SYMTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.CONTTYPE, b"9"),
    "1 links and special files",
)
NAMES = ("/", "../a", "/etc/passwd", "a/../../b", "a//b", "./..", "n" * 256)
LEFT_OUT: list[tuple[str | tarfile.TarInfo, str]] = [
    *((special("./x", kind, "/etc/passwd"), words) for kind, words in SPECIAL.items()),
    (special("./x", tarfile.LNKTYPE, "/etc/passwd"), "1 second names of files"),
    *((name, "1 names that lead out of the folder") for name in NAMES),
    ("a/b", "1 files in files"),
]


@pytest.mark.parametrize(("member", "words"), LEFT_OUT)
def test_what_is_no_file_of_the_folder_is_left_out_with_a_note(member: str | tarfile.TarInfo, words: str) -> None:
    state, (note,) = parse_folder(tar(("./a", b"y"), (member, b""), ("a", b"a second time")), ROOM)

    assert {"a": b"y"} == contents(state)
    assert note.startswith(f"not kept: {words}")


def test_deep_nesting_is_left_out() -> None:
    deep = "/".join("d" * MAX_DEPTH)
    long = "/".join(["n" * 200] * 6)

    state, notes = parse_folder(tar((f"{deep}", b"x"), (f"{deep}/e", b"x"), (long, b"x")), ROOM)

    assert deep in contents(state)
    assert MAX_DEPTH == state.inodes
    assert 2 == int(notes[0].split()[2])
    assert len(long) > MAX_PATH


def test_what_is_as_large_as_it_may_be_is_kept() -> None:
    longest = "/".join(["n" * 255] * 3 + ["p" * 254, "x"])
    full = tar(
        (longest, bytes(60 * PAGE_BYTES)), *((f"{n}", b"x") for n in range(4)), *((f"e{n}", b"") for n in range(91))
    )

    state, notes = parse_folder(full, ROOM)

    assert ((ROOM.size_bytes, ROOM.inodes), ()) == ((state.size_bytes, state.inodes), notes)
    assert MAX_PATH == len(longest)
    assert longest in contents(state)


def test_a_note_shows_no_byte_of_a_name_that_a_terminal_would_obey() -> None:
    name = "\x1b[2J\n\u202e" + "\udcff" + "x" * 200

    _, (note,) = parse_folder(tar((special(name, tarfile.SYMTYPE), b"")), ROOM)

    assert note.isascii()
    assert note.isprintable()
    assert len(note) < 200


@pytest.mark.parametrize(
    "data",
    [
        tar(("big", b"\0" * (64 * PAGE_BYTES + 1))),
        tar(*((f"{n}", b"x" * (PAGE_BYTES + 1)) for n in range(33))),
        tar(*((f"{n}", b"") for n in range(101))),
        tar(("/".join(f"{n}" for n in range(30)), b""), *((f"{n}/a", b"") for n in range(100, 140))),
    ],
    ids=["bytes", "pages", "entries", "implied-directories"],
)
def test_more_than_a_folder_holds_is_refused(data: bytes) -> None:
    with pytest.raises(UnkeptError, match="would not fit again into 262144 bytes and 100 files"):
        parse_folder(data, ROOM)


LONG_NAME = special("././@LongLink", tarfile.GNUTYPE_LONGNAME)
LONG_NAME.size = 512
CIRCLE = (LONG_NAME.tobuf(tarfile.GNU_FORMAT) + b"n" * 512) * 100 + bytes(1024)


@pytest.mark.parametrize("data", [b"", tar(("a", b"x"))[:512], tar(("a", b"x"))[:-2048] + b"x", CIRCLE])
def test_truncated_or_circular_data_is_refused(data: bytes) -> None:
    with pytest.raises(UnkeptError):
        parse_folder(data, Capacity(1 << 20, 2000))


@given(st.binary(max_size=3000))
def test_rubbish_is_refused_or_kept_but_never_worse(rubbish: bytes) -> None:
    _try(rubbish + bytes(1024))


@given(st.integers(0, 511), st.binary(min_size=1, max_size=24))
def test_a_header_with_anything_in_it_is_refused_or_kept_but_never_worse(at: int, bytes_: bytes) -> None:
    header = bytearray(tar(("name", b"content")))
    header[at : at + len(bytes_)] = bytes_
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header[:512])
    _try(bytes(header))


def _try(data: bytes) -> None:
    try:
        state, _ = parse_folder(data, ROOM)
    except UnkeptError:
        return
    assert state.fits(ROOM)
    assert all(not name.startswith(("/", "..")) for name in contents(state))


def test_hole_of_a_sparse_file_is_not_read() -> None:
    """2 KB that would become 400 MB."""
    sparse = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "hole"}
    member = tarfile.TarInfo("hole")
    member.pax_headers = {**sparse, "GNU.sparse.realsize": "400000000"}
    member.size = 512
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(member, io.BytesIO(b"0\n".ljust(512, b"\0")))

    archive, notes = parse_folder(buffer.getvalue(), Capacity(1 << 30, 100))
    assert (pack_folder({}), ("not kept: 1 links and special files, the first 'hole'",)) == (archive, notes)
