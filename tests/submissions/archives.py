"""Archives of every kind, honest and hostile, made byte by byte where no tool makes them."""

import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

from tests.attacks.uploads import tarred

SYMLINK = 0o120777 << 16
FIFO = 0o010644 << 16
RLE_BYTES = 128 << 10
"""The most that one block of a .zst file can be."""

Files = dict[str, bytes]


def zipped(files: Files, **fields: Any) -> bytes:
    """A zip file; `fields` are set on each of its members."""
    return zip_of_members(*files.items(), **fields)


def zip_of_members(*members: tuple[str | zipfile.ZipInfo, bytes], **fields: Any) -> bytes:
    """A zip file with these members, also two of one name; `fields` are set on those that are given by name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for what, data in members:
            info = what
            if isinstance(info, str):
                info = zipfile.ZipInfo(info)
                info.compress_type = zipfile.ZIP_DEFLATED
                for field, value in fields.items():
                    setattr(info, field, value)
            archive.writestr(info, data)
    return buffer.getvalue()


def zip_of_link(name: str, target: str, files: Files) -> bytes:
    """A zip file with a symbolic link and these files."""
    link = zipfile.ZipInfo(name)
    link.create_system, link.external_attr = 3, SYMLINK
    return zip_of_members((link, target.encode()), *files.items())


def renamed(data: bytes, old: bytes, new: bytes) -> bytes:
    """An archive with other bytes for its names, as no packer would write them."""
    assert len(old) == len(new)
    assert old in data
    return data.replace(old, new)


def encrypted() -> bytes:
    """A zip file whose member says that it is encrypted."""
    data = bytearray(zipped({"secret": b"x"}))
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    return bytes(data)


def overlapping(members: int, size: int) -> bytes:
    """A zip bomb: many members in its directory, whose bytes are those of one."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    content = bytes(size)
    packed = packer.compress(content) + packer.flush()
    common = struct.pack("<HHHHHLLL", 20, 0, 8, 0, 33, zlib.crc32(content), len(packed), len(content))
    body = b"PK\3\4" + common + struct.pack("<HH", 1, 0) + b"a" + packed
    directory = b""
    for number in range(members):
        name = b"%04d" % number if number else b"a"
        rest = struct.pack("<HHHHHLL", len(name), 0, 0, 0, 0, 0, 0)
        directory += b"PK\1\2" + struct.pack("<H", 20) + common + rest + name
    end = struct.pack("<HHHHLLH", 0, 0, members, members, len(directory), len(body), 0)
    return body + directory + b"PK\5\6" + end


def lying(size: int) -> bytes:
    """A zip file whose member says that it is `size` bytes long, and is 4."""
    data = bytearray(zipped({"a": b"1234"}))
    data[22:26] = struct.pack("<L", size)
    at = data.index(b"PK\1\2")
    data[at + 24 : at + 28] = struct.pack("<L", size)
    return bytes(data)


def reaching(size: int) -> bytes:
    """A zip file whose only member is packed into `size` bytes, as its directory says: into that directory."""
    data = bytearray(zipped({"a": b"1234"}))
    at = data.index(b"PK\1\2")
    data[at + 20 : at + 24] = struct.pack("<L", size)
    return bytes(data)


def sparse_pax() -> bytes:
    """A sparse file as GNU tar writes it into the extended format: eight gigabytes in one kilobyte."""
    info = tarfile.TarInfo("holes")
    info.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.numblocks": "1",
        "GNU.sparse.size": str(8 << 30),
        "GNU.sparse.map": "0,0",
    }
    return tarred(info)


def zst(data: bytes) -> bytes:
    """A .zst file of blocks that are not packed."""
    blocks = [data[at : at + RLE_BYTES] for at in range(0, len(data), RLE_BYTES)] or [b""]
    return _zst([(0, len(block), block) for block in blocks])


def zst_bomb(size: int) -> bytes:
    """A tar file of one large file, in blocks that each say one byte and how often: 4 bytes for 128 KiB."""
    info = tarfile.TarInfo("zeros")
    info.size = size
    header = info.tobuf(tarfile.GNU_FORMAT)
    return _zst([(0, len(header), header), *[(1, RLE_BYTES, b"\0")] * (size // RLE_BYTES + 1)])


def _zst(blocks: list[tuple[int, int, bytes]]) -> bytes:
    frame = b"\x28\xb5\x2f\xfd" + b"\x00" + b"\x58"  # a window of 2 MiB, the size unknown
    for number, (kind, size, payload) in enumerate(blocks, 1):
        header = size << 3 | kind << 1 | (number == len(blocks))
        frame += header.to_bytes(3, "little") + payload
    return frame


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "tar": bytes,
    "tar.gz": gzip.compress,
    "tar.xz": lzma.compress,
    "tar.zst": zst,
}
"""From a tar file to what it is sent as."""
