"""What an archive may hold: each trick that archives have been used for is refused, with the member's name."""

import gzip
import io
import lzma
import random
import struct
import tarfile
import unicodedata
import zlib
from pathlib import Path

import pytest

from judge.submissions.intake import IntakeLimits, TreeLimits, UnpackLimits
from judge.submissions.path_checks import RefusedError
from judge.submissions.unpack_in_box import MALFORMED, extract
from tests.attacks.uploads import special, tarred
from tests.submissions import archives
from tests.submissions.archives import zip_of_link, zipped

MIB = 1 << 20
LIMITS = IntakeLimits(
    tree=TreeLimits(total_bytes=4 * MIB, file_bytes=3 * MIB, entries=50, depth=4, name_bytes=40),
    unpack=UnpackLimits(ratio=50, ratio_from_bytes=1 * MIB),
)


def extracted(data: bytes, tmp_path: Path) -> dict[str, tuple[int, bytes]]:
    """The files that an archive is taken for, with their modes."""
    path = tmp_path / "archive"
    path.write_bytes(data)
    out = io.BytesIO()
    job = {
        "bounds": LIMITS.tree.model_dump(),
        "ratio": LIMITS.unpack.ratio,
        "ratio_from_bytes": LIMITS.unpack.ratio_from_bytes,
    }
    with path.open("rb") as archive:
        extract(archive, out, job)
    out.seek(0)
    with tarfile.open(fileobj=out) as tar:
        return {
            member.name: (member.mode, content.read() if content else b"")
            for member in tar
            for content in [tar.extractfile(member)]
        }


def refusal(data: bytes, tmp_path: Path) -> str:
    """Why an archive is refused."""
    with pytest.raises(RefusedError) as caught:
        extracted(data, tmp_path)
    return str(caught.value)


# --- what is taken ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.xz"])
def test_a_tar_file_is_taken(kind: str, tmp_path: Path) -> None:
    data = archives.PACKERS[kind](tarred(("./bot/run", b"\x7fELF"), special("bot/data", tarfile.DIRTYPE), mode=0o755))

    assert {"bot/run": (0o755, b"\x7fELF"), "bot/data": (0o755, b"")} == extracted(data, tmp_path)


def test_a_zip_file_is_taken(tmp_path: Path) -> None:
    data = zipped({"bot/": b"", "bot/täst": b"x" * 5000, "readme": b""})

    assert {"bot": (0o755, b""), "bot/täst": (0o644, b"x" * 5000), "readme": (0o644, b"")} == (
        extracted(data, tmp_path)
    )


def test_an_executable_file_of_a_zip_stays_one(tmp_path: Path) -> None:
    data = zipped({"run": b"#!"}, external_attr=0o100755 << 16)

    assert {"run": (0o755, b"#!")} == extracted(data, tmp_path)


def test_an_archive_in_an_archive_stays_closed(tmp_path: Path) -> None:
    """As in 42.zip: what is nested is a file like any other."""
    inner = zipped({"bomb": bytes(2 * MIB)})

    assert {"inner.zip": (0o644, inner)} == extracted(zipped({"inner.zip": inner}), tmp_path)


# --- H1: names that lead out -----------------------------------------------------------------------------------------

NAMES = {
    "/etc/passwd": "is an absolute path",
    "../up": "leads out of the archive",
    "a/../../up": "leads out of the archive",
    "..": "leads out of the archive",
    "..\\up": "has a backslash",
    "C:\\x": "has a backslash",
    "C:x": "has a colon",
    "a//b": "has an empty name in it",
    "line\nbreak": "has characters that cannot be printed",
    "red\x1b[31m": "has characters that cannot be printed",
    "\u202egnp.exe": "has characters that cannot be printed",
    "a./b": "ends with a dot",
    "a /b": "ends with a space",
    "aux": "is a device name of Windows",
    "a/Con.txt": "is a device name of Windows",
    "LPT1.tar.gz": "is a device name of Windows",
    "a/b/c/d/e": "deeper than 4 names",
    "x" * 41: "has a name of more than 40 bytes",
}


