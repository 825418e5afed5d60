"""AGI under the referee: what is waited for, what is charged, what cannot be played."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from judge.base.errors import InputError
from judge.games.types import Verdict
from judge.record.policy import load_policy
from judge.record.spec import GameSpec
from judge.referee.setup import check_playable
from judge.referee.verify import plies_of
from judge.testing import Act, Agent, Say, World, exits, scripted_seats
from tests.referee.games import BLACK_ROW, Game, brain


def engine(*moves: str, ms: float = 1.0, lines: Mapping[str, Sequence[Act]] = MappingProxyType({})) -> Agent:
    """An engine that says `moves` one after the other; `lines` override what it does on a word."""
    left = iter(moves)

    def hear(line: str) -> Sequence[Act]:
        word = line.split()[0]
        if word in lines:
            return lines[word]
        match word:
            case "AGI":
                return [Say(b"ID NAME scripted\nAGIOK\n")]
            case "ISREADY":
                return [Say(b"READYOK\n", 0)]
            case "GO":
                move = next(left, None)
                return [] if move is None else [Say(f"BESTMOVE {move}\n".encode(), ms)]
            case "QUIT":
                return [Say(b"BYE\n"), *exits(0)]
            case _:
                return []

    return hear


ROW = ("01", "02", "03", "04", "05")
OTHER_ROW = ("11", "12", "13", "14", "15")


def spec(policy: str = "gomocup-standard", *overrides: str, protocols: tuple[str, str] = ("agi", "agi")) -> GameSpec:
    seats = scripted_seats(protocols[0])[0], scripted_seats(protocols[1])[1]
    return GameSpec(seats=seats, policy=load_policy(policy, overrides))


def play(first: Agent, second: Agent, game_spec: GameSpec | None = None) -> Game:
    return Game(World(first, second), game_spec or spec())


def test_a_game_is_played_to_its_end() -> None:
    played = play(engine(*ROW), engine(*OTHER_ROW))
    first, second = played.heard(0), played.heard(1)

    played.assert_won()
    assert ["AGI", "SETOPTION PONDER OFF", "SETRULE UNFORBIDDEN", "ISREADY"] == first[:4]
    assert ["ISREADY", "POSITION", "GO TIME 30000", "ISREADY"] == first[4:8]
    assert ["DOMOVE 01", "DOMOVE 11", "GO TIME 30000"] == first[8:11]
    assert ["ISREADY", "POSITION MOVES 01", "GO TIME 30000"] == second[4:7]
    assert "QUIT" == first[-1] == second[-1]
    assert [] == played.world.killed
    assert {"name": "scripted"} == played.referee.sides[0].about


SHORT = ("clock.turn_ms=500", "clock.match_ms=0", "clock.tolerance_ms=0")


def slow_to_sync(sync_ms: float, think_ms: float) -> Agent:
    """An engine that answers ISREADY late, but for the first one."""
    usual, answers = engine(*ROW, ms=think_ms), iter([[Say(b"READYOK\n")]])
    late = [Say(b"READYOK\n", sync_ms)]
    return lambda line: next(answers, late) if line == "ISREADY" else usual(line)


def test_an_answer_to_isready_is_part_of_the_turn() -> None:
    played = play(slow_to_sync(300, 150), engine(*OTHER_ROW), spec("gomocup-standard", *SHORT))

    played.assert_won()
    assert "GO TIME 200" in played.heard(0)
    assert [450.0] * 5 == [ply.ms for ply in plies_of(played.referee) if ply.seat == 0]


@pytest.mark.parametrize(("sync_ms", "think_ms", "allowed_ms"), [(300, 250, 200), (600, 0, 500), (10**9, 0, 500)])
def test_thinking_before_readyok_buys_no_time(sync_ms: float, think_ms: float, allowed_ms: int) -> None:
    played = play(slow_to_sync(sync_ms, think_ms), engine(*OTHER_ROW), spec("gomocup-standard", *SHORT))

    played.assert_lost(0, Verdict.TURN_TIME)
    assert allowed_ms == played.evidence(0).allowed_ms


def test_a_brain_and_an_engine_play_each_other() -> None:
    played = play(brain(*BLACK_ROW), engine(*OTHER_ROW), spec(protocols=("gomocup", "agi")))

    played.assert_won()
    assert "TURN 0,1" in played.heard(0)
    assert "POSITION MOVES 01" in played.heard(1)
    assert ["0,0", "0,1", "1,0", "1,1"] == played.said[:4]


@pytest.mark.parametrize(("said", "reason"), [("70", "BESTMOVE 70"), ("F8", "BESTMOVE F8"), ("CHANGE", "")])
def test_reason_of_a_forbidden_answer_quotes_the_engine(said: str, reason: str) -> None:
    played = play(engine(said), engine(*OTHER_ROW))

    played.assert_lost(0, Verdict.ILLEGAL)
    assert played.end.reason.endswith(f"; it sent '{reason}'") is bool(reason)


def test_search_information_is_stored_with_its_move() -> None:
    thinks = [Say(b"INFO DEPTH 1 SCORE 3\nINFO DEPTH 2 PV 0102\nINFO hello\n"), Say(b"BESTMOVE 01 PONDER 11\n")]
    played = play(engine(lines={"GO": thinks}), engine("11"))

    assert {"depth": "2", "score": "3", "pv": "0102", "ponder": "11"} == plies_of(played.referee)[0].search
    assert ["INFO 'hello'"] == [note.text for note in played.referee.sides[0].notes][:1]


def test_readyok_is_charged_to_the_turn_and_to_the_game() -> None:
    """1 ms for AGIOK, 5 s for each READYOK, 3 s for BESTMOVE; GO says what is left after the READYOK before it."""
    slow = engine(*ROW, ms=3000, lines={"ISREADY": [Say(b"READYOK\n", 5000)]})
    played = play(slow, engine(*OTHER_ROW), spec("gomocup-standard", "clock.match_ms=40000"))

    assert [f"GO TIME {ms}" for ms in (25000, 21999, 13999, 5999)] == played.heard(0, "GO")[:4]
    assert [8000] * 4 == played.charged_ms(0)[:4]


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        ({"AGI": [Say(b"AGIOK\nREADYOK\n")], "ISREADY": []}, Verdict.START_TIME),
        ({"GO": [Say(b"INFO DEPTH 1\n", 10)] * 4000}, Verdict.TURN_TIME),
        ({"POSITION": exits(3)}, Verdict.CRASH),
    ],
)
def test_losing_replies(lines: dict[str, Sequence[Act]], verdict: Verdict) -> None:
    """docs/agi.md, 7."""
    play(engine(lines=lines), engine()).assert_lost(0, verdict)


@pytest.mark.parametrize(("ms", "fault"), [(900, None), (1100, Verdict.TURN_TIME)])
def test_stop_at_the_limit_leaves_the_tolerance_to_answer(ms: float, fault: Verdict | None) -> None:
    """stop_before_ms as long as the tolerance: STOP comes at the limit of the turn, and to one that is late alone."""
    chosen = spec("gomocup-standard", "protocol.agi.stop_before_ms=1000")
    played = play(engine(lines={"STOP": [Say(b"BESTMOVE 01\n", ms)]}), engine("zz"), chosen)
    entries = played.world.entries
    go = next(entry.ns for entry in entries if b"GO" in entry.data)
    stop = next(entry.ns for entry in entries if entry.data == b"STOP\n")

    assert fault is played.faults[0]
    assert 30_000_000_000 == stop - go
    assert "STOP" not in played.heard(1)


def test_engine_that_overran_the_game_by_obeying_stop_has_the_tolerance_left() -> None:
    """For READYOK as for BESTMOVE, until it is used up: the third turn begins after the end of the game's time."""
    moves = iter((*ROW[:3], "zz"))
    quiet = engine(lines={"GO": [], "ISREADY": [Say(b"READYOK\n", 8)]})

    def obedient(line: str) -> Sequence[Act]:
        return [Say(f"BESTMOVE {next(moves)}\n".encode(), 20)] if line == "STOP" else quiet(line)

    chosen = spec("gomocup-standard", "protocol.agi.stop_before_ms=1000", "clock.match_ms=60000")
    played = play(obedient, engine(*OTHER_ROW), chosen)

    played.assert_lost(0, Verdict.UNREADABLE)
    assert ["0,0", "1,0", "2,0", "zz"] == played.said[::2]


