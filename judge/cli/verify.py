"""`judge verify`: is a record what it says it is?"""

from pathlib import Path
from typing import Annotated

import typer

from judge.cli.text import safe
from judge.referee.spec import read_record
from judge.referee.verify import verify


def verify_records(
    records: Annotated[list[Path], typer.Argument(help="Record files (.json) of `judge match`.")],
) -> None:
    """Replay records: same result from the rules, same verdict from the evidence, chain intact."""
    failed = 0
    for path in records:
        verified = verify(read_record(path))
        record = verified.record
        if verified.problems:
            failed += 1
            print(f"{path}: FAILED")
            for problem in verified.problems:
                print(f"  {safe(problem, 500)}")
        else:
            winner = "" if record.winner is None else f", {record.seats[record.winner].name} wins"
            print(
                f"{path}: ok: {record.verdict}{safe(winner)}, {len(record.plies)} moves, "
                f"transcript {record.transcript_sha256[:16]}"
            )
    if failed:
        raise SystemExit(1)
