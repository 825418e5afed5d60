"""The JSON schemas that `judge schema` prints."""

import contextlib
import io
from collections.abc import Mapping

from judge.cli.reference import SCHEMAS, schema


def schema_files() -> Mapping[str, str]:
    """By file name, the output of `judge schema` for each name that it knows."""
    return {f"json_schemas/{name}.json": _printed(name) for name in SCHEMAS}


def _printed(name: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        schema(name)
    return printed.getvalue()
