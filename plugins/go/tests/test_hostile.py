"""Hostile GTP engines, SGF files and forged records: the opponent, the record and the exports are unharmed."""

import json
import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_go.game import board_view
from judge_go.gtp import MAX_SAID_CHARACTERS, GtpOptions
from judge_go.gtp_go import GtpGo
from judge_go.positions import read_opening
from judge_go.rules import Go
from judge_go.sgf import read_sgf, sgf_of_record, steps_of_sgf, write_sgf
from test_gtp import engine

from judge.base.errors import InputError
from judge.catalog.files import steps_of
from judge.games.types import Verdict
from judge.protocols.time_control import TimeControl
from judge.protocols.types import Answer, Bytes, Clock, Open, SeatLimits
from judge.record.policy import Policy
from judge.record.spec import GameSpec, Placement, RecordFile
from judge.record.transcript import seal
from judge.referee.verify import record_of, verify
from judge.testing import Act, Agent, Say, ScriptedGame, World, scripted_seats

CONTROLS = ("5", "5+0.1", "5d1", "10/5", "5|3x1", "5|10/3", "@1")
TEXTS = (
    *("=", "=\n", "=0\n", "=1 2\n", "=999999999 D4\n", "=9999999999 D4\n", "=-1 D4\n", "?\n", "?ID\n", "=ID D4\n\n"),
    *("=ID resign\n", "= ID D4\n", "=ID pass\n\n=ID pass\n", "=ID\nD4\n", "=ID D4 D5\n", "=ID I5\n", "=ID Z25\n"),
    *("=ID \x1b[2J\x00\n", "=ID name\x1b]0;x\x07\n", "=ID d4\tx\n", "=ID \u017f4\n", "=ID 10,10\n", "=ID tt\n"),
    *(
        "# comment\n",
        "\n" * 3000,
        "x" * 9000 + "\n",
        "=ID " + "line\n" * 2500,
        "?ID illegal move\n",
        "\r\r\r",
        "\x00\n",
    ),
    *("=ID D4];B[aa]C[x\n", "=ID protocol\\]\n", "?ID " + "\\];B[aa] " * 90 + "\n", "=ID ] \u202e[31m\n"),
)


def noisy(agent: Agent, random: Random) -> Agent:
    """An agent that also prints hostile text, and sometimes does not answer."""

    def hear(line: str) -> Sequence[Act]:
        acts = list(agent(line))
        for _ in range(random.choice((0, 0, 0, 0, 1, 2))):
            text = random.choice(TEXTS).replace("ID", line.split()[0])
            acts.insert(random.randint(0, len(acts)), Say(f"{text}\n".encode()))
        return acts[:-1] if random.random() < 0.03 else acts

    return hear


def spec(control: str, **options: Any) -> GameSpec:
    policy = {
        "name": "test",
        "game": {"name": "go", "options": {"size": 9, "max_moves": 20, **options}},
        "clock": {"control": control, "tolerance_ms": 0, "start_ms": 3000},
        "bytes": {"game_bytes": 1 << 17},
    }
    return GameSpec(seats=scripted_seats("gtp"), policy=Policy.model_validate(policy))


def record(game: ScriptedGame, played: GameSpec) -> RecordFile:
    sealed = seal(game.world.entries)
    placement = Placement(box=("world", "world"), judge_cores=(), slot_cores=())
    at = "2026-01-01T00:00:00+00:00"
    made = record_of(played, game.end, game.referee, attempt=1, started_at=at, placement=placement, transcript=sealed)
    return RecordFile(record=made, transcript=sealed)


def player(first: str) -> Agent:
    return engine([f"=ID {first}{number}" for number in range(1, 10)])


@settings(deadline=None)
@given(st.integers(0, 1 << 32), st.sampled_from(CONTROLS), st.integers(0, 1))
def test_no_output_of_an_engine_harms_its_opponent_or_the_record(seed: int, control: str, seat: int) -> None:
    played = spec(control)
    agents = [player("C"), player("F")]
    agents[seat] = noisy(agents[seat], Random(seed))
    game = ScriptedGame(World(*agents), played)

    assert game.faults[1 - seat] is None
    assert game.verdict is not Verdict.VOID
    assert game.verdict in (Verdict.WIN, Verdict.DRAW) or 1 - seat == game.winner
    file = RecordFile.model_validate_json(record(game, played).to_json())
    assert [] == list(verify(file).problems)
    texts = [file.record.reason, *(text for each in file.record.seats for text in (each.why, *each.notes))]
    assert all(text.isprintable() and len(text) < 1000 for text in texts)

    written = sgf_of_record(steps_of(file))
    data = write_sgf(written)
    assert all(letter.isprintable() for letter in data.decode().replace("\n", ""))
    (again,) = read_sgf(data, "game.sgf")
    assert (written.position, written.tags["RE"]) == (again.position, again.tags["RE"])
    assert len(again.position.moves) + 1 == len(steps_of_sgf(again, board_view).steps)


