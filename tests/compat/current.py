"""The digests of the formats that judge writes, computed from the golden files.

`python -m tests.compat.current` renews the digests of versions in formats.toml that are not released.
"""

import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import judge

GOLDEN = Path(__file__).parents[1] / "golden"
TABLE = Path(__file__).parent / "formats.toml"

_TEXTS = ("description", "summary", "title")
"""Keys of a JSON schema whose strings are for people."""


@dataclass(frozen=True)
class FormatVersion:
    """A row of formats.toml."""

    name: str
    version: str
    """MAJOR.MINOR: a new MINOR adds, a new MAJOR changes or removes."""
    since: str
    """The release that first wrote it."""
    sha256: str

    @property
    def numbers(self) -> tuple[int, int]:
        """The version as two integers."""
        major, minor = self.version.split(".")
        return int(major), int(minor)


def table() -> list[FormatVersion]:
    """The rows of formats.toml, in their order."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["format"]
    return [FormatVersion(**row) for row in rows]


def newest() -> Mapping[str, FormatVersion]:
    """The last row of each format."""
    return {row.name: row for row in table()}


def current_digests() -> Mapping[str, str]:
    """The SHA-256 of each format as this checkout writes it."""
    texts = {
        "record": _schema("json_schemas/record-file.json"),
        "agent file": _schema("json_schemas/agent.json"),
        "policy file": _schema("json_schemas/policy.json"),
        "HTTP API": _schema("openapi.json"),
        "export": "\n".join(_sections("export.txt", r"(public|private)/.*\.(csv|json)")),
        "store": (GOLDEN / "schema.sql").read_text(encoding="utf-8"),
        "plug-ins": "\n".join(_sections("public_names.txt", r"judge\..*")),
    }
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def _schema(name: str) -> str:
    return json.dumps(_without_texts(json.loads((GOLDEN / name).read_bytes())), sort_keys=True)


def _without_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_texts(inner)
            for key, inner in value.items()
            if not (key in _TEXTS and isinstance(inner, str)) and key != "operationId"
        }
    return [_without_texts(each) for each in value] if isinstance(value, list) else value


def _sections(name: str, pattern: str) -> list[str]:
    """The sections of a golden file whose headings match; a section ends before an empty line."""
    sections = (GOLDEN / name).read_text(encoding="utf-8").split("\n\n")
    return [each for each in sections if re.match(rf"\[{pattern}\]\n", each)]


def main() -> None:
    """Renew the digests of the versions that came with the release under work."""
    digests, text = current_digests(), TABLE.read_text(encoding="utf-8")
    for name, row in newest().items():
        if row.sha256 == digests[name]:
            continue
        if row.since != judge.__version__.removesuffix(".dev0"):
            sys.exit(f"{name} {row.version} was released with {row.since}: add a row with a new version to {TABLE}")
        text = text.replace(row.sha256, digests[name])
    TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
