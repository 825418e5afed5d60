"""`judge verify`: verify records and evaluations."""

from pathlib import Path
from typing import Annotated

import typer

from judge.api.files import VerifiedFile, verify
from judge.base.errors import InputError
from judge.base.text import printable

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
        name = printable(str(path), None)
        try:
            verified = verify(path)
        except InputError as error:
            verified = VerifiedFile([str(error)], "")
        if verified.problems:
            failed += 1
            print(f"{name}: FAILED")
            for problem in verified.problems:
                print(f"  {printable(problem, 500)}")
        else:
            print(f"{name}: ok: {verified.summary}")
    if failed:
        raise SystemExit(1)
