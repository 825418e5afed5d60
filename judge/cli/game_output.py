"""A game in the terminal: its moves, its last position, and why a seat lost."""

from rich.console import Console
from rich.text import Text

from judge.base.errors import InputError
from judge.base.text import printable
from judge.catalog.files import steps_of
from judge.cli.guard import is_interactive
from judge.formats.fault_report import case_lines, cases
from judge.formats.outcome import record_outcome
from judge.formats.steps import Stepped
from judge.games.types import Verdict
from judge.record.spec import RecordFile
from judge.referee.verdict_help import fix_of
from judge.terminal.board_text import print_board


def index_of(game: Stepped, ply: int | None) -> int:
    """The index of the position after move number `ply`; None: the last. Raises InputError."""
    last = len(game.steps) - 1
    if ply is None:
        return last
    if ply > game.number_of(last):
        raise InputError(f"--ply {ply}: the game has {game.number_of(last)} moves; give 0 to {game.number_of(last)}")
    return max(0, ply - game.opening_moves)


def show_game(game: Stepped, ply: int | None = None) -> None:
    """Step through a game on a terminal, otherwise list it; with `ply`, show only that position."""
    at, listed = index_of(game, ply), ply is None
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


def print_evidence(file: RecordFile, path: str) -> None:
    """Print why a seat lost. `path` is the record's path in the printed commands."""
    record = file.record
    names = f"{record.seats[0].name} - {record.seats[1].name}"
    print(printable(f"{names}, {record.spec.policy.name}, game {record.id}, attempt {record.attempt}", 300))
    print(printable(record_outcome(record), 400))
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
