"""The notation of time controls: what it means, and errors that name the text and the fix."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.protocols.time_control import MAX_MS, ByoYomi, Period, TimeControl, controls_text, parse_controls
from tests.examples import examples


@pytest.mark.parametrize(
    ("text", "control", "words"),
    [
        ("60", TimeControl((Period(60_000),)), "60 s a game"),
        ("0.5", TimeControl((Period(500),)), "0.5 s a game"),
        ("60+0.6", TimeControl((Period(60_000, 0, 600),)), "60 s a game, 0.6 s more after each answer"),
        ("60d2", TimeControl((Period(60_000, 0, 0, 2000),)), "60 s a game, the first 2 s of each answer are free"),
        ("40/300", TimeControl((Period(300_000, 40),)), "300 s for 40 answers, repeating"),
        (
            "40/5400+30:20/1800+30:900d5",
            TimeControl((Period(5_400_000, 40, 30_000), Period(1_800_000, 20, 30_000), Period(900_000, 0, 0, 5000))),
            (
                "5400 s for 40 answers, 30 s more after each answer; then 1800 s for 20 answers, 30 s more after each "
                "answer; then 900 s for the rest, the first 5 s of each answer are free"
            ),
        ),
        (
            "40/600:20/300@60",
            TimeControl((Period(600_000, 40), Period(300_000, 20)), None, 60_000),
            "600 s for 40 answers; then 300 s for 20 answers, repeating, at most 60 s an answer",
        ),
        (
            "40/600:0+5",
            TimeControl((Period(600_000, 40), Period(0, 0, 5000))),
            "600 s for 40 answers; then 0 s for the rest, 5 s more after each answer",
        ),
        ("600|3x30", TimeControl((Period(600_000),), ByoYomi(30_000, 3)), "600 s a game, then 3 x 30 s byo-yomi"),
        (
            "600|20/300",
            TimeControl((Period(600_000),), ByoYomi(300_000, answers=20)),
            "600 s a game, then 300 s for each 20 answers",
        ),
        (
            "40/600|1x20",
            TimeControl((Period(600_000, 40), Period(0)), ByoYomi(20_000, 1)),
            "600 s for 40 answers, then 1 x 20 s byo-yomi",
        ),
        (
            "40/600:300|1x20",
            TimeControl((Period(600_000, 40), Period(300_000)), ByoYomi(20_000, 1)),
            "600 s for 40 answers; then 300 s for the rest, then 1 x 20 s byo-yomi",
        ),
        ("600@30", TimeControl.of_game(600_000, 30_000), "600 s a game, at most 30 s an answer"),
        ("@0.001", TimeControl(turn_ms=1), "at most 0.001 s an answer"),
        ("0d2", TimeControl((Period(0, 0, 0, 2000),)), "0 s a game, the first 2 s of each answer are free"),
        ("0|1x5", TimeControl((Period(0),), ByoYomi(5000, 1)), "0 s a game, then 1 x 5 s byo-yomi"),
    ],
)
def test_each_form_has_a_meaning(text: str, control: TimeControl, words: str) -> None:
    assert control == TimeControl.parse(text)
    assert (text, words) == (str(control), control.words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'': it is empty"),
        ("60s", "the time of the game is '60s'; write seconds such as 60 or 0.6"),
        ("1e3", "the time of the game is '1e3'"),
        ("0.0005", "the time of the game is '0.0005'"),
        ("-5", "the time of the game is '-5'"),
        ("\N{FULLWIDTH DIGIT FIVE}", r"the time of the game is '\uff15'"),
        ("60+", 'the time after "+" (increment) is missing'),
        ("60d", 'the time after "d" (delay) is missing'),
        ("60+1d2", "the time after \"+\" (increment) is '1d2'"),
        ("/300", "the number before \"/\" (answers) is ''; write 1 to 100000"),
        ("0/300", "the number before \"/\" (answers) is '0'"),
        ("40/", 'the time after "/" is missing'),
        ("40/0", 'the time after "/" is 0; write at least 0.001'),
        ("600|", 'after "|" write periods such as 3x30'),
        ("600|3", 'after "|" write periods such as 3x30'),
        ("600|0x30", "the number after \"|\" (periods) is '0'; write 1 to 1000"),
        ("600|3x0", "the time of a period is 0"),
        ("600|20/", "the time of byo-yomi is missing"),
        ("60+1|3x30", "byo-yomi cannot follow an increment or a delay; write 600|3x30"),
        ("40/600:5d1|3x30", "byo-yomi cannot follow an increment or a delay"),
        ("40/600|1000x9999", "byo-yomi has more than 2000000 s"),
        ("5:30", 'a period before ":" needs its number of answers, such as 40/600:20; times are seconds'),
        ("40/600:", 'the time after ":" is missing'),
        (":20", "the time of the game is missing"),
        ("40/600:0", "the last period adds no time"),
        ("40/600:0/20", "the number before \"/\" (answers) is '0'"),
        ("60@", 'the time after "@" (limit of an answer) is missing'),
        ("@0", 'the time after "@" (limit of an answer) is 0'),
        ("0", "a seat begins without time"),
        ("0+5", "a seat begins without time"),
        ("9999999", "the time of the game is more than 2000000 s"),
        ("0|1000x9999", "a seat begins with more than 2000000 s"),
        ("1,2,3", "write one time control, or two with a comma between them"),
        ("1" * 101, "the time control has more than 100 characters"),
    ],
)
def test_nonsense_is_refused_with_the_text_and_the_fix(text: str, words: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_controls(text)

    assert words in str(refused.value)


def test_both_seats_may_have_their_own_control() -> None:
    first, second = parse_controls("300+3, 240|2x10")

    assert TimeControl((Period(300_000, 0, 3000),)) == first
    assert TimeControl((Period(240_000),), ByoYomi(10_000, 2)) == second
    assert "300+3,240|2x10" == controls_text((first, second))
    assert parse_controls("60") == parse_controls("60,60")


TIMES = st.integers(1, MAX_MS // 2000)
COUNTS = st.integers(1, 1000)
COUNTED = st.builds(Period, TIMES, COUNTS, st.just(0) | TIMES, st.just(0)) | st.builds(
    Period, TIMES, COUNTS, st.just(0), TIMES
)
RESTS = st.builds(Period, TIMES, st.just(0), st.just(0) | TIMES, st.just(0)) | st.builds(
    Period, TIMES | st.just(0), st.just(0), st.just(0), TIMES
)
BYO_YOMI = st.builds(ByoYomi, TIMES, periods=COUNTS) | st.builds(ByoYomi, TIMES, answers=COUNTS)
TURNS = st.none() | TIMES


def _periods(last: st.SearchStrategy[Period]) -> st.SearchStrategy[tuple[Period, ...]]:
    return st.builds(lambda first, last: (*first, last), st.lists(COUNTED, max_size=3), last)


CONTROLS = st.one_of(
    st.builds(TimeControl, _periods(COUNTED | RESTS), turn_ms=TURNS),
    st.builds(TimeControl, _periods(st.builds(Period, TIMES | st.just(0))), BYO_YOMI, TURNS),
    st.builds(TimeControl, turn_ms=TIMES),
)


@given(CONTROLS)
@settings(max_examples=examples(500))
def test_every_control_is_read_from_its_text(control: TimeControl) -> None:
    assert control == TimeControl.parse(str(control))


@given(st.text(alphabet="0123456789.+d/:|x@, ", max_size=20) | st.text(max_size=10))
@settings(max_examples=examples(1000))
def test_any_text_is_a_control_or_refused(text: str) -> None:
    try:
        controls = parse_controls(text)
    except InputError:
        return
    assert controls == parse_controls(controls_text(controls))
