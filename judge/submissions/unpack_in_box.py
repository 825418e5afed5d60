"""Reads an untrusted archive in a box and writes its files to stdout as a plain tar file.

    python3 -I DIRECTORY JOB.json      DIRECTORY has this file as __main__.py
                                       JOB.json: {"input": path, "bounds": {...}, "ratio": n, "ratio_from_bytes": n}

It creates no files. It accepts directories, regular files, and links, as copies of their files. Bookkeeping files are
left out, with a line on stderr. Anything else ends it with exit code 3 and a message. It needs only the standard
library and, for .zst, the image's `zstandard`. The judge checks the output again.
"""

import gzip
import importlib
import io
import json
import lzma
import os
import re
import stat
import struct
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from judge.base.bookkeeping import HEAD_BYTES, is_bookkeeping, is_companion, may_be_companion
from judge.base.text import is_printable, quote, sentence
from judge.base.tree_tar import add_member, write_stream
from judge.submissions.path_checks import LESS, Bounds, PathChecker, RefusedError, refuse_encoding, shown

REFUSED = 3

CHUNK_BYTES = 1 << 16
SPECIAL_BITS = 0o7000
SECRET = 0x1
UTF8 = 0x800
LOCAL_HEADER = struct.Struct("<4s22xHH")
UNICODE_PATH = 0x7075
"""Name as UTF-8 (APPNOTE 4.6.9)."""
MADE_BY_DOS = 0
METHODS = {6: "Implode", 9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "xz", 96: "JPEG", 98: "PPMd"}
XZ_MEMORY_BYTES = 96 << 20
"""`xz -9` needs 65 MiB."""
ZST_WINDOW_BYTES = 64 << 20

KINDS = {
    tarfile.CHRTYPE: sentence("a device"),
    tarfile.BLKTYPE: sentence("a device"),
    tarfile.FIFOTYPE: sentence("a named pipe"),
    tarfile.GNUTYPE_SPARSE: sentence("a sparse file"),
}

MALFORMED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    lzma.LZMAError,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    RuntimeError,
    AssertionError,
    LookupError,
    MemoryError,
)


LINKED_BYTES = 16 << 20
LINKS_BEHIND_LINKS = 8
LINK_BYTES = 4096


@dataclass(frozen=True)
class Member:
    """A directory, file or link. `size` is expected."""

    name: str
    size: int
    is_executable: bool
    content: IO[bytes] | None
    target: str | None = None
    """Relative to its directory or, for a hard link, to the top."""
    is_hard: bool = False


class CountedStream(io.RawIOBase):
    """Output of a decompressor, limited to `most` bytes. Raises RefusedError beyond the limit."""

    def __init__(self, source: Any, most: int) -> None:
        self._source = source
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        filled = 0
        while filled < len(buffer) and (data := self._source.read(len(buffer) - filled)):
            buffer[filled : filled + len(data)] = data
            filled += len(data)
        self._left -= filled
        if self._left < 0:
            raise RefusedError(sentence("it becomes too large when it is unpacked: so do bombs"))
        return filled


def members_of_tar(stream: IO[bytes]) -> Iterator[Member]:
    """Members of a plain tar file, without seeking."""
    with tarfile.open(
        fileobj=stream, mode="r|", encoding="utf-8", errors="surrogateescape", bufsize=CHUNK_BYTES
    ) as tar:
        for member in tar:
            member.name = name_in_tar(member.name)
            if is_bookkeeping(member.name):
                yield Member(member.name, 0, False, None)
                continue
            refuse_encoding(member.name)
            if member.issparse():
                raise RefusedError(sentence(f"{shown(member.name)} is a sparse file; pack without --sparse"))
            if member.isdir():
                refuse_bits(member.name, member.mode)
                yield Member(member.name, 0, True, None)
            elif member.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
                refuse_bits(member.name, member.mode)
                content = tar.extractfile(member)
                yield Member(member.name, member.size, bool(member.mode & 0o100), content)
            elif member.type in (tarfile.SYMTYPE, tarfile.LNKTYPE):
                is_hard = member.type == tarfile.LNKTYPE
                yield Member(member.name, 0, False, None, name_in_tar(member.linkname), is_hard)
            else:
                kind = KINDS.get(member.type, sentence("neither a file nor a directory"))
                raise RefusedError(sentence(f"{shown(member.name)} is {kind}; pack files and directories"))


