"""A judge that is to be stopped: plays a game and stores the record of each attempt.

Run as `python -m tests.faults.paused_judge WHERE FOLDER TURN_MS [deaf|docker]`: in the main process, or in a worker
process or a crew of them (WHERE). `deaf`: without the defence. `docker`: in containers, and not in process boxes. It
prints the number of the process that plays, and `asked` in each turn of the slow agent that takes a millisecond.
"""

import os
import sys
from pathlib import Path

from judge.agents.agents import stage_agent
from judge.base.worker_processes import Crew, Worker
from judge.referee import live_wire
from judge.referee.play import Venue, play_until_scored
from judge.referee.policy import load_policy
from judge.referee.spec import GameSpec, write_record
from judge.referee.transcript import EntryKind, unpack_entries
from judge.sandbox import BoxKind


def play_game(folder: Path, turn_ms: int, *, is_deaf: bool, box: BoxKind = "process") -> None:
    """Play `folder/slow` against `house-instant`; records are `folder/ATTEMPT.json`."""
    if is_deaf:
        for name in ("PAUSE_NS", "_OVERSLEPT_NS"):
            setattr(live_wire, name, 1 << 62)
    os.write(1, f"{os.getpid()}\n".encode())
    staging = folder / "staging"
    staging.mkdir()
    agents = [stage_agent(name, staging) for name in (str(folder / "slow"), "house-instant")]
    clock = [f"clock.turn_ms={turn_ms}", "clock.tolerance_ms=0", "clock.starved_share=1", "clock.match_ms=0"]
    policy = load_policy("gomocup-freestyle", clock)
    first, second = (agent.seat(policy) for agent in agents)
    spec = GameSpec(seats=(first, second), policy=policy, box=box)
    play_until_scored(
        spec,
        {agent.digest: agent.program for agent in agents},
        Venue(follow=_say_asked),
        after=lambda file: write_record(folder / f"{file.record.attempt}.json", file),
    )


def _say_asked(packed: bytes) -> None:
    if any(entry.kind is EntryKind.THAWED and entry.seat == 0 for entry in unpack_entries(packed)):
        print("asked", flush=True)  # noqa: T201


def main() -> None:
    """Play where the arguments say."""
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
    from tests.faults import paused_judge  # a worker does not run the program that started it, and finds tasks by name

    paused_judge.main()
