"""Changes values of TOML files. Comments, quotes and the form of tables and arrays stay (tomlkit)."""

import tomllib
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

from judge.base.errors import InputError
from judge.base.text import is_printable

Document = MutableMapping[str, Any]
"""A TOML document or a table of one."""


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
    """Set the value at `keys`, and make missing tables; None removes it.

    A text keeps the quotes of the former one.
    """
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


def set_item(array: list[Any], at: int, text: str) -> None:
    """Replace a text of an array."""
    array[at] = _in_form_of(array[at], text)


def _new_table(document: Document) -> Document:
    if isinstance(document, dict) and type(document) is dict:
        return {}
    import tomlkit
    from tomlkit.items import InlineTable

    return tomlkit.inline_table() if isinstance(document, InlineTable) else tomlkit.table()


def _in_form_of(former: object, value: object) -> object:
    """`value`, as a text in single quotes if `former` is."""
    if type(former) in (str, bool, int, float, list, dict) or former is None:
        return value
    import tomlkit
    from tomlkit.items import Item

    if not isinstance(former, Item) or not isinstance(value, str):
        return value
    is_literal = former.as_string().startswith("'") and "'" not in value and is_printable(value)
    return tomlkit.string(value, literal=is_literal)
