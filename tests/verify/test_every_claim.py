"""Every value in an export, changed and signed again: it is found, or it is one that nobody can compute."""

import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judge.contest_view.export import DOCUMENT
from judge.journal.state import JournalLine
from judge.publish.verify.export import verify_export
from tests.examples import sized
from tests.publish.public import Public, sign_again
from tests.verify.forgeries import other
from tests.verify.log_forgeries import lines_of, write_log

TRIED = sized(12, 1000)
"""Kinds of values, of some 400."""

UNCHECKED = re.compile(
    r"""
      contest\.json\ (judge|about|plan_sha256|folders_from|images\..*|host\..*)   # what the organiser says
    | contest\.json\ (failures\..*|transform|shuffle)       # rules that may have had no occasion to matter
    | contest\.json\ entries\.\*\.(description|submission|title)
    | records/.*\ record\.judge
    # Measurements; states of folders that no later game began with; notes, some of which come from private lines.
    | records/.*\ record\.seats\.\*\.(memory_peak_bytes|cpu_ms|lingered_ms|notes\.\*|folders\..*)
    | records/.*\ record\.(placement\..*|judge_late_ms)     # where: the certificate has it if there are enough games
    | records/N\.attempt-N\.json\ record\.(seconds|reason)                                   # nothing was ruled
    | records/N\.attempt-N\.json\ record\.seats\.\*\.(about\..*|charged_ms|lingered_cpu_ms)
    | records/N\.attempt-N\.json\ record\.plies\.\*\.(ms|memory_bytes|search\..*)
    """,
    re.VERBOSE,
)
"""Values whose change the export alone does not reveal; docs/enforcement.md lists them."""

Path_ = tuple[str | int, ...]


def leaves(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path


def kinds(directory: Path) -> dict[str, list[tuple[Path, Path_]]]:
    """The places of all values, by a name that leaves out the numbers of games and rows."""
    found: dict[str, list[tuple[Path, Path_]]] = {}
    files = [directory / "contest.json", directory / "chance.json", *sorted((directory / "data").glob("*.json"))]
    for file in [*files, *sorted((directory / "records").glob("*.json"))]:
        name = re.sub(r"\d+", "N", file.relative_to(directory).as_posix())
        for path in leaves(json.loads(file.read_bytes())):
            kind = ".".join("*" if isinstance(key, int) else key for key in path)
            found.setdefault(f"{name} {kind}", []).append((file, path))
    return found


def fitted(public: Public, lines: Sequence[JournalLine], records: Mapping[tuple[str, int], str]) -> list[JournalLine]:
    """Lines with the digests that the files have now."""

    def digest(line: JournalLine) -> str | None:
        name = DOCUMENT if line.event == "created" else records.get((line.game or "", line.attempt or 0))
        if name is None or line.digest is None:
            return line.digest
        return hashlib.sha256((public.directory / name).read_bytes()).hexdigest()

    return [replace(line, digest=digest(line)) for line in lines]


def test_every_value_is_checked_or_known_to_be_a_claim(copy: Public) -> None:
    """The log fits what was changed: its organiser writes it again."""
    chance = random.Random(str(TRIED))
    by_kind = kinds(copy.directory)
    tried = chance.sample(sorted(by_kind), min(TRIED, len(by_kind)))
    lines = lines_of(copy.directory)
    games, attempts = (
        json.loads((copy.directory / f"data/{name}.json").read_bytes()) for name in ("games", "attempts")
    )
    ids = {row["number"]: row["id"] for row in games}
    records = {(ids[row["number"]], row["attempt"]): row["record"] for row in (*games, *attempts)}
    missed = []
    for kind in tried:
        file, path = chance.choice(by_kind[kind])
        raw = file.read_bytes()
        document = json.loads(raw)
        place = document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = other(place[path[-1]])
        file.write_text(f"{json.dumps(document)}\n")
        if file.stem == "journal":
            sign_again(copy)
        else:
            write_log(copy, fitted(copy, lines, records))
        if not verify_export(copy.directory, copy.public_key).problems and not UNCHECKED.fullmatch(kind):
            missed.append(f"{kind} {path}")
        file.write_bytes(raw)
        write_log(copy, lines)

    assert [] == missed
