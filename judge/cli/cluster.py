"""`judge cluster`, `judge scheduler`, `judge worker`: the keys and the processes of a contest on many machines."""

import os
import platform
from pathlib import Path
from typing import Annotated

import typer

from judge.cli.contest.slots import say_who_has, slots_here
from judge.cli.machines import Keys, refuse_without_dask
from judge.cli.text import note
from judge.cluster.keys import make_keys
from judge.errors import HostError, InputError
from judge.sandbox.reaper import reap

EXAMPLES = """
A contest on three machines, from nothing: docs/organisers.md.

Exit codes: 0 it was stopped, 2 something in the command was wrong, 1 the judge or its host failed.
"""

app = typer.Typer(help="Make the keys of a contest on many machines.", no_args_is_help=True)


@app.command()
def keys(
    folder: Annotated[Path, typer.Argument(help="Where the authority is, or will be.")],
    hosts: Annotated[list[str], typer.Argument(help="Names or IP addresses, one for each host.")],
    days: Annotated[int, typer.Option(min=1, help="How long they are valid.")] = 365,
) -> None:
    """Make a key and a certificate for each host, below FOLDER, and the authority that signs them.

    Carry FOLDER/HOST to that host and nothing else. Whoever has one of these folders may run programs on all hosts.
    """
    for made in make_keys(folder, hosts, days):
        print(made)


def scheduler(
    listen: Annotated[str, typer.Option(help="Where: tls://10.0.0.1:8786.")],
    tls: Keys = None,
    lost_after: Annotated[
        float, typer.Option(min=5, help="A worker is lost that says nothing for so long (seconds).")
    ] = 60,
) -> None:
    """Bring a contest and its workers together. Keeps nothing: it may be stopped and started again at any time."""
    refuse_without_dask()
    from judge.cluster.daemons import run_scheduler
    from judge.cluster.security import parse_address, security_of

    address = parse_address(listen)
    run_scheduler(address, security_of(address, tls), lost_after)


def worker(
    scheduler: Annotated[str, typer.Option(help="Whom to call: tls://10.0.0.1:8786.")],
    tls: Keys = None,
    slots: Annotated[int, typer.Option(min=0, help="Games at once; 0: as many as there are processors for.")] = 0,
    cores: Annotated[int, typer.Option(min=1, help="Cores for each game.")] = 1,
    folder: Annotated[Path, typer.Option(help="Keeps agents, and games that were not fetched yet.")] = Path("worker"),
    name: Annotated[str, typer.Option(help="What this machine is called.")] = "",
    listen: Annotated[
        str, typer.Option(help="Where it is called itself, if not at the address that leads there.")
    ] = "",
) -> None:
    """Play games on this machine for the contests that a scheduler brings."""
    refuse_without_dask()
    from judge.cluster.daemons import run_worker
    from judge.cluster.host import WorkerHost
    from judge.cluster.security import parse_address, security_of

    address = parse_address(scheduler)
    door = parse_address(listen, 0) if listen else None
    if door is not None and door.scheme != address.scheme:
        raise InputError(f"--listen {listen}: {address.scheme} as for the scheduler, or nothing")
    security = security_of(address, tls)
    places = slots_here(cores, slots)
    _clear_away()
    say_who_has(places)
    host = WorkerHost(name or platform.node(), folder, places)
    os.sched_setaffinity(0, places[0].judge_cores)
    run_worker(host, address, door, security)


def _clear_away() -> None:
    """What a killed worker left would sit on the cores of the slots."""
    try:
        removed = reap()
    except HostError as error:
        note(f"judge: no game in containers can be played here: {error}")
        removed = reap(containers=False)
    for line in removed:
        note(f"judge: removed what an earlier judge left: {line}")
