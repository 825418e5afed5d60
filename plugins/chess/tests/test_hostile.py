"""Hostile engines, files of openings and forged records: the opponent, the record and the exports are unharmed."""

import gzip
import io
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import chess.pgn
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_chess.engine import MAX_SAID_CHARACTERS, EngineOptions
from judge_chess.game import board_view
from judge_chess.pgn import PgnGame, looks_like_pgn, pgn_of_record, read_pgn, steps_of_pgn, write_pgn
from judge_chess.positions import MAX_GAME_LINES, read_opening
from judge_chess.rules import ChooseMove, Move
from judge_chess.uci import Uci
from test_uci import BLITZ, engine

from judge.base.errors import InputError
from judge.catalog import game_entry
from judge.catalog.files import steps_of
from judge.contest.opening_files import read_openings
from judge.games.types import Verdict
from judge.protocols.time_control import TimeControl
from judge.protocols.types import Answer, Ask, Bytes, Open, Search, SeatLimits
from judge.record.policy import Policy
from judge.record.spec import GameSpec, Placement, RecordFile
from judge.record.transcript import seal
from judge.referee.verify import record_of, verify
from judge.testing import Act, Agent, Say, ScriptedGame, World, scripted_seats

CONTROLS = ("5", "5+0.1", "5d1", "10/5", "5|3x1", "5|10/3", "@1")
LINES = (
    *(b"id name \x1b[2J\x00\xff\xe2\x80\xae", b"id author " + b"A" * 5000, b"uciok", b"readyok", b"readyok\nreadyok"),
    *(b"bestmove e2e4", b"bestmove a2a3\nbestmove a2a4", b"bestmove e7e5", b"bestmove 0000", b"bestmove e1g1"),
    *(b"bestmove e1h1", b"bestmove O-O", b"bestmove 0-0", b"bestmove e8=Q", b"bestmove e7e8", b"bestmove"),
    *(b"bestmove a7a8q ponder a8a7q", b"bestmove a2a3 ponder a7a6", b"bestmove resign", b"resign", b"bestmove \x00"),
    *(b'bestmove "] [Result "1-0"]', b'bestmove \\"] [Result "1-0"]', b"bestmove e2e4\xe2\x84\xaa", b"\xff\xfe"),
    *(b"info score cp 99999999999999999999", b"info score mate 100000 depth 999999999999999999", b"\r\r\r"),
    *(b"info score cp 0 depth -5 pv 0000 e2e4", b"info string \x1b]0;x\x07", b"info string " + b"x" * 70_000),
    *(
        b"\n" * 3000,
        b"\x00" * 100,
        b"option name Hash type spin default 1 min 1 max 1",
        b"option name Ponder type check",
    ),
    *(b"option name", b"option name  type ", b"option name UCI_Chess960 type button", b"stop\nquit", b"go"),
    *(b"info depth 1 score cp 5 pv " + b"e2e4 " * 700, b"info nodes 1 nps", b"info multipv 1 score"),
)
TAG = re.compile(r'\[\w+ "(?:[^"\\]|\\.)*"\]')
CORES = Placement(box=("world", "world"), judge_cores=(), slot_cores=(1, 2), seat_cores=((1,), (2,)))


def noisy(agent: Agent, random: Random) -> Agent:
    """An agent that also prints hostile lines, and sometimes does not answer."""

    def hear(line: str) -> Sequence[Act]:
        acts = list(agent(line))
        for _ in range(random.choice((0, 0, 0, 1, 2))):
            acts.insert(random.randint(0, len(acts)), Say(random.choice(LINES) + b"\n"))
        return acts[:-1] if random.random() < 0.05 else acts

    return hear


def spec(control: str = "5", *, ponder: bool = False, **options: Any) -> GameSpec:
    policy = {
        "name": "test",
        "game": {"name": "chess", "options": {"max_moves": 40, **options}},
        "clock": {"control": control, "tolerance_ms": 0, "start_ms": 3000, "ponder": ponder},
        "bytes": {"game_bytes": 1 << 17},
    }
    return GameSpec(seats=scripted_seats("uci"), policy=Policy.model_validate(policy))


