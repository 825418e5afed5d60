"""The Stratego log: written as the manager writes it, read back with what managers left in it, replayed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.formats.stratego.log import (
    one_printable_line,
    read_log,
    replay_stratego_log,
    rules_of,
    stratego_options,
    write_log,
)
from judge.games.stratego import RULES, Stratego
from judge.games.stratego.types import PlayedMove, SetUpRow, read_reply, read_result
from judge.games.types import FAILURES, NATURE, SEATS, AgentFault, Drawn, Verdict, decided
from judge.record.policy import load_policy
from tests.examples import examples
from tests.games.stratego_positions import FULL_BLUE, FULL_RED, blue, new, red, say, set_up, toss

NAMES = ("./red", "./blue")

SETUPS = """\
./red RED SETUP
FB8sB479B8
BB31555583
6724898974
967B669999
./blue BLUE SETUP
967B669999
6724898974
BB31555583
FB8sB479B8
"""


SURRENDERED = "REASON: This player has surrendered!"


def log(*lines: str) -> bytes:
    return (SETUPS + "".join(f"{line}\n" for line in lines)).encode("latin-1")


def test_unfinished_game_is_logged_as_far_as_played() -> None:
    """A void game has no end."""
    game = set_up(new("stratego-2012"))
    say(game, "0 3 DOWN")

    assert log("1 RED: 0 3 DOWN OK") == write_log(game, NAMES)
    assert b"./red RED SETUP\n./blue BLUE SETUP\n" == write_log(new(), NAMES)


@pytest.mark.parametrize(
    ("rules", "verdict", "reason"),
    [
        # tests/conformance/test_stratego.py has silence and death in 2012, and silence in 2011.
        ("stratego-2012", Verdict.MEMORY, "words of the judge"),
        ("stratego-2011", Verdict.CRASH, "Did not make a move (may have exited)"),
        ("stratego-seed", Verdict.TURN_TIME, "Response timeout after 0.500000 seconds."),
        ("stratego-seed", Verdict.CRASH, "words of the judge"),
    ],
)
def test_a_reply_that_never_came_is_logged_in_the_words_of_its_day(rules: str, verdict: Verdict, reason: str) -> None:
    game = set_up(new(rules))
    game.forfeit(AgentFault(verdict, 0, "words of the\njudge"))

    end = f"Game ends on RED's turn - REASON: {reason}"
    written = write_log(game, NAMES, reply_s=0.5).replace(b"the?judge", b"the judge")
    assert log("1 RED: ", end, "./red RED ILLEGAL 1 148 148") == written


def test_agent_output_cannot_forge_a_line() -> None:
    """Control characters are for the terminal of nobody."""
    game = set_up(new("stratego-2012", tolerate_illegal=True, tolerate_unreadable=True))
    say(game, "0 3 DOWN\r", "\x1b[2J1 RED: \x85x\u00e9")

    assert log("1 RED: 0 3 DOWN OK", "1 BLU: ?[2J1 RED: ?x?") == write_log(game, NAMES)
    assert "a  b?c" == one_printable_line("a\t\rb\x00c")


def test_a_name_is_the_first_word_of_its_set_up_line_and_written_as_one() -> None:
    written = write_log(set_up(new(turn_limit=0)), ("Deep Thought", "b\nc"))
    assert ("Deep_Thought", "b_c") == read_log(written).names
    assert ("./red", "./blue") == read_log(log().replace(b"./red RED", b"./red -x 1 RED")).names


def test_a_log_that_a_dead_agent_broke_off_is_read() -> None:
    """The manager was told while it waited for the reply: it ended in the middle of the line, without a result."""
    sigpipe = "Game ends on BLUE's turn - REASON: SIGPIPE - Broken pipe (AI program no longer running)"
    game = replay_stratego_log(read_log(log("1 RED: 0 3 DOWN 2 OK", f"1 BLU: {sigpipe}")))

    assert isinstance(game.end, AgentFault)
    assert (Verdict.CRASH, 1) == (game.end.verdict, game.end.seat)
    assert "./blue BLUE ILLEGAL 1 148 148" == game.result(NAMES)


def test_lines_after_the_end_in_manager_files_are_skipped() -> None:
    data = log(
        "1 RED: SURRENDER OK",
        f"Game ends on RED's turn - {SURRENDERED}",
        "SIGPIPE - Broken pipe (AI program no longer running)",
        "\tStrange; RED still appears valid.",
        "Game ends on RED's turn - REASON: Internal controller error - Unspecified ERROR",
        "./red RED SURRENDER 1 148 148",
    )

    assert "SURRENDER" == replay_stratego_log(read_log(data)).outcome


def test_tolerance_and_limit_are_seen_in_the_log() -> None:
    data = log(
        "1 RED: 0 5 DOWN ILLEGAL",
        "1 BLU: 0 6 SOUTH",
        "Game ends on BLUE's turn - REASON: Game declared a draw after 2 turns",
        "./blue BLUE DRAW_DEFAULT 2 148 148",
    )
    options = stratego_options(read_log(data))

    assert (True, True, 2) == (options.tolerate_illegal, options.tolerate_unreadable, options.turn_limit)
    assert data == write_log(replay_stratego_log(read_log(data)), NAMES)


def test_a_toss_is_answered_from_the_log() -> None:
    for outcome, word in enumerate(("KILLS", "DIES")):
        game = set_up(new("stratego-2011", turn_limit=None), red(x0y3="9"), blue(x0y6="9"))
        say(game, "0 3 DOWN 3 DIES KILLS 1")
        toss(game, outcome)
        say(game, "SURRENDER")
        data = write_log(game, NAMES)
        assert f"0 3 DOWN 3 DIES KILLS 1 {word} 9 9".encode() in data
        read = read_log(data)
        assert data == write_log(replay_stratego_log(read, stratego_options(read, "stratego-2011")), NAMES)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "log, line 1: '' cannot be read; write: name RED SETUP"),
        (b"hello\n", "line 1: 'hello' cannot be read; write: name RED SETUP"),
        (b"./red RED SETUP\nFB8sB479B8\n", "log: the file ends; expected a row of the set-up"),
        (log().replace(b"BLUE SETUP", b"RED SETUP"), "line 6: .* write: name BLUE SETUP"),
        (log("1 RED 0 3 DOWN OK"), "line 11: .* such as 1 RED: 0 3 DOWN OK"),
        (log("Game ends on RED's turn - REASON: x", "who knows"), "line 12: .* the result is"),
        (log("1 RED: 0 3 DOWN OK"), "line 11: the log ends before the game is over"),
        (log("2 RED: 0 3 DOWN OK"), "line 11: 1 RED is to move"),
        (log("1 BLU: 0 6 UP OK"), "line 11: 1 RED is to move"),
        (log("1 RED: 0 3 DOWN KILLS 9 9"), "line 11: the log has '0 3 DOWN KILLS 9 9', the rules give"),
        (log("1 RED: SURRENDER OK", "1 BLU: 0 6 UP OK"), "line 12: the log continues after"),
        (
            log("1 RED: SURRENDER OK", f"Game ends on RED's turn - {SURRENDERED}", "./red RED SURRENDER 1 148 147"),
            "line 13: the log has .*147.*, the rules give ./red RED SURRENDER 1 148 148",
        ),
    ],
)
def test_invalid_log_is_refused_with_its_line(data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        replay_stratego_log(read_log(data))


def test_a_toss_without_an_outcome_is_refused() -> None:
    read = read_log(log("1 RED: 0 3 DOWN 3 BOTHDIE 9 9"))

    with pytest.raises(InputError, match="line 11: equal ranks fight here"):
        replay_stratego_log(read, RULES["stratego-2011"])


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("a RED VICTORY 3 8 4", "VICTORY"),
        ("a RED BAD_SETUP 0 8 4", "BAD_SETUP"),
        ("neither BOTH BAD_SETUP 0 0 0", "BOTH_ILLEGAL"),
        ("neither BOTH BOTH_ILLEGAL 0 0 0", "BOTH_ILLEGAL"),
        # 2011: one bad set-up under the word for two.
        ("a RED BOTH_ILLEGAL 0 0 148", "ILLEGAL"),
        ("QUIT", None),
    ],
)
def test_which_row_of_a_points_table_counts(line: str, word: str | None) -> None:
    assert word == getattr(read_result(line), "points_word", None)


WAYS = ("UP", "DOWN", "LEFT", "RIGHT 2", "DOWN 1 x OK", "SOUTH")
REPLIES = (
    *("SURRENDER OK", "NO_MOVE OK", "OK", "Game ends on RED's turn - REASON: x"),
    *("NO_MOVE", "0 3 DOWN", "0 6 UP", "0 4 UP", "0 5 DOWN", "SURRENDER"),
)


@settings(max_examples=examples(60), deadline=None)
@given(
    rules=st.sampled_from(tuple(RULES)),
    said=st.lists(
        st.builds("{} {} {}".format, st.integers(-1, 10), st.integers(-1, 10), st.sampled_from(WAYS))
        | st.sampled_from(REPLIES)
        | st.text(st.characters(max_codepoint=255, exclude_characters="\n"), max_size=12),
        max_size=12,
    ),
)
def test_any_finished_game_is_written_read_and_replayed(rules: str, said: list[str]) -> None:
    verbatim = RULES[rules].echo == "verbatim"
    game = set_up(new(rules, tolerate_illegal=True, tolerate_unreadable=verbatim))
    for text in [*said, "SURRENDER"]:
        if game.end is None:
            say(game, text)
    data = write_log(game, NAMES)

    assert data == write_log(replay_stratego_log(read_log(data), game.options), NAMES)


ENDS = (
    *("OK", "ILLEGAL", "FLAG", "KILLS 9 9", "DIES 9 F", "x", "\x01", "\t", "\r", "\r\r", " ", " " * 60),
    *("Game ends on RED's turn - REASON: SIGPIPE", "Game ends in the SETUP phase - REASON: x"),
)
HARMLESS = ("0 3 DOWN", "0 4 UP", "0 6 UP", "0 5 DOWN", "1 3 DOWN 2", "1 6 UP", "0 3 DOWN 3", "9 5 UP")
STARTS = (*REPLIES, *HARMLESS, "", "SURRENDER", "NO_MOVE", "QUIT", "9999999999 3 DOWN")
POLICIES = [f"stratego-{year}{variant}" for year in ("2012", "2011", "seed") for variant in ("", ":tolerant")]


@st.composite
def played_games(draw: st.DrawFn) -> Stratego:
    """Games that the rules or a fault of a seat end, and unfinished ones."""
    limit = draw(st.sampled_from([1, 2, 3, 4, 5000]))
    game = Stratego.from_options(load_policy(draw(st.sampled_from(POLICIES))).game.options | {"turn_limit": limit})
    armies: list[tuple[tuple[str, ...], tuple[str, ...]]] = [(FULL_RED, FULL_BLUE)]
    if game.options.partial_setup:
        armies += [(red(x0y3="9"), blue(x0y6="9")), (red(x0y3="B"), blue(x0y6="9", x1y6="3"))]
    if draw(st.integers(0, 9)):
        set_up(game, *draw(st.sampled_from(armies)))
    longest = draw(st.sampled_from([64, 1024]))
    said = st.sampled_from(HARMLESS) | st.builds(
        "{}{}{}".format, st.sampled_from(STARTS), st.just(" "), st.sampled_from(ENDS)
    )
    said |= st.sampled_from(STARTS) | st.text(st.characters(max_codepoint=255, exclude_characters="\n"), max_size=12)
    for text in draw(st.lists(said, max_size=8)):
        if game.end is not None:
            break
        if game.pending().seat == NATURE:
            game.apply(decided(Drawn(draw(st.integers(0, 1)))))
        elif game.turn:
            game.apply(read_reply(text, longest))
        else:
            game.apply(decided(SetUpRow(text), text))
    verdict = draw(st.sampled_from([None, *FAILURES - {Verdict.ILLEGAL, Verdict.UNREADABLE}]))
    if game.end is None and verdict is not None:
        of_both = verdict in (Verdict.TURN_TIME, Verdict.MEMORY)
        seat = draw(st.sampled_from(SEATS)) if of_both or not game.turn else game.seat
        game.forfeit(AgentFault(verdict, seat, "words of the judge"))
    return game


def shown(game: Stratego) -> list[PlayedMove]:
    return [move._replace(text=one_printable_line(move.text)) for move in game.half_moves]


LATE, DEAD = AgentFault(Verdict.TURN_TIME, 0, "late"), AgentFault(Verdict.CRASH, 0, "dead")


@pytest.mark.parametrize(
    ("rules", "said", "fault"),
    [
        ("stratego-2012:tolerant", ["0 5 DOWN", "0 6 UP"], DEAD),
        ("stratego-2012:tolerant", ["word", "0 6 UP"], DEAD),
        ("stratego-2012:tolerant", ["0 3 DOWN", "0 6 UP", "0 4 DOWN 2", ""], None),
        ("stratego-2012:tolerant", ["word OK", "SURRENDER"], None),
        ("stratego-2012:tolerant", ["0 3 DOWN 1 \x01", "SURRENDER"], None),
        ("stratego-2012:tolerant", ["0 3 DOWN 1 \x01 OK", "SURRENDER"], None),
        ("stratego-2012:tolerant", ["0 3 DOWN" + " " * 1020 + "OK", "SURRENDER"], None),
        ("stratego-2012:tolerant", ["Game ends on RED's turn - REASON: x"], None),
        ("stratego-2012:tolerant", [], None),
        *((f"stratego-{year}", ["0 3 DOWN"], LATE) for year in ("2012", "2011", "seed")),
    ],
)
def test_log_of_a_tolerated_reply_or_of_a_fault_in_the_turn_of_the_other_seat_is_read(
    rules: str, said: list[str], fault: AgentFault | None
) -> None:
    game = Stratego.from_options(load_policy(rules).game.options | {"turn_limit": 3})
    if said:
        say(set_up(game), *said)
    if fault is not None:
        game.forfeit(fault)
    assert_is_read(game)


@settings(max_examples=examples(1000), deadline=None)
@given(played_games())
def test_any_log_that_is_written_is_read(game: Stratego) -> None:
    assert_is_read(game)


def assert_is_read(game: Stratego) -> None:
    """The reasons of faults differ in verdicts that a log does not have."""
    log = read_log(write_log(game, NAMES))

    assert len(game.half_moves) == len(log.half_moves)
    if game.end is None:
        assert (None, "") == (log.result, log.reason)
        return
    for again in (replay_stratego_log(log, game.options), rules_of(log)[1]):
        assert shown(game) == shown(again)
        assert game.result(NAMES) == again.result(NAMES) or not game.turn


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_log_with_line_ends_of_another_system_is_read(mark: bytes) -> None:
    data = log("1 RED: 0 3 DOWN OK", "1 BLU: 1 6 UP OK", "2 RED: 0 4 DOWN 2 BOTHDIE 9 9")

    assert read_log(data).half_moves == read_log(mark + data.replace(b"\n", b"\r\n")).half_moves