def name_in_tar(name: str) -> str:
    """Invalid UTF-8 is code page 437; see `name_in_zip`."""
    try:
        name.encode()
    except UnicodeEncodeError:
        try:
            return fit_for_a_name(name.encode("utf-8", "surrogateescape").decode("cp437"))
        except UnicodeEncodeError:
            return name  # surrogates of a PAX header
    return name


def refuse_bits(name: str, mode: int) -> None:
    """Raises RefusedError for setuid, setgid and sticky bits."""
    if mode & SPECIAL_BITS:
        raise RefusedError(sentence(f"{shown(name)} has a setuid, setgid or sticky bit; take it off"))


def members_of_zip(file: BinaryIO, bounds: Bounds) -> Iterator[Member]:
    """Members, after a check of the whole directory."""
    with zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        named = [(name, info) for info in infos if not is_bookkeeping(name := name_in_zip(info))]
        if len(named) > bounds.entries:
            raise RefusedError(sentence(f"it holds more than {bounds.entries} files and directories: {LESS}"))
        for name, info in named:
            refuse_info(name, info)
        refuse_overlap(file, infos, archive.start_dir)
        for info in infos:
            if is_bookkeeping(name := name_in_zip(info)):
                yield Member(name, 0, False, None)
        for name, info in named:
            mode = info.external_attr >> 16
            if name.endswith("/"):
                yield Member(name, 0, True, None)
            elif stat.S_IFMT(mode) == stat.S_IFLNK:
                with archive.open(info) as content:
                    target = content.read(LINK_BYTES).decode("utf-8", "surrogateescape")
                yield Member(name, 0, False, None, target)
            else:
                with archive.open(info) as content:
                    yield Member(name, info.file_size, bool(mode & 0o100), content)


def refuse_info(name: str, info: zipfile.ZipInfo) -> None:
    """Accept only plain files and directories."""
    mode = info.external_attr >> 16
    refuse_encoding(name)
    refuse_encoding(info.orig_filename)
    kind = stat.S_IFMT(mode)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
        raise RefusedError(sentence(f"{shown(name)} is neither a file nor a directory"))
    if (kind == stat.S_IFDIR) != name.endswith("/") and kind:
        raise RefusedError(sentence(f"{shown(name)} is both a file and a directory"))
    refuse_bits(name, mode)
    if info.flag_bits & SECRET:
        raise RefusedError(sentence(f"{shown(name)} is encrypted; pack without a password"))
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        method = METHODS.get(info.compress_type, sentence(f"method {info.compress_type}"))
        raise RefusedError(
            sentence(f"{shown(name)} is packed by {method}; pack it again with Deflate (of 7-Zip: -mm=Deflate)")
        )
    if name.endswith("/") and info.file_size:
        raise RefusedError(sentence(f"{shown(name)} is a directory with {info.file_size} bytes"))


def name_in_zip(info: zipfile.ZipInfo) -> str:
    r"""Name of a zip member; a directory's ends with /.

    A matching Unicode Path field decides. UTF-8 without the flag is recognised. Other encodings are read as code page
    437, as the format requires. Old Windows programs write \ between directories.
    """
    name = info.orig_filename
    if not name.isascii() and not info.flag_bits & UTF8:
        raw = name.encode("cp437")
        name = unicode_path(info.extra, raw) or _utf8(raw) or fit_for_a_name(name)
    return name.replace("\\", "/") if info.create_system == MADE_BY_DOS else name


