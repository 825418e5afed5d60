"""The notation of time controls: what it means, and errors that name the text and the fix."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.protocols.time_control import MAX_MS, TimeControl, controls_text, parse_controls
from tests.examples import examples


@pytest.mark.parametrize(
    ("text", "control", "words"),
    [
        ("60", TimeControl(60_000), "60 s a game"),
        ("0.5", TimeControl(500), "0.5 s a game"),
        ("60+0.6", TimeControl(60_000, increment_ms=600), "60 s a game, 0.6 s more after each answer"),
        ("60d2", TimeControl(60_000, delay_ms=2000), "60 s a game, the first 2 s of each answer are free"),
        ("40/300", TimeControl(300_000, moves=40), "300 s for 40 answers, repeating"),
        (
            "40/300+2",
            TimeControl(300_000, moves=40, increment_ms=2000),
            "300 s for 40 answers, repeating, 2 s more after each answer",
        ),
        ("600|3x30", TimeControl(600_000, periods=3, period_ms=30_000), "600 s a game, then 3 x 30 s byo-yomi"),
        (
            "600|20/300",
            TimeControl(600_000, period_moves=20, period_ms=300_000),
            "600 s a game, then 300 s for each 20 answers",
        ),
        ("600@30", TimeControl(600_000, turn_ms=30_000), "600 s a game, at most 30 s an answer"),
        ("@0.001", TimeControl(turn_ms=1), "at most 0.001 s an answer"),
        ("0d2", TimeControl(0, delay_ms=2000), "0 s a game, the first 2 s of each answer are free"),
        ("0|1x5", TimeControl(0, periods=1, period_ms=5000), "0 s a game, then 1 x 5 s byo-yomi"),
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
        ("40/300|3x30", "byo-yomi can only follow a time for the game, such as 600|3x30"),
        ("60+1|3x30", "byo-yomi can only follow a time for the game"),
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

    assert (TimeControl(300_000, increment_ms=3000), TimeControl(240_000, periods=2, period_ms=10_000)) == (
        first,
        second,
    )
    assert "300+3,240|2x10" == controls_text((first, second))
    assert parse_controls("60") == parse_controls("60,60")


TIMES = st.integers(1, MAX_MS // 2000)
COUNTS = st.integers(1, 1000)
CONTROLS = st.one_of(
    st.builds(TimeControl, TIMES, moves=st.just(0) | COUNTS, increment_ms=st.just(0) | TIMES),
    st.builds(TimeControl, TIMES, moves=st.just(0) | COUNTS, delay_ms=TIMES),
    st.builds(TimeControl, TIMES | st.just(0), periods=COUNTS, period_ms=TIMES),
    st.builds(TimeControl, TIMES | st.just(0), period_moves=COUNTS, period_ms=TIMES, turn_ms=TIMES),
    st.builds(TimeControl, turn_ms=TIMES),
)


@given(CONTROLS)
@settings(max_examples=examples(500))
def test_every_control_is_read_from_its_text(control: TimeControl) -> None:
    assert control == TimeControl.parse(str(control))


@given(st.text(alphabet="0123456789.+d/|x@, ", max_size=20) | st.text(max_size=10))
@settings(max_examples=examples(1000))
def test_any_text_is_a_control_or_refused(text: str) -> None:
    try:
        controls = parse_controls(text)
    except InputError:
        return
    assert controls == parse_controls(controls_text(controls))
