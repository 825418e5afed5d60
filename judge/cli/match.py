"""`judge match`: play games between two agents, and write their records."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from judge.agents.agents import ME, Agent
from judge.agents.kept_folders import FolderStore
from judge.base.durable_files import is_file
from judge.base.errors import HostError, InputError
from judge.base.text import file_word
from judge.catalog import game_entry
from judge.catalog.entry import NOT_TURNED, Turn
from judge.catalog.files import write_exports
from judge.cli.host_setup import box_kind, make_ready, make_venue
from judge.cli.options import DEFAULT_POLICY, BoxOption, JsonOption, PolicyOption, SetOption, complete_agent
from judge.contest.folders.match_folders import KeptThroughRun
from judge.contest.opening_files import MAX_OPENINGS, read_openings
from judge.games.types import Opening, Verdict
from judge.referee.play import Venue, play_until_scored
from judge.referee.policy import Policy, load_policy
from judge.referee.setup import check_playable
from judge.referee.spec import GameRecord, GameSpec, RecordFile, SeatSpec
from judge.sandbox.machine.owner import owned_directory
from judge.terminal.live import LiveView
from judge.terminal.output import print_json
from judge.terminal.person import PersonPresenter, is_person, may_leave, seated, stage
from judge.terminal.presenters import LinePresenter, Presenter, Shown
from judge.tournament.openings import schedule

OWN_CLOCK = "policy"
"""Value of `--clock` for the policy's own limits."""

EXAMPLES = """
Examples:

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
        int,
        typer.Option(help="Random seed. The default is fixed, so results are repeatable and predictable."),
    ] = 0,
    out: Annotated[Path, typer.Option(help="Directory for the records.")] = Path("records"),
    folders: Annotated[
        Path | None, typer.Option(help="Directory that keeps the agents' persistent folders between runs.")
    ] = None,
    clock: Annotated[
        str,
        typer.Option(
            "--clock",
            metavar="CONTROL",
            help="Time control in seconds: 60+0.6, 60d2, 40/300, 600|3x30, 600|20/300, 600@30; 300,240 for each seat. "
            "It also limits a human player; `policy`: the policy's time limits do.",
        ),
    ] = "",
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No live view and no moves: results and score only.")] = False,
) -> None:
    """Play games between agents A and B.

    On a terminal the games are shown live; otherwise each move is printed on a line. If A or B is `me`, a person plays:
    type squares, or choose them with arrow keys and Enter; `?` prints help.
    """
    chosen = load_policy(policy, set_ or [], clock="" if clock == OWN_CLOCK else clock)
    openings, turns = _openings(opening, chosen, transform, MAX_OPENINGS if shuffle else (games + 1) // 2)
    kind = box_kind(box)
    played = []
    has_person = ME in (first, second)
    leaving = may_leave() if has_person else nullcontext()
    with leaving, owned_directory() as staging, ExitStack() as closing:
        agents = [stage(named, staging) for named in (first, second)]
        seats = _seats(agents, chosen)
        if has_person:
            seats = seated(seats, bool(clock))
        programs = {agent.digest: agent.program for agent in agents}
        check_playable(GameSpec(seats=seats, policy=chosen, box=kind))  # before waiting for a slot or a person
        _make_directory(out)
        make_ready(kind, chosen, [seat.runtime for seat in seats if not is_person(seat)])
        names = [agent.calls_itself(chosen) for agent in agents]
        persons = [index for index, seat in enumerate(seats) if is_person(seat)]
        kept = KeptThroughRun(FolderStore(folders or staging / "folders"), chosen, seats, names, games, persons)
        venue = make_venue(kind)
        presenter = _presenter(seats, games, as_json=as_json, quiet=quiet)
        closing.callback(presenter.close)
        with kept.through_the_run():
            for number in range(games):
                spec = GameSpec(
                    seats=kept.seats(number),
                    policy=chosen,
                    opening=schedule(openings, number // 2, seed if shuffle else None, turns),
                    seed=seed + number,
                    number=number,
                    box=kind,
                )
                played.append(_play(spec, programs, venue, out, presenter, kept))
    if as_json:
        print_json({"games": [_summary(record, path) for record, path in played]})
    presenter.score([record for record, _ in played])
    if any(record.verdict is Verdict.VOID for record, _ in played):
        raise HostError("a game stayed void; its record has the reason")


def _play(
    spec: GameSpec, programs: dict[str, Path], venue: Venue, out: Path, presenter: Presenter, kept: KeptThroughRun
) -> tuple[GameRecord, Path]:
    check_playable(spec)
    here = replace(
        venue,
        shelf=kept.shelf(spec.number),
        watch=presenter.watch,
        follow=presenter.follow,
        build=presenter.build,
    )

    def path_of(record: GameRecord) -> Path:
        return out / record_name(record)

    def save(file: RecordFile) -> None:
        record, path = file.record, path_of(file.record)
        try:
            kept.commit(file, path)
            write_exports(file, path)
        except OSError as error:
            raise HostError(f"{path}: the record could not be written: {error.strerror}") from None
        is_last = record.verdict is not Verdict.VOID or record.attempt == spec.policy.attempts
        presenter.end(record, path, is_last=is_last)

    file = play_until_scored(spec, programs, here, before=lambda attempt: presenter.begin(spec, attempt), after=save)
    return file.record, path_of(file.record)


def record_name(record: GameRecord) -> str:
    """Return the file name of a record: number, agents, id, and the attempt after the first."""
    first, second = (file_word(seat.name) for seat in record.seats)
    attempt = f"-{record.attempt}" if record.attempt > 1 else ""
    return f"{record.spec.number + 1:04}-{first}-{second}-{record.id[:8]}{attempt}.json"


def _presenter(seats: tuple[SeatSpec, SeatSpec], games: int, *, as_json: bool, quiet: bool) -> Presenter:
    names = (seats[0].name, seats[1].name)
    if any(map(is_person, seats)):
        return PersonPresenter(names, games, Presenter() if as_json else None)
    if as_json:
        return Presenter()
    if quiet:
        return LinePresenter(names, moves=False)
    return Shown(names, LiveView(names, games)) if sys.stdout.isatty() else LinePresenter(names)


def _openings(text: str, policy: Policy, transform: bool, most: int) -> tuple[Sequence[Opening], Sequence[Turn]]:
    if not text:
        return [()], NOT_TURNED
    game = policy.game
    written = game_entry(game.name).openings(game.options)
    if written is None:
        raise InputError(f"--opening: {game.name} does not support openings")
    turns = written.turns if transform else NOT_TURNED
    if is_file(Path(text)):
        return read_openings(Path(text), written, most), turns
    try:
        return [written.parse(text)], turns
    except InputError as error:
        raise InputError(f"--opening {text}: neither a file nor an opening: {error}") from None


def _seats(agents: Sequence[Agent], policy: Policy) -> tuple[SeatSpec, SeatSpec]:
    first, second = (agent.seat(policy) for agent in agents)
    if first.name == second.name:
        first = first.model_copy(update={"name": f"{first.name}-1"})
        second = second.model_copy(update={"name": f"{second.name}-2"})
    return first, second


def _make_directory(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {out}: {error.strerror}: name a directory that exists or can be created") from None


def _summary(record: GameRecord, path: Path) -> dict[str, Any]:
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
        "record": str(path),
    }
