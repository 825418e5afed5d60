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
from tests.submissions.archives import zip_of_link, zip_of_members, zipped

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


def with_unicode_path(name: bytes, path: str, of: bytes | None = None) -> bytes:
    """A zip file whose member is called `name`, with the field of its name in Unicode, for the name `of`."""
    field = b"\1" + zlib.crc32(name if of is None else of).to_bytes(4, "little") + path.encode()
    extra = struct.pack("<HHHH", 0x4242, 0, 0x7075, len(field)) + field
    plain = b"y" * len(name)
    return archives.renamed(zipped({plain.decode(): b"x"}, extra=extra), plain, name)


LINKED = (
    ("a/info", b"run.py"),
    special("a/shared.py", tarfile.SYMTYPE, "../b/shared.py"),
    special("a/again.py", tarfile.SYMTYPE, "./shared.py"),
    special("a/hard.py", tarfile.LNKTYPE, "b/shared.py"),
    ("b/shared.py", b"#!/usr/bin/python"),
    special("data", tarfile.DIRTYPE),
)


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.xz"])
def test_a_tar_file_is_taken_and_a_link_is_a_copy_of_its_file(kind: str, tmp_path: Path) -> None:
    found = extracted(archives.PACKERS[kind](tarred(*LINKED, mode=0o755)), tmp_path)

    shared = dict.fromkeys(("a/shared.py", "a/again.py", "a/hard.py", "b/shared.py"), (0o755, b"#!/usr/bin/python"))
    assert {"a/info": (0o755, b"run.py"), "data": (0o755, b""), **shared} == found


NESTED = zipped({"bomb": bytes(2 * MIB)})
ZIPS: dict[str, tuple[bytes, dict[str, tuple[int, bytes]]]] = {
    "files and directories": (
        zipped({"bot/": b"", "bot/täst": b"x" * 5000, "readme": b""}),
        {"bot": (0o755, b""), "bot/täst": (0o644, b"x" * 5000), "readme": (0o644, b"")},
    ),
    "an executable file": (zipped({"run": b"#!"}, external_attr=0o100755 << 16), {"run": (0o755, b"#!")}),
    "a link": (
        zip_of_link("a/link", "../b/file", {"b/file": b"x"}),
        {"a/link": (0o644, b"x"), "b/file": (0o644, b"x")},
    ),
    # As in 42.zip: what is nested is a file like any other.
    "an archive in an archive": (zipped({"inner.zip": NESTED}), {"inner.zip": (0o644, NESTED)}),
    "backslashes of Windows": (
        zipped({"mine\\": b"", "mine\\lib\\brain.py": b"2"}, create_system=0),
        {"mine": (0o755, b""), "mine/lib/brain.py": (0o644, b"2")},
    ),
    # As zip packs it under the C locale; the two names of a member are still compared.
    "UTF-8 that is not declared": (
        archives.renamed(zipped({"abcd": b"x"}), b"abcd", "\u4ecbz".encode()),
        {"\u4ecbz": (0o644, b"x")},
    ),
}


@pytest.mark.parametrize("case", ZIPS)
def test_a_zip_file_is_taken(case: str, tmp_path: Path) -> None:
    data, files = ZIPS[case]

    assert files == extracted(data, tmp_path)


NAMES = {  # H1: names that lead out
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
PAIRS: dict[tuple[str, ...], str] = {  # H3: names that are two, files that are more
    ("a", "a"): "is in it twice",
    ("a", "A"): "are one name on a file system without case",
    ("Dir/a", "dir/b"): "are one name on a file system without case",
    ("straße", "STRASSE"): "are one name on a file system without case",
    ("caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9")): "are one name",
    ("a", "a/b"): "is both a file and a directory",
    ("a/b", "a"): "is both a file and a directory",
    ("a", "./a"): "is in it twice",
}


@pytest.mark.parametrize("names", [*((name,) for name in NAMES), *PAIRS], ids=ascii)
@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_invalid_or_double_name_is_refused(kind: str, names: tuple[str, ...], tmp_path: Path) -> None:
    members = [(name, b"x") for name in names]

    said = refusal(zip_of_members(*members) if kind == "zip" else tarred(*members), tmp_path)

    assert (PAIRS.get(names) or NAMES[names[0]]) in said
    assert said.isprintable()


