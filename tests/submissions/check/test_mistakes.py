"""Mistakes of beginners: the report of each names the mistake and the repair."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from judge.agents.agents import stage_agent
from judge.base.owner import owned_directory
from judge.base.resources import IMAGES
from judge.host.house_agents import build_house_agents
from judge.protocols.squares import intended_square
from judge.referee.play import Slot
from judge.referee.policy import load_policy
from judge.submissions.check import CheckReport, Finding, Grade, examine
from judge.submissions.check.answer_forms import form_advice
from judge.submissions.check.suite import TalkFolder
from tests.examples import evidence, of_evidence
from tests.submissions.check import flawed

Examine = Callable[..., CheckReport]

MOVE = (
    "import re\nif square := re.fullmatch(r'(\\d+),(\\d+)', answer):\n    x, y = map(int, square.groups())\n    {0}\n"
)
PRINT = "print(answer, flush=True)"


@pytest.fixture(scope="module", autouse=True)
def ready() -> None:
    build_house_agents()


@pytest.fixture
def examined(tmp_path: Path) -> Iterator[Examine]:
    """The report on a program, without containers."""
    with owned_directory() as staging:

        def run(source: str, manifest: str = "", keep: Path | None = None, clock: Sequence[str] = ()) -> CheckReport:
            agent = stage_agent(flawed.write(tmp_path, source, manifest), staging)
            times = ["turn_ms=2000", "tolerance_ms=1000", *clock]
            policy = load_policy("gomocup-standard", [f"clock.{each}" for each in times])
            if keep is None:
                return examine(agent, policy, Slot(), "process", staging)
            return examine(agent, policy, Slot(), "process", staging, keep=TalkFolder(keep).keep)

        yield run


def problems(report: CheckReport) -> list[Finding]:
    return [finding for finding in report.findings if finding.grade is not Grade.PASS]


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [
        "answer = chr(97 + x) + str(y + 1)",
        "answer = f'move: {x},{y}'",
        *of_evidence(
            "answer = chr(65 + x) + str(y + 1)",
            "answer = f'{x} {y}'",
            "answer = f'({x},{y})'",
            "answer = f'[{x}, {y}]'",
            "answer = f'my move: {x},{y}'",
            "answer = f'X={x} Y={y}'",
            "answer = f'{x};{y}'",
            "answer = f'{x}:{y}'",
            'answer = f\'{{"x": {x}, "y": {y}}}\'',
            "answer = f'> {x},{y}'",
        ),
    ],
)
def test_move_in_a_wrong_form_is_shown_in_the_right_one(examined: Examine, form: str) -> None:
    report = examined(flawed.answering(MOVE.format(form) + PRINT))

    (finding,) = problems(report)
    assert finding.check == "time"
    assert "answer with column and row from 0, alone on the line: 8,8" in finding.fix
    assert "begin" in report.untried


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "advice"),
    [
        ("answer = f'{x + 1},{y + 1}'", "count from 1: column and row count from 0, the largest are 14,14"),
        ("answer = f'{y},{x}'", "x and y exchanged: x is the column and comes first"),
        ("answer = f'{x},{14 - y}'", "rows from the other side"),
    ],
)
def test_systematic_coordinate_error_is_named(examined: Examine, change: str, advice: str) -> None:
    report = examined(flawed.answering(MOVE.format(change) + PRINT))

    assert {"win", "block"} <= {finding.check for finding in problems(report) if advice in finding.fix}


@pytest.mark.slow
def test_text_after_a_move_is_named(examined: Examine) -> None:
    report = examined(flawed.answering(MOVE.format("answer = f'{x},{y};'") + PRINT))

    begin = next(finding for finding in problems(report) if finding.check == "begin")
    assert "'8,8;' has ';' after the move: write only 8,8 on the line" == begin.fix


@pytest.mark.slow
def test_start_that_is_answered_in_other_words_shows_the_expected_word(examined: Examine) -> None:
    report = examined(flawed.answering("answer = 'ready' if answer == 'OK' else answer\n" + PRINT))

    start = next(finding for finding in problems(report) if finding.check == "start")
    assert "it wrote 'ready'; the protocol gomocup expects here: OK, alone on the line" in start.fix


@pytest.mark.slow
def test_program_that_reads_to_the_end_of_input_is_named(examined: Examine) -> None:
    report = examined(flawed.reading("sys.stdin.read().splitlines()"), clock=["start_ms=1500"])

    (start,) = problems(report)
    assert "when its input ended after the first line, it wrote 'OK'" in start.evidence
    assert "read line by line, not to the end of input by read()" in start.fix


@pytest.mark.slow
def test_program_that_sleeps_is_not_said_to_read_to_the_end(examined: Examine) -> None:
    report = examined("import time\ntime.sleep(600)\n", clock=["start_ms=500", "close_ms=200"])

    (start,) = problems(report)
    assert "it is waiting: for the end of input" in start.fix


@pytest.mark.slow
def test_line_of_mono_is_neither_a_warning_nor_a_cause(examined: Examine) -> None:
    line = 'mono_thread_internal_set_priority: pthread_setschedparam failed, error: "Operation not permitted" (1)'
    said = f"print({line!r}, flush=True)"

    assert [] == problems(examined(flawed.remembering(said)))
    crash = flawed.hearing("if command == 'BEGIN':\n    raise KeyError(5)")
    assert "fix the crash; this repeats it" in problems(examined(flawed.remembering(said, crash)))[0].fix


@pytest.mark.slow
def test_crash_report_has_the_numbered_last_lines_of_stderr(examined: Examine) -> None:
    notes = "for n in range(20):\n        print('note', n, file=sys.stderr)\n"
    crash = f"if command == 'BEGIN':\n    {notes}    raise KeyError(5)"

    report = examined(flawed.hearing(crash))

    finding = next(finding for finding in problems(report) if finding.stderr)
    assert len(finding.stderr) == 12
    assert "KeyError: 5" in finding.stderr[-1]
    assert any("flawed.py" in line and ", line " in line for line in finding.stderr)
    numbers = [int(line.split()[0]) for line in finding.stderr]
    assert numbers == list(range(numbers[0], numbers[0] + 12))
    assert numbers[0] > 1


@pytest.mark.slow
def test_text_of_a_starter_is_a_warning(examined: Examine) -> None:
    sound = flawed.answering("if answer.startswith('name='):\n    answer = 'name=\"starter\", author=\"me\"'\n" + PRINT)

    report = examined(sound, 'author = "judge"\ndescription = "plays at random; to begin with"')

    (about,) = problems(report)
    assert (about.check, about.grade) == ("about", Grade.WARNING)
    for text in ("author = 'judge'", "to begin with", "ABOUT: name='starter' author='me'"):
        assert text in about.evidence


@pytest.mark.slow
def test_kept_folder_has_conversations_and_game_records(examined: Examine, tmp_path: Path) -> None:
    examined(flawed.HOUSE_PYTHON, keep=tmp_path / "kept")

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
        ("BESTMOVE h8", "GO", "agi", "it probably means BESTMOVE 78"),
        ("bestmove 7a", "GO", "agi", "it probably means BESTMOVE 7A"),
        ("BESTMOVE 7,7", "GO", "agi", "it probably means BESTMOVE 78"),
        ("77", "GO", "agi", "it probably means BESTMOVE 77"),
        ("ready", "ISREADY", "agi", "expects here: READYOK, alone on the line"),
        ("3 6 up", "....", "stratego", "it probably means 3 6 UP"),
        ("d7 UP", "....", "stratego", "it probably means 3 6 UP"),
        ("(3,6) NORTH", "....", "stratego", "it probably means 3 6 UP"),
        ("0 3 down 3", "....", "stratego", "it probably means 0 3 DOWN 3"),
        ("thinking", "....", "stratego", "print other text on stderr"),
        ("move: 2 6", "MOVE?", "qchess", "it probably means 2 6"),
        ("BESTMOVE 78 score 0.3", "GO", "agi", "it probably means BESTMOVE 78"),
        ("e2", "SELECTION?", "qchess", "it probably means 4 6"),
        ("(3,6)", "MOVE?", "qchess", "it probably means 3 6"),
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
            "p = self.decide(rest); say(f'BESTMOVE {p} score 1')",
            "begin",
            "it probably means BESTMOVE 78",
            marks=evidence,
        ),
        ("agi", "y, x = self.decide(rest); say(f'BESTMOVE {y}{int(x, 16) - 1:X}')", "win", "its columns count from 0"),
        (
            "agi",
            "y, x = self.decide(rest); say(f'BESTMOVE {int(x, 16) - 1:X}{int(y, 16) + 1:X}')",
            "win",
            "row and column exchanged: the row (0 to E) comes first",
        ),
        pytest.param("stratego", "say(answer(player).lower())", "game-first", "it probably means ", marks=evidence),
        pytest.param(
            "stratego", "say('thinking', answer(player))", "game-first", "print other text on stderr", marks=evidence
        ),
        ("stratego", "x, y, *rest = answer(player).split(); say(' '.join([y, x, *rest]))", "game-first", "COLUMN ROW"),
        ("qchess", "print(*square, sep=',', flush=True)", "game-first", "it probably means 2 6"),
        pytest.param(
            "qchess",
            "print('abcdefgh'[square[0]] + str(8 - square[1]), flush=True)",
            "game-first",
            "means 2 6",
            marks=evidence,
        ),
        pytest.param(
            "qchess", "print(*reversed(square), flush=True)", "game-first", "column and row from 0", marks=evidence
        ),
    ],
)
def test_wrong_form_in_other_protocols_is_named_in_the_report(
    tmp_path: Path, protocol: str, answer: str, check: str, advice: str
) -> None:
    policy, sound = STARTERS[protocol]
    folder = tmp_path / "flawed"
    shutil.copytree(IMAGES / f"starter-{protocol}-python", folder)
    source = (folder / "starter.py").read_text()
    assert source.count(sound) == 1
    (folder / "starter.py").write_text(source.replace(sound, answer))

    with owned_directory() as staging:
        terms = load_policy(policy, ["clock.tolerance_ms=1000"])
        report = examine(stage_agent(str(folder), staging), terms, Slot(), "process", staging)

    found = next(finding for finding in problems(report) if finding.check == check)
    assert advice in found.fix
    assert "line-ending" not in {finding.check for finding in problems(report)}
    assert "flush" not in found.fix


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "first"),
    [
        pytest.param(MOVE.format("print('Enter your move:')") + PRINT, "'Enter your move:'", marks=evidence),
        (MOVE.format("print('thinking about', x, y)") + PRINT, "'thinking about 8 8'"),
    ],
)
def test_ignored_lines_are_a_warning(examined: Examine, change: str, first: str) -> None:
    (quiet,) = problems(examined(flawed.answering(change)))

    assert ("quiet", Grade.WARNING) == (quiet.check, quiet.grade)
    assert f"the judge ignored lines that are no answers, first {first}" in quiet.evidence
    assert "print debug text on stderr" in quiet.fix


@pytest.mark.slow
def test_search_without_a_square_is_named(examined: Examine) -> None:
    report = examined(flawed.answering(MOVE.format("answer = '-1,-1'") + PRINT))

    assert {"begin", "turn"} <= {each.check for each in problems(report) if "its search found no square" in each.fix}
    assert "line-ending" not in {finding.check for finding in problems(report)}
