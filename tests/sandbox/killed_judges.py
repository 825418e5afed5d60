"""Judge processes that a test can kill. Each says `ready` and waits.

python -m tests.sandbox.killed_judges box KIND TRANSPORT PROGRAM prepared|started|frozen     a box with a burning agent
python -m tests.sandbox.killed_judges folders GAME                                           the folders of one agent
python -m tests.sandbox.killed_judges reuse PROGRAM STEP                                     at a step of keeping a box
"""

import os
import select
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from judge.sandbox.archive import pack_folder
from judge.sandbox.box import BoxPolicy, FolderKind, Limits, Tenant
from judge.sandbox.docker.kept import KEPT, KeptContainers
from judge.sandbox.docker.renewal import Renewal
from judge.sandbox.folders import Folder
from judge.sandbox.open_box import open_box, open_keeper

GAMES = 10

OWNERS: dict[str, Any] = {
    "_clean": Renewal,
    "_renew": Renewal,
    "_give_memory_back": Renewal,
    "prove": Renewal,
    "put": KeptContainers,
}


def wait_for_the_end(*_words: object) -> NoReturn:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(1)


def keep_box(kind: str, transport: str, program: str, stage: str) -> None:
    tenant = Tenant("puppet", Path(program), ("puppet",), "native", 0, "landlord")
    box = open_box(kind, tenant, Limits(), BoxPolicy.model_validate({"transport": transport}))  # type: ignore[arg-type]
    box.prepare()
    box.enter()
    if stage != "prepared":
        box.start()
        box.write(b"burn-alone\n")
    if stage == "frozen":
        box.freeze()
    wait_for_the_end()


def keep_folders(game: str) -> None:
    folders = [Folder(0, kind, ".", 1 << 20, 64, pack_folder({b"file": b"x"})) for kind in FolderKind]
    keeper = open_keeper("docker", folders, game, ())
    keeper.make()
    keeper.load()
    wait_for_the_end()


def reuse(program: str, stop_at: str) -> None:
    process = play(Path(program), stop_at)
    if stop_at == "waiting":
        wait_for_the_end()
    sys.stdout.write(f"{process}\n")


def play(program: Path, stop_at: str) -> int:
    """A game of an agent that ends by itself; the number of this process, unless it stops at a step.

    On a busy host a box may not be proved clean in time, and is thrown away: then there is another game.
    """
    for _ in range(GAMES):
        _play_once(program, stop_at)
        if KEPT._waiting:
            return os.getpid()
    raise AssertionError(f"none of {GAMES} boxes was kept")


def _play_once(program: Path, stop_at: str) -> None:
    tenant = Tenant("puppet", program, ("puppet",), "native", 0, "reuser", digest="one")
    box = open_box("docker", tenant, Limits(), BoxPolicy(reuse="agent"))
    box.prepare()
    box.enter()
    box.start()
    box.write(b"leave 0\n")
    reports = 0
    while reports < 2:
        select.select([source.fd for source in box.sources], [], [])
        reports += sum(channel == "report" for source in box.sources for channel, _ in source.read())
    box.leave()
    if stop_at in OWNERS:
        setattr(OWNERS[stop_at], stop_at, wait_for_the_end)
    box.close()


COMMANDS: dict[str, Callable[..., None]] = {"box": keep_box, "folders": keep_folders, "reuse": reuse}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
