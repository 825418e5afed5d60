"""Archives are read in a box, and what leaves it is read again."""

import gzip
import zipfile
from pathlib import Path

import pytest

from judge.submissions.intake import IntakeLimits, TreeLimits, UnpackLimits
from judge.submissions.path_checks import RefusedError
from judge.submissions.trees import TaskHost, is_archive, name_of, stem_of, unpack_upload
from tests.attacks.uploads import tarred
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
@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "tar.xz", "tar.zst"])
def test_every_kind_of_archive_arrives(kind: str, task_host: TaskHost) -> None:
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
        (archives.overlapping(100, 50_000), "shares its bytes"),  # H2
        (gzip.compress(tarred(("z", bytes(8 * MIB)))), "so do bombs"),  # H2
        (archives.zst_bomb(15 * MIB), "so do bombs"),  # H2
        (tarred(("run", b""), mode=0o4755), "has a setuid, setgid or sticky bit"),  # H3
        (tarred(("a", b""), ("A", b"")), "on a file system without case"),  # H3
        (b"no archive at all", "it is no archive, but text or another file"),
        (zipped({}), "it holds no files"),
    ],
)
def test_hostile_input_is_refused_with_a_sentence(data: bytes, why: str, task_host: TaskHost) -> None:
    assert why in refusal(data, "bot.zip", task_host)


@pytest.mark.docker
def test_a_directory_of_a_million_members_needs_too_much_memory(task_host: TaskHost) -> None:
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


@pytest.mark.docker
def test_too_slow_operation_is_refused(task_host: TaskHost) -> None:
    upload = task_host.room / "upload"
    with zipfile.ZipFile(upload, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(64 * MIB))
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
        ("bot.rar", "archives are .zip, .tar"),
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
