"""`judge match`: play games between two agents, and write their records."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.base.errors import HostError
from judge.base.resources import DEFAULT_POLICY
from judge.cli.options import CLOCK_HELP, BoxOption, JsonOption, PolicyOption, SetOption, box_kind, complete_agent
from judge.terminal.output import note, print_json, print_notice

if TYPE_CHECKING:
    from judge.contest.matches import MatchGame
    from judge.terminal.presenters import Presenter

LEAVE_EXIT_CODE = 130
"""Exit code when a person leaves; as for Ctrl-C."""

OWN_CLOCK = "policy"
"""Value of `--clock` for the policy's own limits."""

EXAMPLES = """
judge match ./my-agent house-strong --policy gomocup-standard:fast --games 2
judge match a.py b.py --policy gomocup-standard --clock 60+0.6
judge match me ./my-agent --policy renju-15
judge match a.py b.py --policy gomocup-freestyle --opening h8i9j7 --set clock.turn_ms=1000
judge match mine house-agi --policy renju-15 --opening openings.txt --shuffle --seed 7 --games 24

Exit codes: 0 the games were judged, 1 the judge or its host failed, 2 the command was wrong.
"""


def match(
    first: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="House agent, executable, or directory; me: a person at this terminal.",
            autocompletion=complete_agent,
        ),
    ],
    second: Annotated[
        str, typer.Argument(metavar="B", help="The same for the opponent.", autocompletion=complete_agent)
    ],
    policy: PolicyOption = DEFAULT_POLICY,
    games: Annotated[int, typer.Option(min=1, help="Games to play; colours alternate.")] = 1,
    opening: Annotated[
        str, typer.Option(help="File of openings, or one opening such as h8i9; each is played with both colours.")
    ] = "",
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Shuffle the openings by the seed.")] = False,
    transform: Annotated[bool, typer.Option("--transform", help="Rotate and mirror repeated openings.")] = False,
    box: BoxOption = "docker",
    set_: SetOption = None,
    seed: Annotated[
        int, typer.Option(help="Random seed. The default is fixed, so results are repeatable and predictable.")
    ] = 0,
    out: Annotated[Path, typer.Option(help="Directory for the records.")] = Path("records"),
    folders: Annotated[
        Path | None, typer.Option(help="Directory that keeps the agents' persistent folders between runs.")
    ] = None,
    clock: Annotated[
        str,
        typer.Option(
            metavar="CONTROL",
            help=f"{CLOCK_HELP} It also limits a human player; `policy`: the policy's time limits do.",
        ),
    ] = "",
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No live view and no moves: results and score only.")] = False,
) -> None:
    """Play games between agents A and B.

    On a terminal the games are shown live; otherwise each move is printed on a line. If A or B is `me`, a person plays:
    type squares, or choose them with arrow keys and Enter; `?` prints help.
    """
    from judge.agents.agents import ME
    from judge.api.matches import match as match_played
    from judge.games.types import Verdict

    has_person = ME in (first, second)
    presenter = _presenter(has_person=has_person, has_clock=bool(clock), as_json=as_json, quiet=quiet)
    try:
        with closing(presenter):
            played = match_played(
                first,
                second,
                policy=policy,
                changes=set_ or [],
                clock="" if clock == OWN_CLOCK else clock,
                games=games,
                opening=opening,
                shuffle=shuffle,
                transform=transform,
                box=box_kind(box),
                seed=seed,
                out=out,
                folders=folders,
                observer=presenter,
                notify=print_notice,
            )
    except KeyboardInterrupt:
        if not has_person:
            raise
        note("judge: you left the game; it has no result and no record")
        raise SystemExit(LEAVE_EXIT_CODE) from None
    if as_json:
        print_json({"games": [_summary(game) for game in played]})
    presenter.score([game.record for game in played])
    if any(game.record.verdict is Verdict.VOID for game in played):
        raise HostError("a game stayed void; its record has the reason")


def _presenter(*, has_person: bool, has_clock: bool, as_json: bool, quiet: bool) -> Presenter:
    from judge.terminal.presenters import LinePresenter, PersonPresenter, Presenter, Shown

    if has_person:
        return PersonPresenter(has_clock, Presenter() if as_json else None)
    if as_json:
        return Presenter()
    if quiet:
        return LinePresenter(moves=False)
    return Shown() if sys.stdout.isatty() else LinePresenter()


def _summary(game: MatchGame) -> dict[str, Any]:
    record = game.record
    return {
        "seats": [
            {
                "name": seat.name,
                "fault": seat.fault,
                "charged_ms": seat.charged_ms,
                "peak_memory_bytes": seat.memory_peak_bytes,
            }
            for seat in record.seats
        ],
        "winner": record.winner,
        "verdict": record.verdict,
        "reason": record.reason,
        "result": record.result,
        "moves": len(record.plies),
        "record": str(game.path),
    }
