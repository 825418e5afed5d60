"""Parses values into models, or rejects them with one sentence naming field and error."""

import json
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, Protocol, TypeVar, cast, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from judge.base.errors import InputError
from judge.base.text import printable, suggest

T = TypeVar("T")
K = TypeVar("K")

FailFastTuple = Annotated[tuple[T, ...], Field(fail_fast=True)]
FailFastList = Annotated[list[T], Field(fail_fast=True)]
FailFastDict = Annotated[dict[K, T], Field(fail_fast=True)]
FailFastMapping = Annotated[Mapping[K, T], Field(fail_fast=True)]
"""Fields of models of foreign JSON. They have one error at most, because each takes 700 bytes. A dict of single values
does not need it: its keys are few (`MAX_KEYS`).
"""

FIRST_YEAR, LAST_YEAR = 1970, 9000
"""Of moments: others may have no equivalent in UTC."""


def _with_usual_year(moment: datetime) -> datetime:
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ValueError(f"the year {moment.year}: write a moment such as 2027-03-31T18:00:00")
    return moment


StrictDatetime = Annotated[datetime, Field(strict=True), AfterValidator(_with_usual_year)]
"""A moment in TOML, or a text in JSON."""


def _moment_text(text: str) -> str:
    _with_usual_year(datetime.fromisoformat(text))
    return text


MomentText = Annotated[str, AfterValidator(_moment_text)]
"""A moment in ISO 8601, kept as it is written."""

MAX_ERROR_CHARACTERS = 1000
"""Characters of an error text, which may quote a whole document."""

canonical_json = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
"""The JSON of a value whose digest is published: ASCII, sorted keys, no spaces."""


class Model(BaseModel):
    """A model whose schema is built at its first use: a command uses few of the models that it imports."""

    model_config = ConfigDict(defer_build=True)


class FrozenModel(Model):
    """A model that refuses unknown fields and does not change."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Refusal(Protocol):
    """A validation error of pydantic or FastAPI."""

    def errors(self) -> Sequence[Any]:
        """Pydantic's error list, not empty."""


def parse(kind: type[T], data: object, what: str) -> T:
    """Raises InputError, which begins with `what` and names every wrong field.

    `kind` is a model or a container of models.
    """
    try:
        found: T = _reader(cast(Hashable, kind)).validate_python(data)
    except ValidationError as error:
        raise InputError(f"{what}: {complaints(error, kind)}") from None
    return found


def parse_json(kind: type[T], data: bytes | str, what: str) -> T:
    """Raises InputError, which begins with `what`.

    Memory: at most 100 bytes per byte of text, if the lists of `kind` fail at their first wrong element.
    """
    if len(data) > _SMALL_TEXT:
        _scan(data, what, _Scan())
    return _validated(kind, data, what)


def parse_foreign(kind: type[T], data: bytes, what: str) -> T:
    """Like `parse_json`, and reject ambiguous JSON like `refuse_ambiguous`."""
    refuse_ambiguous(data, what)
    return _validated(kind, data, what)


def _validated(kind: type[T], data: bytes | str, what: str) -> T:
    try:
        found: T = _reader(cast(Hashable, kind)).validate_json(data, strict=True)
    except ValidationError as error:
        raise InputError(f"{what}: {complaint(error, kind)}") from None
    return found


def to_document(value: object) -> Any:
    """A dataclass as its JSON, without private fields."""
    return _reader(cast(Hashable, type(value))).dump_python(value, mode="json", by_alias=True)


MAX_KEYS = 10_000
"""Keys beyond 64 per object: each wrong key costs an error of 700 bytes."""

_FEW_KEYS = 64
_SMALL_TEXT = 64 << 10


def refuse_ambiguous(data: bytes, what: str) -> None:
    """Raises InputError, which begins with `what`.

    Ambiguous are a duplicate key (RFC 8259, 4), a byte order mark, invalid UTF-8, NaN, Infinity, or a number beyond a
    double.
    """
    _scan(data, what, _StrictScan())


class _AmbiguousError(Exception):
    pass


class _Scan:
    constant: Callable[[str], Any] | None = None
    number: Callable[[str], Any] | None = None

    def __init__(self) -> None:
        self._left = MAX_KEYS

    def pairs(self, pairs: list[tuple[str, Any]]) -> None:
        self._left -= max(0, len(pairs) - _FEW_KEYS)
        if self._left < 0:
            raise _AmbiguousError("it has too many keys")


