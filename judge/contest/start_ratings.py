"""A ladder's start ratings, from an earlier contest."""

from collections.abc import Mapping
from math import hypot
from statistics import fmean

from judge.base.errors import InputError
from judge.base.text import quote
from judge.contest.earlier_contests import read_earlier
from judge.contest.plan import Planned
from judge.contest.skip_ratings import Agents
from judge.contest_view.view import ContestView
from judge.statistics.online_ratings import OnlineRating, OnlineRatings, Prior
from judge.tournament.formats.ladder import Ladder, rounded_rating
from judge.tournament.snapshot import newest_versions, terms_difference


def with_start_ratings(planned: Planned, chosen: Ladder, agents: Agents) -> Ladder:
    """The format with ratings of `[ratings] from`. Raises InputError, also if rules or scales differ."""
    source = planned.plan.ratings.from_
    earlier = read_earlier(planned, planned.folder / source, "ratings.from")
    if what := terms_difference(earlier.snapshot, planned):
        raise InputError(
            f"{planned.path}: ratings.from: {source} has other rules or clocks ({what}), so its ratings do not apply; "
            "remove it"
        )
    ratings = _final_ratings(earlier, chosen, _anchors(planned, chosen, earlier))
    newest, found = newest_versions(earlier.snapshot.entries), {}
    for name, digest in agents:
        entry = earlier.snapshot.by_name().get(name)
        entry = newest.get(name.casefold(), entry)
        if entry is None or name in chosen.anchors or name in chosen.ratings:
            continue
        rating, deviation = ratings[entry.name], ratings[entry.name].deviation
        if entry.seat.digest != digest or not deviation:
            deviation = hypot(deviation, chosen.version_deviation)
        found[name] = rounded_rating(rating.elo, deviation)
    taken = {name.casefold() for name in (*dict(agents), *chosen.anchors, *chosen.ratings)}
    names = {entry.name.casefold(): entry.name for entry in reversed(earlier.snapshot.entries)}
    for folded, entry in newest.items():
        if folded not in taken:
            rating = ratings[entry.name]
            found[names[folded]] = rounded_rating(
                rating.elo, rating.deviation or chosen.version_deviation, entry.seat.digest
            )
    return chosen.model_copy(update={"ratings": {**found, **chosen.ratings}})


def _anchors(planned: Planned, chosen: Ladder, earlier: ContestView) -> Mapping[str, float]:
    form, names = earlier.snapshot.format, earlier.snapshot.by_name()
    former = form.anchors if isinstance(form, Ladder) else {}
    for agent, rating in chosen.anchors.items():
        if former.get(agent, rating) != rating:
            raise InputError(
                f"{planned.path}: format.anchors: {quote(agent, 64)} is {rating:g}, and was {former[agent]:g} in "
                f"{planned.plan.ratings.from_}; write the same rating, which keeps the scale"
            )
    shared = {agent: rating for agent, rating in chosen.anchors.items() if agent in names}
    if chosen.anchors and not shared and not former:
        raise InputError(
            f"{planned.path}: format.anchors: no anchor took part in {planned.plan.ratings.from_}, so its ratings have "
            "another scale; add an agent of it as an anchor, or remove ratings.from"
        )
    return {**former, **shared}


def _final_ratings(earlier: ContestView, chosen: Ladder, anchors: Mapping[str, float]) -> Mapping[str, OnlineRating]:
    form, entries = earlier.snapshot.format, earlier.snapshot.entries
    former = form if isinstance(form, Ladder) else chosen.model_copy(update={"ratings": {}})
    unknown = Prior(fmean(anchors.values()) if anchors else 0.0, former.deviation)
    priors = {agent: Prior(each.rating, each.deviation) for agent, each in former.ratings.items()}
    priors |= {agent: Prior(rating, 0) for agent, rating in anchors.items()}
    found: Mapping[str, OnlineRating] = {}
    # Again with the parents' ratings.
    for _ in range(2):
        ratings = OnlineRatings()
        for entry in entries:
            prior = priors.get(entry.name, unknown)
            if entry.parent in found and entry.name not in priors:
                parent = found[entry.parent]
                prior = Prior(parent.elo, hypot(parent.deviation, former.version_deviation))
            ratings.admit(entry.name, prior)
        for result in earlier.results:
            if earlier.out.keys().isdisjoint(result.agents):
                ratings.count_result(result)
        ratings.refit()
        found = {agent: ratings.rating(agent) for agent in ratings.agents}
    return found
