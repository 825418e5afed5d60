"""The address of an archive: an option of several commands of `judge contest`."""

import re
from typing import Annotated

import typer

from judge.base.errors import InputError
from judge.base.text import printable

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
