"""`judge verify`: is a record what it says it is?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from judge.cli.text import safe
from judge.errors import InputError
from judge.referee.spec import MatchRecord, read_record
from judge.referee.verify import verify


def verify_records(
    records: Annotated[list[Path], typer.Argument(help="Record files (.json) of `judge match`.")],
) -> None:
    """Replay records: same result from the rules, same verdict from the evidence, chain intact."""
    failed = 0
    for path in records:
        try:
            verified = verify(read_record(path))
        except InputError as error:
            failed += _failed(path, [str(error)])
            continue
        if verified.problems:
            failed += _failed(path, verified.problems)
        else:
            print(f"{path}: ok: {_summary(verified.record)}")
    if failed:
        raise SystemExit(1)


def _failed(path: Path, problems: Sequence[str]) -> int:
    print(f"{path}: FAILED")
    for problem in problems:
        print(f"  {safe(problem, 500)}")
    return 1


def _summary(record: MatchRecord) -> str:
    winner = "" if record.winner is None else f", {safe(record.seats[record.winner].name)} wins"
    digest = record.transcript_sha256[:16]
    return f"{record.verdict}{winner}, {len(record.plies)} moves, transcript {digest}"
