"""`judge serve`: everybody watches a contest by HTTP."""

from typing import Annotated

import typer

from judge.cli.options import HERE, BeyondLoopbackOption, ContestArgument, ListenOption, ProxyOption
from judge.cli.output import note
from judge.contest.plan import load_plan
from judge.errors import InputError

EXAMPLES = """
Examples:

judge serve cup

judge serve cup --listen 127.0.0.1:8000 --proxy 127.0.0.1 --root-path /cup

It only reads the folder of the contest, beside judge contest run or alone, and can be stopped and started again at any
time. It listens on this machine only: put a server with TLS in front of it. /openapi.json describes the feed of events.
"""


def serve(
    contest: ContestArgument = HERE,
    listen: ListenOption = "127.0.0.1:8000",
    beyond_loopback: BeyondLoopbackOption = False,
    proxy: ProxyOption = "",
    root_path: Annotated[str, typer.Option(help="The path under which the server in front has the pages.")] = "",
) -> None:
    """Show a contest to everybody: its pages, and its games while they are played, until a signal ends it."""
    try:
        from judge.intake.serve import ListenAddress, checked_proxy, listening, parse_listen_address
        from judge.live.serve import serve as serve_pages
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed: pip install 'judge[web]'") from None
    planned = load_plan(contest)
    address = parse_listen_address(listen)
    with listening(address, beyond_loopback=beyond_loopback) as listener:
        host, port = listener.getsockname()[:2]
        serve_pages(
            planned,
            listener,
            proxy=checked_proxy(proxy),
            root_path=root_path.rstrip("/"),
            ready=lambda: note(f"judge: {planned.name} on http://{ListenAddress(host, port)}{root_path}"),
        )
