"""Changes contest files, and makes the next contest's file from the last one's.

Comments, quotes and the form of tables and arrays stay (tomlkit).
"""

import os
import tomllib
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

from judge.base.errors import InputError
from judge.base.text import is_printable
from judge.contest.opening_files import SHIPPED
from judge.contest.plan import Planned

Document = MutableMapping[str, Any]
"""A TOML document or a table of one."""

_OPENINGS = ("openings", "file")

_PATHS = (
    ("folders", "from"),
    ("format", "seats", "previous"),
    ("format", "skip", "above"),
    ("format", "skip", "ratings"),
    _OPENINGS,
    ("ratings", "from"),
    ("ratings", "with"),
)
"""Keys with paths relative to the file; also policy and agents have some."""

_ONLY_OF_THE_LAST = (
    *(("submissions", key) for key in ("opens", "closes")),
    *(("contest", key) for key in ("starts", "resumes")),
    *(("freeze", key) for key in ("at", "reveal_at")),
    ("format", "ends"),
    ("cup",),
)


def edited(text: str, edit: Callable[[Document], None]) -> str:
    """Return a valid file's `text` after `edit`, which may set, replace and remove values by `set_value`.

    Raises InputError if the file is written in a form that tomlkit cannot change without loss.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    wanted: Document = tomllib.loads(text)
    edit(wanted)
    try:
        document = tomlkit.parse(text)
        edit(document)
        changed = tomlkit.dumps(document)
        if "\r\n" in text:
            changed = changed.replace("\r\n", "\n").replace("\n", "\r\n")
        found = tomllib.loads(changed)
    except (TOMLKitError, tomllib.TOMLDecodeError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"it cannot be changed by judge ({error}): edit the file") from None
    if _without_empty_tables(found) != _without_empty_tables(wanted):
        raise InputError("it cannot be changed by judge without changing other values: edit the file")
    return changed


def _without_empty_tables(document: Document) -> Document:
    """A dotted key that is removed leaves no table."""
    return {key: value for key, value in document.items() if value != {}}


def set_value(document: Document, keys: Sequence[str], value: object | None) -> None:
    """Set the value at `keys`, and make missing tables; None removes it. A text keeps the quotes of the former one."""
    *tables, key = keys
    for name in tables:
        if name not in document:
            if value is None:
                return
            document[name] = _new_table(document)
        document = document[name]
    if value is None:
        document.pop(key, None)
    else:
        document[key] = _in_form_of(document.get(key), value)


def _new_table(document: Document) -> Document:
    if type(document) is dict:
        return {}
    import tomlkit
    from tomlkit.items import InlineTable

    return tomlkit.inline_table() if isinstance(document, InlineTable) else tomlkit.table()


def _in_form_of(former: object, value: object) -> object:
    """`value`, as a text in single quotes if `former` is."""
    if not isinstance(value, str) or type(former) is str or former is None:
        return value
    import tomlkit
    from tomlkit.items import Item

    if not isinstance(former, Item):
        return value
    is_literal = former.as_string().startswith("'") and "'" not in value and is_printable(value)
    return tomlkit.string(value, literal=is_literal)


# --- the next contest's file ------------------------------------------------------------------------------------------


def with_changes(changes: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """`new` changes replace those of the same key."""
    return tuple({each.partition("=")[0].strip(): each for each in (*changes, *new)}.values())


def next_text(
    last: Planned, folder: Path, values: Mapping[tuple[str, ...], object], joined: Sequence[str], source: str
) -> str:
    """The last file without schedule and cup, with paths relative to `folder`.

    `joined`: contests of `[ratings] with`; `source`: a ladder starts from it, unless empty. Raises InputError if the
    file cannot be changed.
    """

    def edit(document: Document) -> None:
        for keys in _ONLY_OF_THE_LAST:
            set_value(document, keys, None)
        move_paths(document, lambda named: relocated(named, last.folder, folder))
        for keys, value in values.items():
            set_value(document, keys, value)
        if joined or "ratings" in document:
            set_value(document, ("ratings", "with"), list(joined) or None)
            set_value(document, ("ratings", "from"), source if source and not last.plan.format.has_rounds else None)
        if not joined and "ratings" in document:
            set_value(document, ("ratings", "anchors"), None)

    return edited(last.text, edit)


def relocated(named: str, last: Path, folder: Path) -> str:
    """`named`, relative to `last`, as relative to `folder`."""
    if not named or Path(named).is_absolute() or not (last / named).exists():
        return named
    return os.path.relpath((last / named).resolve(), folder.resolve())


def move_paths(document: Document, move: Callable[[str], str]) -> None:
    """Replace the paths in a contest's document, of agents and of its policy, by what `move` returns for them."""
    file, colon, variant = str(document["policy"]).partition(":")
    if file.endswith(".toml") and (moved := move(file)) != file:
        set_value(document, ("policy",), moved + colon + variant)
    for agent in document.get("agents", ()):
        _move(agent, ("path",), move)
    for keys in _PATHS:
        _move(document, keys, move)


def _move(document: Document, keys: Sequence[str], move: Callable[[str], str]) -> None:
    found: Any = document
    for key in keys:
        if not isinstance(found, Mapping) or key not in found:
            return
        found = found[key]
    if keys == _OPENINGS and str(found).startswith(SHIPPED):
        return
    if isinstance(found, list):
        for at, named in enumerate(list(found)):
            if (moved := move(str(named))) != named:
                found[at] = _in_form_of(found[at], moved)
    elif (moved := move(str(found))) != found:
        set_value(document, keys, moved)
