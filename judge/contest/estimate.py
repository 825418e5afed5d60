"""Estimates a contest's games and duration, and lists missing requirements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING

from judge.base.errors import HostError, InputError
from judge.base.owner import owned_directory
from judge.base.resources import house_agent_names
from judge.base.text import duration
from judge.catalog import game_entry
from judge.contest.entries import entrants, equal_files, equal_names, refuse_many_of_an_author
from judge.contest.opening_files import shipped_openings
from judge.contest.plan import Planned
from judge.contest.resolved_format import resolved_format
from judge.contest_games import Pairing
from judge.record.policy import ClockPolicy, Policy, shortest_turn_ms
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.base import Competitor, skip_of
from judge.tournament.formats.groups import Leagues
from judge.tournament.formats.ladder import Ladder
from judge.tournament.formats.round_robin import DoubleRoundRobin
from judge.tournament.formats.sequential import Sequential
from judge.tournament.results import PlayedPairing, points_table
from judge.tournament.schedule import turns_of
from judge.tournament.skipped_pairs import SourcedRating

if TYPE_CHECKING:
    from judge.agents.agents import Agent


@dataclass(frozen=True, slots=True)
class PairLeftOut:
    """A pair that does not meet, higher rating first."""

    first: str
    second: str
    first_rating: float
    second_rating: float
    group: str = ""


@dataclass(frozen=True, slots=True)
class ContestSize:
    """`waves`, one after another: (parallel chains, games per chain)."""

    rounds: int
    games: int
    waves: Sequence[tuple[int, int]]

    def hours(self, slots: int, game_s: float | None) -> float | None:
        """Duration with games of this length; None if it is unlimited or unknown."""
        if game_s is None:
            return None
        return sum(ceil(chains / slots) * games for chains, games in self.waves) * game_s / 3600


def size_of(planned: Planned, form: AnyFormat, names: Sequence[str]) -> ContestSize:
    """The size of a contest of these agents in a format."""
    drawn = _draws(planned, form, names)
    draws = [[form.total_games]] if isinstance(form, Ladder) else [_pairs_by_round(pairings) for pairings in drawn]
    pairs = [number for rounds in draws for number in rounds]
    games = form.games
    if planned.policy.folders.kept and planned.policy.folders.round == "each":
        # Folders pass from game to game, so games of a pairing, and rounds, are sequential.
        waves = [(count, games) for count in pairs]
    else:
        waves = [(sum(rounds) * games, 1) for rounds in (draws if form.waits else [pairs])]
    return ContestSize(len(pairs), sum(pairs) * games, waves)


def longest_words(planned: Planned, size: ContestSize, slots: int) -> str:
    """The maximum duration of a contest on this number of slots."""
    hours = size.hours(slots, longest_game_s(planned.policy, planned.clocks.values()))
    if hours is None:
        return "unbounded: the policy's clock.match_ms is 0"
    plural = "s" * (slots != 1)
    return f"at most {duration(hours * 3_600_000)} if agents use all their time, on {slots} slot{plural}"


@dataclass(frozen=True, slots=True)
class ContestEstimate(ContestSize):
    """The estimated size of a contest. `is_exact`: the number of games does not depend on results."""

    agents: Sequence[str]
    is_exact: bool
    longest_s: float | None
    missing: Sequence[str]
    warnings: Sequence[str] = ()
    """Probably unwanted."""
    folders: str = ""
    """See `folder_words`; empty if the policy has no persistent folders."""
    unchecked: Sequence[str] = ()
    """Listed in contest.toml, or approved without a passed check."""
    copies: Sequence[str] = ()
    """See `equal_files`."""
    ratings: Mapping[str, SourcedRating] = field(default_factory=dict)
    """Ratings by agent; empty: all pairs meet."""
    left_out: Sequence[PairLeftOut] = ()
    games_saved: int = 0
    seats: Sequence[str] = ()
    """Agents with a seat in the first league."""
    expected_s: float | None = None


def estimate_contest(planned: Planned, later: int = 0) -> ContestEstimate:
    """Check all requirements without changes. Returns missing ones. `later`: number of unknown agents."""
    with owned_directory() as staging:
        missing: list[str] = []
        absent: list[InputError] = []
        entered = entrants(planned, staging, absent)
        missing += map(str, absent)
        names = [each.name for each in entered]
        # Missing agents are expected at the start.
        count = len(entered) + len(absent) + later
        if (why := planned.lacks_agents(count)) is not None:
            missing.append(why)
        missing += equal_names(planned, entered)
        with _noting(missing):
            refuse_many_of_an_author(planned, entered)
        agents = [(each.name, each.agent.digest) for each in entered]
        folders = ""
        with _noting(missing):
            folders = _folders_notice(planned, agents)
        _check_host(planned, [each.agent for each in entered], missing)
        awaited = [(each.name, "") for each in planned.plan.agents if each.name and each.name not in names]
        rated: AnyFormat | None = None
        try:
            rated = resolved_format(planned, [*agents, *awaited])
        except (InputError, HostError) as error:
            missing.append(str(error))
    form = planned.plan.format if rated is None else rated
    known = dict.fromkeys([*names, *(name for name, _ in awaited)])
    names_of_all = [*known, *(f"agent {number}" for number in range(len(known) + 1, count + 1))]
    left_out = [] if rated is None else _left_out(planned, rated, names_of_all)
    size = size_of(planned, form, names_of_all)
    return ContestEstimate(
        rounds=size.rounds,
        games=size.games,
        waves=size.waves,
        agents=names,
        is_exact=form.counts_games,
        longest_s=longest_game_s(planned.policy, planned.clocks.values()),
        expected_s=expected_game_s(planned.policy, planned.clocks.values()),
        missing=missing,
        warnings=[*warnings_of(planned)],
        folders=folders,
        unchecked=[each.name for each in entered if not each.is_checked],
        ratings=skip.agents if rated is not None and (skip := skip_of(form)) else {},
        copies=equal_files((each.name, {each.agent.digest, each.upload} - {""}) for each in entered),
        left_out=left_out,
        games_saved=len(left_out) * form.games,
        seats=form.seats.agents if rated is not None and isinstance(form, Leagues) and form.seats else (),
    )


def warnings_of(planned: Planned) -> Iterator[str]:
    """See `ContestEstimate.warnings`."""
    yield from _repetitions(planned)
    game, known = planned.policy.game, house_agent_names()
    entry = game_entry(game.name)
    for agent in planned.plan.agents:
        if agent.locate(planned.folder) in known and (why := entry.unsuited(agent.path, game.options)):
            yield f"{agent.path}: {why}, so it loses each game; leave it out"


def _repetitions(planned: Planned) -> Iterator[str]:
    policy, form = planned.policy, planned.plan.format
    if game_entry(policy.game.name).has_chance(policy.game.options):
        return
    try:
        openings = planned.openings()
    except InputError:  # reported with the missing requirements
        return
    turns = len(turns_of(policy)) if planned.plan.openings.transform else 1
    # Each opening with both colours.
    games, different = _games_of_two(form), 2 * len(openings) * turns
    if games <= different:
        return
    what = "no openings" if openings == [()] else f"{len(openings)} opening{'s' * (len(openings) != 1)}"
    name = shipped_openings(policy)
    advice = f'write file = "{name}" under [openings]' if name else "add [openings]"
    less = f", or games = {different}" if form.has_rounds and games == form.games else ""
    yield (
        f"{what}: agents without chance play at most {different} different games with each other, and the same ones "
        f"again; copies score points, and count once for ratings and certainty: {advice}{less}"
    )


def _games_of_two(form: AnyFormat) -> int:
    if isinstance(form, Ladder):
        return form.total_games
    if isinstance(form, Sequential):
        return form.games * form.rounds
    return form.games * (2 if isinstance(form, DoubleRoundRobin) else int(getattr(form, "cycles", 1)))


def _left_out(planned: Planned, rated: AnyFormat, names: Sequence[str]) -> list[PairLeftOut]:
    skip = skip_of(rated)
    if skip is None:
        return []
    found = []
    for pairing in chain(*_draws(planned, rated.model_copy(update={"skip": None}), names)):
        if pairing.second is not None and skip.leaves_out(pairing.first, pairing.second, pairing.group):
            high, low = sorted((pairing.first, pairing.second), key=skip.rating_of, reverse=True)
            found.append(PairLeftOut(high, low, skip.rating_of(high), skip.rating_of(low), pairing.group))
    return found


def _folders_notice(planned: Planned, agents: Sequence[tuple[str, str]]) -> str:
    from judge.contest.folder_transfer import brought
    from judge.contest_view.values import folder_words

    found = brought(planned)
    names = [name for name, _ in agents]
    if found is not None:
        return folder_words(names, found.of(agents), found.source, found.strangers(names))
    return folder_words(names, (), "") if planned.policy.folders.persistent else ""


def longest_game_s(policy: Policy, clocks: Collection[str] = ()) -> float | None:
    """Maximum seconds of a game, also of agents with their own `clocks`; None if unlimited."""
    clock = policy.clock
    if clock.control is not None:
        answers = _longest_answers(policy)
        # Either seat may give more answers.
        shares = {(0, answers), (answers - answers // 2, answers // 2), (answers, 0)}
        return _longest(_game_s(clock, clocks, share, clock.tolerance_ms) for share in shares)
    if not clock.match_ms:
        return None
    return 2 * (clock.match_ms + clock.tolerance_ms + clock.close_ms) / 1000


def _longest(times: Iterable[float | None]) -> float | None:
    """None if one is unlimited."""
    found = list(times)
    return None if None in found else max(time for time in found if time is not None)


EXPECTED_ANSWERS = 40
"""A seat's answers in an expected game."""


