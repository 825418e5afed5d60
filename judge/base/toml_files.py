"""Reads TOML files into models, with errors that name file, line, key and fix."""

import codecs
import json
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, time
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from judge.base.durable_files import open_regular
from judge.base.errors import InputError, os_errors_as
from judge.base.parsing import complaint, first_of
from judge.base.text import printable

Model = TypeVar("Model", bound=BaseModel)

MAX_BYTES = 1 << 20
MAX_KEY_PARTS = 10
"""Parts of a dotted key; `tomllib`'s time grows with its square."""

_OTHER_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_SAVE_AS_UTF8 = "save it as UTF-8 (in Notepad: Save as, Encoding: UTF-8)"


def read_text(path: Path, what: str, max_bytes: int = MAX_BYTES) -> str:
    """Text without a byte order mark. `what` describes the file (`a policy file`).

    Raises InputError if it cannot be read, is too long, or is not UTF-8.
    """
    with os_errors_as(InputError, path, f": give the path of {what}"), open_regular(path) as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise InputError(f"{path}: it has more than {max_bytes} bytes; is it {what}?")
    return decode_text(path, data, f"{what} is TOML")


def decode_text(path: Path, data: bytes, why: str) -> str:
    """Text without the byte order mark. Raises InputError, which ends with `why`."""
    encoding = next((name for mark, name in _OTHER_ENCODINGS if data.startswith(mark)), "")
    if not encoding and b"\0" in data[:4]:
        encoding = "UTF-16"
    if encoding:
        raise InputError(f"{path}: it is {encoding} text: {_SAVE_AS_UTF8}")
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise InputError(f"{path}: not UTF-8 text in line {line}: {_SAVE_AS_UTF8}; {why}") from None


def toml_quoted(text: str) -> str:
    """Like JSON, but without surrogate pairs."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_value(value: object) -> str:
    """A value of `parse` as TOML. Tables are inline."""
    if isinstance(value, str):
        return toml_quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{toml_quoted(key)} = {toml_value(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return repr(value)


def parse(path: Path, text: str) -> dict[str, Any]:
    """Raises InputError with file, line and, if known, the fix."""
    bare = _STRING_OR_COMMENT.sub(lambda found: "_" + "\n" * found[0].count("\n"), text)
    if long_key := _LONG_KEY.search(bare):
        line = 1 + bare.count("\n", 0, long_key.start())
        raise InputError(f"{path}, line {line}: a key has more than {MAX_KEY_PARTS} parts with dots between them")
    try:
        document = tomllib.loads(text)
        json.dumps(document, default=str)  # fails for long numbers
    except tomllib.TOMLDecodeError as error:
        hint = _hint(str(error), text)
        raise InputError(f"{path}: {error}" + (f": {hint}" if hint else "")) from None
    except ValueError:
        raise InputError(f"{path}: it has a number of more than 4,300 digits") from None
    except RecursionError:
        raise InputError(f"{path}: its lists or tables are nested too deeply") from None
    if _NUL.search(text):
        for field, word in words_in(document):
            if "\0" in word:
                raise InputError(f"{path}: {field}: it has the control character U+0000: write it without")
    return document


_NUL = re.compile(r"\\u0{4}|\\U0{8}")


def words_in(value: object, field: str = "") -> Iterator[tuple[str, str]]:
    """All texts in a value with their fields, such as `command, word 2`."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from words_in(inner, f"{field}.{key}" if field else key)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value, 1):
            yield from words_in(inner, f"{field}, {'table' if isinstance(inner, dict) else 'word'} {number}")


_STRING_OR_COMMENT = re.compile(
    r"""
    "{3} (?:[^"\\]|\\.|"{1,2}(?!"))*+ "{3,5}
    | '{3} (?:[^']|'{1,2}(?!'))*+ '{3,5}
    | (?:"{3}|'{3}) .*
    | "(?:[^"\\\n]|\\.)*+" | '[^'\n]*+' | \#[^\n]*+
    | ["'] .*  # tomllib ends at a text without its end
    """,
    re.DOTALL | re.VERBOSE,
)
_LONG_KEY = re.compile(rf"(?:\.[ \t]*+[A-Za-z0-9_-]++[ \t]*+){{{MAX_KEY_PARTS}}}")


_PLACE = re.compile(r"\(at line (\d+), column \d+\)")
_BACKSLASHES = re.compile(r'"([^"]*\\[^"]*)"')
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ]+(\d{1,2})[:.](\d\d)(?:[:.](\d\d))? *([Zz]|[+-]\d\d:\d\d)?")
_OTHER_DATE = re.compile(r"=\s*(?:\d{1,2}[./-]\d{1,2}[./-]\d{4}|\d{4}[./]\d{1,2}[./]\d{1,2}|\d{4}-\d{1,2}-\d{1,2})")
_MAX_HINT_CHARS = 1000
"""Longer lines get no hint, because some patterns need the square of a line's length."""
_CURLY_QUOTES = re.compile("[\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b\u00ab\u00bb\uff02\uff07]")
_WORD = re.compile(r"[^=]*=\s*([A-Za-z./\\][^\"',#\[\]{}]*?)\s*(?:#.*)?$")
_BOOLEANS = {"True": "true", "False": "false", "TRUE": "true", "FALSE": "false", "yes": "true", "no": "false"}