def record(game: ScriptedGame, played: GameSpec) -> RecordFile:
    sealed = seal(game.world.entries)
    placement = CORES if played.policy.clock.ponder else CORES.model_copy(update={"slot_cores": (), "seat_cores": ()})
    at = "2026-01-01T00:00:00+00:00"
    made = record_of(played, game.end, game.referee, attempt=1, started_at=at, placement=placement, transcript=sealed)
    return RecordFile(record=made, transcript=sealed)


@settings(deadline=None)
@given(st.integers(0, 1 << 32), st.sampled_from(CONTROLS), st.integers(0, 1), st.booleans(), st.booleans())
def test_no_output_of_an_engine_harms_its_opponent_or_the_record(
    seed: int, control: str, seat: int, ponder: bool, adjudicates: bool
) -> None:
    scores = {"draw_by_score": {"after": 1, "moves": 2}, "win_by_score": {"moves": 2, "score_cp": 100}}
    played = spec(control, ponder=ponder, **(scores if adjudicates else {}))
    agents = [engine(), engine()]
    agents[seat] = noisy(engine(), Random(seed))
    game = ScriptedGame(World(*agents, ponders=ponder), played)

    assert game.faults[1 - seat] is None
    assert game.verdict is not Verdict.VOID
    assert game.verdict in (Verdict.WIN, Verdict.DRAW) or 1 - seat == game.winner
    data = record(game, played).to_json()
    assert played.policy.bounds().record_bytes >= len(data)
    file = RecordFile.model_validate_json(data)
    assert [] == list(verify(file).problems)
    texts = [file.record.reason, *(text for each in file.record.seats for text in (each.why, *each.notes))]
    assert all(text.isprintable() and len(text) < 1000 for text in texts)
    check_pgn(file)


def check_pgn(file: RecordFile) -> None:
    """The PGN has only valid tags, and the moves and the result according to python-chess."""
    written = pgn_of_record(steps_of(file))
    text = write_pgn(written).decode()
    assert all(letter.isprintable() for letter in text.replace("\n", ""))
    assert all(map(TAG.fullmatch, text.partition("\n\n")[0].splitlines()))
    (again,) = read_pgn(text.encode(), "game.pgn")
    assert written.tags.items() <= again.tags.items()
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert [move.move for move in written.moves] == list(game.mainline_moves())
    outcome = game.end().board().outcome()
    if outcome is not None and file.record.verdict in (Verdict.WIN, Verdict.DRAW):
        assert outcome.result() == game.headers["Result"]


@pytest.mark.parametrize(
    ("control", "tags"),
    [
        ("60+0.6", {"TimeControl": "60+0.6"}),
        ("40/5400+30:900+30", {"TimeControl": "40/5400+30:900+30"}),
        ("@2000000", {"TimeControl": "1/2000000"}),
        ("300,240+1", {"WhiteTimeControl": "300", "BlackTimeControl": "240+1"}),
    ],
)
def test_pgn_has_the_time_control_of_both_colours(control: str, tags: dict[str, str]) -> None:
    played = spec(control, max_moves=1)
    found = pgn_of_record(steps_of(record(ScriptedGame(World(engine(), engine()), played), played))).tags
    assert tags == {name: value for name, value in found.items() if name.endswith("TimeControl")}


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
        return [f"{value}x", "00001000", "\x1b[2J"]
    return [0, "x"]


def test_forged_value_is_found_or_is_a_claim() -> None:
    played = spec("5+0.1", max_moves=2, draw_by_score={"after": 1, "moves": 1})
    document = json.loads(record(ScriptedGame(World(engine(), engine()), played), played).to_json())
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


# --- the protocol ----------------------------------------------------------------------------------------------------


