"""Plays practice games and challenges of passed submissions in free slots.

Contest games and checks end a practice game on their core; it is played again later.
"""

import json
from pathlib import Path

from judge.agents.agents import Agent
from judge.agents.store import AgentStore
from judge.base.errors import HostError, InputError
from judge.base.owner import owned_directory
from judge.catalog import game_entry
from judge.games.types import SEATS, Verdict
from judge.play.game import play_until_scored
from judge.play.venue import Slot, Venue
from judge.record.policy import Policy
from judge.record.spec import GameSpec, RecordFile, SeatSpec
from judge.store.practice_games import GONE, PracticeGame, PracticeGames, PracticeResult
from judge.store.submissions import Register
from judge.submissions.check.runner import playable_partners
from judge.submissions.pipeline import Workplace
from judge.submissions.service import IntakeDirectory, agent_of


def with_shorter_games(policy: Policy, seconds: float) -> Policy:
    """Limit the game time to `seconds`, if there is one. Turn limits are unchanged."""
    clock = policy.clock
    match_ms, grows = int(seconds * 1000), any(each.grows for each in clock.controls)
    if not clock.match_ms or (clock.match_ms <= match_ms and not grows):
        return policy
    return policy.model_copy(update={"clock": clock.with_controls(lambda each: each.with_game(match_ms))})


def play_next(
    directory: IntakeDirectory, games: PracticeGames, register: Register, host: Workplace, worker: str
) -> PracticeGame | None:
    """Return None without a game or slot."""
    with host.free_slot() as slot:
        taken = None if slot is None else games.take(worker)
        if slot is None or taken is None:
            return None
        try:
            games.finish(taken.id, taken.attempt, _played(directory, register, host, slot, taken))
        except (InputError, HostError) as error:
            games.fail(taken.id, taken.attempt, str(error), directory.intake.tries)
        except OSError as error:
            why = f"{error.filename or directory.folder}: {error.strerror}"
            games.fail(taken.id, taken.attempt, why, directory.intake.tries)
        except (SystemExit, KeyboardInterrupt):
            games.release(taken.id, taken.attempt, "it waits for a free slot")
            raise
        return taken


def _played(
    directory: IntakeDirectory, register: Register, host: Workplace, slot: Slot, taken: PracticeGame
) -> PracticeResult:
    agent = agent_of(directory, register.get(taken.submission))
    policy = directory.policy
    if not taken.challenged:
        policy = with_shorter_games(policy, directory.intake.practice_s)
    with owned_directory() as staging:
        seat_spec, programs = agent.seat(policy), {agent.digest: agent.program}
        if taken.challenged:
            other, seat = _challenged(register, taken.challenged), SEATS[taken.number % len(SEATS)]
            programs[other.digest] = AgentStore(directory.agents).get(other.digest)
        else:
            opponent, seat = _paired(agent, policy, staging, taken.number)
            other = opponent.seat(policy)
            programs[opponent.digest] = opponent.program
        if seat_spec.name == other.name:
            other = other.model_copy(update={"name": f"house-{other.name}"[:64]})
        seats = (seat_spec, other) if seat == 0 else (other, seat_spec)
        spec = GameSpec(seats=seats, policy=policy, seed=taken.id, box="docker")
        for each in spec.seats:
            host.need(each.runtime)
        file = play_until_scored(spec, programs, Venue(slot))
    return _result(file, seat, directory.practice_records.put(file.to_json()))


def _challenged(register: Register, name: str) -> SeatSpec:
    text = register.entry(name)
    if text is None:
        raise InputError(GONE)
    seat = SeatSpec.model_validate(json.loads(text)["seat"])
    return seat.model_copy(update={"folders": None})


def _paired(agent: Agent, policy: Policy, staging: Path, number: int) -> tuple[Agent, int]:
    entry = game_entry(policy.game.name)
    opponents = list(playable_partners(agent, policy, "docker", staging, entry.practice or entry.partners))
    if not opponents:
        raise HostError("no house agent can play against it; run: judge images build")
    turn, index = divmod(number, len(opponents))
    return opponents[index], SEATS[(turn + index) % len(SEATS)]


def _result(file: RecordFile, seat: int, digest: str) -> PracticeResult:
    record = file.record
    if record.verdict is Verdict.VOID:
        raise HostError(record.reason)
    return PracticeResult(
        agent=record.seats[seat].name,
        opponent=record.seats[1 - seat].name,
        seat=seat,
        verdict=record.verdict.value,
        winner=record.winner,
        reason=record.reason,
        record=digest,
        seconds=record.seconds,
    )
