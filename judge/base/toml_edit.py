"""Changes single values of a TOML file and keeps its comments and order."""

import re
import tomllib
from typing import Any

from judge.base.errors import InputError

_TEXT = r""""(?:[^"\\\n]|\\.)*"|'[^'\n]*'"""
_VALUE = rf"""(?:{_TEXT}|\[(?:{_TEXT}|#[^\n]*|[^\]"'#])*\]|[^\n#]*?)(?=[ \t]*(?:#|$))"""
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def with_value(text: str, table: str, key: str, value: str) -> str:
    """Return `text` with a key of a table set to a TOML value; "" removes the key. The top level is the table "".

    Raises InputError if the file has the key in another form, such as in an inline table.
    """
    place = f"[{table}] {key}" if table else key
    changed = _changed(text, table, key, value)
    wanted: dict[str, Any] = tomllib.loads(text)
    inner = wanted.setdefault(table, {}) if table else wanted
    inner.pop(key, None)
    if value:
        inner |= tomllib.loads(f"{key} = {value}")
    if not inner:
        wanted.pop(table, None)
    try:
        found = tomllib.loads(changed)
    except tomllib.TOMLDecodeError:
        found = {}
    if not found.get(table, True):
        found.pop(table)
    if found != wanted:
        raise InputError(f"{place} is written in a form that only an editor can change: edit the file")
    return changed


def _changed(text: str, table: str, key: str, value: str) -> str:
    line = f"{key} = {value}" if value else ""
    header = re.search(rf"^[ \t]*\[{table}\][^\n]*(?:\n|\Z)", text, re.MULTILINE) if table else None
    if table and header is None:
        return f"{text.rstrip()}\n\n[{table}]\n{line}\n" if line else text
    start = 0 if header is None else header.end()
    following = _TABLE.search(text, start)
    end = len(text) if following is None else following.start()
    own = text[start:end]
    found = re.search(rf"^[ \t]*{key}[ \t]*=[ \t]*{_VALUE}", own, re.MULTILINE)
    if found is not None:
        after = own[found.end() :]
        return text[:start] + own[: found.start()] + line + (after if line else after.removeprefix("\n")) + text[end:]
    if not line:
        return text
    if table:
        return f"{text[:start].rstrip()}\n{line}\n{text[start:]}"
    return f"{own.rstrip()}\n{line}\n\n{text[end:]}"
