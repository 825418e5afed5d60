"""`judge witness`: sign on another machine that a contest's log was not rewritten."""

import re
import time
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from judge.base.durable_files import read_bounded, write_durably
from judge.base.errors import HostError, InputError
from judge.base.text import is_printable, printable
from judge.cli.options import number
from judge.terminal.output import note
from judge.transparency.checkpoint import COSIGNATURE, MAX_CHECKPOINT_BYTES, Checkpoint, read_checkpoint, verifier_key
from judge.transparency.keys import load_key, load_public_key
from judge.transparency.witness import DEADLINE_S, WitnessRefusal, newest, reader_of, refusal, sole_writer, within

EXAMPLES = """
Examples:

judge contest key witness.key

judge witness https://example.org/cup/ cup.checkpoint --organiser organiser.pem --key witness.key --name example.net/ada

Run it regularly, for example every ten minutes. FILE is the input of judge contest verify --since, and of the
organiser's judge contest cosign --from. With judge witness-server the organiser requests signatures automatically.
FILE.lock prevents two runs from signing at the same time.

Exit codes: 0 signed, 1 refused or the site does not answer, 2 the command was wrong.
"""


def witness(
    site: Annotated[str, typer.Argument(help="The address of a contest's pages, or the directory of an export.")],
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The last checkpoint that you signed; the new one replaces it.")
    ],
    organiser: Annotated[
        Path, typer.Option(help="The organiser's public key; obtain it from another source than the site.")
    ],
    key: Annotated[Path, typer.Option(help="Your private key; create one with judge contest key.")],
    name: Annotated[str, typer.Option(help="Your name, such as example.net/ada, without blank and plus.")] = "witness",
    timeout: Annotated[
        float, typer.Option(parser=number(1, 86_400), help="Timeout in seconds for reading from the site.")
    ] = DEADLINE_S,
) -> None:
    """Sign the checkpoint of a contest's log if it continues the last signed one; otherwise print why not."""
    checked_name(name)
    signing, public = load_key(key), load_public_key(organiser)
    read = reader_of(site)
    with sole_writer(file):
        old = _last(file, public)

        def look() -> tuple[Checkpoint, WitnessRefusal | None]:
            new = newest(read)
            return new, refusal(read, new, old, public)

        try:
            new, refused = within(timeout, look)
        except HostError as error:
            raise HostError(f"{printable(site, 200)}: {error}; nothing was signed") from None
        if refused is not None:
            _refuse(file, new, refused)
        if _last(file, public) != old:
            raise HostError(f"{file}: it has changed during this run; nothing was signed, try again")
        _write(file, new.cosigned(name, signing, int(time.time())))
    if old is None:
        note("judge: this is the first checkpoint that you sign: it proves nothing about earlier states")
    print(f"{file}: {printable(new.origin)}, {new.size} leaves, signed by {printable(name)}")
    print_key(name, signing)


def _refuse(file: Path, new: Checkpoint, refused: WitnessRefusal) -> NoReturn:
    if refused.is_proof:
        kept = file.with_name(f"{file.name}.refused")
        _write(kept, new)
        print(f"REFUSED: the checkpoint of {printable(new.origin)}: {printable(refused.why, 300)}")
        note(f"judge: {kept} has that checkpoint; with {file} it is the proof: the organiser signed both; publish them")
    else:
        print(f"NOT SIGNED: the checkpoint of {printable(new.origin)}: {printable(refused.why, 300)}")
        note("judge: this proves nothing against the organiser")
    raise SystemExit(1)


def checked_name(name: str) -> None:
    """Raise InputError if the name of a witness is invalid."""
    if not re.fullmatch(r"[^\s+]{1,256}", name) or not is_printable(name):
        raise InputError(f"--name {printable(name, 60)}: a name has no blank and no plus")


def print_key(name: str, key: Ed25519PrivateKey) -> None:
    """Print a witness's public key as contest files and `judge contest verify --witness` expect it."""
    print(f"key      {verifier_key(name, COSIGNATURE, key.public_key())}", flush=True)


def _last(file: Path, organiser: Ed25519PublicKey) -> Checkpoint | None:
    if not file.is_symlink() and not file.exists():
        return None
    last = read_checkpoint(read_bounded(file, MAX_CHECKPOINT_BYTES), str(file))
    if not last.is_signed(organiser):
        raise InputError(
            f"{file}: a checkpoint of {printable(last.origin, 100)!r} that this organiser has not signed; "
            "give another --organiser, or another FILE for this contest"
        )
    return last


def _write(file: Path, checkpoint: Checkpoint) -> None:
    try:
        write_durably(file, checkpoint.note)
    except OSError as error:
        raise HostError(f"{file}: {error.strerror}: the checkpoint is not written") from None