def test_refusal_that_lists_many_options_is_cut() -> None:
    protocol = Uci(EngineOptions(options={"Contempt": 1}))
    protocol.feed(Open(0, {}, ("one", "two"), SeatLimits(TimeControl.of_game(1, 1), 0)))
    for number in range(100):
        protocol.feed(Bytes(b"option name %d%s type check\n" % (number, b"n" * 4000), BLITZ))
    (answer,) = protocol.feed(Bytes(b"uciok\n", BLITZ))
    assert isinstance(answer, Answer)
    assert MAX_SAID_CHARACTERS == len(answer.reply.said)


@pytest.mark.parametrize(
    ("line", "shown", "score_cp"),
    [
        ("score mate 100000", "+M500", 99_500),
        ("score mate -999999999999", "-M500", -99_500),
        ("score mate 0", "-M0", -100_000),
        ("score cp -950 lowerbound", "-9.50", None),
        ("score cp 950 upperbound", "+9.50", None),
        ("score cp 950", "+9.50", 950),
    ],
)
def test_score_for_adjudication_is_that_of_the_record(line: str, shown: str, score_cp: int | None) -> None:
    protocol = Uci(EngineOptions())
    for stimulus in (
        Open(0, {}, ("one", "two"), SeatLimits(TimeControl.of_game(1, 1), 0)),
        Bytes(b"uciok\nreadyok\n", BLITZ),
    ):
        protocol.feed(stimulus)
    protocol.feed(Ask(ChooseMove(0), BLITZ))
    search, answer = protocol.feed(Bytes(f"info {line}\nbestmove e2e4\n".encode(), BLITZ))
    assert isinstance(search, Search)
    assert isinstance(answer, Answer)
    assert isinstance(answer.reply.decision, Move)
    assert (shown, score_cp) == (search.values["score"], answer.reply.decision.score_cp)


# --- openings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        ('[FEN "8/8/8/8/8/8/8/R6R w - - 0 1"]', "position: 8/8/8/8/8/8/8/R6R w - - 0 1 is illegal: no white king"),
        ('[FEN "4k3/8/8/8/8/8/8/4RK2 w - - 0 1"]', "is illegal: opposite check"),
        ('[FEN "4k3/8/8/8/8/8/8/4K3 w KQ - 0 1"]', "is illegal: bad castling rights"),
        ('[FEN "4k2P/8/8/8/8/8/8/4K3 w - - 0 1"]', "is illegal: pawns on backrank"),
        ('[FEN "4k3/8/8/8/8/8/8/4K2R w - - 0 99999"]', "position: '0 99999' are no counters of a FEN"),
        ('[Variant "Crazyhouse"]', "PGN: the variant 'Crazyhouse' is another game; remove the game"),
        ('[Variant "Three-check"]', "PGN: the variant 'Three-check' is another game"),
        ('[Variant "Atomic"]', "PGN: the variant 'Atomic' is another game"),
    ],
)
def test_first_position_of_pgn_is_checked_like_a_fen(tags: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        read_opening(f"{tags}\n\n*", chess960=False)


WORDS = (
    *(
        "1. e4",
        "e5",
        "2. Nf3",
        "--",
        "Z0",
        "P@e4",
        "O-O",
        "0-0",
        "(",
        "(1. d4",
        "(1... c5)",
        ")",
        "*",
        "1-0",
        "; c",
        "{",
    ),
    *("}", "\0", "\x1b[2J", '"', "\\", "Qh5#", "e8=Q", "1...", "e4!?", "$9", f"${'9' * 5000}", "999999999. e4", "% e"),
    *("{[%eval #0]}", "{[%eval 9999999.99,99999]}", f"{{[%eval #{'9' * 5000}]}}", f"{{[%clk {'9' * 5000}:00:00]}}"),
    *("{[%clk 99999999999999999999:00:00]}", f"{{[%clk 0:00:00.{'9' * 400}]}}", '[Result "x"]', '[FEN "x"]'),
    *('[Variant "Crazyhouse"]', '[Variant "Chess960"]', '[FEN "8/8/8/8/8/8/8/R6R w - - 0 1"]', '[Event "a\\"]'),
)


@settings(deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=14), st.sampled_from([" ", "\n", "\n\n"]))
def test_any_pgn_is_read_or_refused(words: list[str], space: str) -> None:
    text = f'[Event "a"]\n\n{space.join(words)}'
    looks_like_pgn(text.encode())
    for read in (
        lambda: read_opening(text, chess960=False),
        lambda: list(map(steps, read_pgn(text.encode(), "a.pgn"))),
    ):
        said = ""
        try:
            read()
        except InputError as error:
            said = str(error)
        assert said.isprintable()


