"""A judge that is to be stopped: plays a game and stores the record of each attempt.

Run as `python -m tests.faults.paused_judge WHERE FOLDER TURN_MS [deaf|docker]`: in the main process, or in a worker
process or a crew of them (WHERE). `deaf`: without the defence. `docker`: in containers, and not in process boxes. It
prints the number of the process that plays, and `asked` in each turn of the slow agent that takes a millisecond.
"""

import sys
from pathlib import Path

from judge.base.worker_processes import Crew, Worker
from tests.faults.paused_game import play_game


def main() -> None:
    where, folder, turn_ms, *rest = sys.argv[1:]
    arguments = (Path(folder), int(turn_ms))
    if where == "main":
        play_game(*arguments, is_deaf="deaf" in rest, box="docker" if "docker" in rest else "process")
        return
    worker: Worker[None] = Worker() if where == "worker" else Crew[None](2).workers[0]
    worker.start(play_game, *arguments, is_deaf="deaf" in rest)
    worker.result()
    worker.close()


if __name__ == "__main__":
    main()