SPECIAL = {
    tarfile.CHRTYPE: "'bad' is a device; pack files and directories",
    tarfile.BLKTYPE: "'bad' is a device; pack files and directories",
    tarfile.FIFOTYPE: "'bad' is a named pipe; pack files and directories",
    b"Z": "'bad' is neither a file nor a directory; pack files and directories",
    tarfile.GNUTYPE_SPARSE: "'bad' is a sparse file",
}
IN_ZIP = {
    archives.SYMLINK: "'bad' is a link that leads out of the archive",
    archives.FIFO: "'bad' is neither a file nor a directory",
    0o040755 << 16: "'bad' is both a file and a directory",
}
LINKS = (  # beside a file ok/file
    ("/etc/passwd", tarfile.SYMTYPE, "leads out of the archive"),
    ("../../etc/passwd", tarfile.SYMTYPE, "leads out of the archive"),
    ("../ok/../../x", tarfile.SYMTYPE, "leads out of the archive"),
    ("../ok", tarfile.LNKTYPE, "leads out of the archive"),
    ("..", tarfile.SYMTYPE, "which is not a file of the archive"),
    ("../ok", tarfile.SYMTYPE, "which is not a file of the archive"),
    ("gone", tarfile.SYMTYPE, "which is not a file of the archive"),
    ("bad", tarfile.SYMTYPE, "which is not a file of the archive"),
    ("\x1b[2J", tarfile.SYMTYPE, "which is not a file of the archive"),
)
RIGHTS = "'run' has a setuid, setgid or sticky bit; take it off"

ZEROS = tarred(("zeros", bytes(3 * MIB)))
LONG_NAME = special("././@LongLink", tarfile.GNUTYPE_LONGNAME)
LONG_NAME.size = 1 << 30
ENDLESS_HEADER = LONG_NAME.tobuf(tarfile.GNU_FORMAT) + b"a" * (20 * MIB)
"""A name of a gigabyte: what reads headers would keep it."""
NOISE = random.Random(1).randbytes(3 * MIB)
MANY = {f"f{number}": b"" for number in range(51)}

ZIP = zipped({"bot/main.py": b"print()\n" * 20})
TWO = zipped({"a": b"1", "b": b"2"})

