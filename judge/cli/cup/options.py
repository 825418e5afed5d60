"""Arguments that the commands of `judge cup` share."""

from pathlib import Path
from typing import Annotated

import typer

from judge.cup.plan import CUP_FILE

CUP_HERE = Path(CUP_FILE)
CupArgument = Annotated[Path, typer.Argument(metavar="CUP", help="The cup.toml, or the folder that contains it.")]
