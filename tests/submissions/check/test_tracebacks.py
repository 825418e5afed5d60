"""The error and its place are read from an agent's last lines."""

import pytest

from judge.submissions.check.report import failed, passed, warned, without_repetitions
from judge.submissions.check.tracebacks import headline

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
