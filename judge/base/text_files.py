"""Decodes text files of other programs.

In order: byte order mark, declared encoding (`CA[]` of an SGF), UTF-16 by its zeros, UTF-8 if valid, and else
Windows-1252, as a guess.
"""

import codecs
import re
from dataclasses import dataclass

from judge.base.errors import InputError
from judge.base.text import quote

GUESS = "cp1252"

UTF8_MARK = codecs.BOM_UTF8

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins this one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_SAMPLE_BYTES = 4096

_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "ksc5601": "cp949",
    "big5": "big5hkscs",
}

_KNOWN = re.compile(
    r"utf-(8|16|32)(-[bl]e)?|cp(437|737|775|85[0-8]|86[0-6]|869|874|932|949|950|125[0-8])|iso8859-[0-9]+|koi8-[rtu]"
    r"|gb2312|gbk|gb18030|hz|big5|big5hkscs|shift_jis(x0213|_2004)?|euc_(jp|kr|jis_2004|jisx0213)|iso2022_(jp|kr).*|johab"
    r"|mac-(cyrillic|greek|iceland|latin2|roman|turkish)|ascii|tis-620|kz1048|ptcp154"
)

_ALIASES = {
    "ms932": "cp932",
    "x-sjis": "cp932",
    "x-gbk": "gb18030",
    "ks_c_5601-1987": "cp949",
    "x-mac-cyrillic": "mac-cyrillic",
}


@dataclass(frozen=True, slots=True)
class Encoding:
    """How to decode a file."""

    codec: str
    mark_bytes: int = 0
    is_guess: bool = False


def find_codec(name: str) -> str | None:
    """Codec for a name such as GBK or windows-1251; None if unknown."""
    word = name.strip().lower()
    word = _ALIASES.get(word, word)
    try:
        codec = codecs.lookup(word).name
    except (LookupError, UnicodeError, ValueError):
        return None
    return _SUPERSETS.get(codec, codec) if _KNOWN.fullmatch(codec) else None


def encoding_of(data: bytes, declared: str = "") -> Encoding:
    """`declared` is the codec in the file."""
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return Encoding(codec, len(mark))
    # UTF-16 without a mark: of mostly ASCII every second byte is zero.
    first, second = data[:_SAMPLE_BYTES:2], data[1:_SAMPLE_BYTES:2]
    zeros = first.count(0), second.count(0)
    if len(data) >= 8 and 0 in zeros and max(zeros) * 3 >= len(first):
        return Encoding("utf-16-le" if zeros[1] else "utf-16-be")
    if declared:
        return Encoding(declared)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return Encoding(GUESS, is_guess=True)
    return Encoding("utf-8")


def decode_file(data: bytes, source: str, encoding: Encoding | None = None) -> str:
    """Text with LF line ends. Raises InputError naming the line of an invalid byte."""
    found = encoding_of(data) if encoding is None else encoding
    body = data[found.mark_bytes :]
    try:
        text = body.decode(found.codec)
    except UnicodeDecodeError as error:
        line = _with_line_feeds(body[: error.start].decode(found.codec, "replace")).count("\n") + 1
        raise InputError(
            f"{source}, line {line}: byte 0x{body[error.start]:02x} is invalid in {found.codec};"
            " save the file as UTF-8 (`judge convert --encoding NAME` reads other encodings)"
        ) from None
    return _with_line_feeds(text)


def head_of(data: bytes) -> str:
    """Undecodable bytes are replaced."""
    found = encoding_of(data)
    return _with_line_feeds(data[found.mark_bytes :].decode(found.codec, "replace"))


def reencode(data: bytes, name: str, source: str) -> bytes:
    """Convert a file to UTF-8 with a byte order mark, which overrides its declaration.

    Raises InputError if `name` is unknown or the file invalid.
    """
    codec = find_codec(name)
    if codec is None:
        raise InputError(f"{quote(name, 40)} is an unknown encoding; use a name such as gbk, shift_jis or windows-1251")
    return UTF8_MARK + decode_file(data, source, Encoding(codec)).encode()


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
