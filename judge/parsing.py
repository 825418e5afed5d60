"""Values from outside: read into a model, or refused with one sentence that names the field and what is wrong."""

import json
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from judge.errors import InputError
from judge.text import printable, suggest

T = TypeVar("T")

LONGEST = 1000
"""Characters of a complaint: what is wrong may be as long as the document."""


class Refusal(Protocol):
    """An error of pydantic's, or one that FastAPI makes of it."""

    def errors(self) -> Sequence[Any]:
        """What is wrong, as pydantic describes it: at least one thing."""


def parse(kind: type[T], data: object, what: str) -> T:
    """The `kind`, a model or a container of models, that plain values hold.

    Raises InputError that begins with `what` and names every field that is wrong.
    """
    try:
        return _reader(kind).validate_python(data)
    except ValidationError as error:
        raise InputError(f"{what}: {complaints(error, kind)}") from None


def parse_json(kind: type[T], data: bytes | str, what: str) -> T:
    """The `kind` that a JSON text holds; InputError begins with `what`."""
    try:
        return _reader(kind).validate_json(data)
    except ValidationError as error:
        raise InputError(f"{what}: {complaint(error, kind)}") from None


def refuse_repeated_keys(data: bytes | str, what: str) -> None:
    """Raise InputError, which begins with `what`, if an object of a JSON text has a key twice.

    Readers differ in which of the two values they take (RFC 8259, 4), so that one text says two things. A text that is
    no JSON is left to its reader.
    """
    try:
        json.loads(data, object_pairs_hook=_each_key_once)
    except _RepeatedKeyError as error:
        raise InputError(f"{what}: the key {printable(str(error))!r} is there twice") from None
    except (ValueError, RecursionError):
        return


class _RepeatedKeyError(Exception):
    pass


def _each_key_once(pairs: list[tuple[str, Any]]) -> None:
    keys = set()
    for key, _ in pairs:
        if key in keys:
            raise _RepeatedKeyError(key)
        keys.add(key)


def complaint(error: Refusal, kind: object = None, keys: Sequence[str] | None = None) -> str:
    """The first thing that is wrong, on one printable line.

    Of a key that the model does not have it says which key of the `kind` is like it. `keys` are the
    field as a person wrote it, where that is not as pydantic has it.
    """
    return _said(first_of(error), kind, keys)


def complaints(error: Refusal, kind: object = None) -> str:
    """Everything that is wrong, each field of the top level once, on one printable line."""
    by_field: dict[object, Any] = {}
    for found in error.errors():
        by_field.setdefault(found["loc"][:1], found)
    return printable("; ".join(_said(found, kind) for found in by_field.values()), LONGEST)


def first_of(error: Refusal) -> Any:
    """The first of the things that are wrong, as pydantic describes it."""
    return error.errors()[0]


def _said(found: Any, kind: object, keys: Sequence[str] | None = None) -> str:
    where = [str(key) for key in found["loc"]]
    field = ".".join(where if keys is None else keys)
    message = found["msg"].removeprefix("Value error, ")
    if found["type"] == "model_type":
        message = f"it should have keys of its own: {', '.join(_known_keys(kind, where))}"
    if not where:
        said = message
    elif found["type"] == "extra_forbidden":
        said = f"unknown key {field!r}; {_known(kind, where)}"
    elif found["type"] == "missing":
        said = f"the key {field!r} is missing"
    else:
        said = f"{field}: {message}"
    return printable(said, LONGEST)


def _reader(kind: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(kind)


def _known(kind: object, where: Sequence[str]) -> str:
    """What may have been meant by a key that there is not."""
    tables = [] if where[1:] else _tables_with(kind, where[0])
    if tables:
        return f"did you mean {tables[0]!r}?"
    return suggest(where[-1], _known_keys(kind, where[:-1]))


def _tables_with(kind: object, key: str) -> list[str]:
    """Where a key that was looked for at the top stands, as `table.key`."""
    return [
        f"{name}.{key}"
        for model in _models_in(kind)
        for name, field in model.model_fields.items()
        for table in _models_in(field.annotation)
        if key in table.model_fields
    ]


def _known_keys(kind: object, where: Sequence[str]) -> list[str]:
    """The keys of the table that pydantic calls `where`: keys, places in a list, and kinds of a table."""
    models = _models_in(kind)
    for key in where:
        fields = [each.model_fields[key] for each in models if key in each.model_fields]
        if fields:
            models = [inner for field in fields for inner in _models_in(field.annotation)]
        elif not key.isdecimal():
            models = [each for each in models if _is_kind(each, key)]
    return list(models[0].model_fields) if len(models) == 1 else []


def _models_in(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [inner for part in get_args(annotation) for inner in _models_in(part)]


def _is_kind(model: type[BaseModel], tag: str) -> bool:
    return "name" in model.model_fields and model.model_fields["name"].default == tag
