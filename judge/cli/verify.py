"""`judge verify`: verify records and evaluations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from judge.base.errors import InputError
from judge.base.text import printable
from judge.catalog.steps import replayed_log
from judge.contest.evaluation import is_evaluation
from judge.records.outcome import outcome_text
from judge.referee.spec import read_record
from judge.referee.verify import verify

EXAMPLES = "Example: judge verify records/*.json"


def verify_records(
    records: Annotated[
        list[Path], typer.Argument(help="Records (.json), logs of the UCC contests, or files of judge evaluate.")
    ],
) -> None:
    """Replay records: check the result by the rules, the verdict by the evidence, and the hash chain.

    A log of the UCC contests' own managers is replayed by the rules, with random events from the log. For an evaluation
    the signature, every record and the verdict are checked.
    """
    failed = 0
    for path in records:
        try:
            problems, summary = _checked(path)
        except InputError as error:
            problems, summary = [str(error)], ""
        if problems:
            failed += 1
            print(f"{path}: FAILED")
            for problem in problems:
                print(f"  {printable(problem, 500)}")
        else:
            print(f"{path}: ok: {summary}")
    if failed:
        raise SystemExit(1)


def _checked(path: Path) -> tuple[Sequence[str], str]:
    if is_evaluation(path):
        from judge.export.evaluation_file import verify_evaluation

        problems, said = verify_evaluation(path)
        return problems, printable(said, 400)
    game = replayed_log(path)
    if game is not None:
        return [], game
    verified = verify(read_record(path))
    record = verified.record
    names = (record.seats[0].name, record.seats[1].name)
    winner = "" if record.winner is None else f", {printable(outcome_text(record.verdict, record.winner, names))}"
    digest = record.transcript_sha256[:16]
    return verified.problems, f"{record.verdict}{winner}, {len(record.plies)} moves, transcript {digest}"
