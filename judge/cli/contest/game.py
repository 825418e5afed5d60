"""`judge show CONTEST --game N`: moves, record and evidence of one game."""

from pathlib import Path

from judge.api.contests import contest as contest_of
from judge.base.errors import HostError, InputError
from judge.base.text import printable
from judge.catalog.files import steps_of
from judge.cli.game_output import print_evidence, show_game
from judge.contest.contest import Contest, find_game
from judge.contest_games import Attempt, GameState, ScheduledGame
from judge.record.spec import public_part
from judge.site.game_files import read_stored
from judge.terminal.output import note

STDOUT = "-"


def show_game_of(
    contest: Path, game: str, attempt: int | None, record: str, *, is_private: bool, with_evidence: bool
) -> None:
    """Show a game of a contest as `judge show` does, write its record, or print its evidence.

    `game` is the number in the schedule or the id. Raises InputError.
    """
    if is_private and not record:
        raise InputError("--private needs --record; without --record the whole game is shown")
    with contest_of(contest).opened() as found:
        found_game = find_game(found, game)
        played = _attempt(found, found_game, attempt)
        path = found.files.path(played.record or "")
        file = read_stored(found.planned.files, played.record or "")
        entries = found.snapshot.by_name()
        titles = (entries[found_game.first].title, entries[found_game.second].title)
    if record:
        _write(record, (file if is_private else public_part(file)).to_json(as_read=True))
    if with_evidence:
        print_evidence(file, str(path))
    if record or with_evidence:
        return
    steps = steps_of(file).titled(titles)
    if steps.problem:
        note(f"judge: game {found_game.number}: shown only up to an error: {printable(steps.problem, 300)}")
    show_game(steps)


def _attempt(contest: Contest, game: ScheduledGame, wanted: int | None) -> Attempt:
    counted = game.attempt if game.state == GameState.DONE else None
    played = {each.number: each for each in contest.store.attempts(contest.name, game.id) if each.record is not None}
    found = played.get(counted or 0) if wanted is None else played.get(wanted)
    if found is not None:
        return found
    told = ", ".join(f"{each.number} ({each.state})" for each in played.values())
    raise InputError(
        f"game {game.number}, {game.first} - {game.second}, "
        + ("has no result yet" if wanted is None else f"has no record of an attempt {wanted}")
        + f": it is {game.state}"
        + (f"; --attempt shows a finished one: {told}" if told else "")
    )


def _write(name: str, data: bytes) -> None:
    if name == STDOUT:
        print(data.decode("ascii"))
        return
    try:
        with Path(name).open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise InputError(f"--record {name}: exists; give another name") from None
    except OSError as error:
        raise HostError(f"--record {name}: {error.strerror}") from None
    note(f"judge: wrote {name}")
