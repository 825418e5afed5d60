"""The game of a judge that is to be stopped: a worker process imports it from here."""

import os
from pathlib import Path

from judge.agents.agents import stage_agent
from judge.play import live_wire
from judge.play.game import play_until_scored
from judge.play.venue import Venue
from judge.record.policy import load_policy
from judge.record.spec import GameSpec, write_record
from judge.record.transcript import EntryKind, unpack_entries
from judge.sandbox.box import BoxKind


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