def _utf8(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return ""


def unicode_path(extra: bytes, raw: bytes) -> str:
    """Name in the Unicode Path field, if it belongs to `raw`."""
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        if kind == UNICODE_PATH and len(field) > 5 and field[0] == 1:
            return _utf8(field[5:]) if int.from_bytes(field[1:5], "little") == zlib.crc32(raw) else ""
    return ""


def fit_for_a_name(text: str) -> str:
    r"""Name from a wrong code page, with _ for each invalid character.

    A \ after a non-ASCII character is taken as the second byte of a Shift_JIS or GBK character.
    """
    text = re.sub(r"(?<=[^\x00-\x7f])\\", "_", text)
    return "".join(letter if is_printable(letter) and letter != ":" else "_" for letter in text)


def refuse_overlap(file: BinaryIO, infos: list[zipfile.ZipInfo], end: int) -> None:
    """Members that share bytes could multiply one packed kilobyte."""
    free_from = 0
    for info in sorted(infos, key=lambda one: one.header_offset):
        if info.header_offset < free_from:
            raise RefusedError(sentence(f"{shown(info.orig_filename)} shares its bytes with another member"))
        file.seek(info.header_offset)
        signature, name, extra = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
        if signature != b"PK\3\4":
            raise RefusedError(sentence(f"{shown(info.orig_filename)} does not match the archive's directory"))
        free_from = info.header_offset + LOCAL_HEADER.size + name + extra + info.compress_size
    if free_from > end:
        raise RefusedError(sentence("its last member reaches into its directory"))


FOREIGN_BYTES = 1024
FOREIGN = (
    (b"Rar!\x1a\x07", sentence("it is a RAR archive")),
    (b"7z\xbc\xaf\x27\x1c", sentence("it is a 7z archive")),
    (b"BZh", sentence("it is packed by bzip2")),
    (b"\x1f\x9d", sentence("it is packed by compress")),
    (b"\x04\x22\x4d\x18", sentence("it is packed by lz4")),
    (b"LZIP", sentence("it is packed by lzip")),
    (b"PK\x07\x08", sentence("it is a part of a zip archive of several parts")),
    (b"MSCF", sentence("it is a cabinet of Windows")),
    (b"xar!", sentence("it is a package of macOS")),
    (b"!<arch>\n", sentence("it is a Debian package or a library (ar)")),
    (b"\xed\xab\xee\xdb", sentence("it is an RPM package")),
    (b"%PDF", sentence("it is a PDF document")),
    (b"\x7fELF", sentence("it is a Linux program, not an archive")),
    (b"MZ", sentence("it is a Windows program, not an archive")),
    (b"\xca\xfe\xba\xbe", sentence("it is a Java class or a program for macOS, not an archive")),
    (b"\xcf\xfa\xed\xfe", sentence("it is a program for macOS, not an archive")),
    (b"version https://git-lfs", sentence("it is a pointer of Git LFS, not the file itself (git lfs pull)")),
)
PAGES = (b"<!doctype html", b"<html", b"<head")


def kind_of_file(head: bytes) -> str:
    """Type of an unsupported file, or empty."""
    if found := next((words for begin, words in FOREIGN if head.startswith(begin)), ""):
        return found
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith(PAGES):
        return sentence("it is a page of HTML (was a sign-in or download page saved?)")
    if text.startswith(b"--") and b"content-disposition: form-data" in text:
        return sentence("it is a form with a file in it (send the file's own bytes: curl --data-binary @FILE)")
    if text.startswith((b"{", b"[")) and text.rstrip().isascii() and b'"' in text and b"\0" not in text:
        return sentence("it is JSON text (an answer of a server?)")
    if not head:
        return sentence("it is empty")
    return ""


def open_archive(archive: BinaryIO) -> tuple[str, Any]:
    """Kind and decompressing reader; `zip` reads itself."""
    head = archive.read(FOREIGN_BYTES)
    archive.seek(0)
    if head.startswith((b"PK\3\4", b"PK\5\6")):
        return "zip", None
    if head.startswith(b"\x1f\x8b"):
        return "tar.gz", gzip.GzipFile(fileobj=archive)
    if foreign := kind_of_file(head):
        raise RefusedError(sentence(f"{foreign}: send a .zip, a .tar.gz, or one program under its own name"))
    if head.startswith(b"\xfd7zXZ\0"):
        return "tar.xz", XzReader(archive)
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "tar.zst", ZstReader(archive)
    return "tar", archive


class XzReader:
    """Reads .xz with a memory limit, which `lzma.open` lacks."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY_BYTES)

    def read(self, size: int) -> bytes:
        """Empty at the end of the first stream."""
        while not self._unpacker.eof:
            packed = self._source.read(CHUNK_BYTES) if self._unpacker.needs_input else b""
            if self._unpacker.needs_input and not packed:
                raise EOFError(sentence("it is cut short"))
            if data := self._unpacker.decompress(packed, size):
                return data
        return b""


class ZstReader:
    """Reads .zst with a memory limit."""

    def __init__(self, source: BinaryIO) -> None:
        zstandard: Any = importlib.import_module("zstandard")
        self._faults = zstandard.ZstdError
        unpacker = zstandard.ZstdDecompressor(max_window_size=ZST_WINDOW_BYTES)
        self._reader = unpacker.stream_reader(source, read_across_frames=True)

    def read(self, size: int) -> bytes:
        """Empty at the end."""
        try:
            return bytes(self._reader.read(size))
        except self._faults as error:
            raise ValueError(str(error)) from None


def members_of(archive: BinaryIO, bounds: Bounds, most: int) -> Iterator[Member]:
    """Members of at most `most` unpacked bytes."""
    kind, reader = open_archive(archive)
    if kind == "zip":
        try:
            yield from members_of_zip(archive, bounds)
        except zipfile.BadZipFile as error:
            if "not a zip file" not in str(error):
                raise
            raise RefusedError(sentence("it is a zip archive that was cut short: send it again")) from None
    else:
        stream = io.BufferedReader(CountedStream(reader, most), CHUNK_BYTES)
        if inside := kind_in_tar(stream.peek()[: tarfile.BLOCKSIZE], kind):
            raise RefusedError(inside)
        yield from members_of_tar(stream)


PACKED = ((b"PK\3\4", "zip"), (b"\x1f\x8b", "gzip"), (b"\xfd7zXZ\0", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"))


def kind_in_tar(head: bytes, kind: str) -> str:
    """Why `head` does not begin a tar file, or empty."""
    if kind == "tar":
        is_text = bool(head) and b"\0" not in head
        what = sentence("it is no archive, but text or another file")
        fix = sentence("send a .zip, a .tar.gz, or one program under its own name")
        return f"{what}: {fix}" if is_text else ""
    if inner := next((name for mark, name in PACKED if head.startswith(mark)), ""):
        return sentence(f"it is a file of {inner} that is packed once more: send the inner file")
    if b"\0" not in head:
        return sentence("it is one packed file, and no archive: send that file, or pack the directory (tar czf)")
    return ""


def write_member(member: Member, path: str, out: tarfile.TarFile) -> None:
    """Raises OSError if the content is too short."""
    add_member(out, path, member.content, member.size, is_executable=member.is_executable)
    if member.content is not None and member.content.read(1):
        raise RefusedError(sentence(f"{shown(path)} is longer than its header states"))


def is_companion_file(member: Member) -> bool:
    """Files of both formats can look ahead."""
    content: Any = member.content
    return content is not None and may_be_companion(member.name) and is_companion(content.peek(HEAD_BYTES))


def check_member(member: Member, checker: PathChecker) -> str:
    """The path, empty for the top."""
    if member.target is None and member.content is None:
        return checker.directory(member.name)
    return checker.file(member.name, member.size)


def link_target(path: str, member: Member) -> str:
    """Raises RefusedError if the target leaves the archive."""
    target = member.target or ""
    parts = [] if member.is_hard else path.split("/")[:-1]
    for part in target.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if target.startswith("/") or ".." in parts:
        raise RefusedError(sentence(f"{shown(path)} is a link that leads out of the archive"))
    return "/".join(parts)


def resolve_links(links: dict[str, str], files: dict[str, int]) -> dict[str, list[str]]:
    """Links by target; `files` has the sizes. Raises RefusedError."""
    wanted: dict[str, list[str]] = {}
    for path, target in links.items():
        at = target
        for _ in range(LINKS_BEHIND_LINKS):
            at = links.get(at, at)
        if at not in files:
            raise RefusedError(
                sentence(
                    f"{shown(path)} is a link to {shown(target)}, which is not a file of the archive; "
                    "pack the file itself (cp -L, tar -h)"
                )
            )
        if files[at] > LINKED_BYTES:
            raise RefusedError(sentence(f"{shown(path)} is a link to a file of more than {LINKED_BYTES} bytes"))
        wanted.setdefault(at, []).append(path)
    return wanted


class Extraction:
    """Converts an archive to the tar file `out`. Raises RefusedError or an error of MALFORMED."""

    def __init__(self, archive: BinaryIO, out: tarfile.TarFile, job: dict[str, Any]) -> None:
        self._archive = archive
        self._out = out
        self._bounds = Bounds(**job["bounds"])
        self._times = job["ratio"]
        self._ratio = max(job["ratio_from_bytes"], os.fstat(archive.fileno()).st_size * self._times)
        self._checker = PathChecker(self._bounds)
        self.left_out: dict[str, None] = {}
        room = self._bounds.entries * 4 * 512 + (1 << 20)
        self._most = int(min(self._bounds.total_bytes, self._ratio)) + room

    def run(self) -> None:
        files: dict[str, int] = {}
        links: dict[str, str] = {}
        for member in self._members():
            path = check_member(member, self._checker)
            self._refuse_bomb(member.name)
            if member.target is not None:
                links[path] = link_target(path, member)
            elif path:
                if member.content is not None:
                    files[path] = member.size
                write_member(member, path, self._out)
        if not files and not links:
            raise RefusedError(sentence("it holds no files"))
        if links:
            self._copy(resolve_links(links, files))

    def _members(self) -> Iterator[Member]:
        for member in members_of(self._archive, self._bounds, self._most):
            if is_bookkeeping(member.name) or is_companion_file(member):
                self.left_out.setdefault(member.name)
            else:
                yield member

    def _copy(self, wanted: dict[str, list[str]]) -> None:
        self._archive.seek(0)
        again = PathChecker(self._bounds)  # Same names and order, so same paths.
        for member in self._members():
            links = wanted.pop(check_member(member, again), [])
            if member.content is None or not links:
                continue
            data = member.content.read(member.size)
            for link in links:
                self._checker.grow(link, len(data))
                self._refuse_bomb(link)
                copy = Member(link, len(data), member.is_executable, io.BytesIO(data))
                write_member(copy, link, self._out)

    def _refuse_bomb(self, name: str) -> None:
        if self._checker.total_bytes > self._ratio:
            raise RefusedError(
                sentence(f"with {shown(name)} it becomes more than {self._times:g} times as large: so do bombs")
            )


def extract(archive: BinaryIO, out: IO[bytes], job: dict[str, Any]) -> list[str]:
    """The names that were left out."""
    with write_stream(out) as tar:
        extraction = Extraction(archive, tar, job)
        extraction.run()
    return list(extraction.left_out)


_PACK_AGAIN = sentence("it is damaged, or no archive: pack it again as .zip or .tar.gz")


def main() -> int:
    """Extract the job's archive."""
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    try:
        with Path(job["input"]).open("rb") as archive:
            left_out = extract(archive, sys.stdout.buffer, job)
    except RefusedError as error:
        sys.stderr.write(f"{error}\n")
        return REFUSED
    except MALFORMED as error:
        why = sentence(f"it cannot be read as an archive: {quote(str(error), 200)}: {_PACK_AGAIN}")
        sys.stderr.write(f"{why}\n")
        return REFUSED
    if left_out:
        note = sentence(f"left out: {shown(left_out[0])}")
        if len(left_out) > 1:
            note = sentence(f"left out: {shown(left_out[0])} and {len(left_out) - 1} more")
        sys.stderr.write(f"{note}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
