"""Other contests, from their folders or exports; final ratings and places of earlier ones."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path

from judge.base.durable_files import is_directory, is_file
from judge.base.errors import InputError
from judge.contest.file_names import PLAN_FILE
from judge.contest.plan import Planned, load_plan
from judge.contest_games import GameResult, without_copies
from judge.contest_view.export import DOCUMENT, load_claimed
from judge.contest_view.public import public_view
from judge.contest_view.view import ContestView
from judge.statistics.rating_model import BAYESELO_MODEL
from judge.statistics.ratings import rate
from judge.tournament.formats.groups import Leagues
from judge.tournament.skipped_pairs import PreviousTable


def read_contest(path: Path, named: Collection[str] = (), store: str = "") -> ContestView:
    """The contest of a contest.toml, its folder, or an unverified export; see `foreign` for `named` and `store`.

    Raises InputError if it has not begun or a file is invalid.
    """
    from judge.contest.contest import opened_foreign

    if is_file(path / DOCUMENT):
        return load_claimed(path)
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
