"""The fields of each format, from documents of a checkout, and their changes.

`python -m tests.compat.formats` prints the changes since the newest snapshot, with COMMIT those since a commit.
With `--freeze` it writes the snapshot of the next release.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import judge

ROOT = Path(__file__).parents[2]
SNAPSHOTS = Path(__file__).parent

Fields = Mapping[str, str]
"""The description of each field by its place. It begins with REQUIRED if files without the field are refused."""

Formats = Mapping[str, Mapping[str, Any]]
"""By name of the format: its `version` (MAJOR.MINOR) and its `fields`."""

Read = Callable[[str], str]
"""The text of a file of a checkout."""

REQUIRED = "required "

_IGNORED = frozenset(
    {"$ref", "$defs", "components", "required", "title", "description", "summary", "operationId", "tags", "example"}
)
"""Keys whose values are read elsewhere, or are for people."""


def read_checkout(name: str) -> str:
    """Return the text of a file of this checkout."""
    return (ROOT / name).read_text(encoding="utf-8")


def formats(read: Read = read_checkout) -> Formats:
    """Return the formats of a checkout, with the versions of docs/compatibility.md."""
    rows = re.findall(r"^\| ([A-Za-z -]+) \| (\d+\.\d+) \|", read("docs/compatibility.md"), re.MULTILINE)
    sources = {name: (version, *_SOURCES[name]) for name, version in rows}
    return {
        name: {"version": version, "fields": dict(parse(read(f"tests/golden/{file}")))}
        for name, (version, file, parse) in sources.items()
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
        json.dump(formats(), file, sort_keys=True)
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


def name_fields(text: str, modules: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Return the names of modules and the parameters that have defaults."""
    for module in modules:
        owner = ""
        for line in _section(text, module):
            name = re.split(r"[(: ]", line.removeprefix("class ").removeprefix("def ").strip())[0]
            owner = owner if line.startswith(" ") else name
            place = f"{module} {owner}.{name}" if line.startswith(" ") else f"{module} {name}"
            yield place, re.sub(r"[*, ]*\b\w+=(?=[,)])", "", line).strip()
            yield from ((f"{place} {each}", "") for each in re.findall(r"\b\w+=(?=[,)])", line))


def _section(text: str, name: str) -> list[str]:
    """The lines of a golden file below a heading, up to an empty line."""
    return text.partition(f"[{name}]\n")[2].partition("\n\n")[0].splitlines()


def _export_fields(text: str) -> Iterator[tuple[str, str]]:
    for name in re.findall(r"^\[((?:public|private)/.*\.(?:csv|json))\]$", text, re.MULTILINE):
        yield from ((f"{name} {line}", "") for line in _section(text, name))


def _plugin_fields(text: str) -> Iterator[tuple[str, str]]:
    page = read_checkout("docs/api.md")
    return name_fields(text, re.findall(r"^\| `(judge[a-z._]*)` \| stable \|", page, re.MULTILINE))


def _json_fields(text: str) -> Iterator[tuple[str, str]]:
    return document_fields(json.loads(text))


_SOURCES: Mapping[str, tuple[str, Callable[[str], Iterator[tuple[str, str]]]]] = {
    "record": ("json_schemas/record-file.json", _json_fields),
    "agent file": ("json_schemas/agent.json", _json_fields),
    "policy file": ("json_schemas/policy.json", _json_fields),
    "export": ("export.txt", _export_fields),
    "store": ("schema.sql", table_fields),
    "plug-ins": ("public_names.txt", _plugin_fields),
    "HTTP API": ("openapi.json", _json_fields),
}
"""By name of the format, a golden file and a function from its text to fields."""


def main(arguments: Sequence[str]) -> None:
    """Write a snapshot, or print the changes since one or since a commit."""
    if arguments == ["--freeze"]:
        freeze()
        return

    def read(name: str) -> str:
        return subprocess.check_output(["git", "show", f"{arguments[0]}:{name}"], cwd=ROOT, text=True)

    before = formats(read) if arguments else newest_snapshot()
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
