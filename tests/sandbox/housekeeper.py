"""A judge process that a test can kill: holds the folders of one agent, says `ready`, and waits.

python -m tests.sandbox.housekeeper MATCH
"""

import signal
import sys

from judge.sandbox import open_keeper
from judge.sandbox.archive import pack_folder
from judge.sandbox.box import FolderKind
from judge.sandbox.folders import Folder


def hold(game: str) -> None:
    """Fill two folders and keep them until this process is killed."""
    start = pack_folder({b"file": b"x"})
    folders = [Folder(0, kind, ".", 1 << 20, 64, start) for kind in FolderKind]
    keeper = open_keeper("docker", folders, game, ())
    keeper.make()
    keeper.load()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    signal.pause()


if __name__ == "__main__":
    hold(sys.argv[1])
