"""The text of files that other programs wrote: which encoding it has, and its lines.

A byte order mark decides first, then the encoding that the file names itself (`CA[]` of an SGF), then the bytes: UTF-16
has zeros in every second place, and text in another encoding is practically never valid UTF-8. Other files are read as
Windows-1252, which has the letters of Latin-1; `encoding_of` reports that as a guess.
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
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_SAMPLE_BYTES = 4096
"""How much of a file shows whether it is UTF-16."""

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
"""What files that name an encoding really have: its superset, as in the WHATWG's Encoding Standard."""

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
    """How the bytes of a file are decoded."""

    codec: str
    """The name of a codec of Python."""
    mark_bytes: int = 0
    """The length of the byte order mark."""
    is_guess: bool = False
    """Whether neither the file nor its bytes tell the encoding."""


def find_codec(name: str) -> str | None:
    """The codec for the name of an encoding as files write it, such as GBK or windows-1251; None if it is unknown."""
    word = name.strip().lower()
    word = _ALIASES.get(word, word)
    try:
        codec = codecs.lookup(word).name
    except (LookupError, UnicodeError, ValueError):
        return None
    return _SUPERSETS.get(codec, codec) if _KNOWN.fullmatch(codec) else None


def encoding_of(data: bytes, declared: str = "") -> Encoding:
    """The encoding of a file; `declared` is the codec of the encoding that the file names, if it names one."""
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return Encoding(codec, len(mark))
    # UTF-16 without a mark: most letters are ASCII, so every second byte is zero.
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
    """The text of a file, with LF for every line end. InputError names `source` and the line of an invalid byte."""
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
    """The text that a file begins with, to recognise its format: what cannot be decoded is replaced."""
    found = encoding_of(data)
    return _with_line_feeds(data[found.mark_bytes :].decode(found.codec, "replace"))


def reencode(data: bytes, name: str, source: str) -> bytes:
    """A file in the encoding called `name` as UTF-8 with a byte order mark, which wins over what the file names.

    InputError names `source`, or an unknown encoding.
    """
    codec = find_codec(name)
    if codec is None:
        raise InputError(f"{quote(name, 40)} is an unknown encoding; use a name such as gbk, shift_jis or windows-1251")
    return UTF8_MARK + decode_file(data, source, Encoding(codec)).encode()


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
