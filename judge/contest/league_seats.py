"""Fixes ratings and seats from earlier contests, and the season's end in UTC."""

from datetime import UTC, datetime

from judge.base.errors import InputError
from judge.base.moments import moment_text
from judge.base.text import quote, suggest
from judge.contest.plan import Planned
from judge.contest.skip_ratings import Agents, refuse_strangers, with_ratings
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.groups import Leagues, seated
from judge.tournament.formats.ladder import Ladder


def resolved_format(planned: Planned, agents: Agents) -> AnyFormat:
    """The plan's format with ratings and seats. Raises InputError."""
    chosen, ends = planned.plan.format, planned.plan.season_end
    if ends is not None:
        if ends <= datetime.now(UTC):
            raise InputError(f"{planned.path}: format.ends, {moment_text(ends)}, has passed; write a later moment")
        chosen = chosen.model_copy(update={"ends": ends.astimezone(UTC)})
    if isinstance(chosen, Leagues) and chosen.seats is not None:
        chosen = _with_seats(planned, chosen, [name for name, _ in agents])
    if isinstance(chosen, Ladder) and planned.plan.ratings.from_:
        # NumPy takes long to import.
        from judge.contest.start_ratings import with_start_ratings

        chosen = with_start_ratings(planned, chosen, agents)
    else:
        chosen = with_ratings(planned, chosen, agents)
    if isinstance(chosen, Ladder):
        _refuse_wrong_anchors(planned, chosen, [name for name, _ in agents])
    return chosen


def _refuse_wrong_anchors(planned: Planned, chosen: Ladder, names: list[str]) -> None:
    # An upload could have the name of a missing one.
    refuse_strangers(planned, "format.anchors", chosen.anchors, names)
    if len(names) > 1 and chosen.anchors.keys() >= set(names):
        raise InputError(
            f"{planned.path}: format.anchors: all agents are anchors, so no game is drawn; remove one of the anchors"
        )


def _with_seats(planned: Planned, chosen: Leagues, names: list[str]) -> Leagues:
    seats = chosen.seats
    if seats is None:
        return chosen
    for key, listed in (("agents", seats.agents), ("successors", seats.successors.values())):
        refuse_strangers(planned, f"format.seats.{key}", listed, names)
    found = list(seats.agents)
    if seats.previous:
        from judge.contest.earlier_contests import first_league, read_earlier

        former_league = first_league(read_earlier(planned, planned.folder / seats.previous, "format.seats"))
        for former in seats.successors:
            if former not in former_league:
                raise InputError(
                    f"{planned.path}: format.seats.successors: {quote(former, 64)} was not in the first league of "
                    f"{seats.previous}; {suggest(former, former_league)}"
                )
        down = chosen.promoted if seats.down is None else seats.down
        kept = seated(former_league, down, names, seats.successors)
        found += [agent for agent in kept if agent not in found]
    if not found:
        raise InputError(f"{planned.path}: format.seats: no agent of this contest has a seat in the first league")
    if len(found) == len(names):
        raise InputError(f"{planned.path}: format.seats: all agents have a seat, so there is no second league")
    return chosen.model_copy(update={"seats": seats.model_copy(update={"agents": tuple(found)})})
