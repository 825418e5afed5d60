"""A record, an export, a store and a backup as one version of judge writes them, and what it reads in them."""

import json
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from judge.record.spec import read_record
from tests.contests import JOINING, LATE_AND_WITHDRAWN
from tests.corpus.commands import printed

STATED = "read.json"
"""What the version that wrote the files reads in them."""


def write_files(folder: Path) -> None:
    """Write all files of this version into a new folder."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        public = LATE_AND_WITHDRAWN.export(place)
        shutil.copytree(public.directory, folder / "export")
        shutil.copyfile(public.public_key, folder / "announced.pem")
        record = min((folder / "export").glob("records/*.json"), key=lambda path: path.stat().st_size)
        shutil.copyfile(record, folder / "record.json")
        stack.enter_context(JOINING.contest(folder / "store"))
        assert "exit code" not in printed("contest", "backup", str(folder / "store"), str(folder / "backup"))
    with tempfile.TemporaryDirectory() as work:
        text = json.dumps(read_files(folder, Path(work)), indent=1, sort_keys=True)
    (folder / STATED).write_text(text + "\n", encoding="utf-8")


def read_files(folder: Path, work: Path) -> dict[str, Any]:
    """Read a copy of all files of a version, in an empty folder, with the present commands."""
    work = work / "files"
    shutil.copytree(folder, work)
    game = read_record(work / "record.json").record
    export, key = str(work / "export"), str(work / "announced.pem")
    restored = printed("contest", "restore", str(work / "backup"), str(work / "restored"))
    return {
        "record verified": _is_accepted(printed("verify", str(work / "record.json"))),
        "record": [game.verdict, game.winner, len(game.plies), game.transcript_sha256],
        "export verified": _is_accepted(printed("contest", "verify", export, "--key", key)),
        "backup restored": _is_accepted(restored),
        "export": [[row["agent"], row["games"], row["score"]] for row in _json("stats", export)["ratings"]["ratings"]],
        "store": _table(work / "store"),
        "restored": _table(work / "restored"),
    }


def _is_accepted(text: str) -> bool:
    return "exit code" not in text


def _table(contest: Path) -> list[list[Any]]:
    rows = _json("contest", "standings", str(contest))["lines"]
    return [[row["place"], row["agent"], row["points"], *row["done"].values()] for row in rows]


def _json(*words: str) -> Any:
    return json.loads(printed(*words, "--json"))