class _StrictScan(_Scan):
    def pairs(self, pairs: list[tuple[str, Any]]) -> None:
        if len(pairs) > _FEW_KEYS:
            super().pairs(pairs)
        if len(dict(pairs)) == len(pairs):
            return
        keys = set()
        for key, _ in pairs:
            if key in keys:
                raise _AmbiguousError(f"the key {printable(key)!r} occurs twice")
            keys.add(key)

    def constant(self, name: str) -> Any:
        raise _AmbiguousError(f"{name} is not JSON")

    def number(self, text: str) -> float:
        if math.isinf(value := float(text)):
            raise _AmbiguousError("a number is too large")
        return value


def _scan(data: bytes | str, what: str, scan: _Scan) -> None:
    try:
        text = data if isinstance(data, str) else data.decode()
        json.loads(text, object_pairs_hook=scan.pairs, parse_constant=scan.constant, parse_float=scan.number)
    except _AmbiguousError as error:
        raise InputError(f"{what}: {error}") from None
    except UnicodeError:
        raise InputError(f"{what}: it is not UTF-8") from None
    except (ValueError, RecursionError):
        # The parser reports a byte order mark.
        return


def complaint(error: Refusal, kind: object = None, keys: Sequence[str] | None = None) -> str:
    """First error on one printable line, with a similar key of `kind` for an unknown one.

    `keys` is the field as the user wrote it, if different.
    """
    return _said(first_of(error), kind, keys)


def complaints(error: Refusal, kind: object = None) -> str:
    """All errors, one per top-level field, on one printable line."""
    by_field: dict[object, Any] = {}
    for found in error.errors():
        by_field.setdefault(found["loc"][:1], found)
    return printable("; ".join(_said(found, kind) for found in by_field.values()), MAX_ERROR_CHARACTERS)


def first_of(error: Refusal) -> Any:
    """Pydantic's description of the first error."""
    return error.errors()[0]


def _said(found: Any, kind: object, keys: Sequence[str] | None = None) -> str:
    where = [str(key) for key in found["loc"]]
    field = ".".join(where if keys is None else keys)
    message = found["msg"].removeprefix("Value error, ")
    if found["type"] == "model_type":
        message = f"it should be a table with the keys: {', '.join(_known_keys(kind, where))}"
    elif found["type"] == "literal_error" and where[-1:] == ["format"]:
        message = f"it is {found['input']!r:.60}, and this version of judge reads {found['ctx']['expected']}"
    elif found["type"] == "datetime_type":
        message = "write a date and a time without quotes, such as 2027-03-31T18:00:00"
    if not where:
        said = message
    elif found["type"] == "extra_forbidden":
        tables = [] if where[1:] else _tables_with(kind, where[0])
        hint = f"did you mean {tables[0]!r}?" if tables else suggest(where[-1], _known_keys(kind, where[:-1]))
        said = f"unknown key {field!r}; {hint}"
    elif found["type"] == "missing":
        said = f"the key {field!r} is missing"
    else:
        said = f"{field}: {message}"
    return printable(said, MAX_ERROR_CHARACTERS)


@lru_cache(maxsize=256)
def _reader(kind: Hashable) -> TypeAdapter[Any]:
    form = cast(Any, kind)
    return TypeAdapter(Annotated[form, Field(fail_fast=True)] if get_origin(form) is list else form)


def _tables_with(kind: object, key: str) -> list[str]:
    return [
        f"{name}.{key}"
        for model in _models_in(kind)
        for name, field in model.model_fields.items()
        for table in _models_in(field.annotation)
        if key in table.model_fields
    ]


def _known_keys(kind: object, where: Sequence[str]) -> list[str]:
    models = _models_in(kind)
    for key in where:
        fields = [each.model_fields[key] for each in models if key in each.model_fields]
        if fields:
            models = [inner for field in fields for inner in _models_in(field.annotation)]
        elif not key.isdecimal():
            models = [
                each for each in models if "name" in each.model_fields and each.model_fields["name"].default == key
            ]
    return list(models[0].model_fields) if len(models) == 1 else []


def _models_in(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return list(dict.fromkeys(inner for part in get_args(annotation) for inner in _models_in(part)))
