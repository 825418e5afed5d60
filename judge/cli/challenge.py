"""`judge challenge`: unrated games over HTTP."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.text import printable
from judge.cli.options import JsonOption
from judge.terminal.output import SENTENCE_CHARACTERS, note, print_json

if TYPE_CHECKING:
    from judge.store.practice_games import PracticeGame

EXAMPLES = """
judge challenge mine rival --url 'https://example.org/cup/author/index.html#TOKEN' --wait
judge challenge 17 rival.2 --url https://example.org/cup --token-file token.txt --json

Exit codes: 0 the game is requested or played, 1 it is not played or the host failed, 2 the command was wrong.
"""


def challenge(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Your agent's name, or the number of its submission.")],
    opponent: Annotated[str, typer.Argument(metavar="OPPONENT", help="The opponent's name in the tables.")],
    url: Annotated[str, typer.Option(help="The address of judge serve or the author's link.")],
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the token that the organiser gave you; not needed for a link.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the game, and print its result.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Let AGENT play an unrated game against OPPONENT of a ladder when a slot is free. Only you see it."""
    from judge.base.parsing import to_document
    from judge.cli.submit_remote import RemoteIntake
    from judge.contest_games import GameState

    service = RemoteIntake(url, token_file)
    number = int(agent) if re.fullmatch("[1-9][0-9]{0,17}", agent) else service.submission_of(agent).id
    game = service.challenge(number, opponent)
    if not as_json:
        print(f"challenge {game.id}: {printable(game.agent)} of submission {number} - {printable(game.challenged)}")
    if wait:
        later = f"challenge {game.id} was requested: see its result later"
        running = (GameState.PENDING, GameState.RUNNING)
        game = service.await_end(
            lambda: service.challenge_state(number, game.id), lambda found: found.state not in running, later
        )
    if as_json:
        print_json(to_document(game))
    elif wait:
        _print_result(game, service.url)
    else:
        note(f"its result: {service.url}/author/index.html#challenges")
    if wait and game.state is not GameState.DONE:
        raise SystemExit(1)


def _print_result(game: PracticeGame, url: str) -> None:
    from judge.contest_games import GameState
    from judge.record.spec import outcome_sentence

    if game.state is not GameState.DONE:
        print(f"{game.state.value}: {printable(game.why, SENTENCE_CHARACTERS)}")
        return
    names = (game.agent, game.challenged) if game.seat == 0 else (game.challenged, game.agent)
    print(printable(outcome_sentence(game.verdict, game.winner, names, game.reason), SENTENCE_CHARACTERS))
    note(f"its moves: {url}/author/practice/{game.id:05d}.html")
