"""Whatever bytes an archive has: a tree or a sentence, within a bound of work, also where the damage is inside it."""

import io
import json
import shutil
import sys
import tarfile
import tempfile
import zipfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from judge.submissions.intake import TreeLimits
from judge.submissions.path_checks import RefusedError
from judge.submissions.python_syntax import main as check_python
from judge.submissions.trees import receive_tree
from judge.submissions.unpack_in_box import REFUSED, main
from tests.attacks.uploads import special, tarred
from tests.examples import examples, sized
from tests.hostile import assert_bounded, byte_changes, cost
from tests.submissions.archives import PACKERS, zip_of_link, zipped

TREE = TreeLimits(total_bytes=200_000, file_bytes=100_000, entries=40, depth=6)
JOB = {"bounds": TREE.model_dump(), "ratio": 50, "ratio_from_bytes": 20_000}

STEPS, LEAST_STEPS = 300, 1_000_000
"""Lines of Python for each byte of an archive, and for any: it may become a million bytes of headers."""
MEMORY, MIN_MEMORY_BYTES = 200, 64 << 20
"""Bytes of memory for each byte of an archive, and for any: the window of a decompressor."""

INNER = zipped({"a/b": b"12345", "täst": bytes(300)})
TAR = tarred(
    ("bot/run", b"#!/bin/sh\n"),
    ("bot/" + "n" * 90 + "/" + "m" * 90, b"x" * 600),
    ("bot/täst", b""),
    ("bot/inner.zip", INNER),
    special("bot/link", tarfile.SYMTYPE, "run"),
    special("bot/hard", tarfile.LNKTYPE, "bot/run"),
    special("bot/data", tarfile.DIRTYPE),
    (".git/a", b"1"),
)
ARCHIVES = {
    "zip": zipped({"bot/": b"", "bot/run": b"#!/bin/sh\n", "bot/inner.zip": INNER, "bot/inner.tar": TAR[:2048]}),
    "stored zip": zipped({"a": b"12345", "b/c": bytes(100)}, compress_type=zipfile.ZIP_STORED),
    "zip with a link": zip_of_link("a", "b", {"b": b"1"}),
    **{kind: pack(TAR) for kind, pack in PACKERS.items() if kind != "tar.zst"},
}
PIECES = (
    b"",
    b"\0",
    b"\xff",
    b"\xff\xff\xff\xff",
    b"\0\0\0\0",
    b"PK\1\2",
    b"PK\3\4",
    b"PK\5\6",
    b"7777777",
    b"../",
    b"/",
)


def with_checksums(data: bytes) -> bytes:
    """A tar file in which each block that had a header has one whose checksum is right."""
    fixed = bytearray(data)
    for begin in range(0, len(TAR), 512):
        block = fixed[begin : begin + 512]
        if TAR[begin + 257 : begin + 262] == b"ustar" and len(block) == 512:
            block[148:156] = b" " * 8
            fixed[begin + 148 : begin + 156] = b"%06o\0 " % sum(block)
    return bytes(fixed)


def unpacked(folder: Path, data: bytes) -> tuple[int, bytes, str]:
    """The exit code, the stream and the words of the program that reads archives in a box."""
    (folder / "archive").write_bytes(data)
    (folder / "job.json").write_text(json.dumps({**JOB, "input": str(folder / "archive")}))
    out, err = io.BytesIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["unpack", str(folder / "job.json")])
        patch.setattr(sys, "stdout", io.TextIOWrapper(out))
        patch.setattr(sys, "stderr", err)
        code = main()
        sys.stdout.flush()
        return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("archives")


def damaged(kind: str) -> st.SearchStrategy[bytes]:
    """Damage to an archive; of one that is packed, also to what is packed."""
    plain = byte_changes(ARCHIVES[kind], PIECES)
    inside = byte_changes(TAR, PIECES).map(with_checksums)
    return plain | inside.map(PACKERS[kind]) if kind in PACKERS else plain


@pytest.mark.parametrize("kind", ARCHIVES)
@given(st.data())
@settings(max_examples=examples(sized(40, 100)))
def test_any_archive_is_unpacked_or_refused_in_a_sentence(kind: str, folder: Path, data: st.DataObject) -> None:
    archive = data.draw(damaged(kind))
    # The image has the library for these.
    assume(find_spec("zstandard") is not None or not archive.startswith(b"\x28\xb5\x2f\xfd"))
    ended: list[tuple[int, bytes, str]] = []

    steps, memory = cost(lambda: ended.append(unpacked(folder, archive)))

    code, stream, words = ended[0]
    assert code in (0, REFUSED)
    assert words.removesuffix("\n").isprintable()
    assert bool(words) or code == 0
    assert steps <= LEAST_STEPS + STEPS * len(archive)
    assert memory <= MIN_MEMORY_BYTES + MEMORY * len(archive)
    if code == 0:
        with tempfile.TemporaryDirectory() as name:
            receive_tree(io.BytesIO(stream), Path(name) / "tree", TREE)


@pytest.mark.parametrize("kind", ARCHIVES)
def test_an_undamaged_archive_is_unpacked(kind: str, folder: Path) -> None:
    assert 0 == unpacked(folder, ARCHIVES[kind])[0]


PYTHON = b"import os, a.b.c\nfrom . import helper as it\nfrom .a.b import c\ndef f(x):\n    return [x]\n"
WORDS = (
    b"",
    b"\0",
    b"\xff",
    b"(",
    b"[",
    b"{x:",
    b"import n",
    b"n",
    b".n",
    b"\n",
    b"  ",
    b"'",
    b'"""',
    b"9",
    b"lambda:",
)


@given(byte_changes(PYTHON, WORDS))
@example(PYTHON.replace(b".a.b", b".a" + b".n" * 1000))
@example(b"import " + b"a." * 1000 + b"a\n")
@example(b"from " + b"a." * 500 + b"a import " + b",".join(b"n%d" % n for n in range(1000)) + b"\n")
@settings(max_examples=examples(150))
def test_any_python_program_is_checked_or_refused_in_a_sentence(folder: Path, source: bytes) -> None:
    program = folder / "main.py"
    program.write_bytes(source)
    err, codes = io.StringIO(), list[int]()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["check", str(program)])
        patch.setattr(sys, "stderr", err)
        steps, memory = cost(lambda: codes.append(check_python()))

    assert (codes == [0]) == (err.getvalue() == "")
    assert steps <= 50_000 + STEPS * len(source)
    assert memory <= (8 << 20) + 2000 * len(source)


@given(st.data())
@settings(max_examples=examples(150))
def test_any_stream_out_of_a_box_is_received_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    stream = with_checksums(data.draw(byte_changes(TAR, PIECES)))
    target = tmp_path_factory.mktemp("tree") / "tree"

    def attempt() -> None:
        with suppress(RefusedError):
            receive_tree(io.BytesIO(stream), target, TREE)
        shutil.rmtree(target, ignore_errors=True)

    assert_bounded(attempt, len(stream))
