"""What the commands for a contest on many machines share."""

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from judge.errors import InputError

Keys = Annotated[
    Path | None, typer.Option("--tls", help="This host's folder of judge cluster keys; not needed on loopback.")
]


def refuse_without_dask() -> None:
    """InputError where the extra is not installed that a contest on many machines needs."""
    if importlib.util.find_spec("distributed") is None:
        raise InputError("a contest on many machines needs dask: pip install 'judge[cluster]'")