def test_games_not_expressible_in_agi_are_refused_before_play() -> None:
    words = "two speaks agi, which can only name the squares of a 15x15 board, not of 20x15"
    with pytest.raises(InputError, match=words) as error:
        check_playable(spec("gomocup-standard", "game.options.width=20", protocols=("gomocup", "agi")))

    assert "choose another policy or agent" in str(error.value)


def example(name: str) -> tuple[list[str], Agent]:
    """A conversation of docs/agi.md: all that the judge writes, and an engine that answers as there."""
    text = (Path(__file__).parents[2] / "docs/agi.md").read_text(encoding="utf-8")
    written: list[str] = []
    said: list[list[Act]] = []
    for line in text.split(f"```agi {name}\n")[1].split("```")[0].splitlines():
        if line.startswith("> "):
            written.append(line[2:])
            said.append([])
        else:
            said[-1].append(Say(f"{line[2:]}\n".encode(), 0))
    left = iter(said)
    return written, lambda line: next(left) + (exits(0) if line == "QUIT" else [])


def test_the_examples_of_the_norm_are_games() -> None:
    """docs/agi.md, 8: one seat of a game; and both of one under the RIF rule, up to a stone on a taken square."""
    (lines, agent), (first, first_agent), (second, second_agent) = map(example, ("plain", "first", "second"))
    plain = play(engine("78", "69"), agent, spec("agi-renju", "protocol.agi.stop_before_ms=0"))
    played = play(first_agent, second_agent, spec("agi-renju:rif", "protocol.agi.stop_before_ms=0"))

    assert lines == plain.heard(1)
    assert ["7,7", "7,6", "8,6", "9,5"] == plain.said
    assert [first, second] == [played.heard(0), played.heard(1)]
    assert [None, Verdict.ILLEGAL] == played.faults


