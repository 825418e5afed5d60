"""Mistakes of beginners: the report of each names the mistake and the repair."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from judge.base.resources import IMAGES
from judge.protocols.squares import intended_square
from judge.submissions.check import CheckReport, Grade
from judge.submissions.check.diagnosis import form_advice
from judge.submissions.check.suite import TalkFolder
from tests.examples import evidence, of_lanes
from tests.submissions.check import flawed
from tests.submissions.check.conftest import Examine, finding, problems

MOVE = (
    "import re\nif square := re.fullmatch(r'(\\d+),(\\d+)', answer):\n    x, y = map(int, square.groups())\n    {0}\n"
)
PRINT = "print(answer, flush=True)"


@pytest.fixture
def judged(examined: Examine, tmp_path: Path) -> Examine:
    """The report on a program, without containers."""

    def run(source: str, manifest: str = "", clock: Sequence[str] = (), **more: Any) -> CheckReport:
        times = [f"clock.{each}" for each in ("turn_ms=2000", "tolerance_ms=1000", *clock)]
        agent = flawed.write(tmp_path, source, manifest)
        return examined(agent, "gomocup-standard", *times, box="process", **more)

    return run


ALONE = "answer with column and row from 0, alone on the line: 8,8"


def moving(code: str) -> str:
    """Code that changes a move `x,y` and prints it."""
    return MOVE.format(code) + PRINT


MISTAKES: dict[str, tuple[str, set[str], str]] = {
    "names of squares": (moving("answer = chr(97 + x) + str(y + 1)"), {"time"}, ALONE),
    "text before a move": (moving("answer = f'move: {x},{y}'"), {"time"}, ALONE),
    "text after a move": (
        *(moving("answer = f'{x},{y};'"), {"begin"}),
        "'8,8;' has ';' after the move: write only 8,8 on the line",
    ),
    "counts from 1": (
        *(moving("answer = f'{x + 1},{y + 1}'"), {"win", "block"}),
        "count from 1: column and row count from 0, the largest are 14,14",
    ),
    "exchanges x and y": (
        *(moving("answer = f'{y},{x}'"), {"win", "block"}),
        "x and y exchanged: x is the column and comes first",
    ),
    "counts rows from below": (moving("answer = f'{x},{14 - y}'"), {"win", "block"}, "rows from the other side"),
    "finds no square": (moving("answer = '-1,-1'"), {"begin", "turn"}, "its search found no square"),
    "another word than OK": (
        *("answer = 'ready' if answer == 'OK' else answer\n" + PRINT, {"start"}),
        "it wrote 'ready'; the protocol gomocup expects here: OK, alone on the line",
    ),
    "lines that are no answers": (moving("print('thinking about', x, y)"), {"quiet"}, "print debug text on stderr"),
}
"""What an agent does where the sound one prints its answer, the checks that find it, and the fix."""

OF_FULL_LANE = ("names of squares", "counts from 1", "another word than OK", "lines that are no answers")
"""The other forms are among those of `intended_square` and `form_advice`."""


@pytest.mark.slow
@pytest.mark.parametrize("mistake", of_lanes(MISTAKES, OF_FULL_LANE))
def test_mistake_is_named_with_its_fix(judged: Examine, mistake: str) -> None:
    source, checks, fix = MISTAKES[mistake]

    found = problems(judged(flawed.answering(source)))

    assert checks <= {finding.check for finding in found if fix in finding.fix}
    assert "line-ending" not in {finding.check for finding in found}
    if checks <= {"time", "quiet"}:
        assert checks == {finding.check for finding in found}


@pytest.mark.slow
def test_program_that_reads_to_the_end_of_input_differs_from_one_that_sleeps(judged: Examine) -> None:
    (start,) = problems(judged(flawed.reading("sys.stdin.read().splitlines()"), clock=["start_ms=1500"]))
    assert "when its input ended after the first line, it wrote 'OK'" in start.evidence
    assert "read line by line, not to the end of input by read()" in start.fix

    (start,) = problems(judged("import time\ntime.sleep(600)\n", clock=["start_ms=500", "close_ms=200"]))
    assert "it is waiting: for the end of input" in start.fix


@pytest.mark.slow
def test_line_of_mono_is_neither_a_warning_nor_a_cause(judged: Examine) -> None:
    line = 'mono_thread_internal_set_priority: pthread_setschedparam failed, error: "Operation not permitted" (1)'
    said = f"print({line!r}, flush=True)"

    assert [] == problems(judged(flawed.remembering(said)))
    crash = flawed.hearing("if command == 'BEGIN':\n    raise KeyError(5)")
    assert "fix the crash; this repeats it" in problems(judged(flawed.remembering(said, crash)))[0].fix


@pytest.mark.slow
def test_crash_report_has_the_numbered_last_lines_of_stderr(judged: Examine) -> None:
    notes = "for n in range(20):\n        print('note', n, file=sys.stderr)\n"
    crash = f"if command == 'BEGIN':\n    {notes}    raise KeyError(5)"

    report = judged(flawed.hearing(crash))

    finding = next(finding for finding in problems(report) if finding.stderr)
    assert len(finding.stderr) == 12
    assert "KeyError: 5" in finding.stderr[-1]
    assert any("flawed.py" in line and ", line " in line for line in finding.stderr)
    numbers = [int(line.split()[0]) for line in finding.stderr]
    assert numbers == list(range(numbers[0], numbers[0] + 12))
    assert numbers[0] > 1


@pytest.mark.slow
def test_text_of_a_starter_is_a_warning(judged: Examine) -> None:
    sound = flawed.answering("if answer.startswith('name='):\n    answer = 'name=\"starter\", author=\"me\"'\n" + PRINT)

    report = judged(sound, 'author = "judge"\ndescription = "plays at random; to begin with"')

    (about,) = problems(report)
    assert (about.check, about.grade) == ("about", Grade.WARNING)
    for text in ("author = 'judge'", "to begin with", "ABOUT: name='starter' author='me'"):
        assert text in about.evidence


@pytest.mark.slow
def test_kept_folder_has_conversations_and_game_records(judged: Examine, tmp_path: Path) -> None:
    judged(flawed.HOUSE_PYTHON, observer=TalkFolder(tmp_path / "kept"))

    names = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert names[0].startswith("01-begin-flawed-")
    assert "> BEGIN\n< 8,8\n" in (tmp_path / "kept" / names[0]).read_text()
    assert 2 == sum(name.endswith(".json") and "game-" in name for name in names)


@pytest.mark.parametrize(
    ("said", "square"),
    [
        ("d14", (3, 13)),
        ("D14.", (3, 13)),
        ("3 13", (3, 13)),
        ("(3,13)", (3, 13)),
        ("My best move is: 3,13", (3, 13)),
        ("x=3, y=13", (3, 13)),
        ("row 13 col 3", (3, 13)),
        ("3.0 13.0", (3, 13)),
        ("3.13", (3, 13)),
        ("D-14", (3, 13)),
        ("14d", (3, 13)),
        ("X3Y13", (3, 13)),
        ("Enter your move: 3,13", (3, 13)),
        ("ok 3,13", (3, 13)),
        ("b'3,13'", (3, 13)),
        ('{"move": [3, 13]}', (3, 13)),
        ("Point(x=3, y=13)", (3, 13)),
        ("0x3,0xD", None),
        ("-1,-1", None),
        ("7,7 8,8", None),
        ("id name Stone", None),
        ("thinking 3 13 deep", None),
        ("ready", None),
        ("", None),
    ],
)
def test_intended_square_is_read_from_common_forms(said: str, square: tuple[int, int] | None) -> None:
    assert square == intended_square(said)


@pytest.mark.parametrize(
    ("said", "awaited", "protocol"),
    [
        ("d5", "GO", "agi"),
        ("BESTMOVE 77 78", "GO", "agi"),
        ("ready", "ISREADY", "agi"),
        ("e2e4", "MOVE?", "qchess"),
        ("2 7 UP", "....", "stratego"),
    ],
)
def test_ambiguous_answer_gets_no_guess(said: str, awaited: str, protocol: str) -> None:
    assert "probably" not in form_advice(said, awaited, protocol)


@pytest.mark.parametrize(
    ("said", "awaited", "protocol", "advice"),
    [
        ("h8", "GO", "agi", "it wrote 'h8'; the protocol agi expects here: BESTMOVE with row"),
        ("3 6 up", "....", "stratego", "it wrote '3 6 up'; the protocol stratego expects here: a row of the set-up"),
        ("e2e4", "MOVE?", "qchess", "two numbers with a blank between them"),
        ("112", "TURN 7,7", "gomocup", "'112' is one number, not a move"),
        ("ok!", "START 15", "gomocup", "expects here: OK, alone on the line"),
        ("None", "TURN 7,7", "gomocup", "its search found no square"),
        ("bestmove 7a", "GO", "agi", "it probably means BESTMOVE 7A"),
        ("BESTMOVE 7,7", "GO", "agi", "it probably means BESTMOVE 78"),
        ("77", "GO", "agi", "it probably means BESTMOVE 77"),
        ("BESTMOVE 78 score 0.3", "GO", "agi", "it probably means BESTMOVE 78"),
        ("ready", "ISREADY", "agi", "expects here: READYOK, alone on the line"),
        ("d7 UP", "....", "stratego", "it probably means 3 6 UP"),
        ("(3,6) NORTH", "....", "stratego", "it probably means 3 6 UP"),
        ("0 3 down 3", "....", "stratego", "it probably means 0 3 DOWN 3"),
        ("thinking", "....", "stratego", "print other text on stderr"),
        ("move: 2 6", "MOVE?", "qchess", "it probably means 2 6"),
        ("e2", "SELECTION?", "qchess", "it probably means 4 6"),
    ],
)
def test_other_protocols_show_their_form(said: str, awaited: str, protocol: str, advice: str) -> None:
    assert advice in form_advice(said, awaited, protocol)


STARTERS = {
    "agi": ("agi-renju", 'say(f"BESTMOVE {self.decide(rest)}")'),
    "stratego": ("stratego-2012", "say(answer(player))"),
    "qchess": ("qchess-2013", "print(*square, flush=True)"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "answer", "check", "advice"),
    [
        ("agi", "say(self.decide(rest))", "time", "it probably means BESTMOVE 78"),
        pytest.param(
            "agi",
            "y, x = self.decide(rest); say(f'BESTMOVE {y}{int(x, 16) - 1:X}')",
            "win",
            "its columns count from 0",
            marks=evidence,
        ),
        (
            "agi",
            "y, x = self.decide(rest); say(f'BESTMOVE {int(x, 16) - 1:X}{int(y, 16) + 1:X}')",
            "win",
            "row and column exchanged: the row (0 to E) comes first",
        ),
        ("stratego", "x, y, *rest = answer(player).split(); say(' '.join([y, x, *rest]))", "game-first", "COLUMN ROW"),
        ("qchess", "print(*square, sep=',', flush=True)", "game-first", "it probably means 2 6"),
    ],
)
def test_wrong_form_in_other_protocols_is_named_in_the_report(
    examined: Examine, tmp_path: Path, protocol: str, answer: str, check: str, advice: str
) -> None:
    policy, sound = STARTERS[protocol]
    folder = tmp_path / "flawed"
    shutil.copytree(IMAGES / f"starter-{protocol}-python", folder)
    source = (folder / "starter.py").read_text()
    assert source.count(sound) == 1
    (folder / "starter.py").write_text(source.replace(sound, answer))

    report = examined(folder, policy, "clock.tolerance_ms=1000", box="process")

    assert advice in finding(report, check).fix
    assert "line-ending" not in {each.check for each in problems(report)}
    assert "flush" not in finding(report, check).fix
