"""`judge witness-server`: a witness that organisers request signatures from, also for their draw."""

from pathlib import Path
from typing import Annotated

import typer

from judge.base.errors import HostError, InputError
from judge.base.locks import try_lock_directory
from judge.cli.options import BeyondLoopbackOption, ListenOption, ProxyOption, of_web_extra
from judge.cli.serve import print_address
from judge.cli.witness import checked_name, print_key
from judge.transparency.keys import load_key, load_public_key

EXAMPLES = """
Example: judge witness-server signed cup --organiser organiser.pem --key witness.key --name example.net/ada

Put a reverse proxy with TLS in front of it, and give the organiser its address and the line of your key for
[[witnesses]]. It signs only logs that continue the last signed one. Keep the folder: without it the server would sign a
rewritten log.
"""


def witness_server(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder for the signed checkpoints.")],
    contests: Annotated[list[str], typer.Argument(metavar="NAME...", help="The contests that you sign for.")],
    organiser: Annotated[Path, typer.Option(help="The organiser's public key.")],
    key: Annotated[Path, typer.Option(help="Your private key; create one with judge contest key.")],
    name: Annotated[str, typer.Option(help="Your name, such as example.net/ada, without blank and plus.")] = "witness",
    listen: ListenOption = "127.0.0.1:8090",
    beyond_loopback: BeyondLoopbackOption = False,
    proxy: ProxyOption = "",
) -> None:
    """Sign checkpoints of contests' logs sent by their organiser (C2SP tlog-witness), until a signal ends it."""
    with of_web_extra():
        from judge.web.intake.witness import Witness, serve
        from judge.web.kit.connections import checked_proxy, listening_at
        from judge.web.kit.logs import configure
    checked_name(name)
    signing = load_key(key)
    if not folder.is_dir():
        raise InputError(f"{folder}: not a directory; make it")
    witness = Witness(folder, contests, load_public_key(organiser), name, signing)
    try:
        lock = try_lock_directory(folder)
    except OSError as error:
        raise HostError(f"{folder}: {error.strerror}") from None
    if lock is None:
        raise InputError(f"{folder}: another witness server uses this folder; stop it, or give another folder and key")
    with lock, listening_at(listen, beyond_loopback=beyond_loopback) as (listener, place):
        configure()
        print_key(name, signing)

        def ready() -> None:
            print_address(f"witness {name} on http://{place}", is_loopback=place.is_loopback)

        serve(witness, listener, ready, checked_proxy(proxy))
