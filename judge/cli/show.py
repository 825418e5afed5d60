"""`judge show`: show, draw or explain finished games."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import HostError, InputError, naming, os_errors_as
from judge.base.text import printable
from judge.contest.file_names import CUP_FILE, PLAN_FILE
from judge.terminal.output import is_interactive, note, refuse_source

if TYPE_CHECKING:
    from judge.contest.contest import Contest
    from judge.contest_games import Attempt, ScheduledGame
    from judge.formats.steps import Stepped
    from judge.record.spec import RecordFile
    from judge.render.shapes import Scene

GIF_PIXELS = 480

MAX_FRAMES = 600
"""Longer games are animated with every second, third, ... position."""

EXAMPLES = """
judge show game.json
judge show game.json --ply 24 --svg position.svg
judge show game.json --gif game.gif
judge show game.json --evidence
judge show records
judge show lost/*.json --evidence
judge show cup --game 17
judge show cup --game 17 --attempt 1 --record game-17.json
"""


def show(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECORD...",
            help="Records (.json), .psq, .rec, .sgf or .pgn files, logs of the UCC contests, or folders with them; "
            "with --game a contest.",
        ),
    ],
    ply: Annotated[int | None, typer.Option(min=0, help="Show only the position after this move.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Draw that position, or the last one, to a file.")] = None,
    gif: Annotated[Path | None, typer.Option(help="Draw the game as an animation.")] = None,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Explain the end of the game on one page, with its evidence.")
    ] = False,
    game: Annotated[
        str, typer.Option(metavar="NUMBER", help="A game of a contest, by its number in the schedule or its id.")
    ] = "",
    attempt: Annotated[
        int | None,
        typer.Option(min=1, help="With --game: an earlier attempt, such as a void. Default: the one that counts."),
    ] = None,
    record: Annotated[
        str, typer.Option(metavar="FILE", help="With --game: write the record to a new file; - means stdout.")
    ] = "",
    private: Annotated[
        bool, typer.Option("--private", help="With --record: include the private data of the agents' authors.")
    ] = False,
) -> None:
    """Show a game: step through it on a terminal (arrow keys, n, p, a number, q), otherwise list its moves.

    Several records or a folder open a list of games; Enter opens one.
    """
    from judge.catalog.files import game_files, read_steps
    from judge.record.spec import read_record

    if game:
        if len(paths) != 1 or ply is not None or svg is not None or gif is not None:
            raise InputError("--game: name one contest, and leave out --ply, --svg and --gif")
        _show_game_of(paths[0], game, attempt, record, is_private=private, with_evidence=evidence)
        return
    if attempt is not None or record or private:
        raise InputError("--attempt, --record and --private are for a game of a contest: name it with --game")
    for path in paths:
        if (path / PLAN_FILE).is_file():
            games = f"judge contest status {path} --games lists them"
            raise InputError(f"{path}: a contest: name one of its games, such as --game 1; {games}")
        if (path / CUP_FILE).is_file():
            raise InputError(f"{path}: a cup: name one of its leagues, in a folder of it, and a game, such as --game 1")
    files = game_files(paths)
    if evidence:
        for number, path in enumerate(files):
            print("\n" * min(number, 1), end="")
            with naming(path):
                _print_evidence(read_record(path), str(path))
        return
    if len(files) > 1 or paths[0].is_dir():
        if ply is not None or svg is not None or gif is not None:
            raise InputError("--ply, --svg and --gif are for one game; name one record")
        _show_list(files)
        return
    (path,) = files
    found = read_steps(path)
    if found.problem:
        note(f"judge: {path}: shown only up to an error: {printable(found.problem, 300)}")
    at = _index_of(found, ply)
    for target in filter(None, (svg, gif)):
        refuse_source(target, [path])
    if svg is not None:
        from judge.render.svg import write_svg

        title = f"{found.names[0]} - {found.names[1]}, {found.title}"
        _write(svg, write_svg(_scene(found, at), title).encode())
    if gif is not None:
        _write(gif, _animation(found))
    if svg is None and gif is None:
        _show_game(found, ply)


def _index_of(game: Stepped, ply: int | None) -> int:
    """The index of the position after move number `ply`; None: the last. Raises InputError."""
    last = len(game.steps) - 1
    if ply is None:
        return last
    if ply > game.number_of(last):
        raise InputError(f"--ply {ply}: the game has {game.number_of(last)} moves; give 0 to {game.number_of(last)}")
    return max(0, ply - game.opening_moves)


def _show_game(game: Stepped, ply: int | None = None) -> None:
    from rich.console import Console
    from rich.text import Text

    from judge.terminal.board_text import print_board

    at, listed = _index_of(game, ply), ply is None
    console = Console(highlight=False, soft_wrap=True)
    if listed and is_interactive():
        from judge.terminal.browse import browse  # a list needs no screen

        browse(game, console)
        return
    console.print(Text(printable(f"{game.title}: {game.names[0]} - {game.names[1]}", 300), "bold"))
    if listed:
        for number in range(1, len(game.steps)):
            step = game.steps[number]
            name = "" if step.seat is None else printable(game.names[step.seat], 60)
            ms = "" if step.ms is None else f"{step.ms:10.1f} ms"
            search = "".join(f"  {printable(key, 20)} {printable(value, 60)}" for key, value in step.search.items())
            said = printable(step.said_with_square(game.steps[number - 1].view), 60)
            console.print(Text(f"{game.number_of(number):4}. {name:<20} {said:<12} {ms}{search}".rstrip()))
    step = game.steps[at]
    print_board(step.view, console)
    console.print(Text(f"{game.number_of(at)} of {game.number_of(len(game.steps) - 1)}: {printable(step.text, 300)}"))
    if at == len(game.steps) - 1:
        console.print(Text(printable(game.result, 400), "bold"))


def _print_evidence(file: RecordFile, path: str) -> None:
    from rich.console import Console

    from judge.catalog.files import steps_of
    from judge.formats.fault_report import case_lines, cases
    from judge.games.types import Verdict
    from judge.referee.blame import fix_of
    from judge.terminal.board_text import print_board

    record = file.record
    names = f"{record.seats[0].name} - {record.seats[1].name}"
    print(printable(f"{names}, {record.spec.policy.name}, game {record.id}, attempt {record.attempt}", 300))
    print(printable(record.outcome(), 400))
    found = cases(file)
    for case in found:
        print()
        print("\n".join(case_lines(case, record, path)))
        if advice := fix_of(case.verdict):
            print(f"\nWhat to do\n  {advice}")
    if found:
        step, console = steps_of(file).steps[-1], Console(highlight=False, soft_wrap=True)
        console.print(f"\nThe last position: {printable(step.text, 300)}", markup=False)
        print_board(step.view, console)
    else:
        rules = "the rules of the game ended it"
        host = "the judge or its host was, and the game does not count"
        print(f"\nNo seat was at fault: {host if record.verdict is Verdict.VOID else rules}.")


def _show_list(files: Sequence[Path]) -> None:
    from rich.console import Console

    from judge.terminal.browse import browse_list, read_listed

    if not is_interactive():
        for number, path in enumerate(files, 1):
            print(read_listed(path).line(number), flush=True)
        return
    browse_list([read_listed(path) for path in files], Console(highlight=False, soft_wrap=True))


def _scene(game: Stepped, at: int, pixels: int | None = None) -> Scene:
    from judge.render.board import Words, draw_board

    step, last = game.steps[at], len(game.steps) - 1
    caption = game.result if at == last else step.text
    words = Words(game.names, caption, f"{game.number_of(at)} of {game.number_of(last)}")
    return draw_board(step.view, words) if pixels is None else draw_board(step.view, words, pixels)


def _animation(game: Stepped) -> bytes:
    # Pillow is an optional extra.
    from judge.render.gif import write_gif

    last = len(game.steps) - 1
    every = -(-len(game.steps) // MAX_FRAMES)
    if every > 1:
        note(f"judge: a long game: the animation shows one of every {every} positions")
    shown = [at for at in range(last) if at % every == 0] + [last]
    return write_gif([_scene(game, at, GIF_PIXELS) for at in shown])


def _write(path: Path, data: bytes) -> None:
    with os_errors_as(InputError, path):
        path.write_bytes(data)
    print(f"wrote {printable(str(path), None)}")


def _show_game_of(
    contest: Path, game: str, attempt: int | None, record: str, *, is_private: bool, with_evidence: bool
) -> None:
    from judge.api.contests import contest as contest_of
    from judge.catalog.files import steps_of
    from judge.contest.contest import find_game
    from judge.record.spec import public_part
    from judge.site.game_files import read_stored

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
        _write_record(record, (file if is_private else public_part(file)).to_json(as_read=True))
    if with_evidence:
        _print_evidence(file, str(path))
    if record or with_evidence:
        return
    steps = steps_of(file).titled(titles)
    if steps.problem:
        note(f"judge: game {found_game.number}: shown only up to an error: {printable(steps.problem, 300)}")
    _show_game(steps)


def _attempt(contest: Contest, game: ScheduledGame, wanted: int | None) -> Attempt:
    from judge.contest_games import GameState

    counted = game.attempt if game.state == GameState.DONE else None
    played = {each.number: each for each in contest.store.attempts(contest.name, game.id) if each.record is not None}
    found = played.get(counted or 0) if wanted is None else played.get(wanted)
    if found is not None:
        return found
    finished = ", ".join(f"{each.number} ({each.state})" for each in played.values())
    raise InputError(
        f"game {game.number}, {game.first} - {game.second}, "
        + ("has no result yet" if wanted is None else f"has no record of an attempt {wanted}")
        + f": it is {game.state}"
        + (f"; --attempt shows a finished one: {finished}" if finished else "")
    )


def _write_record(name: str, data: bytes) -> None:
    if name == "-":
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
