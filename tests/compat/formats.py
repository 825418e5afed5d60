"""The fields of each format, from documents of a checkout, and their changes.

`python -m tests.compat.formats` prints the changes since the newest snapshot, with COMMIT those since a commit.
With `--freeze` it writes the snapshot of the next release.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import judge

ROOT = Path(__file__).parents[2]
SNAPSHOTS = Path(__file__).parent

Fields = Mapping[str, str]
"""The description of each field by its place. It begins with REQUIRED if files without the field are refused."""

Formats = Mapping[str, Mapping[str, Any]]
"""By name of the format: its `version` (MAJOR.MINOR) and its `fields`."""

REQUIRED = "required "

_IGNORED = frozenset(
    {"$ref", "$defs", "components", "required", "title", "description", "summary", "operationId", "tags", "example"}
)
"""Keys whose values are read elsewhere, or are for people."""


def formats(checkout: Path = ROOT) -> Formats:
    """Return the formats of a checkout, with the versions of docs/compatibility.md."""
    page = (checkout / "docs/compatibility.md").read_text(encoding="utf-8")
    return {
        name: {"version": version, "fields": dict(_SOURCES[name](checkout))}
        for name, version in re.findall(r"^\| ([A-Za-z -]+) \| (\d+\.\d+) \|", page, re.MULTILINE)
    }


def changes(before: Fields, after: Fields) -> list[str]:
    """Return a line for each changed field, with `major` or `minor` in front; parts of a new field are not listed."""
    lines = []
    different = before.keys() ^ after.keys()
    for place in sorted(before.keys() | after.keys()):
        old, new = before.get(place), after.get(place)
        if (whole := re.split(r"[ .](?!.*[ .])", place)[0]) != place and whole in different:
            continue
        if new is None:
            lines.append(f"major: removed {place}")
        elif old is None:
            lines.append(f"{'major' if new.startswith(REQUIRED) else 'minor'}: added {place}: {new}")
        elif old != new:
            lines.append(f"major: changed {place}: {old} -> {new}")
    return lines


def least_version(version: str, changed: list[str]) -> str:
    """Return the lowest version that a format of `version` may have after these changes."""
    major, minor = numbers(version)
    if any(line.startswith("major") for line in changed):
        return f"{major + 1}.0"
    return f"{major}.{minor + bool(changed)}"


def numbers(version: str) -> tuple[int, ...]:
    """Return a version as integers."""
    return tuple(map(int, version.split(".")))


def newest_snapshot(folder: Path = SNAPSHOTS) -> Formats | None:
    """Return the formats of the newest release; None before the first."""
    path = max(folder.glob("*.json"), key=lambda path: numbers(path.stem), default=None)
    return None if path is None else dict(json.loads(path.read_text(encoding="utf-8")))


def freeze(folder: Path = SNAPSHOTS) -> Path:
    """Write the snapshot of the next release. Raises FileExistsError: a snapshot is never replaced."""
    path = folder / f"{judge.__version__.partition('.dev')[0]}.json"
    with path.open("x", encoding="utf-8") as file:
        file.write(json.dumps(formats(), sort_keys=True, indent=1) + "\n")
    return path


def document_fields(document: Any, node: Any = None, place: str = "", mark: str = "") -> Iterator[tuple[str, str]]:
    """Return the fields of a JSON schema or an OpenAPI document, below a node if it is given."""
    node = document if node is None else node
    if "$ref" in node:
        target = document
        for part in node["$ref"].split("/")[1:]:
            target = target[part]
        node = {**target, **node}
    facts, parts = {}, []
    for key, value in node.items():
        if key == "properties":
            parts += [(f".{name}", inner, name in node.get("required", ())) for name, inner in value.items()]
        elif key == "enum":
            parts += [(f" ={each}", {}, False) for each in value]
        elif key in _IGNORED or (key == "default" and isinstance(value, dict)):
            continue
        elif isinstance(value, dict):
            parts.append((f" {key}", value, False))
        elif value and isinstance(value, list) and all(isinstance(each, dict) for each in value):
            parts += [(f" {each.get('name', n)}", each, each.get("required") is True) for n, each in enumerate(value)]
        else:
            facts[key] = value
    yield place.strip(), f"{mark}{json.dumps(facts, sort_keys=True)}"
    needed = "always " if " responses " in place else REQUIRED
    for suffix, inner, is_needed in parts:
        yield from document_fields(document, inner, f"{place}{suffix}", needed if is_needed else "")


def table_fields(text: str) -> Iterator[tuple[str, str]]:
    """Return the lines of SQL statements. Each change needs a migration, and so a new MAJOR."""
    for statement in text.split(";\n"):
        head, *lines = statement.strip().splitlines() or [""]
        yield from ((f"{head} {line.strip()}".strip(), REQUIRED) for line in lines or [""])


def name_fields(checkout: Path) -> Iterator[tuple[str, str]]:
    """Return the public names of the modules that docs/api.md of a checkout calls stable."""
    page = (checkout / "docs/api.md").read_text(encoding="utf-8")
    modules = re.findall(r"^\| `(judge[a-z._]*)` \| stable \|", page, re.MULTILINE)
    script = Path(__file__).with_name("names.py")
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    yield from json.loads(subprocess.check_output([sys.executable, script, *modules], env=environment)).items()


def _golden(checkout: Path, name: str) -> str:
    return (checkout / "tests/golden" / name).read_text(encoding="utf-8")


def _export_fields(checkout: Path) -> Iterator[tuple[str, str]]:
    text = _golden(checkout, "export.txt")
    for name in re.findall(r"^\[((?:public|private)/.*\.(?:csv|json))\]$", text, re.MULTILINE):
        lines = text.partition(f"[{name}]\n")[2].partition("\n\n")[0].splitlines()
        yield from ((f"{name} {line}", "") for line in lines)


def _json_fields(name: str) -> Callable[[Path], Iterator[tuple[str, str]]]:
    return lambda checkout: document_fields(json.loads(_golden(checkout, name)))


_SOURCES: Mapping[str, Callable[[Path], Iterator[tuple[str, str]]]] = {
    "record": _json_fields("json_schemas/record-file.json"),
    "agent file": _json_fields("json_schemas/agent.json"),
    "policy file": _json_fields("json_schemas/policy.json"),
    "export": _export_fields,
    "store": lambda checkout: table_fields(_golden(checkout, "schema.sql")),
    "plug-ins": name_fields,
    "HTTP API": _json_fields("openapi.json"),
}
"""By name of the format, a function from a checkout to its fields."""


def formats_of_commit(commit: str) -> Formats:
    """Return the formats of a commit of this repository."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.check_output(["git", "archive", commit, "docs", "judge", "tests/golden"], cwd=ROOT)
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        return formats(Path(folder))


def main(arguments: Sequence[str]) -> None:
    """Write a snapshot, or print the changes since one or since a commit."""
    if arguments == ["--freeze"]:
        freeze()
        return

    before = formats_of_commit(arguments[0]) if arguments else newest_snapshot()
    if before is None:
        sys.exit("no snapshot: give a commit")
    for name, now in formats().items():
        old = before.get(name, now)
        changed = changes(old["fields"], now["fields"])
        least = least_version(old["version"], changed)
        heading = f"{name} {old['version']} -> {now['version']} (at least {least})"
        sys.stdout.write("\n  ".join([heading, *changed]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