@pytest.mark.parametrize("name", NAMES, ids=ascii)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_invalid_name_is_refused(kind: str, name: str, tmp_path: Path) -> None:
    data = zipped({name: b"x"}) if kind == "zip" else tarred((name, b"x"))

    said = refusal(data, tmp_path)

    assert NAMES[name] in said
    assert said.isprintable()


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (tarfile.CHRTYPE, "a device"),
        (tarfile.BLKTYPE, "a device"),
        (tarfile.FIFOTYPE, "a named pipe"),
        (b"Z", "neither a file nor a directory"),
    ],
)
def test_special_file_is_refused(kind: bytes, what: str, tmp_path: Path) -> None:
    data = tarred(("ok", b"x"), special("bad", kind, "/etc/passwd"))

    assert f"'bad' is {what}; pack files and directories" == refusal(data, tmp_path)


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    data = tarred(special("d", tarfile.SYMTYPE, "/tmp"), ("d/judge-was-here", b"x"))

    assert "'d' is a link that leads out of the archive" == refusal(data, tmp_path)
    assert not Path("/tmp/judge-was-here").exists()


@pytest.mark.parametrize(
    ("attributes", "what"),
    [
        (archives.SYMLINK, "a link that leads out of the archive"),
        (archives.FIFO, "neither a file nor a directory"),
        (0o040755 << 16, "both a file and a directory"),
    ],
)
def test_in_a_zip_file_neither(attributes: int, what: str, tmp_path: Path) -> None:
    data = zipped({"bad": b"/etc/passwd"}, external_attr=attributes)

    assert f"'bad' is {what}" in refusal(data, tmp_path)


LINKED = (
    ("a/info", b"run.py"),
    special("a/shared.py", tarfile.SYMTYPE, "../b/shared.py"),
    special("a/again.py", tarfile.SYMTYPE, "./shared.py"),
    special("a/hard.py", tarfile.LNKTYPE, "b/shared.py"),
    ("b/shared.py", b"#!/usr/bin/python"),
)


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.xz"])
def test_a_link_is_a_copy_of_the_file_of_the_archive_that_it_leads_to(kind: str, tmp_path: Path) -> None:
    found = extracted(archives.PACKERS[kind](tarred(*LINKED, mode=0o755)), tmp_path)

    shared = (0o755, b"#!/usr/bin/python")
    assert dict.fromkeys(("a/shared.py", "a/again.py", "a/hard.py", "b/shared.py"), shared) == {
        name: file for name, file in found.items() if name != "a/info"
    }


def test_link_in_a_zip_file_is_a_link(tmp_path: Path) -> None:
    data = zip_of_link("a/link", "../b/file", {"b/file": b"x"})

    assert {"a/link": (0o644, b"x"), "b/file": (0o644, b"x")} == extracted(data, tmp_path)


@pytest.mark.parametrize(
    ("target", "kind", "why"),
    [
        ("/etc/passwd", tarfile.SYMTYPE, "leads out of the archive"),
        ("../../etc/passwd", tarfile.SYMTYPE, "leads out of the archive"),
        ("../ok/../../x", tarfile.SYMTYPE, "leads out of the archive"),
        ("../ok", tarfile.LNKTYPE, "leads out of the archive"),
        ("..", tarfile.SYMTYPE, "which is not a file of the archive"),
        ("../ok", tarfile.SYMTYPE, "which is not a file of the archive"),
        ("gone", tarfile.SYMTYPE, "which is not a file of the archive"),
        ("bad", tarfile.SYMTYPE, "which is not a file of the archive"),
        ("\x1b[2J", tarfile.SYMTYPE, "which is not a file of the archive"),
    ],
)
def test_a_link_to_anything_else_is_refused(target: str, kind: bytes, why: str, tmp_path: Path) -> None:
    said = refusal(tarred(("ok/file", b"x"), special("d/bad", kind, target)), tmp_path)

    assert "'d/bad' is a link" in said
    assert why in said
    assert said.isprintable()


