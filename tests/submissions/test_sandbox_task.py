"""What comes out of a box is read as if the box had been taken over."""

import io
import random
import re
import stat
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest

from judge.submissions.intake import TreeLimits
from judge.submissions.path_checks import RefusedError
from judge.submissions.trees import HERE, SHARED, receive_tree, root_of
from tests.attacks.uploads import special, tarred

LIMITS = TreeLimits(total_bytes=10_000, file_bytes=8_000, entries=10)


def gnu(*members: tuple[str, bytes] | tarfile.TarInfo, mode: int = 0o644) -> bytes:
    """A tar file as our own programs write it."""
    return tarred(*members, format=tarfile.GNU_FORMAT, mode=mode)


def received(data: bytes, tmp_path: Path) -> Path:
    receive_tree(io.BytesIO(data), tmp_path / "tree", LIMITS)
    return tmp_path / "tree"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_and_directories_arrive_with_plain_modes(tmp_path: Path) -> None:
    long = "d" * 90 + "/" + "n" * 90
    tree = received(gnu((long, b"x" * 700), special("e", tarfile.DIRTYPE), mode=0o4711), tmp_path)

    assert b"x" * 700 == (tree / long).read_bytes()
    assert [0o755] * 3 == [mode_of(path) for path in (tree, tree / "e", tree / long)]


@pytest.mark.parametrize(
    "data",
    [
        gnu(("../up", b"x")),
        gnu(("/tmp/up", b"x")),
        gnu(special("link", tarfile.SYMTYPE, "/etc/passwd")),
        gnu(special("link", tarfile.LNKTYPE, "a")),
        gnu(special("device", tarfile.CHRTYPE)),
        gnu(special("pipe", tarfile.FIFOTYPE)),
        gnu(special("sparse", tarfile.GNUTYPE_SPARSE)),
        gnu(("a", b"1"), ("a", b"2")),
        gnu(("a", b"1"), ("A", b"2")),
        gnu(("a", b"1"), ("a/b", b"2")),
        gnu(("large", bytes(8_001))),
        gnu(("a", bytes(6_000)), ("b", bytes(6_000))),
        gnu(*((str(number), b"") for number in range(11))),
        tarred(("é" * 60, b"x"), format=tarfile.PAX_FORMAT),
        gnu(("long" * 200, b"x")),
        gnu(("a", b"1"))[:700],
        gnu(("a", b"1"))[:1024],
        gnu(("a", b"1")) + b"more",
        gnu(("a", b"1")).replace(b"ustar", b"wrong"),
        b"no tar file, but longer than a block" * 100,
        b"",
    ],
)
def test_anything_else_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(RefusedError):
        received(data, tmp_path)

    assert not (tmp_path / "up").exists()


def test_bytes_that_were_changed_are_read_or_refused_and_nothing_else(tmp_path: Path) -> None:
    chance = random.Random(9)
    whole = gnu(("d" * 90 + "/" + "n" * 90, b"x" * 700), special("e", tarfile.DIRTYPE), ("f", b""))
    for number in range(500):
        data = bytearray(whole)
        header = bytearray(data[:512])
        for _ in range(chance.randint(1, 3)):
            at = chance.choice([chance.randrange(len(data)), chance.randrange(512)])
            data[at] = chance.randrange(256)
        header = data[:512]
        header[148:156] = b" " * 8
        data[148:156] = b"%06o\0 " % sum(header)
        with suppress(RefusedError):
            receive_tree(io.BytesIO(bytes(data)), tmp_path / str(number), LIMITS)

    assert {str(number) for number in range(500)} >= {path.name for path in tmp_path.iterdir()}


def test_an_archive_that_is_one_directory_counts_as_that(tmp_path: Path) -> None:
    tree = received(gnu(("bot/in/a", b""), ("__MACOSX/._a", b""), (".DS_Store", b"")), tmp_path)

    assert tree / "bot" / "in" == root_of(tree)


@pytest.mark.parametrize("program", ["unpack_in_box.py", "build_in_box.py"])
def test_a_program_in_a_box_finds_every_module_of_ours_that_it_imports(program: str) -> None:
    pending = [HERE / program]
    found: set[str] = set()
    while pending:
        text = pending.pop().read_text(encoding="utf-8")
        names = {f"{name.replace('.', '/')}.py" for name in re.findall(r"(?m)^from judge\.([\w.]+) import", text)}
        pending += [HERE.parent / name for name in names - found]
        found |= names

    assert found
    assert found <= set(SHARED)
