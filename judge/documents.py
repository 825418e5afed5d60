"""TOML files that people write: read into a model, or refused with the file, the line, the key and the mend."""

import difflib
import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from judge.errors import InputError

Model = TypeVar("Model", bound=BaseModel)


def read_text(path: Path, what: str) -> str:
    """The text of the file at `path`, which should be `what` (`a policy file`); InputError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}: give the path of {what}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; {what} is TOML") from None


def parse(path: Path, text: str) -> dict[str, Any]:
    """The tables of a TOML text; InputError names the file and the line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}") from None


def validated(model: type[Model], document: dict[str, Any], path: Path, text: str) -> Model:
    """The model of `document`, which came from `text`; InputError names the line of the first key that is wrong."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise InputError(_explain(model, error.errors()[0], path, text)) from None


def choices(word: str, known: Iterable[str]) -> str:
    """`did you mean …?`, or what there is."""
    names = sorted(known)
    near = difflib.get_close_matches(word, names, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    return "there are " + ", ".join(names) if names else "there are none"


def _explain(model: type[BaseModel], error: ErrorDetails, path: Path, text: str) -> str:
    keys = [str(key) for key in error["loc"]]
    if not keys:
        return f"{path}: {error['msg'].removeprefix('Value error, ')}"
    line = _line_of(keys, text)
    place = f"{path}, line {line}" if line else f"{path}, --set"
    if error["type"] == "extra_forbidden":
        known = choices(keys[-1], _known_keys(model, keys[:-1]))
        return f"{place}: unknown key {'.'.join(keys)!r}; {known}"
    if error["type"] == "missing":
        return f"{path}: the key {'.'.join(keys)!r} is missing"
    return f"{place}: {'.'.join(keys)}: {error['msg'].removeprefix('Value error, ')}"


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


def _known_keys(model: type[BaseModel], keys: Sequence[str]) -> list[str]:
    for key in keys:
        annotation = model.model_fields[key].annotation if key in model.model_fields else None
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            return []
        model = annotation
    return list(model.model_fields)