def test_links_to_one_file_are_counted_as_files(tmp_path: Path) -> None:
    links = [special(f"link{number}", tarfile.SYMTYPE, "big") for number in range(5)]

    assert "becomes more than" in refusal(tarred(("big", random.randbytes(MIB)), *links), tmp_path)


# --- H2: bombs -------------------------------------------------------------------------------------------------------

ZEROS = tarred(("zeros", bytes(3 * MIB)))


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gz", "xz"])
def test_a_packed_bomb_is_refused(pack: type[bytes], tmp_path: Path) -> None:
    assert "so do bombs" in refusal(pack(ZEROS), tmp_path)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gz", "xz"])
def test_a_bomb_that_never_ends_its_first_header_is_refused(pack: type[bytes], tmp_path: Path) -> None:
    """A name of a gigabyte: what reads headers would keep it."""
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 1 << 30
    data = header.tobuf(tarfile.GNU_FORMAT) + b"a" * (20 * MIB)

    assert "too large when it is unpacked" in refusal(pack(data), tmp_path)


def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    assert "50 times as large: so do bombs" in refusal(zipped({"z": bytes(3 * MIB)}), tmp_path)


def test_members_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    data = archives.overlapping(40, 10_000)

    assert "shares its bytes with another member" in refusal(data, tmp_path)


def test_more_members_than_there_may_be_are_refused(tmp_path: Path) -> None:
    many = {f"f{number}": b"" for number in range(51)}

    assert "more than 50 files and directories" in refusal(zipped(many), tmp_path)
    assert "more than 50 files and directories" in refusal(tarred(*many.items()), tmp_path)


def test_directories_that_only_stand_in_paths_count(tmp_path: Path) -> None:
    deep = {f"d{number}/a/b/f": b"" for number in range(13)}

    assert "more than 50 files and directories" in refusal(zipped(deep), tmp_path)


def test_sizes_count_as_they_are_declared(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(3 * MIB)

    assert "a file may have" in refusal(archives.lying(1 << 31), tmp_path)
    assert "'b' it becomes more than 4194304 bytes" in refusal(tarred(("a", noise), ("b", noise)), tmp_path)


@pytest.mark.parametrize("size", [3, 100])
def test_a_size_that_is_a_lie_is_refused(size: int, tmp_path: Path) -> None:
    with pytest.raises((RefusedError, *MALFORMED)):
        extracted(archives.lying(size), tmp_path)


# --- H3: names that are two, files that are more ----------------------------------------------------------------------

PAIRS = {
    ("a", "a"): "is in it twice",
    ("a", "A"): "are one name on a file system without case",
    ("Dir/a", "dir/b"): "are one name on a file system without case",
    ("straße", "STRASSE"): "are one name on a file system without case",
    ("caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9")): "are one name",
    ("a", "a/b"): "is both a file and a directory",
    ("a/b", "a"): "is both a file and a directory",
    ("a", "./a"): "is in it twice",
}


@pytest.mark.parametrize("pair", PAIRS, ids=ascii)
@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_names_for_one_place_are_refused(kind: str, pair: tuple[str, str], tmp_path: Path) -> None:
    data = archives.zip_twice(*pair) if kind == "zip" else tarred(*((one, b"x") for one in pair))

    assert PAIRS[pair] in refusal(data, tmp_path)


def test_undeclared_utf_8_name_is_read(tmp_path: Path) -> None:
    """As zip packs it under the C locale; the two names of a member are still compared."""
    packed = archives.renamed(zipped({"abcd": b"x"}), b"abcd", "\u4ecbz".encode())

    assert ["\u4ecbz"] == list(extracted(packed, tmp_path))


FOREIGN_NAMES = {
    "gbk": "说明",
    "cp866": "Прочти",
    "cp437": "Münze",
    "shift_jis": "ソ表",  # with the backslash of ASCII in each letter
    "latin-1": "\xa0é\xff",
}


