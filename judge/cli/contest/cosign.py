"""`judge contest cosign`: get witnesses' signatures of a contest's log."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from judge.base.errors import HostError, InputError
from judge.base.text import printable
from judge.cli.options import HERE, ContestArgument

EXAMPLES = """
judge contest cosign cup
judge contest cosign cup --from cup.checkpoint

The first line is the public key of the log. The operator of a witness adds it before the witness signs.

judge contest run requests signatures every ten minutes, and judge contest export once more.

Exit codes: 0 all witnesses signed, 1 a witness did not sign.
"""


def cosign(
    contest: ContestArgument = HERE,
    from_: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="A checkpoint with the signature of a witness.")
    ] = None,
) -> None:
    """Ask the witnesses of a contest to sign its current log, or import a signature with --from."""
    from judge.contest.contest import open_store
    from judge.contest.plan import load_plan
    from judge.contest.witnesses import Witnesses
    from judge.transparency.log import ContestLog

    planned = load_plan(contest)
    witnesses = Witnesses(planned)
    if not witnesses.all:
        raise InputError(f"{planned.path}: there are no [[witnesses]]; add them to the file")
    if planned.has_no_store:
        raise InputError(f"{planned.name} has no log yet: judge contest announce {planned.path} begins it")
    print(f"log      {witnesses.log_key}")
    with closing(open_store(planned)) as store:
        log = ContestLog.stored(planned.name, store)
        if from_ is not None:
            for witness in witnesses.take(from_, log):
                print(f"{printable(witness.name)}: taken from {from_}")
            return
        refused = 0
        for witness, why in witnesses.ask(log):
            refused += bool(why)
            print(f"{printable(witness.name)}: {printable(why, 300) or f'signed {log.public_size} leaves'}")
    for witness in witnesses.all:
        if not witness.url:
            print(f"{printable(witness.name)}: has no url; import its signed checkpoint with --from")
    if refused:
        raise HostError(
            f"{refused} of the witnesses did not sign; the contest can continue, and the request is repeated"
        )