@pytest.mark.parametrize(
    ("control", "times"),
    [
        ("600", {"TM": "600"}),
        ("2000000", {"TM": "2000000"}),
        ("600|3x30", {"TM": "600", "OT": "3x30 byo-yomi"}),
        ("600|20/300", {"TM": "600", "OT": "20/300 Canadian"}),
        ("0|5x10.5", {"TM": "0", "OT": "5x10.5 byo-yomi"}),
        ("60+0.6", {"TM": "60", "OT": "0.6 fischer"}),
        ("60d2", {"TM": "60", "OT": "2 delay"}),
        ("40/300", {"TM": "300", "OT": "40/300 (moves/seconds)"}),
        ("40/600:20", {"TM": "600", "OT": "40/600:20 (moves/seconds)"}),
        ("@5", {}),
        ("300,240", {"OT": "black 300, white 240"}),
    ],
)
def test_sgf_has_the_time_control_of_both_seats(control: str, times: dict[str, str]) -> None:
    played = spec(control)
    tags = sgf_of_record(steps_of(record(ScriptedGame(World(engine(), engine()), played), played))).tags
    assert times == {name: tags[name] for name in ("TM", "OT") if name in tags}


CLAIMS = re.compile(
    r"record\.(judge|attempt|seconds|started_at|judge_late_ms|placement\..*"
    r"|seats\.\*\.(memory_peak_bytes|cpu_ms|lingered_ms)|spec\.policy\.clock\.(turn_ms|match_ms))"
)
"""Values that a replay cannot check, and limits that the time control replaces."""


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield path
    else:
        for key, inner in items:
            yield from leaves(inner, (*path, key))


def others(value: Any) -> Sequence[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, -1, 10**30]
    if isinstance(value, str):
        return [f"{value}x", "A1 B1", "\x1b[2J"]
    return [0, "x"]


def test_forged_value_is_found_or_is_a_claim() -> None:
    played = spec("5|3x1", komi=0.5)
    document = json.loads(record(ScriptedGame(World(engine(["=ID E5"]), engine()), played), played).to_json())
    missed = set()
    for path in leaves(document):
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        true = holder[path[-1]]
        for false in (each for each in others(true) if each != true):
            holder[path[-1]] = false
            try:
                is_found = bool(verify(RecordFile.model_validate_json(json.dumps(document))).problems)
            except ValueError:
                is_found = True
            if not is_found:
                missed.add(".".join("*" if isinstance(key, int) else key for key in path))
        holder[path[-1]] = true
    assert [] == [path for path in missed if not CLAIMS.fullmatch(path)]


def test_long_refusal_is_cut() -> None:
    protocol = GtpGo(GtpOptions())
    protocol.feed(Open(0, {"size": 9, "komi": 7.0}, ("one", "two"), SeatLimits(TimeControl.of_game(1, 1), 0)))
    (answer,) = protocol.feed(Bytes(b"?1 " + b"no\n" * 2000 + b"\n", Clock(1, 1)))
    assert isinstance(answer, Answer)
    assert MAX_SAID_CHARACTERS == len(answer.reply.said)


@pytest.mark.parametrize(
    ("sgf", "said"),
    [
        ("AB" + "[aa:ss]" * 50_000, "position, line 1: AB has more stones than the board has points"),
        ("AB[cc:aa]", "position, line 1: 'cc:aa' has its corners in another order; write top left and bottom right"),
        ("AB[aa:]", "position, line 1: '' is no point"),
        ("AB[aa]PL[x]", "position, line 1: PL[x] is no colour; write B or W"),
        ("B[aa]W[bb]", "position, line 1: two moves in a node; write ; before each move"),
        ("B[aa][bb]", "position, line 1: two moves in a node; write ; before each move"),
        ("AB[dd]AW[dd]", "position: two stones at D16"),
        ("B[tz]", "position, line 1: 'tz' is no point"),
    ],
)
def test_wrong_set_up_is_refused_with_the_line(sgf: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        read_opening(f"(;{sgf})", 19)
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize("colour", ["w", "W", "White", "white"])
def test_colour_to_move_is_read_in_each_spelling(colour: str) -> None:
    assert "black D16 white Q16 to white" == read_opening(f"(;AB[dd]AW[pd]PL[{colour}])", 19)


def test_step_of_a_long_sgf_gets_no_copy_of_the_moves_before_it() -> None:
    """Otherwise the time grows with the square of their number."""
    games = read_sgf(b"(;GM[1]SZ[9]" + b";B[];W[]" * 500 + b";B[ee])", "long.sgf")
    steps = steps_of_sgf(games[0], board_view)
    assert 1002 == len(steps.steps)
    assert {(4, 4): 1001} == {point: token.number for point, token in steps.steps[-1].view.tokens.items()}


@pytest.mark.parametrize("options", [{"handicap": 10**5000}, {"max_moves": 10**5000}, {"komi": 10**400}])
def test_number_without_bound_is_refused_with_the_field(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"^go options: (handicap|max_moves|komi): Input should be "):
        Go.from_options(options)
