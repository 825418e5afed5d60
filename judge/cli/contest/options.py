"""For all commands of `judge contest`."""

import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer

from judge.api.contests import ContestFolder, contest
from judge.base.errors import InputError
from judge.base.text import printable
from judge.contest.contest import Contest
from judge.contest.plan import Planned


def opened(path: Path) -> AbstractContextManager[Contest]:
    """Context manager: the contest of a file. Raises InputError if it has not begun."""
    return contest(path).opened()


def opened_if_begun(planned: Planned) -> AbstractContextManager[Contest | None]:
    """Context manager: the planned contest; None if it has not begun."""
    return ContestFolder(planned).opened_if_begun()


ArchiveOption = Annotated[
    str,
    typer.Option(metavar="URL", help="The future address of the export as a tar archive; the page Verify links to it."),
]


def checked_archive(address: str) -> str:
    """Raises InputError."""
    # Pages' commands contain it.
    if address and not re.fullmatch(r"https?://[\w.~:/%-]{1,200}/[\w.-]{1,80}\.(tar(\.\w+)?|tgz)", address, re.ASCII):
        raise InputError(
            f"--archive {printable(address, 60)}: not the address of a tar archive; write it as "
            "https://example.org/cup.tar.gz"
        )
    return address