@pytest.mark.parametrize("encoding", FOREIGN_NAMES)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_name_in_an_unknown_encoding_does_not_refuse_the_archive(kind: str, encoding: str, tmp_path: Path) -> None:
    raw = FOREIGN_NAMES[encoding].encode(encoding)
    plain = "x" * len(raw)
    if kind == "zip":
        data = archives.renamed(zipped({plain: b"1", "main.py": b"2"}), plain.encode(), raw)
    else:
        tar = tarred((plain, b"1"), ("main.py", b"2"), format=tarfile.USTAR_FORMAT)
        data = _checksummed(archives.renamed(tar, plain.encode(), raw))

    files = extracted(data, tmp_path)

    other, main = sorted(files, key="main.py".__eq__)
    assert ("main.py", [b"1", b"2"]) == (main, [files[name][1] for name in (other, main)])
    assert other.isprintable()


def with_unicode_path(name: bytes, path: str, of: bytes | None = None) -> bytes:
    """A zip file whose member is called `name`, with the field of its name in Unicode, for the name `of`."""
    field = b"\1" + zlib.crc32(name if of is None else of).to_bytes(4, "little") + path.encode()
    extra = struct.pack("<HHHH", 0x4242, 0, 0x7075, len(field)) + field
    plain = b"y" * len(name)
    return archives.renamed(zipped({plain.decode(): b"x"}, extra=extra), plain, name)


def test_the_unicode_path_of_a_member_is_its_name(tmp_path: Path) -> None:
    name = "说明.txt".encode("gbk")

    assert ["说明.txt"] == list(extracted(with_unicode_path(name, "说明.txt"), tmp_path))
    for other in (with_unicode_path(name, "说明.txt", of=b"other"), with_unicode_path(b"main.py", "other.py")):
        assert ["说明.txt"] != list(extracted(other, tmp_path))


def test_a_unicode_path_is_held_to_the_same_rules(tmp_path: Path) -> None:
    assert "leads out of the archive" in refusal(with_unicode_path("说".encode("gbk"), "../说"), tmp_path)


def test_backslashes_of_windows_are_slashes(tmp_path: Path) -> None:
    files = {"mine\\": b"", "mine\\main.py": b"1", "mine\\lib\\brain.py": b"2"}

    found = extracted(zipped(files, create_system=0), tmp_path)

    assert {"mine", "mine/main.py", "mine/lib/brain.py"} == set(found)
    assert "leads out of the archive" in refusal(zipped({"..\\up": b"x"}, create_system=0), tmp_path)


def test_backslashes_of_other_systems_are_refused_with_the_way_out(tmp_path: Path) -> None:
    said = refusal(zipped({"mine\\main.py": b"1"}), tmp_path)
    assert "PowerShell 7" in said


def _checksummed(tar: bytes) -> bytes:
    """A tar file whose first header was changed, with its checksum fixed."""
    block = bytearray(tar[:512])
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + tar[512:]


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o1755])
def test_bits_that_give_rights_are_refused(mode: int, tmp_path: Path) -> None:
    why = "'run' has a setuid, setgid or sticky bit; take it off"

    assert why == refusal(tarred(("run", b"x"), mode=mode), tmp_path)
    assert why == refusal(zipped({"run": b"x"}, external_attr=(0o100000 | mode) << 16), tmp_path)


def test_a_sparse_file_is_refused(tmp_path: Path) -> None:
    gnu = special("holes", tarfile.GNUTYPE_SPARSE)

    assert "'holes' is a sparse file" in refusal(archives.sparse_pax(), tmp_path)
    assert "'holes' is a sparse file" in refusal(tarred(gnu, format=tarfile.GNU_FORMAT), tmp_path)


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    assert "'secret' is encrypted; pack without a password" == refusal(archives.encrypted(), tmp_path)


def test_a_method_that_few_know_is_refused(tmp_path: Path) -> None:
    data = zipped({"a": b"x"}, compress_type=14)  # LZMA

    assert "'a' is packed by LZMA; pack it again with Deflate" in refusal(data, tmp_path)


# --- bookkeeping -----------------------------------------------------------------------------------------------------

