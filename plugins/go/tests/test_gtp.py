"""The GTP conversation, line by line, and whole games of scripted engines with hostile behaviour."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_go.gtp import GtpOptions
from judge_go.gtp_go import GtpGo
from judge_go.gtp_gomoku import GtpGomoku, objection
from judge_go.rules import PlayOrPass

from judge.base.errors import InputError
from judge.games.gomoku.requests import PlaceStone
from judge.games.types import Verdict
from judge.protocols import new_protocol
from judge.protocols.time_control import UNLIMITED_MS, TimeControl
from judge.protocols.types import Ask, Bytes, Clock, Close, Note, Open, SeatLimits
from judge.record.policy import Policy
from judge.record.spec import GameSpec
from judge.testing import Act, Agent, Conversation, Say, ScriptedGame, World, scripted_seats

GAME = {"size": 9, "komi": 7.5}
MINUTE = TimeControl.of_game(60_000, 60_000)
BLITZ = Clock(60_000, 60_000)
LIST = r"boardsize\nclear_board\nkomi\nplay\ngenmove\ntime_settings\ntime_left"


def conversation(control: TimeControl = MINUTE, **options: Any) -> Conversation:
    talk = Conversation(GtpGo(GtpOptions(**options)), "\n")
    talk.feed(Open(0, GAME, ("one", "two"), SeatLimits(control, 0)))
    return talk


def opened(listed: str = LIST, **options: Any) -> Conversation:
    talk = conversation(**options)
    talk.goes(rf"""
        > 1 protocol_version
        < =1 2\n
        > 2 name
        < =2 Engine\n
        > 3 version
        < =3 1.0\n
        > 4 list_commands
        < =4 {listed}\n
        > 5 boardsize 9
        < =5\n
        > 6 clear_board
        < =6\n
        > 7 komi 7.5
    """)
    return talk


def ready() -> Conversation:
    talk = opened()
    talk.goes(r"""
        < =7\n
        > 8 time_settings 59 0 0
        < =8 \n
        = ready name="Engine", version="1.0"
    """)
    return talk


def moves(*points: tuple[int, int] | None) -> tuple[tuple[int, tuple[int, int] | None], ...]:
    return tuple((number % 2, point) for number, point in enumerate(points))


def test_only_new_moves_are_sent() -> None:
    talk = ready()
    talk.feed(Ask(PlayOrPass(0, 9), BLITZ))
    talk.goes(r"""
        > 9 time_left black 59 0
        = await turn
        < =9\n
        > 10 genmove black
        < =10 d4\n
        = D4
    """)
    talk.feed(Ask(PlayOrPass(0, 9, (), moves((3, 5), None)), Clock(60_000, 1500)))
    talk.goes(r"""
        > 11 play white pass
        < =11\n
        > 12 time_left black 1 0
        < =12\n
        > 13 genmove black
        < =013   PASS\n
        = pass
    """)
    talk.feed(Close("B+3.5"))
    talk.goes("> 14 quit\n< =14\\n")


def test_another_position_clears_the_board() -> None:
    talk = ready()
    request = PlayOrPass(1, 9, ((0, (2, 6)), (0, (6, 2)), (1, (4, 4))), ((0, (0, 0)),))
    talk.feed(Ask(request, Clock(5000, UNLIMITED_MS)))
    talk.goes(r"""
        > 9 play black C3
        < =9\n
        > 10 play black G7
        < =10\n
        > 11 play white E5
        < =11\n
        > 12 play black A9
        < =12\n
        > 13 time_left white 4 1
        < =13\n
        > 14 genmove white
        < =14 B9\n
        = B9
    """)
    talk.feed(Ask(PlayOrPass(0, 9), Clock(5000, UNLIMITED_MS)))
    talk.goes(r"""
        > 15 clear_board
        = await sync
        < =15\n
        > 16 time_left black 4 1
        = await turn
        < ?16 unknown\n
        = note time_left black 4 1: unknown
        > 17 genmove black
        < =17 resign\n
        = resigned resign
    """)


@pytest.mark.parametrize(
    ("turn_ms", "match_ms", "line"),
    [
        (5000, 0, "time_settings 0 4 1"),
        (0, 0, "time_settings 0 1 1"),
        (60_000, 600_000, "time_settings 299 0 0"),
        (0, 600_000, "time_settings 599 0 0"),
        (100, 500, "time_settings 1 0 0"),
        (-5, -5, "time_settings 1 0 0"),
    ],
)
def test_times_that_are_sent(turn_ms: int, match_ms: int, line: str) -> None:
    opened(control=TimeControl.of_game(match_ms or None, turn_ms)).goes(f"< =7\\n\n> 8 {line}")


KGS = rf"{LIST}\nkgs-time_settings"
MAIN = {"turn_ms": UNLIMITED_MS, "time_left_ms": 700_000, "main_ms": 600_000}
OVER = {"turn_ms": UNLIMITED_MS, "time_left_ms": 60_000, "main_ms": 0}


@pytest.mark.parametrize(
    ("control", "listed", "line", "clock", "left"),
    [
        ("600", LIST, "time_settings 599 0 0", Clock(**MAIN), "599 0"),
        ("600+5", LIST, "time_settings 599 0 0", Clock(**MAIN, increment_ms=5000), "599 0"),
        ("600|3x30", LIST, "time_settings 599 29 1", Clock(**MAIN, periods_left=3, period_ms=30_000), "599 0"),
        ("600|3x30", LIST, "time_settings 599 29 1", Clock(**OVER, periods_left=2, period_ms=30_000), "29 1"),
        (
            "600|3x30",
            KGS,
            "kgs-time_settings byoyomi 599 29 3",
            Clock(**MAIN, periods_left=3, period_ms=30_000),
            "599 0",
        ),
        (
            "600|3x30",
            KGS,
            "kgs-time_settings byoyomi 599 29 3",
            Clock(**OVER, periods_left=2, period_ms=30_000),
            "29 2",
        ),
        ("0|3x30", KGS, "kgs-time_settings byoyomi 0 29 3", Clock(**OVER, periods_left=3, period_ms=30_000), "29 3"),
        ("600|20/300", KGS, "time_settings 599 299 20", Clock(**MAIN, period_ms=300_000), "599 0"),
        ("600|20/300", LIST, "time_settings 599 299 20", Clock(**OVER, moves_to_go=7, period_ms=60_000), "59 7"),
        ("40/300", LIST, "time_settings 0 299 40", Clock(**(MAIN | {"main_ms": 90_000}), moves_to_go=9), "89 9"),
        ("40/600:20", KGS, "time_settings 0 599 40", Clock(**(MAIN | {"main_ms": 20_000})), "19 0"),
        ("40/600|3x20", KGS, "time_settings 0 599 40", Clock(**OVER, periods_left=3, period_ms=20_000), "19 1"),
        (
            "600|3x30@20",
            KGS,
            "time_settings 99 0 0",
            Clock(20_000, 60_000, 0, periods_left=2, period_ms=30_000),
            "59 0",
        ),
    ],
)
def test_time_controls_are_sent_with_periods_and_moves(
    control: str, listed: str, line: str, clock: Clock, left: str
) -> None:
    talk = opened(listed, control=TimeControl.parse(control))
    talk.goes(rf"""
        < =7\n
        > 8 {line}
        < =8\n
        = ready name="Engine", version="1.0"
    """)
    talk.feed(Ask(PlayOrPass(0, 9), clock))
    talk.goes(f"> 9 time_left black {left}")


def test_commands_that_the_engine_does_not_list_are_left_out() -> None:
    talk = opened("boardsize\\nclear_board\\nplay\\ngenmove", commands=("kgs-rules chinese",))
    talk.goes(r"""
        < =7\n
        > 8 kgs-rules chinese
        < =8\n
        = ready name="Engine", version="1.0"
    """)
    talk.feed(Ask(PlayOrPass(0, 9), BLITZ))
    talk.goes("> 9 genmove black")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (r"< =1 1\n", "protocol_version: version '1'; the judge needs version 2"),
        (r"< ?1 unknown command\n", "protocol_version: unknown command"),
        (r"< = 2\n", "protocol_version: = 2, but =1 was due: repeat its number after = or ?"),
        (r"< =2 2\n", "protocol_version: =2 2, but =1 was due"),
        (r"< =99999999999 2\n", "protocol_version: =99999999999 2, but =1 was due"),
    ],
)
def test_engine_that_does_not_speak_gtp_2_refuses(lines: str, said: str) -> None:
    conversation().goes(f"> 1 protocol_version\n{lines}\n= refused {said}")


def test_engine_that_lacks_a_command_or_a_size_refuses() -> None:
    talk = conversation()
    talk.goes(r"""
        > 1 protocol_version
        < =1 2\n
        > 2 name
        < ?2 unknown command\n
        > 3 version
        < =3\n
        > 4 list_commands
        < =4 boardsize\nplay\n
        = refused list_commands: the engine lacks clear_board, genmove
    """)
    talk = conversation()
    talk.goes(r"""
        > 1 protocol_version
        < =1 2\n
        > 2 name
        < =2\n
        > 3 version
        < =3\n
        > 4 list_commands
        < ?4 unknown command\n
        = refused list_commands: unknown command
    """)


def test_error_to_a_required_command_is_a_refusal() -> None:
    opened().goes(r"""
        < ?7 syntax error\n
        = refused komi 7.5: syntax error
    """)
    talk = opened(commands=("kgs-rules chinese",))
    talk.goes(r"""
        < =7\n
        > 8 kgs-rules chinese
        < ?8 unknown command\n
        = refused kgs-rules chinese: unknown command
    """)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("=10 T20", "= T20"),
        ("=10 i5", "= unreadable =10 i5"),
        ("=10", "= unreadable =10"),
        ("=10 D4 E5", "= unreadable =10 D4 E5"),
        ("= D4", "= unreadable = D4, but =10 was due: repeat its number after = or ?"),
        ("=9 D4", "= unreadable =9 D4, but =10 was due"),
        ("?10 cannot think", "= refused genmove black: cannot think"),
        ("?9 cannot think", "= unreadable ?9 cannot think, but =10 was due"),
        ("thinking...\\n=10 D4", "= note discarded: 'thinking...'\n= D4"),
        ("=10 D4\\n\\nextra", "= D4\n= note discarded: 'extra'"),
        ("\\r\\n=10\\tD4\\r", "= D4"),
        ("=10 Pass", "= pass"),
        ("=10 PASS\\r", "= pass"),
        ("=10 Resign", "= resigned resign"),
        ("=10 RESIGN", "= resigned resign"),
        ("=10 I9", "= unreadable =10 I9"),
        ("=10 D04", "= unreadable =10 D04"),
        ("=10 D-4", "= unreadable =10 D-4"),
        ("=10 D4 # a comment", "= unreadable =10 D4 # a comment"),
        ("# a comment\\n=10 D4", "= note discarded: '# a comment'\n= D4"),
        ("=10D4", "= unreadable =10D4, but =10 was due"),
        ("=10\\nD4", "= D4"),
        ("==10 D4", "= unreadable ==10 D4, but =10 was due"),
        ("=-10 D4", "= unreadable =-10 D4, but =10 was due"),
        ("?10", "= refused genmove black:"),
    ],
)
def test_answers(line: str, answer: str) -> None:
    talk = ready()
    talk.feed(Ask(PlayOrPass(0, 9), BLITZ))
    talk.goes(f"> 9 time_left black 59 0\n< =9\\n\n> 10 genmove black\n< {line}\\n\n{answer}")


def test_refused_move_of_the_opponent_is_named() -> None:
    talk = ready()
    talk.feed(Ask(PlayOrPass(1, 9, (), moves((3, 5))), BLITZ))
    talk.goes(r"""
        > 9 play black D4
        < ?9 illegal move\n
        = refused play black D4: illegal move
    """)


def test_unfinished_output_before_a_request_is_discarded() -> None:
    talk = ready()
    talk.goes("< =9 \\")
    talk.feed(Ask(PlayOrPass(0, 9), BLITZ))
    talk.goes(r"""
        = note discarded: unfinished output that came before the request
        > 9 time_left black 59 0
        < =9\n
        > 10 genmove black
    """)


def test_wrong_protocol_option_is_named() -> None:
    with pytest.raises(InputError) as refused:
        new_protocol("gtp", {"level": 10})
    assert str(refused.value).startswith("protocol gtp: unknown key 'level'")


@settings(deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=20))
def test_any_bytes_are_read(pieces: list[bytes]) -> None:
    for asks in (False, True):
        protocol = GtpGo(GtpOptions())
        protocol.feed(Open(0, GAME, ("one", "two"), SeatLimits(TimeControl.of_game(1, 1), 0)))
        if asks:
            protocol.feed(
                Bytes(b"".join(b"=%d 2\nplay\ngenmove\nclear_board\nboardsize\n\n" % n for n in range(1, 9)), BLITZ)
            )
            protocol.feed(Ask(PlayOrPass(0, 9), BLITZ))
        for piece in pieces:
            protocol.feed(Bytes(piece, BLITZ))


def test_flood_of_lines_has_few_notes_and_little_memory() -> None:
    protocol = GtpGo(GtpOptions())
    protocol.feed(Open(0, GAME, ("one", "two"), SeatLimits(TimeControl.of_game(1, 1), 0)))
    effects = protocol.feed(Bytes(b"info\n" * 10_000, BLITZ))
    protocol.feed(Bytes(b"=1 2\n" * 10_000, BLITZ))

    assert sum(isinstance(effect, Note) for effect in effects) == 100
    assert len(protocol._answer) == 2000


# --- five in a row ---------------------------------------------------------------------------------------------------


def test_five_in_a_row_has_the_same_picture_as_the_engine() -> None:
    talk = Conversation(GtpGomoku(GtpOptions()), "\n")
    game = {"width": 15, "height": 15, "rule": "freestyle"}
    talk.feed(Open(0, game, ("one", "two"), SeatLimits(TimeControl(turn_ms=5000), 0)))
    talk.goes(r"""
        > 1 protocol_version
        < =1 2\n
        > 2 name
        < =2\n
        > 3 version
        < =3\n
        > 4 list_commands
        < =4 boardsize\nclear_board\nplay\ngenmove\n
        > 5 boardsize 15
        < =5\n
        > 6 clear_board
        < =6\n
        = ready
    """)
    talk.feed(Ask(PlaceStone(1, ((0, 0, 0),), 0, 15, 15, 1), Clock(5000, UNLIMITED_MS)))
    talk.goes(r"""
        > 7 play black A15
        < =7\n
        > 8 genmove white
        < =8 J14\n
        = 8,1
    """)
    talk.feed(Ask(PlaceStone(1, ((0, 0, 0), (8, 1, 1), (1, 0, 0)), 0, 15, 15, 1), Clock(5000, UNLIMITED_MS)))
    talk.goes(r"""
        > 9 play black B15
        < =9\n
        > 10 genmove white
        < =10 pass\n
        = unreadable =10 pass
    """)


@pytest.mark.parametrize(
    ("game", "why"),
    [
        ({"width": 15, "height": 15}, None),
        ({"width": 20, "height": 15}, "has square boards of at most 25x25, not 20x15"),
        ({"width": 30, "height": 30}, "has square boards of at most 25x25, not 30x30"),
        ({"width": 15, "height": 15, "continuous": True}, "cannot play on after a five (continuous)"),
    ],
)
def test_games_that_gtp_cannot_express_are_refused(game: dict[str, Any], why: str | None) -> None:
    assert why == objection(game)


# --- whole games -----------------------------------------------------------------------------------------------------


def engine(answers: Sequence[str] = (), *, version: str = "2", komi: str = "=ID", end: str = "\n\n") -> Agent:
    """An engine that plays `answers`, then passes. `end` follows a move."""
    left = list(answers)

    def hear(line: str) -> Sequence[Act]:
        number, _, text = line.strip().partition(" ")
        match text.split()[:1]:
            case ["protocol_version"]:
                said = f"={number} {version}"
            case ["list_commands"]:
                said = f"={number} boardsize\nclear_board\nplay\ngenmove"
            case ["komi"]:
                said = komi.replace("ID", number)
            case ["genmove"]:
                said = (left.pop(0) if left else "=ID pass").replace("ID", number)
            case _:
                said = f"={number}"
        return [Say(f"{said}{end if 'genmove' in text else chr(10) * 2}".encode())]

    return hear


def spec(**changes: Any) -> GameSpec:
    policy = Policy.model_validate(
        {
            "name": "test",
            "game": {"name": "go", "options": {"size": 9, "komi": 0.5}},
            "clock": {"turn_ms": 5000, "match_ms": 5000, "tolerance_ms": 0, "start_ms": 3000},
            "bytes": {"game_bytes": 1 << 17},
        }
    )
    return GameSpec(seats=scripted_seats("gtp"), policy=policy, **changes)


def test_game_of_two_scripted_engines_is_scored() -> None:
    game = ScriptedGame(World(engine(["=ID E5", "=ID D5"]), engine(["=ID pass"])), spec())

    assert (game.verdict, game.winner) == (Verdict.WIN, 0)
    assert game.end.reason == "two passes: black 81, white 0 with komi 0.5"


def test_game_begins_from_a_position_with_white_to_move() -> None:
    game = ScriptedGame(World(engine(), engine(["=ID D4"])), spec(opening="black E5 C3 white G7"))

    assert [ply.seat for ply in game.referee.plies] == [1, 0, 1]
    assert (game.verdict, game.winner) == (Verdict.DRAW, None) or game.end.reason


@pytest.mark.parametrize(
    ("bad", "verdict", "reason"),
    [
        (
            {"version": ""},
            Verdict.REFUSED,
            "would not start: \"protocol_version: version ''; the judge needs version 2\"",
        ),
        ({"komi": "?ID"}, Verdict.REFUSED, "would not start: 'komi 0.5: '"),
        ({"komi": "?ID syntax error"}, Verdict.REFUSED, "would not start: 'komi 0.5: syntax error'"),
        ({"komi": "=9ID"}, Verdict.REFUSED, "would not start: 'komi 0.5: =97, but =7 was due'"),
        (
            {"komi": "= "},
            Verdict.REFUSED,
            "would not start: 'komi 0.5: =, but =7 was due: repeat its number after = or ?'",
        ),
        ({"answers": ["?ID no"]}, Verdict.REFUSED, "refused to play: 'genmove black: no'"),
        ({"answers": ["=ID K9"]}, Verdict.ILLEGAL, "'K9': not on the 9x9 board"),
        ({"answers": ["=ID e4x"]}, Verdict.UNREADABLE, "'=8 e4x' is no move; black answers such as = D4 or = pass"),
        ({"answers": ["=ID resign"]}, Verdict.RESIGNED, "resigned"),
        (
            {"answers": ["= D4"]},
            Verdict.UNREADABLE,
            "'= D4, but =8 was due: repeat its number after = or ?' is no move; black answers such as = D4 or = pass",
        ),
        (
            # Without an empty line the answer does not end.
            {"answers": ["=ID D4"], "end": "\n"},
            Verdict.MATCH_TIME,
            "used up the time of the match: 4993 ms of 4993 ms allowed, tolerance included",
        ),
        (
            {"answers": ["=ID D4\n" + "x\n" * 600]},
            Verdict.OUTPUT,
            "printed what counts as 79360 bytes, more than the bound of a turn",
        ),
    ],
)
def test_hostile_engine_loses_with_the_reason(bad: dict[str, Any], verdict: Verdict, reason: str) -> None:
    game = ScriptedGame(World(engine(**bad), engine()), spec())

    assert (verdict, 1) == (game.verdict, game.winner)
    assert reason == game.end.reason


def test_output_of_a_pondering_engine_in_the_opponents_turn_is_discarded() -> None:
    chosen = spec()
    clock = chosen.policy.clock.model_copy(update={"ponder": True})
    chosen = chosen.model_copy(update={"policy": chosen.policy.model_copy(update={"clock": clock})})
    quiet = ScriptedGame(World(engine(["=ID E5", "=ID D5"]), engine(["=ID C3"]), ponders=True), chosen)
    talks = ["=ID E5\n\nthinking\n= D4", "=ID D5"]
    game = ScriptedGame(World(engine(talks), engine(["=ID C3"]), ponders=True), chosen)

    assert (quiet.verdict, quiet.end.reason) == (game.verdict, game.end.reason)
    assert [ply.said for ply in game.referee.plies] == ["E5", "C3", "D5", "pass", "pass"]
    said = [note.text for note in game.referee.sides[0].notes]
    assert ["discarded: 'thinking'", "discarded: '= D4'"] == said