def laid(*moves: str) -> Agent:
    """An engine that lays one of the 26 openings, and plays `moves` then."""
    return engine("78", "68", "69", *moves)


def test_two_fifths_by_two_questions() -> None:
    """Facts 5.4, transcript 4: SEARCH has neither the first offer nor what is taken; black's clock runs over both."""
    played = play(laid("67", "59", "99"), engine("5A", "59", "5A"), spec("agi-renju:rif"))
    asked = played.heard(0, "GO SEARCH")[0].split()[2]
    squares = {asked[at : at + 2] for at in range(0, len(asked), 2)}

    assert 15 * 15 - 5 == len(squares)
    assert {"78", "68", "69", "5A", "67"}.isdisjoint(squares)
    second = [line for line in played.heard(1) if line != "STOP"]
    assert ["GO SEARCH 6759 TIME 30000", "ISREADY", "DOMOVE 59", "GO TIME 30000"] == second[-5:-1]


def test_n_fifths_are_offered_as_the_contest_says() -> None:
    """Yamaguchi with four: a list, then one by one."""
    played = play(laid("6759", "57", "01"), engine("5A", "01", "01"), spec("agi-renju:yamaguchi"))

    assert {"SETRULE FORBIDDEN THIRDCHANGE FIVEMULITY", "GO SEARCH 67595701 TIME 30000", "DOMOVE 01"} <= {
        *played.heard(1)
    }
    played.assert_lost(1, Verdict.ILLEGAL)


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [(engine(*ROW), engine(*OTHER_ROW), 0), (engine("01", *OTHER_ROW), engine("CHANGE", *ROW[1:]), 1)],
    ids=["stays white", "takes black"],
)
def test_winner_by_black_is_who_took_it(first: Agent, second: Agent, winner: int) -> None:
    """Facts 5.4, transcript 7."""
    played = play(first, second, spec("agi-renju:chinese-swap"))

    played.assert_won(winner)
    rules = ["SETRULE UNFORBIDDEN FIRSTCHANGE", "SETRULE UNFORBIDDEN"]
    assert [rules, rules] == [played.heard(seat, "SETRULE") for seat in (0, 1)]
