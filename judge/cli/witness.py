"""`judge witness`: on another machine, sign that the log of a contest was not rewritten."""

import re
import time
from pathlib import Path
from typing import Annotated

import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.cli.output import note
from judge.durable_files import read_bounded, write_durably
from judge.errors import HostError, InputError
from judge.publish.keys import load_key, load_public_key
from judge.publish.witness import newest, reader_of, refusal
from judge.text import is_printable, printable
from judge.transparency.checkpoint import COSIGNATURE, LARGEST_CHECKPOINT, Checkpoint, read_checkpoint, verifier_key

EXAMPLES = """
Examples:

judge contest key witness.key

judge witness https://example.org/cup/ cup.checkpoint --organiser organiser.pem --key witness.key --name example.net/ada

Run it as often as you like, for example every ten minutes. judge contest verify --since takes FILE, and so does the
organiser, by judge contest cosign --from. An organiser asks a judge witness-server by himself.

Exit codes: 0 signed, 1 refused or the site does not answer, 2 the command was wrong.
"""


def witness(
    site: Annotated[str, typer.Argument(help="The address of a contest's pages, or the directory of an export.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The last checkpoint that you signed; it is replaced.")],
    organiser: Annotated[Path, typer.Option(help="The organiser's public key, from another source than the site.")],
    key: Annotated[Path, typer.Option(help="Your private key; make one with judge contest key.")],
    name: Annotated[str, typer.Option(help="Your name, such as example.net/ada; no blank and no plus.")] = "witness",
) -> None:
    """Sign the checkpoint of a contest's log if it goes on from the last one, or refuse with the reason."""
    checked_name(name)
    signing, public = load_key(key), load_public_key(organiser)
    old = _last(file)
    read = reader_of(site)
    new = newest(read)
    if why := refusal(read, new, old, public):
        refused = file.with_name(f"{file.name}.refused")
        _write(refused, new)
        print(f"REFUSED: the checkpoint of {printable(new.origin)}: {printable(why, 300)}")
        note(f"judge: {refused} has that checkpoint; with {file} it is the proof: show both to everybody")
        raise SystemExit(1)
    _write(file, new.cosigned(name, signing, int(time.time())))
    if old is None:
        note("judge: this is the first checkpoint that you sign: nothing before it is proved")
    print(f"{file}: {printable(new.origin)}, {new.size} leaves, signed by {printable(name)}")
    print_key(name, signing)


def checked_name(name: str) -> None:
    """Raises InputError if a witness cannot be called so."""
    if not re.fullmatch(r"[^\s+]{1,256}", name) or not is_printable(name):
        raise InputError(f"--name {printable(name, 60)}: a name has no blank and no plus")


def print_key(name: str, key: Ed25519PrivateKey) -> None:
    """Print the line of a witness's public key, as contest files and judge contest verify --witness take it."""
    print(f"key      {verifier_key(name, COSIGNATURE, key.public_key())}", flush=True)


def _last(file: Path) -> Checkpoint | None:
    """The last checkpoint that was signed; None if there is none."""
    return read_checkpoint(read_bounded(file, LARGEST_CHECKPOINT), str(file)) if file.exists() else None


def _write(file: Path, checkpoint: Checkpoint) -> None:
    try:
        write_durably(file, checkpoint.note)
    except OSError as error:
        raise HostError(f"{file}: {error.strerror}: the checkpoint is not written") from None
