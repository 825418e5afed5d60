"""The clocks of `judge check` under a time control."""

import pytest

from judge.referee.policy import load_policy
from judge.submissions.check.interview import hurried
from judge.submissions.check.runner import within


@pytest.mark.parametrize(
    ("control", "notation", "tolerance_ms"),
    [("60+0.6", "@1", 59_000), ("600|3x30@20", "@1", 19_000), ("0.2+0.002", "@0.2", 0), ("30,0.5", "@1", 29_000)],
)
def test_questions_have_a_limit_of_an_answer_alone(control: str, notation: str, tolerance_ms: int) -> None:
    clock = hurried(load_policy("gomocup-freestyle", ["clock.tolerance_ms=0"], clock=control)).clock

    assert (notation, tolerance_ms) == (clock.notation, clock.tolerance_ms)


def test_a_check_shortens_only_longer_answers() -> None:
    policy = load_policy("gomocup-freestyle", clock="60+0.6")

    assert policy == within(policy, 61_000)
    assert "60+0.6@5" == within(policy, 5000).clock.notation