def expected_game_s(policy: Policy, clocks: Collection[str] = ()) -> float | None:
    """As `longest_game_s`, with `EXPECTED_ANSWERS`, which use all their time."""
    if policy.clock.control is None:
        return None
    answers = min(EXPECTED_ANSWERS, ceil(_longest_answers(policy) / 2))
    return _game_s(policy.clock, clocks, (answers, answers), 0)


def _longest_answers(policy: Policy) -> int:
    try:
        return policy.bounds().plies
    except InputError:  # reported with the missing requirements
        return 0


def _game_s(clock: ClockPolicy, clocks: Collection[str], answers: tuple[int, int], tolerance_ms: int) -> float | None:
    total_ms: float = 2 * (clock.start_ms + clock.close_ms) if tolerance_ms else 0
    of_seats = zip(*(clock.with_clocks(text, text).controls for text in {"", *clocks}), strict=True)
    for controls, count in zip(of_seats, answers, strict=True):
        longest_ms = _longest(control.longest_ms(count, tolerance_ms) for control in controls)
        if longest_ms is None:
            return None
        total_ms += longest_ms
    return total_ms / 1000


def _check_host(planned: Planned, agents: Sequence[Agent], missing: list[str]) -> None:
    from judge.record.spec import GameSpec
    from judge.referee.setup import check_playable
    from judge.sandbox.docker import requirements
    from judge.sandbox.docker.images import find_runtime, keeper_image

    policy = planned.policy
    with _noting(missing):
        points_table(policy)
    with _noting(missing):
        planned.openings()
    with _noting(missing):
        requirements.require(policy.box)
    with _noting(missing):
        requirements.require_exact_clocks(policy.game_box, shortest_turn_ms(policy, planned.clocks))
    if policy.folders.kept:
        with _noting(missing):
            keeper_image()
    runtimes = set()
    for agent in agents:
        with suppress(InputError):  # the last check gives the reason
            runtimes.add(agent.seat(policy).runtime)
    for runtime in sorted(runtimes):
        with _noting(missing):
            find_runtime(runtime)
    for agent in agents:
        with _noting(missing):
            seat = agent.seat(policy)
            check_playable(GameSpec(seats=(seat, seat), policy=policy))


@contextmanager
def _noting(missing: list[str]) -> Iterator[None]:
    try:
        yield
    except (InputError, HostError) as error:
        missing.append(str(error))


_ANY_SEED = 0
"""The number of games does not depend on it."""


def _draws(planned: Planned, chosen: AnyFormat, names: Sequence[str]) -> Sequence[Sequence[Pairing]]:
    entries = [Competitor(name, number) for number, name in enumerate(names, 1)]
    seeds = {entry.id: entry.seed for entry in entries}
    if planned.lacks_agents(len(names)) is not None:
        return []
    draws, played = [], list[PlayedPairing]()
    while pairings := chosen.next(entries, played, _ANY_SEED):
        draws.append(pairings)
        for pairing in pairings:
            first_wins = pairing.second is None or seeds[pairing.first] < seeds[pairing.second]
            # Without results a sequential test draws all of its pairings.
            played.append(PlayedPairing(pairing, (), (1, 0) if first_wins else (0, 1), is_over=chosen.waits))
    return draws


def _pairs_by_round(pairings: Sequence[Pairing]) -> list[int]:
    counts = Counter({pairing.round: 0 for pairing in pairings})
    counts.update(pairing.round for pairing in pairings if pairing.second is not None)
    return list(counts.values())