REFUSED: list[tuple[str, bytes, str]] = [
    *(
        (f"member {kind!r}", tarred(("ok", b"x"), special("bad", kind), format=tarfile.GNU_FORMAT), why)
        for kind, why in SPECIAL.items()
    ),
    *(
        (f"attributes {bits:o}", zipped({"bad": b"/etc/passwd"}, external_attr=bits), why)
        for bits, why in IN_ZIP.items()
    ),
    *(
        (f"link {kind!r} {target!a}", tarred(("ok/file", b"x"), special("d/bad", kind, target)), why)
        for target, kind, why in LINKS
    ),
    *((f"tar {mode:o}", tarred(("run", b"x"), mode=mode), RIGHTS) for mode in (0o4755, 0o2755, 0o1755)),
    *(
        (f"zip {mode:o}", zipped({"run": b"x"}, external_attr=(0o100000 | mode) << 16), RIGHTS)
        for mode in (0o4755, 0o2755, 0o1755)
    ),
    ("sparse in PAX", archives.sparse_pax(), "'holes' is a sparse file"),
    ("encrypted", archives.encrypted(), "'secret' is encrypted; pack without a password"),
    ("LZMA", zipped({"a": b"x"}, compress_type=14), "'a' is packed by LZMA; pack it again with Deflate"),
    ("backslashes", zipped({"mine\\main.py": b"1"}), "PowerShell 7"),
    ("backslashes of Windows", zipped({"..\\up": b"x"}, create_system=0), "leads out of the archive"),
    ("Unicode path", with_unicode_path("说".encode("gbk"), "../说"), "leads out of the archive"),
    # bombs, which are H2
    ("gz bomb", gzip.compress(ZEROS), "so do bombs"),
    ("xz bomb", lzma.compress(ZEROS), "so do bombs"),
    ("zip bomb", zipped({"z": bytes(3 * MIB)}), "50 times as large: so do bombs"),
    ("gz endless header", gzip.compress(ENDLESS_HEADER), "too large when it is unpacked"),
    ("xz endless header", lzma.compress(ENDLESS_HEADER), "too large when it is unpacked"),
    ("overlapping", archives.overlapping(40, 10_000), "shares its bytes with another member"),
    ("into the directory", archives.reaching(10_000), "its last member reaches into its directory"),
    ("elsewhere", b"PK\3\0".join(TWO.rsplit(b"PK\3\4", 1)), "does not match the archive's directory"),
    ("many in zip", zipped(MANY), "more than 50 files and directories"),
    ("many in tar", tarred(*MANY.items()), "more than 50 files and directories"),
    ("many in paths", zipped({f"d{n}/a/b/f": b"" for n in range(13)}), "more than 50 files and directories"),
    ("declared", archives.lying(1 << 31), "a file may have"),
    ("large", tarred(("a", NOISE), ("b", NOISE)), "'b' it becomes more than 4194304 bytes"),
    (
        "large by links",
        tarred(("big", NOISE[:MIB]), *(special(f"link{n}", tarfile.SYMTYPE, "big") for n in range(5))),
        "becomes more than",
    ),
    # files that are no archives
    ("RAR", b"Rar!\x1a\x07\x01\x00", "it is a RAR archive: send a .zip, a .tar.gz, or one program"),
    ("7z", b"7z\xbc\xaf\x27\x1c\0\4", "it is a 7z archive"),
    ("bzip2", b"BZh91AY&SY", "it is packed by bzip2"),
    ("HTML", b"\n<!DOCTYPE html><html>", "it is a page of HTML"),
    ("HTML with a mark", b"\xef\xbb\xbf<HTML>", "it is a page of HTML"),
    (
        "form",
        b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nPK',
        "it is a form with a file in it",
    ),
    ("JSON", b'{"message": "Not Found"}', "it is JSON text"),
    ("LFS", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "it is a pointer of Git LFS"),
    ("ELF", b"\x7fELF\2\1\1", "it is a Linux program, not an archive"),
    ("PDF", b"%PDF-1.7", "it is a PDF document"),
    ("empty", b"", "it is empty"),
    ("cut short", ZIP[:-10], "a zip archive that was cut short: send it again"),
    ("cut very short", ZIP[:60], "a zip archive that was cut short: send it again"),
    ("zip in gz", gzip.compress(ZIP), "a file of zip that is packed once more: send the inner file"),
    (
        "gz in xz",
        lzma.compress(gzip.compress(b"x")),
        "a file of gzip that is packed once more: send the inner file",
    ),
    ("text in gz", gzip.compress(b"print()\n" * 100), "one packed file, and no archive"),
    ("text", b"print()\n" * 100, "no archive, but text or another file: send a .zip"),
    ("no files in zip", zipped({}), "it holds no files"),
    ("a directory in zip", zipped({"bot/": b""}), "it holds no files"),
    ("no files in tar", bytes(10240), "it holds no files"),
    ("a directory in tar", tarred(special("bot", tarfile.DIRTYPE)), "it holds no files"),
]


@pytest.mark.parametrize(("data", "why"), [pytest.param(data, why, id=name) for name, data, why in REFUSED])
def test_archive_with_a_trick_is_refused_by_its_kind(data: bytes, why: str, tmp_path: Path) -> None:
    said = refusal(data, tmp_path)

    assert why in said
    assert said.isprintable()


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    data = tarred(special("d", tarfile.SYMTYPE, "/tmp"), ("d/judge-was-here", b"x"))

    assert "'d' is a link that leads out of the archive" == refusal(data, tmp_path)
    assert not Path("/tmp/judge-was-here").exists()


MALFORMED_FILES = {
    "a size that is a lie": archives.lying(3),
    "a larger size that is a lie": archives.lying(100),
    "no entry in the directory of a zip file": archives.renamed(ZIP, b"PK\1\2", b"PK\1\0"),
    "an xz file that is cut": lzma.compress(tarred(("noise", NOISE)))[:-9999],
    "a gz file that is cut": gzip.compress(tarred(("noise", NOISE)))[:-9999],
}


@pytest.mark.parametrize("name", MALFORMED_FILES)
def test_malformed_archive_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises((RefusedError, *MALFORMED)):
        extracted(MALFORMED_FILES[name], tmp_path)


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


def test_the_unicode_path_of_a_member_is_its_name(tmp_path: Path) -> None:
    name = "说明.txt".encode("gbk")

    assert ["说明.txt"] == list(extracted(with_unicode_path(name, "说明.txt"), tmp_path))
    for other in (with_unicode_path(name, "说明.txt", of=b"other"), with_unicode_path(b"main.py", "other.py")):
        assert ["说明.txt"] != list(extracted(other, tmp_path))


def _checksummed(tar: bytes) -> bytes:
    """A tar file whose first header was changed, with its checksum fixed."""
    block = bytearray(tar[:512])
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + tar[512:]


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
