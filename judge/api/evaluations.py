"""Evaluate a candidate against a pool."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event

from judge import __version__
from judge.agents.agents import stage_agent
from judge.api.matches import check_cancelled, watch_until
from judge.base.durable_files import write_durably
from judge.base.errors import HostError, InputError, JudgeError, os_errors_as
from judge.base.locks import locked
from judge.base.owner import owned_directory
from judge.base.resources import house_agent_names
from judge.base.text import printable
from judge.base.toml_files import parse, read_text, validated
from judge.contest.evaluation import (
    FROZEN_FILE,
    POOL_FILE,
    RECORDS,
    Evaluation,
    Pool,
    PoolPlan,
    StopRule,
    evaluation_of,
    seat_of_version,
)
from judge.contest.evaluation import evaluate as evaluated
from judge.contest.host_setup import make_ready, make_venue
from judge.contest.opening_files import openings_of
from judge.contest.plan import policy_of
from judge.contest_games import Outcome
from judge.games.types import Verdict
from judge.play.game import play_until_scored
from judge.play.venue import Venue
from judge.publish.export.evaluation_file import played_game, read_pool, record_path, write_evaluation
from judge.record.policy import Policy
from judge.record.spec import GameSpec, SeatSpec, write_record
from judge.referee.setup import check_playable
from judge.sandbox.machine.cores import Tell
from judge.statistics.sprt import PairedScores
from judge.transparency.keys import load_key

EVALUATIONS = "evaluations"


class NoVerdictError(JudgeError):
    """All pairs ended alike, so the pool cannot rank the agents. The text proposes opponents."""


@dataclass(frozen=True, slots=True)
class SignedEvaluation:
    """An evaluation, its file, and the scores of which it is the verdict."""

    evaluation: Evaluation
    path: Path
    scores: PairedScores


def evaluate(
    candidate: str,
    *,
    against: Path,
    key: Path,
    rule: StopRule,
    parent: str = "",
    progress: Callable[[PairedScores, int], None] = lambda _scores, _games: None,
    notify: Tell = lambda _: None,
    cancel: Event | None = None,
) -> SignedEvaluation:
    """Play a candidate against a fixed pool until `rule` ends it, and sign the verdict.

    `against` is a pool.toml or its folder, `key` a private key file. With `parent`, an earlier version, both agents
    play the same games and are compared pair by pair. `progress` receives the scores and the number of games after each
    round of opponents. Games that were played already are not repeated. If `cancel` is set, CancelledError is raised;
    the same call continues later. Raises NoVerdictError if all pairs ended alike.
    """
    signing = load_key(key)
    path = against / POOL_FILE if against.is_dir() else against
    with owned_directory() as staging:
        pool, programs = _pool(path, staging, notify)
        seats = (
            _version(candidate, staging, pool.policy, programs),
            _version(parent, staging, pool.policy, programs) if parent else None,
        )
        if seats[1] is not None and seats[1].digest == seats[0].digest:
            raise InputError(f"--parent {parent}: the same files as {candidate}; give an earlier version")
        for seat in filter(None, seats):
            check_playable(pool.pair(0, seat)[0])
        make_ready(pool.box, pool.policy, [seat.runtime for seat in (*filter(None, seats), *pool.agents)], notify)
        if rule.pairs > pool.different_pairs:
            notify(
                f"after {2 * pool.different_pairs} games of an agent the openings repeat: deterministic agents then "
                "repeat games, which prove nothing; add openings to the pool"
            )
        others = _other_opponents(pool, seats[0], staging)
        venue = replace(make_venue(pool.box, pool.policy, notify), watch=watch_until(cancel, None))
        records = path.parent / RECORDS
        with os_errors_as(InputError, records, ": the pool's folder must be writable"):
            records.mkdir(exist_ok=True)
        scores, played = PairedScores(()), list[str]()
        for scores, played in evaluated(pool, *seats, rule, partial(_play, records, programs, venue, cancel)):
            progress(scores, len(played))
    if scores.are_even:
        raise NoVerdictError(_no_verdict(scores, pool, others))
    found = evaluation_of(__version__, pool, seats, rule, scores, played)
    names = "-against-".join(seat.name.replace("@", "-") for seat in seats if seat is not None)
    file = path.parent / EVALUATIONS / f"{names}.json"
    with os_errors_as(HostError, f"{file}: the evaluation could not be written"):
        file.parent.mkdir(exist_ok=True)
        write_evaluation(file, found, signing)
    return SignedEvaluation(found, file, scores)


def _other_opponents(pool: Pool, seat: SeatSpec, staging: Path) -> list[str]:
    """Return the house agents that can play the candidate and are not in the pool."""
    known = {each.digest for each in pool.agents}
    found = []
    for name in house_agent_names():
        try:
            other = stage_agent(name, staging)
            check_playable(GameSpec(seats=(seat, other.seat(pool.policy)), policy=pool.policy, box=pool.box))
        except InputError:
            continue
        if other.digest not in known:
            found.append(name)
    return found


def _no_verdict(scores: PairedScores, pool: Pool, others: Sequence[str]) -> str:
    if scores.are_differences:
        alike = "the candidate and its parent scored the same in every pair"
        advice = "add agents of a strength in between, such as the parent itself"
    else:
        alike = "the candidate scored a half in every pair"
        advice = "add other agents or openings"
    names = ", ".join(printable(seat.name, 40) for seat in pool.agents[:8])
    return (
        f"no verdict: all {scores.pairs} pairs ended alike: {alike}, so this pool ({names}) cannot rank them; "
        f"{advice}, in a new pool" + (f"; house agents that are not in it: {', '.join(others)}" if others else "")
    )


def _pool(path: Path, staging: Path, notify: Tell) -> tuple[Pool, dict[str, Path]]:
    text = read_text(path, "a pool file, such as docs/authors.md has one")
    plan = validated(PoolPlan, parse(path, text), path, text)
    policy = policy_of(path, plan.policy, plan.change)
    agents = [stage_agent(each.locate(path.parent), staging) for each in plan.agents]
    seats = tuple(
        agent.seat(policy).model_copy(update={"name": each.name or agent.manifest.name})
        for each, agent in zip(plan.agents, agents, strict=True)
    )
    if len({seat.name for seat in seats}) < len(seats):
        raise InputError(f"{path}: two agents have the same name; give one of them a `name`")
    pool = Pool(
        policy=policy,
        box=plan.box,
        openings=tuple(openings_of(path, plan.openings, policy)),
        shuffle=plan.openings.shuffle,
        transform=plan.openings.transform,
        seed=secrets.token_hex(32),
        agents=seats,
    )
    return _frozen(path.with_name(FROZEN_FILE), pool, notify), {agent.digest: agent.program for agent in agents}


def _frozen(path: Path, pool: Pool, notify: Tell) -> Pool:
    with os_errors_as(HostError, path, ": the pool could not be locked in"), locked(path.with_suffix(".lock")):
        if not path.exists():
            write_durably(path, pool.encoded())
            notify(f"{path}: the pool is locked in")
        frozen = read_pool(path)
    agents = [seat for seat in (*frozen.agents, *pool.agents) if (seat in frozen.agents) != (seat in pool.agents)]
    terms = ("policy", "box", "openings", "shuffle", "transform")
    changed = [f"agent {seat.name}" for seat in agents]
    changed += [name for name in terms if getattr(frozen, name) != getattr(pool, name)]
    if changed or [seat.name for seat in frozen.agents] != [seat.name for seat in pool.agents]:
        what = ", ".join(changed) or "the order of its agents"
        raise InputError(
            f"{path.with_name(POOL_FILE)}: differs from the locked-in pool ({printable(what, 300)}): restore it, "
            "or start a new pool in another folder"
        )
    return frozen


def _version(named: str, staging: Path, policy: Policy, programs: dict[str, Path]) -> SeatSpec:
    agent = stage_agent(named, staging)
    programs[agent.digest] = agent.program
    return seat_of_version(agent.seat(policy))


def _play(records: Path, programs: dict[str, Path], venue: Venue, cancel: Event | None, spec: GameSpec) -> Outcome:
    check_cancelled(cancel)
    path = record_path(records, spec)
    if not path.exists():
        file = play_until_scored(spec, programs, venue)
        if file.record.verdict is Verdict.VOID:
            why = printable(file.record.reason, 300)
            raise HostError(f"a game stayed void: {why}; repeat the command to continue")
        with os_errors_as(HostError, f"{path}: the record could not be written"):
            write_record(path, file)
    return played_game(path, spec)
