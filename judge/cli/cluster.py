"""`judge cluster`, `judge scheduler`, `judge worker`: keys and processes for contests on several machines."""

import os
import platform
from pathlib import Path
from typing import Annotated

import typer

from judge.base.errors import HostError, InputError
from judge.cli.options import SLOTS_HELP, TlsOption, number, require_dask
from judge.terminal.output import note, print_notice

EXAMPLES = """
docs/organise/cluster.md sets up a contest on three machines.

Exit codes: 0 it was stopped, 1 the judge or its host failed, 2 the command was wrong.
"""


def cluster(
    folder: Annotated[Path, typer.Argument(help="The folder of the authority; created if it does not exist.")],
    hosts: Annotated[list[str], typer.Argument(help="Host name or IP address of each host.")],
    scheduler: Annotated[
        str, typer.Option(help="For machines that play: the address of the scheduler, such as tls://10.0.0.1:8786.")
    ] = "",
    days: Annotated[int, typer.Option(min=1, help="Days for which the certificates are valid.")] = 365,
) -> None:
    """Create the keys for contests on several machines: a key and a certificate for each host in FOLDER.

    Use them for the scheduler and for hosts that run contests. Copy only FOLDER/HOST to that host. Anyone with one of
    these folders can use all workers. For machines that play games, give --scheduler: then each gets a file
    FOLDER/HOST.join for judge worker --join, whose key is valid only for a worker with that name.
    """
    require_dask()
    from judge.cluster.security import invite, make_keys, parse_address

    made = invite(folder, hosts, parse_address(scheduler), days) if scheduler else make_keys(folder, hosts, days)
    for path in made:
        print(path)


def scheduler(
    listen: Annotated[str, typer.Option(help="The address to listen on: tls://10.0.0.1:8786.")],
    tls: TlsOption = None,
    lost_after: Annotated[
        float,
        typer.Option(
            parser=number(5, 86_400), help="Seconds without a message after which a worker is considered lost."
        ),
    ] = 60,
) -> None:
    """Connect contests with their workers. It stores nothing and can be restarted at any time."""
    require_dask()
    from judge.cluster.daemons import run_scheduler
    from judge.cluster.security import parse_address, security_of

    address = parse_address(listen)
    run_scheduler(address, security_of(address, tls, takes_workers=True), lost_after)


def worker(
    scheduler: Annotated[str, typer.Option(help="The address of the scheduler: tls://10.0.0.1:8786.")] = "",
    tls: TlsOption = None,
    slots: Annotated[int, typer.Option(min=0, help=SLOTS_HELP)] = 0,
    cores: Annotated[int, typer.Option(min=1, help="Cores for each game.")] = 1,
    folder: Annotated[Path, typer.Option(help="Where the files of agents are stored.")] = Path("worker"),
    name: Annotated[str, typer.Option(help="The name of this machine; default: its host name.")] = "",
    listen: Annotated[
        str, typer.Option(help="The address to listen on; default: the one that reaches the scheduler, any port.")
    ] = "",
    join: Annotated[
        Path | None, typer.Option(help="This machine's file from judge cluster; no other option is needed.")
    ] = None,
    allow_processes: Annotated[
        bool, typer.Option("--allow-processes", hidden=True, help="For tests: also run agents without containers.")
    ] = False,
) -> None:
    """Play games of contests on this machine."""
    from judge.contest.host_setup import clean_up, report_occupied
    from judge.contest.slots import slots_on_host

    require_dask()
    from judge.cluster.daemons import run_worker
    from judge.cluster.machine import Machine
    from judge.cluster.security import parse_address, read_join_file, security_of

    if (join is None) == (not scheduler) or (join is not None and (tls is not None or name)):
        raise InputError("give --join with this machine's file, or --scheduler with its --tls and --name")
    joined = None if join is None else read_join_file(join)
    address = parse_address(scheduler) if joined is None else joined.address
    listen_address = parse_address(listen, 0) if listen else None
    if listen_address is not None and listen_address.scheme != address.scheme:
        raise InputError(f"--listen {listen}: use {address.scheme}://, as for the scheduler")
    security = security_of(address, tls) if joined is None else joined.security()
    name = name if joined is None else joined.name
    worker_slots = slots_on_host(cores, slots)
    try:
        clean_up(print_notice)  # leftovers of a killed worker would use the slots' cores
    except HostError as error:
        note(f"judge: games in containers cannot be played here: {error}")
        clean_up(print_notice, containers=False)
    report_occupied(worker_slots, print_notice)
    machine = Machine(name or platform.node(), folder, worker_slots, allows_processes=allow_processes)
    os.sched_setaffinity(0, worker_slots[0].judge_cores)
    run_worker(machine, address, listen_address, security)
