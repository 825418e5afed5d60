"""The JSON schemas that `judge schema` prints."""

import contextlib
import io
from collections.abc import Mapping

from judge.cli.reference import schema

NAMES = ("agent", "policy", "record-file")
"""The schemas of records and specs are definitions of that of record files."""


def schema_files() -> Mapping[str, str]:
    """By file name, the output of `judge schema`."""
    return {f"json_schemas/{name}.json": _printed(name) for name in NAMES}


def _printed(name: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        schema(name)
    return printed.getvalue()
