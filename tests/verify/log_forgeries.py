"""A contest of one pairing with its log, and ways to rewrite the log as only its organiser can."""

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.contest_view.export import JournalRow
from judge.journal.codec import Event, encode
from judge.journal.state import JournalLine
from judge.publish.tables import write_csv, write_json
from judge.publish.verify.export import verify_export
from judge.store.contests import Store
from judge.transparency.log import ContestLog
from judge.transparency.merkle import read_leaves
from tests.contests import PAIR, nothing, with_a_remark
from tests.publish.cups import Cup
from tests.publish.public import Public, sign_again
from tests.verify.second_opinion import second_opinion

OLD_SIZE = 7
"""Leaves at the old checkpoint: announced, frozen, created, scheduled, started, void, a remark of the organiser."""

NOTE = 6
"""The leaf of that remark."""


def export_contest(folder: Path, key: Ed25519PrivateKey, between: Callable[[Store], object] = nothing) -> Public:
    with Cup(folder / "cup", PAIR, drawn=between) as cup:
        with_a_remark(cup)
        return cup.export(folder, key)


def lines_of(directory: Path) -> list[JournalLine]:
    """The journal of an export, with the digests of its log."""
    rows = json.loads((directory / "data/journal.json").read_text())
    leaves = map(json.loads, read_leaves(lambda path: (directory / "log" / path).read_bytes(), len(rows)))
    return [
        JournalLine(**row, digest=leaf["digest"], salt=leaf.get("salt"), number=number)
        for number, (row, leaf) in enumerate(zip(rows, leaves, strict=True))
    ]


def rewrite(public: Public, how: Callable[[list[JournalLine]], Any]) -> None:
    """Change the journal, and make tables, log, checkpoint and manifest fit, as only the organiser can."""
    lines = lines_of(public.directory)
    how(lines)
    write_log(public, lines)


def with_event(line: JournalLine, event: Event) -> JournalLine:
    name, data, game, attempt = encode(event)
    return replace(line, event=name, data=data, game=game, attempt=attempt)


def write_log(public: Public, lines: Sequence[JournalLine]) -> None:
    """A journal with its tables, its log, its checkpoint and a manifest."""
    rows = [{name: getattr(line, name) for name in JournalRow.__slots__} for line in lines]
    (public.directory / "data/journal.json").write_bytes(write_json(rows))
    (public.directory / "data/journal.csv").write_bytes(write_csv(list(JournalRow.__slots__), rows))
    log = ContestLog.of("spring-cup", [replace(line, number=number) for number, line in enumerate(lines)])
    shutil.rmtree(public.directory / "log", ignore_errors=True)
    for name, data in log.files(public.key):
        (public.directory / name).parent.mkdir(parents=True, exist_ok=True)
        (public.directory / name).write_bytes(data)
    sign_again(public)


def old_checkpoint(public: Public, folder: Path, size: int = OLD_SIZE) -> Path:
    """What somebody kept while the contest was played."""
    return kept_checkpoint(public, lines_of(public.directory), folder, size)


def kept_checkpoint(public: Public, lines: Sequence[JournalLine], folder: Path, size: int) -> Path:
    """What somebody kept of a contest's log when it had so many leaves."""
    path = folder / f"kept-{size}"
    path.write_bytes(ContestLog.of("spring-cup", lines).checkpoint(size).signed(public.key).note)
    return path


def found(public: Public, since: Path | None = None) -> tuple[list[str], list[str]]:
    """The problems of `judge contest verify`, and those of verify.mjs with the independent reading."""
    words = [] if since is None else [Path("--since"), since]
    return (
        list(verify_export(public.directory, public.public_key, since).problems),
        second_opinion(public.directory, public.public_key, *words),
    )


def other_digest(number: int) -> Callable[[list[JournalLine]], Any]:
    return lambda lines: lines.__setitem__(number, replace(lines[number], digest="d" * 64))


def in_document(public: Public, how: Callable[[Any], Any]) -> None:
    """Change contest.json, and the leaf that has its digest."""
    path = public.directory / "contest.json"
    document = json.loads(path.read_text())
    how(document)
    path.write_text(f"{json.dumps(document)}\n")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    rewrite(public, lambda lines: lines.__setitem__(2, replace(lines[2], digest=digest)))