COMPANION = b"\x00\x05\x16\x07" + bytes(100)
LITTER: archives.Files = {
    "mine/._main.py": COMPANION,
    "._agent.toml": COMPANION,
    "__MACOSX/mine/._main.py": COMPANION,
    ".DS_Store": b"x",
    "mine/.git/HEAD": b"x",
    ".git/a/b/c/d/e/f/g": b"x",  # deeper than a path may be
    ".git/aux": b"x",
    "mine/__pycache__/main.cpython-311.pyc": b"x",
    "mine/.gitignore": b"x",
    "Thumbs.db": b"x",
    ".svn/entries": b"x",
}


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_bookkeeping_is_left_out(kind: str, tmp_path: Path) -> None:
    files = LITTER | {"mine/main.py": b"1", "mine/._own": b"2", "mine/.hidden": b"3", "mine/gitignore": b"4"}
    data = zipped(files) if kind == "zip" else archives.PACKERS[kind](tarred(*files.items()))

    found = {name: content for name, (_, content) in extracted(data, tmp_path).items()}

    assert {name: content for name, content in files.items() if name not in LITTER} == found


def test_bookkeeping_does_not_count(tmp_path: Path) -> None:
    files = {f".git/objects/{number}": b"x" for number in range(60)} | {"main.py": b"1"}

    assert ["main.py"] == list(extracted(zipped(files), tmp_path))
    assert ["main.py"] == list(extracted(tarred(*files.items()), tmp_path))


# --- files that are no archives ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"Rar!\x1a\x07\x01\x00", "it is a RAR archive: send a .zip, a .tar.gz, or one program"),
        (b"7z\xbc\xaf\x27\x1c\0\4", "it is a 7z archive"),
        (b"BZh91AY&SY", "it is packed by bzip2"),
        (b"\n<!DOCTYPE html><html>", "it is a page of HTML"),
        (b"\xef\xbb\xbf<HTML>", "it is a page of HTML"),
        (b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nPK', "it is a form with a file in it"),
        (b'{"message": "Not Found"}', "it is JSON text"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "it is a pointer of Git LFS"),
        (b"\x7fELF\2\1\1", "it is a Linux program, not an archive"),
        (b"%PDF-1.7", "it is a PDF document"),
        (b"", "it is empty"),
    ],
)
def test_a_file_under_a_wrong_name_is_named(data: bytes, what: str, tmp_path: Path) -> None:
    assert what in refusal(data, tmp_path)


# --- whatever else it is ----------------------------------------------------------------------------------------------


def test_bytes_that_were_changed_are_read_or_refused_and_nothing_else(tmp_path: Path) -> None:
    chance = random.Random(8)
    whole = [
        zipped({"a/b": b"12345", "c": bytes(2000)}),
        tarred(("a/b", b"12345"), ("x" * 40, b"")),
        gzip.compress(tarred(("a", b"1"))),
        lzma.compress(tarred(("a", b"1"))),
    ]
    for _ in range(400):
        data = bytearray(chance.choice(whole))
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        cut = bytes(data[: chance.choice([len(data), chance.randrange(len(data))])])
        try:
            files = extracted(cut, tmp_path)
        except (RefusedError, *MALFORMED):
            continue
        assert all(not name.startswith(("/", "..")) for name in files)


ZIP = zipped({"bot/main.py": b"print()\n" * 20})


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (ZIP[:-10], "a zip archive that was cut short: send it again"),
        (ZIP[:60], "a zip archive that was cut short: send it again"),
        (gzip.compress(ZIP), "a file of zip that is packed once more: send the inner file"),
        (lzma.compress(gzip.compress(b"x")), "a file of gzip that is packed once more: send the inner file"),
        (gzip.compress(b"print()\n" * 100), "one packed file, and no archive"),
        (b"print()\n" * 100, "no archive, but text or another file: send a .zip"),
        (zipped({}), "it holds no files"),
        (zipped({"bot/": b""}), "it holds no files"),
        (bytes(10240), "it holds no files"),
        (tarred(special("bot", tarfile.DIRTYPE)), "it holds no files"),
    ],
)
def test_upload_without_an_archive_of_files_is_refused_by_its_kind(data: bytes, what: str, tmp_path: Path) -> None:
    assert what in refusal(data, tmp_path)
