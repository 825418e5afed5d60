"""Parts of a report: the error in an agent's last lines, the advice for an illegal move, the clocks of a check."""

import re

import pytest

from judge.games.types import Verdict
from judge.record.policy import load_policy
from judge.submissions.check import causes
from judge.submissions.check.causes import headline
from judge.submissions.check.diagnosis import fix_for
from judge.submissions.check.interview import hurried
from judge.submissions.check.report import failed, passed, warned, without_repetitions
from judge.submissions.check.runner import with_shorter_waits

CASES = {
    "Python": (
        """Traceback (most recent call last):
          File "/agent/crash3.py", line 30, in <module>
            play(k)
          File "/agent/crash3.py", line 23, in play
            if k==3: [][k]
                     ~~^^^
        IndexError: list index out of range""",
        "IndexError: list index out of range in crash3.py, line 23",
    ),
    "Python, in a library": (
        """Traceback (most recent call last):
          File "/agent/src/main.py", line 4, in <module>
            json.loads("x")
          File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode
        json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)""",
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0) in src/main.py, line 4",
    ),
    "Java": (
        """Exception in thread "main" java.lang.ArrayIndexOutOfBoundsException: Index 5 out of bounds for length 3
        \tat org.mine.Board.get(Board.java:12)
        \tat org.mine.Main.main(Main.java:7)""",
        "java.lang.ArrayIndexOutOfBoundsException: Index 5 out of bounds for length 3 in Board.java, line 12",
    ),
    "Go": (
        """panic: runtime error: index out of range [5] with length 3

        goroutine 1 [running]:
        main.main()
        \t/agent/main.go:9 +0x1d""",
        "panic: runtime error: index out of range [5] with length 3 in main.go, line 9",
    ),
    "Rust": (
        """thread 'main' panicked at src/main.rs:5:13:
        index out of bounds: the len is 3 but the index is 5
        note: run with `RUST_BACKTRACE=1`""",
        "panic: index out of bounds: the len is 3 but the index is 5 in src/main.rs, line 5",
    ),
    "Rust of former versions": (
        "thread 'main' panicked at 'no move', main.rs:5:13",
        "panic: no move in main.rs, line 5",
    ),
    "assert": ("mine: a.c:12: main: Assertion `n > 0' failed.", "Assertion `n > 0' failed in a.c, line 12"),
    "C++": (
        """terminate called after throwing an instance of 'std::out_of_range'
          what():  vector::_M_range_check: __n (which is 5) >= this->size() (which is 3)""",
        "std::out_of_range: vector::_M_range_check: __n (which is 5) >= this->size() (which is 3)",
    ),
    "Node": (
        """/agent/main.js:7
            board[5].x = 1;
                     ^
        TypeError: Cannot set properties of undefined (setting 'x')
            at Object.<anonymous> (/agent/main.js:7:18)""",
        "TypeError: Cannot set properties of undefined (setting 'x') in main.js, line 7",
    ),
    "other text": ("thinking\nError rate: 5\nValueError is caught here: fine", ""),
    "nothing": ("", ""),
}


@pytest.mark.parametrize("case", CASES)
def test_last_lines_have_a_headline(case: str) -> None:
    text, expected = CASES[case]

    assert expected == headline([line.strip() for line in text.splitlines() if line.strip()])


class _Counting:
    """A pattern that counts its matches."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self.matches = 0

    def match(self, line: str) -> re.Match[str] | None:
        self.matches += 1
        return self._pattern.match(line)


def test_headline_is_searched_once_through_the_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    patterns = {name: _Counting(each) for name, each in vars(causes).items() if isinstance(each, re.Pattern)}
    for name, pattern in patterns.items():
        monkeypatch.setattr(causes, name, pattern)
    lines = ["a.Error", "A.Error: x", "AError: x"] * 25
    headline(lines)
    assert {name for name, pattern in patterns.items() if pattern.matches > len(lines)} == set()


def test_equal_crashes_are_shown_once() -> None:
    crash = "IndexError: list index out of range in main.py, line 3"
    stderr = ("   1  Traceback", "   2  IndexError")
    later = ("  11  Traceback", "  12  IndexError")
    findings = [
        failed("begin", f"{crash}; when it had to answer 'BEGIN'", "fix the crash", stderr),
        passed("about", "fine"),
        failed("turn", f"{crash}; when it had to answer 'TURN 7,7'", "fix the crash", later),
        failed("board", "ValueError in main.py, line 9", "fix the crash", later),
    ]

    begin, about, turn, board = without_repetitions(findings)

    assert ("the same crash as in begin", "", ()) == (turn.evidence, turn.fix, turn.stderr)
    assert (findings[0], findings[1], findings[3]) == (begin, about, board)
    late = warned("win", findings[0].evidence, "fix the crash", stderr)
    assert ["the same crash as in begin", findings[0].evidence] == [
        each.evidence for each in without_repetitions([late, findings[0]])
    ]


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ("15,3 (p4) is off the 15x15 board", "coordinates count from 0: the largest are 14,14"),
        ("3,15 is off the 15x15 board", "coordinates count from 0: the largest are 14,14"),
        ("3,15 is off the 20x15 board", "coordinates count from 0: the largest are 19,14"),
        ("-1,-1 is off the 15x15 board", "its search found no square: when no square is good enough"),
        ("40,3 is off the 15x15 board", "are x and y exchanged?"),
        ("8,5 is taken by stone 14", "are x and y exchanged?"),
        ("the stone is nowhere", "put each stone or piece that the judge sends on the board"),
    ],
)
def test_coordinates_of_an_illegal_move_suggest_the_fix(said: str, fix: str) -> None:
    assert fix in fix_for(Verdict.ILLEGAL, said, "gomocup")


@pytest.mark.parametrize(
    ("control", "notation", "tolerance_ms"),
    [("60+0.6", "@1", 59_000), ("600|3x30@20", "@1", 19_000), ("0.2+0.002", "@0.2", 0), ("30,0.5", "@1", 29_000)],
)
def test_questions_have_a_limit_of_an_answer_alone(control: str, notation: str, tolerance_ms: int) -> None:
    clock = hurried(load_policy("gomocup-freestyle", ["clock.tolerance_ms=0"], clock=control)).clock

    assert (notation, tolerance_ms) == (clock.notation, clock.tolerance_ms)


def test_a_check_shortens_only_longer_answers() -> None:
    policy = load_policy("gomocup-freestyle", clock="60+0.6")

    assert policy == with_shorter_waits(policy, 61_000)
    assert "60+0.6@5" == with_shorter_waits(policy, 5000).clock.notation
