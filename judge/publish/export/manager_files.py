"""Writes results and games as files of another manager.

The directory is renamed at the end, so it is complete or missing.
"""

from collections.abc import Iterator
from pathlib import Path

from judge.base.durable_files import new_directories
from judge.base.errors import InputError
from judge.catalog.files import steps_of
from judge.catalog.managers import ContestGame, ContestManager, FinishedContest
from judge.contest.contest import Contest
from judge.contest.plan import Planned
from judge.contest_games import GameState
from judge.contest_view.view import ContestView
from judge.record.spec import GameSpec, public_part
from judge.site.game_files import read_stored
from judge.statistics.rating_model import RatingModel
from judge.statistics.ratings import rate


def finished_contest(contest: Contest, manager: ContestManager) -> FinishedContest:
    """Return the current contest, with ratings by the manager's method."""
    published = contest.read()
    model = RatingModel.model_validate(dict(manager.rating))
    rated = rate(published.counted, model).ratings if published.counted else ()
    return FinishedContest(
        name=published.name,
        agents=[participant.name for participant in published.participants],
        policy=published.snapshot.policy,
        openings=published.snapshot.openings,
        games=_games(published, contest.planned.files),
        ratings={rating.agent: rating.elo for rating in rated},
        out=published.out,
    )


def planned_contest(planned: Planned) -> FinishedContest:
    """Return a contest that has not begun: agents and openings."""
    return FinishedContest(
        name=planned.name,
        agents=[agent.name or Path(agent.path).stem for agent in planned.plan.agents],
        policy=planned.policy,
        openings=planned.openings(),
    )


def _games(published: ContestView, files: Path) -> Iterator[ContestGame]:
    for game in published.games:
        if game.state == GameState.CANCELLED and game.result is None:
            continue
        spec = GameSpec.model_validate_json(game.spec)
        file = None if game.result is None else public_part(read_stored(files, game.result.record))
        yield ContestGame(
            number=game.number,
            first=game.first,
            second=game.second,
            opening=spec.opening if file is None else file.record.spec.opening,
            steps=None if file is None else steps_of(file),
        )


def write_for_manager(contest: Contest, manager: ContestManager, directory: Path) -> int:
    """Write the files into the new directory `directory`, and return their number.

    Raises InputError if it exists, the manager has no such files or a record was changed, HostError if writing fails.
    """
    if manager.write is None:
        raise InputError(f"contests cannot be exported to it ({manager.about})")
    with new_directories([directory], "an export", "the export is not written") as (partial,):
        partial.mkdir(parents=True)
        for name, data in manager.write(finished_contest(contest, manager)):
            with (partial / name).open("ab") as file:
                file.write(data)
        return sum(1 for _ in partial.iterdir())
