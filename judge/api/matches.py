"""Play a match between two agents."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event

from judge.agents.kept_folders import FolderStore
from judge.base.errors import InputError, os_errors_as
from judge.base.owner import owned_directory
from judge.base.resources import DEFAULT_POLICY
from judge.contest.host_setup import make_ready, make_venue
from judge.contest.matches import (
    KeptThroughRun,
    MatchGame,
    MatchObserver,
    MatchPlan,
    openings_needed,
    openings_of_match,
    play_match,
    seats_of,
)
from judge.protocols import PERSON
from judge.record.policy import load_policy
from judge.record.spec import GameSpec
from judge.referee.setup import check_playable
from judge.referee.side import Ply
from judge.sandbox.box import BoxKind
from judge.sandbox.machine.cores import Tell


class CancelledError(BaseException):
    """The caller's `cancel` event is set. Like `asyncio.CancelledError` it is not an `Exception`."""


def check_cancelled(cancel: Event | None) -> None:
    """Raise CancelledError if the event is set."""
    if cancel is not None and cancel.is_set():
        raise CancelledError


def watch_until(cancel: Event | None, watch: Callable[[Ply], None] | None) -> Callable[[Ply], None] | None:
    """Return an observer of answers that aborts the game when the event is set."""
    if cancel is None:
        return watch

    def watch_or_abort(ply: Ply) -> None:
        check_cancelled(cancel)
        if watch is not None:
            watch(ply)

    return watch_or_abort


def match(
    first: str,
    second: str,
    *,
    policy: str = DEFAULT_POLICY,
    changes: Sequence[str] = (),
    clock: str = "",
    games: int = 1,
    opening: str = "",
    shuffle: bool = False,
    transform: bool = False,
    box: BoxKind = "docker",
    seed: int = 0,
    out: Path = Path("records"),
    folders: Path | None = None,
    observer: MatchObserver | None = None,
    notify: Tell = lambda _: None,
    cancel: Event | None = None,
) -> Sequence[MatchGame]:
    """Play games between two agents with alternating seats, and write their records to `out`.

    `first` and `second` are house agents, executables or directories. `changes` are values of the policy such as
    `clock.turn_ms=1000`, `clock` a time control such as `60+0.6`. `opening` is a file or one opening. `folders` keeps
    the agents' persistent folders between calls. `notify` receives notices about the host, such as built images.

    A game that stays void has the verdict `void`. If `cancel` is set, the running game is aborted after its next
    answer, without a record, and CancelledError is raised.
    """
    chosen = load_policy(policy, changes, clock=clock)
    most = openings_needed(games, shuffle=shuffle)
    openings, turns = openings_of_match(opening, chosen, transform=transform, most=most)
    observer = observer or MatchObserver()
    with owned_directory() as staging:
        agents = [observer.stage(named, staging) for named in (first, second)]
        seats = observer.seated(seats_of(agents, chosen))
        check_playable(GameSpec(seats=seats, policy=chosen, box=box))  # before waiting for a slot or a person
        with os_errors_as(InputError, f"--out {out}", ": name a directory that exists or can be created"):
            out.mkdir(parents=True, exist_ok=True)
        make_ready(box, chosen, [seat.runtime for seat in seats if seat.protocol != PERSON], notify)
        names = [agent.calls_itself(chosen) for agent in agents]
        persons = [index for index, seat in enumerate(seats) if seat.protocol == PERSON]
        kept = KeptThroughRun(FolderStore(folders or staging / "folders"), chosen, seats, names, games, persons)
        plan = MatchPlan(
            {agent.digest: agent.program for agent in agents}, chosen, games, openings, turns, shuffle, seed, box, out
        )
        venue = replace(make_venue(box, chosen, notify), watch=watch_until(cancel, observer.watch))
        check_cancelled(cancel)
        observer.open(seats, games)
        return play_match(plan, venue, kept, observer)
