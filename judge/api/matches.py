"""Play a match between two agents."""

from collections.abc import Sequence
from pathlib import Path
from threading import Event

from judge.agents.kept_folders import FolderStore
from judge.api.cancellation import check_cancelled, watch_until
from judge.api.defaults import DEFAULT_POLICY
from judge.base.errors import InputError
from judge.contest.folders.match_folders import KeptThroughRun
from judge.contest.host_setup import make_ready, make_venue
from judge.contest.matches import (
    MatchGame,
    MatchObserver,
    MatchPlan,
    openings_needed,
    openings_of_match,
    play_match,
    seats_of,
)
from judge.protocols import PERSON
from judge.referee.policy import load_policy
from judge.referee.setup import check_playable
from judge.referee.spec import GameSpec
from judge.sandbox.box import BoxKind
from judge.sandbox.machine.core_locks import Tell
from judge.sandbox.machine.owner import owned_directory


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
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"--out {out}: {error.strerror}: name a directory that exists or can be created") from None
        make_ready(box, chosen, [seat.runtime for seat in seats if seat.protocol != PERSON], notify)
        names = [agent.calls_itself(chosen) for agent in agents]
        persons = [index for index, seat in enumerate(seats) if seat.protocol == PERSON]
        kept = KeptThroughRun(FolderStore(folders or staging / "folders"), chosen, seats, names, games, persons)
        plan = MatchPlan(
            {agent.digest: agent.program for agent in agents}, chosen, games, openings, turns, shuffle, seed, box, out
        )
        venue = make_venue(box, chosen, notify)
        check_cancelled(cancel)
        observer.open(seats, games)
        return play_match(plan, venue, kept, observer, watch_until(cancel, observer.watch))
