"""Archives are read in a box, and what leaves it is read again."""

import io
import stat
import tarfile
from pathlib import Path

import pytest

from judge.submissions.intake import IntakeLimits, TreeLimits, UnpackLimits
from judge.submissions.path_checks import RefusedError
from judge.submissions.trees import (
    TaskHost,
    is_archive,
    name_of,
    receive_tree,
    root_of,
    stem_of,
    unpack_upload,
)
from tests.attacks.uploads import special, tarred
from tests.submissions import archives
from tests.submissions.archives import zipped

MIB = 1 << 20
LIMITS = IntakeLimits(
    tree=TreeLimits(total_bytes=16 * MIB, file_bytes=16 * MIB, entries=200),
    unpack=UnpackLimits(ratio=100, ratio_from_bytes=MIB, seconds=30, memory_bytes=128 * MIB),
)
FILES = {"bot/run": b"\x7fELF", "bot/book": b"h8" * 5000}


def unpacked(data: bytes, filename: str, task_host: TaskHost) -> Path:
    upload = task_host.room / "upload"
    upload.write_bytes(data)
    unpack_upload(upload, filename, task_host.room / "tree", LIMITS, task_host)
    return task_host.room / "tree"


def refusal(data: bytes, filename: str, task_host: TaskHost) -> str:
    with pytest.raises(RefusedError) as caught:
        unpacked(data, filename, task_host)
    assert not (task_host.room / "tree").exists() or not list((task_host.room / "tree").iterdir())
    return str(caught.value)


@pytest.mark.docker
@pytest.mark.parametrize("kind", ["zip", "tar.zst"])
def test_an_archive_arrives(kind: str, task_host: TaskHost) -> None:
    pack = archives.PACKERS.get(kind)
    data = pack(tarred(*FILES.items())) if pack else zipped(FILES)

    tree = unpacked(data, f"My Bot.{kind.upper()}", task_host)

    found = {p.relative_to(tree).as_posix(): p.read_bytes() for p in tree.rglob("*") if p.is_file()}
    assert FILES == found


@pytest.mark.docker
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (zipped({"../up": b"x"}), "'../up' leads out of the archive"),  # H1
        (archives.zst_bomb(15 * MIB), "so do bombs"),  # H2
    ],
)
def test_hostile_input_is_refused_with_a_sentence(data: bytes, why: str, task_host: TaskHost) -> None:
    assert why in refusal(data, "bot.zip", task_host)


@pytest.mark.docker
def test_upload_that_needs_too_much_memory_or_time_is_refused(task_host: TaskHost) -> None:
    """The standard library reads all of a zip file's directory before anybody can look at it."""
    frugal = IntakeLimits(unpack=UnpackLimits(memory_bytes=64 * MIB))
    name = b"n" * 20
    entry = b"PK\1\2" + bytes(24) + len(name).to_bytes(2, "little") + bytes(16) + name
    directory = entry * 300_000
    end = b"PK\5\6" + bytes(8) + len(directory).to_bytes(4, "little") + bytes(6)

    upload = task_host.room / "upload"
    upload.write_bytes(b"PK\3\4" + bytes(26) + directory + end)

    with pytest.raises(RefusedError, match="it takes more than 67108864 bytes of memory"):
        unpack_upload(upload, "bot.zip", task_host.room / "tree", frugal, task_host)

    upload.write_bytes(zipped({"zeros": bytes(64 * MIB)}))
    generous = IntakeLimits(unpack=UnpackLimits(ratio=10_000, seconds=0.01))

    with pytest.raises(RefusedError, match=r"it takes more than 0.01 s to unpack"):
        unpack_upload(upload, "bot.zip", task_host.room / "tree", generous, task_host)


def test_file_without_an_archive_suffix_is_one_file(room: Path) -> None:
    task_host = TaskHost(None, (), room)  # type: ignore[arg-type]

    tree = unpacked(zipped(FILES), "C:\\bots\\mine.jar", task_host)

    assert ["mine.jar"] == [path.name for path in tree.iterdir()]


@pytest.mark.parametrize(
    ("filename", "why"),
    [
        ("bot.c.gz", "archives are .zip, .tar"),
        ("con.py", "a device name of Windows"),
        ("", "has an empty name"),
        ("..", "leads out"),
        ("a\nb", "cannot be printed"),
        ("a" * 200, "more than 128 bytes"),
    ],
)
def test_a_file_has_a_name_as_a_member_has(filename: str, why: str, room: Path) -> None:
    with pytest.raises(RefusedError, match=why):
        unpacked(b"x", filename, TaskHost(None, (), room))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("filename", "name", "stem", "archive"),
    [
        ("C:\\a\\bot-1.2.tar.gz", "bot-1.2.tar.gz", "bot-1.2", True),
        ("/x/bot.ZIP", "bot.ZIP", "bot", True),
        ("bot.py", "bot.py", "bot", False),
        (".tar", ".tar", "", True),
    ],
)
def test_names_of_uploads(filename: str, name: str, stem: str, archive: bool) -> None:
    assert (name, stem, archive) == (name_of(filename), stem_of(filename), is_archive(filename))


STREAM_LIMITS = TreeLimits(total_bytes=10_000, file_bytes=8_000, entries=10)


def gnu(*members: tuple[str, bytes] | tarfile.TarInfo, mode: int = 0o644) -> bytes:
    """A tar file as our own programs write it."""
    return tarred(*members, format=tarfile.GNU_FORMAT, mode=mode)


def received(data: bytes, tmp_path: Path) -> Path:
    receive_tree(io.BytesIO(data), tmp_path / "tree", STREAM_LIMITS)
    return tmp_path / "tree"


def test_files_and_directories_arrive_with_plain_modes(tmp_path: Path) -> None:
    long = "d" * 90 + "/" + "n" * 90
    tree = received(gnu((long, b"x" * 700), special("e", tarfile.DIRTYPE), mode=0o4711), tmp_path)

    assert b"x" * 700 == (tree / long).read_bytes()
    assert [0o755] * 3 == [stat.S_IMODE(path.stat().st_mode) for path in (tree, tree / "e", tree / long)]


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
        gnu(("\udcff", b"x")),
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


def test_an_archive_that_is_one_directory_counts_as_that(tmp_path: Path) -> None:
    tree = received(gnu(("bot/in/a", b""), ("__MACOSX/._a", b""), (".DS_Store", b"")), tmp_path)

    assert tree / "bot" / "in" == root_of(tree)
