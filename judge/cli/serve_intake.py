"""`judge serve-intake`: receive submissions by HTTP, with a token for each author."""

from judge.base.logs import get_logger
from judge.cli.options import HERE, BeyondLoopbackOption, ContestArgument, ListenOption, ProxyOption, of_web_extra
from judge.cli.submit import hosting, open_intake
from judge.terminal.output import note

EXAMPLES = """
Examples:

judge submissions token "Ada L." cup

judge serve-intake cup --listen 127.0.0.1:8080

judge serve-intake cup --listen 127.0.0.1:8080 --proxy 127.0.0.1

It listens on this machine only: put a server with TLS in front of it. /openapi.json describes the interface.
"""


def serve_intake(
    contest: ContestArgument = HERE,
    listen: ListenOption = "127.0.0.1:8080",
    beyond_loopback: BeyondLoopbackOption = False,
    proxy: ProxyOption = "",
) -> None:
    """Receive submissions by HTTP and process them until a signal ends it. The next start continues with those left."""
    with of_web_extra():
        from judge.web.intake.serve import checked_proxy, listening_at, serve
    directory = open_intake(contest)
    checked_proxy(proxy)
    with listening_at(listen, beyond_loopback=beyond_loopback) as (listener, place):

        def ready() -> None:
            say_where(f"intake of {directory.contest} on http://{place}", is_loopback=place.is_loopback)

        process, practice = hosting(directory, log_wait)
        serve(directory, process, listener, proxy, ready, practice)


def say_where(what: str, *, is_loopback: bool) -> None:
    """Say what is served where, and who can reach it."""
    note(f"judge: {what}")
    if is_loopback:
        note("judge: only this machine can reach it; put a server with TLS in front of it")
    else:
        note("judge: other machines can reach it WITHOUT ENCRYPTION; put a server with TLS in front of it")


def log_wait(text: str) -> None:
    """Log which process this intake waits for."""
    get_logger().info(text)
