"""`judge serve`: serve a contest's pages by HTTP, and receive its authors' submissions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import HostError, InputError
from judge.cli.options import CONTEST_HELP, HERE, cup_at, of_web_extra
from judge.terminal.output import note

if TYPE_CHECKING:
    from judge.contest.plan import Planned
    from judge.cup.plan import PlannedCup
    from judge.submissions.service import IntakeDirectory

EXAMPLES = {
    "serve": """
judge serve cup
judge serve cup --listen 127.0.0.1:8000 --proxy 127.0.0.1 --root-path /cup
judge serve cup --metrics 127.0.0.1:9100
judge serve cup --read-only
judge serve cup --no-play
judge serve cup --only-play
judge serve last-cup cup next-cup --title "Our contests"

Several contests, or all leagues of a cup, are served under one address, each in a folder with its name. The first page
lists them, and feed.xml is its news feed.

A second process checks submissions, starts a contest at its time, plays it, and exports it after its end. It alone
opens the Engine's socket. --no-play runs the service without it, as in a container, and --only-play runs it alone.

It can be restarted at any time, and continues. It listens on this machine only: put a reverse proxy with TLS in front
of it. /openapi.json describes the feed of events and the submissions. The log is JSON on stderr, one event per line.
""",
}


def serve(
    contest: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="CONTEST...", help=f"{CONTEST_HELP} Or several of them, or cups.", show_default=str(HERE)
        ),
    ] = None,
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS:PORT", help="The address to listen on; port 0 means any free port.")
    ] = "127.0.0.1:8000",
    beyond_loopback: Annotated[
        bool, typer.Option("--beyond-loopback", help="Allow an address that other machines can reach, without TLS.")
    ] = False,
    proxy: Annotated[str, typer.Option(help="Address of the reverse proxy, to trust its X-Forwarded-For header.")] = "",
    root_path: Annotated[str, typer.Option(help="The path prefix of the pages at the reverse proxy.")] = "",
    metrics: Annotated[
        str, typer.Option(metavar="ADDRESS:PORT", help="Also serve /metrics for Prometheus at this separate address.")
    ] = "",
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Serve only the public pages: no submissions, no Engine needed.")
    ] = False,
    intake_only: Annotated[
        bool, typer.Option("--intake-only", help="Only receive and process submissions; serve no pages.")
    ] = False,
    no_play: Annotated[
        bool, typer.Option("--no-play", help="Process and play nothing here: no Engine needed. See --only-play.")
    ] = False,
    only_play: Annotated[
        bool,
        typer.Option("--only-play", help="Serve no pages: process the submissions of a --no-play service, and play."),
    ] = False,
    title: Annotated[str, typer.Option(help="Title of the page that lists several contests.")] = "",
) -> None:
    """Serve the pages of a contest, receive and check submissions, start it at its time, play and export it.

    It runs until a signal ends it.
    """
    from judge.contest.plan import load_plan

    with of_web_extra():
        from judge.web.intake.app import opened_server as opened_intake_server
        from judge.web.intake.app import running_intake
        from judge.web.kit.connections import checked_proxy, listening, listening_at, parse_listen_address
        from judge.web.kit.logs import configure
        from judge.web.live.serve import opened_front_server, opened_server
        from judge.web.player.process import play_contests
        from judge.web.player.queues import prepare
    from judge.cli.submit import hosting, open_intake

    if only_play and (read_only or intake_only or no_play or metrics):
        raise InputError("--only-play: leave out --read-only, --intake-only, --no-play and --metrics")
    if no_play and read_only:
        raise InputError("--read-only: leave out --no-play, because it plays nothing")
    if intake_only and (read_only or metrics or root_path):
        raise InputError("--intake-only: leave out --read-only, --metrics and --root-path, which are for the pages")
    paths, cup = _contests(contest or [HERE], may_write=not read_only)
    loaded = [load_plan(path) for path in paths]
    planned = loaded[0]
    _refuse_shared_folders(loaded)
    is_front = len(paths) > 1 or cup is not None
    if is_front and (intake_only or metrics):
        raise InputError("--intake-only and --metrics are for one contest; leave them out, or serve one")
    if title and not is_front:
        raise InputError("--title is for the page that lists several contests; leave it out, or serve several")
    if only_play:
        prepare()
        play_contests([open_intake(path) for path in paths], hosting)
    proxy = checked_proxy(proxy)
    with listening_at(listen, beyond_loopback=beyond_loopback) as (listener, place), ExitStack() as stack:
        name, root = planned.name, root_path.rstrip("/")
        configure()
        directories = [] if read_only else [open_intake(path) for path in paths]
        if directories and not no_play:
            _start_player(stack, directories)
        received = [stack.enter_context(running_intake(each)) for each in directories]
        if is_front:
            several = list(zip_longest(loaded, received))
            front = title or (cup.cup.name if cup is not None else "judge")
            name = f"{front}, {len(several)} contests"
            only = cup if len(contest or [HERE]) == 1 else None
            opened = opened_front_server(front, several, listener, cup=only, proxy=proxy, root_path=root)
        elif intake_only:
            opened = opened_intake_server(received[0], listener, proxy)
        else:
            numbers = None
            if metrics:
                metrics_address = parse_listen_address(metrics, "--metrics")
                numbers = stack.enter_context(
                    listening(metrics_address, beyond_loopback=beyond_loopback, option="--metrics")
                )
            state = received[0] if received else None
            opened = opened_server(planned, listener, state=state, proxy=proxy, root_path=root, metrics=numbers)
        server = stack.enter_context(opened)
        note(f"judge: {name} on http://{place}{root_path}")
        reach = "only this machine" if place.is_loopback else "other machines"
        warning = "" if place.is_loopback else " WITHOUT ENCRYPTION"
        note(f"judge: {reach} can reach it{warning}; put a reverse proxy with TLS in front of it")
        server.run()


def _refuse_shared_folders(contests: Sequence[Planned]) -> None:
    """Raise InputError for two contests in one folder: they would share live log, exports and key."""
    found: dict[Path, Path] = {}
    for planned in contests:
        other = found.setdefault(planned.folder.resolve(), planned.path)
        if other.resolve() != planned.path.resolve():
            raise InputError(f"{other} and {planned.path} are in one folder: move one of them to its own folder")


def _start_player(stack: ExitStack, directories: Sequence[IntakeDirectory]) -> None:
    """Play contests in another process; this one keeps to the judge's core. Raises HostError without an Engine."""
    from judge.cli.submit import hosting
    from judge.contest.host_setup import place_on_host
    from judge.web.player.process import PlayerProcess

    try:
        stack.enter_context(PlayerProcess(directories, hosting))
    except HostError as error:
        raise HostError(f"{error}; --no-play serves without an Engine") from None
    for directory in directories:
        place_on_host(directory.policy)


def _contests(paths: Sequence[Path], *, may_write: bool) -> tuple[list[Path], PlannedCup | None]:
    """The contests of these paths, and the first cup among them.

    Leagues without a file get one if it `may_write`, and are left out otherwise.
    """
    from judge.cup.plan import load_cup

    found: list[Path] = []
    cup: PlannedCup | None = None
    for path in paths:
        if (file := cup_at(path)) is None:
            found.append(path)
            continue
        planned = load_cup(file)
        cup = cup or planned
        if may_write:
            for league in planned.cup.leagues:
                planned.write(league.name, is_complete=not league.after)
        files = [planned.file_of(league.name) for league in planned.cup.leagues]
        found += [file for file in files if file.is_file()]
    if not found:
        raise InputError(f"{paths[0]}: no league has a contest file; without --read-only judge serve writes them")
    return found, cup