def steps(game: PgnGame) -> None:
    assert len(game.moves) + 1 == len(steps_of_pgn(game, board_view).steps)
    (again,) = read_pgn(write_pgn(game), "again.pgn")
    assert [move.move for move in game.moves] == [move.move for move in again.moves]


@pytest.mark.parametrize(
    "text", ["1. e4 $" + "9" * 5000, "1. e4 {[%clk " + "9" * 5000 + ":00:00]}", "{[%eval 1]} (1... c5)"]
)
def test_pgn_that_the_library_cannot_read_is_refused_with_the_file(text: str) -> None:
    with pytest.raises(InputError, match=r"^a\.pgn, game 1: "):
        read_pgn(f'[Event "a"]\n\n{text} *\n'.encode(), "a.pgn")


def test_message_about_a_long_fen_is_short() -> None:
    with pytest.raises(InputError) as refused:
        read_opening("8/" * 20_000 + " w - - 0 1", chess960=False)
    assert len(str(refused.value)) < 500


def test_chess960_number_has_at_most_three_digits() -> None:
    with pytest.raises(InputError, match="needs a first position"):
        read_opening("00001000", chess960=True)


@pytest.mark.parametrize("operation", ['id "what moves now";', 'c0 "a moves b moves c"; bm Ra8#;'])
def test_word_moves_in_an_operation_of_epd_is_ignored(operation: str) -> None:
    assert "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1" == read_opening(f"4k3/8/8/8/8/8/8/R3K3 w Q - {operation}", chess960=False)


@pytest.mark.parametrize("comment", ["{ a\n[Event] \n[%x] b }", "; { [\n", "\n% {\n"])
def test_bracket_in_a_comment_begins_no_game(tmp_path: Path, comment: str) -> None:
    path = tmp_path / "openings.pgn"
    path.write_text(f'[Event "a {{"]\n\n1. e4 {comment} e5 *\n\n[Event "b"]\n\n1. d4 d5 *\n')
    openings = read_openings(path, openings_of_chess())
    assert ["startpos moves e2e4 e7e5", "startpos moves d2d4 d7d5"] == openings


@pytest.mark.parametrize("text", ["e\n" * (MAX_GAME_LINES + 1), "e" * 60_000 + "\n" + ("e" * 60_000 + "\n") * 7])
def test_endless_game_is_refused_with_file_and_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "openings.pgn.gz"
    path.write_bytes(gzip.compress(f'[Event "a"]\n\n1. d4 *\n\n[Event "b"]\n\n1. e4 {{\n{text}'.encode()))
    with pytest.raises(InputError) as refused:
        read_openings(path, openings_of_chess())
    assert str(refused.value).startswith(f"{path}, line 5: the PGN game has more than 5000 lines or 400000 characters")


def openings_of_chess() -> Any:
    return game_entry("chess").openings({})


def test_scores_of_a_long_game_are_read_without_its_earlier_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chess.pgn.ChildNode, "ply", None)
    (game,) = read_pgn(b'[Event "a"]\n\n1. e4 { [%eval 0.5,3] } e5 { [%eval #-2] } 2. d4 { [%eval #0] } *\n', "a.pgn")
    assert ["50", "#-2", "#0"] == [move.score for move in game.moves]


@pytest.mark.parametrize(
    "options",
    [
        {"max_moves": 10**5000},
        {"draw_by_score": {"after": 10**5000}},
        {"win_by_score": {"moves": 10**30}},
        {"win_by_score": {"score_cp": 10**30}},
    ],
)
def test_number_without_bound_is_refused_with_the_field(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"^chess options: \w+(\.\w+)?: Input should be less than or equal to"):
        game_entry("chess").new(options)
