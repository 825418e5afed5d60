"""The golden files: the judge's public interfaces as text. `python -m tests.golden` writes them again."""

import contextlib
import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from judge.cli.reference import schema
from tests.golden.access import access_text
from tests.golden.commands import commands_text
from tests.golden.database import schema_text
from tests.golden.export_files import export, export_text
from tests.golden.routes import openapi_text, routes_text

DIRECTORY = Path(__file__).parent


SCHEMAS = ("agent", "policy", "record-file")
"""JSON schemas that `judge schema` prints. Those of records and specs are definitions of that of record files."""


def _printed_schema(name: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        schema(name)
    return printed.getvalue()


def _site(folder: Path) -> Mapping[str, str]:
    """An export and the live site of the same contest."""
    exported = export(folder)
    return {"export.txt": export_text(exported), "routes.txt": routes_text(folder / "served", exported)}


SOURCES: Mapping[tuple[str, ...], Callable[[Path], Mapping[str, str]]] = {
    ("schema.sql",): lambda folder: {"schema.sql": schema_text(folder)},
    ("commands.txt",): lambda _: {"commands.txt": commands_text()},
    ("json_schemas/*.json",): lambda _: {f"json_schemas/{name}.json": _printed_schema(name) for name in SCHEMAS},
    ("access.txt",): lambda folder: {"access.txt": access_text(folder)},
    ("openapi.json",): lambda folder: {"openapi.json": openapi_text(folder)},
    ("export.txt", "routes.txt"): _site,
}
"""By the patterns of golden files, a function from an empty directory to the contents of the files by name."""


def stored(patterns: Iterable[str]) -> dict[str, str]:
    """The contents of the golden files with these names."""
    paths = sorted(path for pattern in patterns for path in DIRECTORY.glob(pattern))
    return {path.relative_to(DIRECTORY).as_posix(): path.read_text(encoding="utf-8") for path in paths}