def _hint(message: str, text: str) -> str:
    """How to write the wrong line."""
    lines = text.rstrip("\n").split("\n")
    place = _PLACE.search(message)
    line = lines[min(int(place[1]) if place else len(lines), len(lines)) - 1].removesuffix("\r")
    if len(line) > _MAX_HINT_CHARS:
        return ""
    with suppress(ValueError, RecursionError):
        tomllib.loads(line)
        return ""  # another line is the cause
    key = printable(line.split("=")[0].split(":")[0].strip(), 40)
    if _CURLY_QUOTES.search(line):
        return 'write straight quotes: "…"'
    if found := _BACKSLASHES.search(line):
        shown = printable(slashes(found[1]), 80)
        return f"write / between directories: {shown}, or '…' around a text with backslashes"
    if hidden := next((each for each in line if ord(each) > 0x7E and unicodedata.category(each)[0] in "ZC"), ""):
        name = unicodedata.name(hidden, "a control character")
        return f"the invisible character U+{ord(hidden):04X} ({name}) is there: delete it"
    if "\r" in line:
        return "save it with line ends LF or CR LF, not CR alone"
    if line.count('"') % 2:
        return "a text has no closing quote"
    if found := _MOMENT.search(line):
        day, hour, minute, second, zone = found.groups("")
        return f"write it as {day}T{int(hour):02}:{minute}:{second or '00'}{zone}"
    if _OTHER_DATE.search(line):
        return "write a moment as year, month, day: 2027-03-31T18:00:00"
    if found := _WORD.match(line):
        word = found[1]
        return f"write {_BOOLEANS[word]}" if word in _BOOLEANS else f'write {key} = "{printable(word, 80)}"'
    return f"write {key} = …" if ":" in line and "=" not in line else ""


def slashes(word: str) -> str:
    r"""A word of a path with / for backslashes, including those that TOML read as an escape such as `\b`."""
    for escaped, letter in zip("\b\t\n\f\r", "btnfr", strict=True):
        word = word.replace(escaped, f"/{letter}")
    return word.replace("\\\\", "/").replace("\\", "/")


def validated(
    model: type[Model], document: dict[str, Any], path: Path, text: str, changes: Mapping[str, str] | None = None
) -> Model:
    """Validate `document`, parsed from `text`. Raises InputError, which names the line of the first wrong key.

    `changes` maps dotted keys to later changes as the user wrote them; an error in one names it instead of a line.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise InputError(_explain(model, error, path, text, changes or {})) from None


def _is_part(key: Sequence[str], keys: Sequence[str]) -> bool:
    return all(one == other for one, other in zip(key, keys, strict=False))


def _explain(model: type[BaseModel], error: ValidationError, path: Path, text: str, changes: Mapping[str, str]) -> str:
    found = first_of(error)
    keys = _without_tags([str(key) for key in found["loc"]], text)
    place = str(path)
    if keys and found["type"] != "missing":
        made = [change for key, change in changes.items() if _is_part(key.split("."), keys)]
        place = made[-1] if made else place_of(path, keys, text)  # the last change of this value
    return f"{place}: {complaint(error, model, keys)}"


def place_of(path: Path, keys: list[str], text: str) -> str:
    """The file of a key, as its parts, and its line, if it is there."""
    line = line_of(keys, text)
    if not line:
        at: Any = tomllib.loads(text)
        for key in keys:
            at = _inner(at, key)
        if at is not None:
            line = max(line_of(keys[:count], text) for count in range(len(keys)))
    return f"{path}, line {line}" if line else str(path)


def _without_tags(where: Sequence[str], text: str) -> list[str]:
    keys: list[str] = []
    at: Any = tomllib.loads(text)
    for key in where:
        inner = _inner(at, key)
        if inner is not None or not isinstance(at, dict) or key != at.get("name"):
            keys.append(key)
            at = inner
    return keys


def _inner(at: Any, key: str) -> Any:
    if isinstance(at, list):
        return at[int(key)] if key.isdecimal() and int(key) < len(at) else None
    return at.get(key) if isinstance(at, dict) else None


def line_of(keys: list[str], text: str) -> int:
    """Line of a key, as its parts, from 1; 0 if it is missing."""
    section: list[str] = []
    elements: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        found: list[str] | None = None
        if element := re.match(r"\s*\[\[([^\[\]]+)\]\]", line):
            elements[element[1]] = elements.get(element[1], -1) + 1
            found = section = [element[1].strip(), str(elements[element[1]])]
        elif header := re.match(r"\s*\[([^\[\]]+)\]", line):
            section = [part.strip() for part in header[1].split(".")]
            found = section = section[2:] if section[:1] == ["variants"] else section
        elif key := re.match(r"\s*([A-Za-z0-9_.-]+)\s*=", line):
            found = [*section, *key[1].split(".")][: len(keys)]
        if found == keys:
            return number
    return 0
