"""Other contests, from their folders or exports; ratings and places of earlier ones, and ratings that follow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from math import hypot
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from judge.base.durable_files import is_directory, is_file
from judge.base.errors import InputError
from judge.base.text import quote
from judge.contest.file_names import PLAN_FILE
from judge.contest.plan import Planned, load_plan
from judge.contest_games import GameResult, without_copies
from judge.contest_view.export import DOCUMENT, load_claimed
from judge.contest_view.view import ContestView
from judge.statistics.rating_model import BAYESELO_MODEL
from judge.statistics.ratings import rate
from judge.tournament.formats.groups import Leagues
from judge.tournament.formats.ladder import Ladder, rounded_rating
from judge.tournament.skipped_pairs import PreviousTable
from judge.tournament.snapshot import newest_versions, terms_difference

if TYPE_CHECKING:
    from judge.statistics.online_ratings import OnlineRating


def read_contest(path: Path, named: Collection[str] = (), store: str = "") -> ContestView:
    """The contest of a contest.toml, its folder, or an unverified export; see `foreign` for `named` and `store`.

    Raises InputError if it has not begun or a file is invalid.
    """
    if is_file(path / DOCUMENT):
        return load_claimed(path)
    from judge.contest.contest import opened_foreign
    from judge.contest_view.stored import public_view

    with opened_foreign(path, named, store) as contest:
        return public_view(contest.read())


def read_earlier(planned: Planned, path: Path, option: str) -> ContestView:
    """Read a contest's folder or export. Raises InputError, also if it is not over."""
    if not is_file(path / DOCUMENT):
        if not is_file(path) and not is_file(path / PLAN_FILE):
            kind = "a directory without a contest" if is_directory(path) else "missing"
            raise InputError(
                f"{planned.path}: {option}: {path} is {kind}; name an earlier contest's folder or export"
                f"{', or a CSV file with the columns agent,rating' if option == 'format.skip' else ''}"
            )
        if load_plan(path).name == planned.name:
            raise InputError(f"{planned.path}: {option}: {path} is this contest; name an earlier one")
    try:
        view = read_contest(path, [planned.store_url])
    except InputError as error:
        raise InputError(f"{planned.path}: {option}: {error}") from None
    if not view.is_over:
        raise InputError(f"{path}: some games are not finished, so it has no final table; finish the contest")
    if not view.counted:
        raise InputError(f"{path}: no game counts, so it has no ratings; name another contest or a CSV file")
    return view


def final_ratings(view: ContestView, path: Path) -> Sequence[PreviousTable]:
    """Ratings, last league first. Raises InputError, which names `path`, if games do not connect the agents."""
    form = view.snapshot.format
    if not isinstance(form, Leagues):
        return [_table(path, view.name, view.counted)]
    leagues: dict[str, list[GameResult]] = defaultdict(list)
    for result in view.counted:
        leagues[view.stage_of(result)].append(result)
    last_first = sorted(leagues, key=lambda league: (len(league), league), reverse=True)
    return [_table(path, f"{league} of {view.name}", leagues[league]) for league in last_first]


def first_league(view: ContestView) -> Sequence[str]:
    """The final order; in leagues that of the first one."""
    order = [line.agent for line in view.table.lines]
    if not isinstance(view.snapshot.format, Leagues):
        return order
    first = view.snapshot.format.stage_name("1")
    return [agent for agent in order if view.stages[agent] == first]


def _table(path: Path, source: str, results: Sequence[GameResult]) -> PreviousTable:
    from judge.statistics.bayeselo import strengths_of
    from judge.statistics.certainty import pair_results

    evidence = without_copies(results)
    ratings = rate(evidence, BAYESELO_MODEL).ratings
    if any(rating.pool for rating in ratings):
        raise InputError(
            f"{path}: some agents of {source} are not connected by games, so their ratings cannot be compared; write "
            "a CSV file with the columns agent,rating"
        )
    return PreviousTable(source, strengths_of(pair_results(evidence)))


# --- a ladder's start ratings ----------------------------------------------------------------------------------------


def with_start_ratings(planned: Planned, chosen: Ladder, agents: Sequence[tuple[str, str]]) -> Ladder:
    """The format with ratings of `[ratings] from`; `agents`: names and digests of files.

    Raises InputError, also if rules or scales differ.
    """
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
    # NumPy takes long to import.
    from judge.statistics.online_ratings import OnlineRatings, Prior

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
