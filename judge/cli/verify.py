"""`judge verify`: verify records, evaluations and exports."""

from pathlib import Path
from typing import Annotated

import typer

from judge.base.errors import InputError
from judge.base.text import printable

EXAMPLES = """
judge verify records/*.json
judge verify public
"""


def verify_files(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="Records (.json), UCC logs, evaluations, folders with these files, exported contests and cups.",
        ),
    ],
) -> None:
    """Replay records: check the result by the rules, the verdict by the evidence, and the hash chain.

    A log of the UCC contests' own managers is replayed by the rules, with random events from the log. For an evaluation
    the signature, every record and the verdict are checked. An export is verified as by judge contest verify, without
    the organiser's key.
    """
    verified = [_is_verified_folder(path) if path.is_dir() else _is_verified(path) for path in paths]
    if not all(verified):
        raise SystemExit(1)


def _is_verified_folder(path: Path) -> bool:
    # Records need none of these, which take long to import.
    from judge.catalog.files import game_files
    from judge.cli.contest.verify import verify as verify_export
    from judge.contest_view.export import DOCUMENT
    from judge.publish.manifest import CUP_DOCUMENT

    if (path / CUP_DOCUMENT).exists() or (path / DOCUMENT).exists():
        try:
            verify_export(path)
        except SystemExit:
            return False
        except InputError as error:
            print(f"{printable(str(path), None)}: FAILED\n  {printable(str(error), 500)}")
            return False
        return True
    verified = [_is_verified(file) for file in game_files([path])]
    return all(verified)


def _is_verified(path: Path) -> bool:
    from judge.api.files import VerifiedFile, verify

    name = printable(str(path), None)
    try:
        verified = verify(path)
    except InputError as error:
        verified = VerifiedFile([str(error).removeprefix(f"{path}: ")], "")
    if not verified.problems:
        print(f"{name}: ok: {verified.summary}")
        return True
    print(f"{name}: FAILED")
    for problem in verified.problems:
        print(f"  {printable(problem, 500)}")
    return False
