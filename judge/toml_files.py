"""TOML files that people write: read into a model, or refused with the file, the line, the key and the fix."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from judge.errors import InputError
from judge.parsing import complaint, first_of

Model = TypeVar("Model", bound=BaseModel)


def read_text(path: Path, what: str) -> str:
    """The text of the file at `path`, which should be `what` (`a policy file`); InputError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}: give the path of {what}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; {what} is TOML") from None


def toml_quoted(text: str) -> str:
    """A text as TOML has it: like JSON's, but that a character beyond 16 bits is no pair of escapes."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def parse(path: Path, text: str) -> dict[str, Any]:
    """The tables of a TOML text; InputError names the file and the line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}") from None


def validated(
    model: type[Model], document: dict[str, Any], path: Path, text: str, changes: Mapping[str, str] | None = None
) -> Model:
    """The model of `document`, which came from `text`; InputError names the line of the first key that is wrong.

    `changes` has, by its dotted key, what was changed since, as the person wrote it: that is named in place of a line.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise InputError(_explain(model, error, path, text, changes or {})) from None


def _explain(model: type[BaseModel], error: ValidationError, path: Path, text: str, changes: Mapping[str, str]) -> str:
    found = first_of(error)
    keys = _without_tags([str(key) for key in found["loc"]], text)
    said = complaint(error, model, keys)
    if not keys or found["type"] == "missing":
        return f"{path}: {said}"
    line = _line_of(keys, text) or _line_around(keys, text)
    place = _changed(keys, changes) or (f"{path}, line {line}" if line else str(path))
    return f"{place}: {said}"


def _changed(keys: Sequence[str], changes: Mapping[str, str]) -> str:
    """The last of the changes that set the value at these keys, in it or around it; empty if none did."""
    made = ""
    for key, change in changes.items():
        changed = key.split(".")
        if all(one == other for one, other in zip(changed, keys, strict=False)):
            made = change
    return made


def _without_tags(where: Sequence[str], text: str) -> list[str]:
    """The keys as a person wrote them: of a table that is one of several kinds, pydantic names the kind too."""
    keys: list[str] = []
    at: Any = tomllib.loads(text)
    for key in where:
        inner = _inner(at, key)
        if inner is not None or not isinstance(at, dict) or key != at.get("name"):
            keys.append(key)
            at = inner
    return keys


def _inner(at: Any, key: str) -> Any:
    """What a table has under a key, or a list at a place; None: nothing."""
    if isinstance(at, list):
        return at[int(key)] if key.isdecimal() and int(key) < len(at) else None
    return at.get(key) if isinstance(at, dict) else None


def _line_around(keys: Sequence[str], text: str) -> int:
    """The line of the table that the keys stand in, where it is written in one; 0 where they are not in the file."""
    at: Any = tomllib.loads(text)
    for key in keys:
        at = _inner(at, key)
    return 0 if at is None else max(_line_of(list(keys[:count]), text) for count in range(len(keys)))


def _line_of(keys: list[str], text: str) -> int:
    """The line on which `keys` stand, 1-based; 0 when they are not in the file."""
    section: list[str] = []
    elements: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        element = re.match(r"\s*\[\[([^\[\]]+)\]\]", line)
        if element:
            elements[element[1]] = elements.get(element[1], -1) + 1
            section = [element[1].strip(), str(elements[element[1]])]
            if section == keys:
                return number
            continue
        header = re.match(r"\s*\[([^\[\]]+)\]", line)
        if header:
            section = [part.strip() for part in header[1].split(".")]
            if section[:1] == ["variants"]:
                section = section[2:]
            if section == keys:
                return number
            continue
        key = re.match(r"\s*([A-Za-z0-9_.-]+)\s*=", line)
        if key and [*section, *key[1].split(".")][: len(keys)] == keys:
            return number
    return 0
