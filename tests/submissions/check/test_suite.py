"""Each check tells the agent that does one thing wrong from the sound one, and says how to fix it."""

import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import docker
import pytest

from judge.agents.agents import stage_agent
from judge.base.errors import InputError
from judge.base.owner import owned_directory
from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from judge.referee.play import Slot
from judge.referee.policy import load_policy
from judge.sandbox.box import BoxKind
from judge.submissions.check import CheckReport, Finding, Grade, examine
from judge.submissions.check.report import worst_grade
from judge.translations.language import CODES, language
from tests.examples import of_evidence
from tests.releases import require_for_release
from tests.submissions.check import engine, flawed

PASS, WARNING, FAIL = Grade.PASS, Grade.WARNING, Grade.FAIL
QUICK = (
    "clock.turn_ms=1000",
    "clock.tolerance_ms=1000",
    "clock.close_ms=2000",  # not too short beside other tests
    f"limits.memory_bytes={64 << 20}",
)
A_MOVE = "',' in answer and answer[0].isdigit()"
"""Whether an agent's `answer` is one, in its own words."""

AGI = 'protocol = "agi"'
AGI_POLICY = ("agi-renju", "game.options.rule=freestyle", "clock.turn_ms=3500")

Examine = Callable[..., CheckReport]


@pytest.fixture(scope="module", autouse=True)
def ready() -> None:
    """The runtimes and the house agents."""
    build_images(["native", "python"])
    build_house_agents()


@pytest.fixture
def examined() -> Iterator[Examine]:
    """The report on an agent."""
    with owned_directory() as staging:

        def run(agent: str, policy: str = "gomocup-standard", *overrides: str, box: BoxKind = "docker") -> CheckReport:
            chosen = load_policy(policy, overrides)
            report = examine(stage_agent(agent, staging), chosen, Slot(), box, staging)
            require_for_release("texts of reports without a translation", untranslated(report))
            return report

        yield run


def untranslated(report: CheckReport) -> list[str]:
    """What the page of a submission would show in English."""
    shown = [finding.tried for finding in report.findings]
    shown += [text for each in report.findings if each.grade is not PASS for text in (each.evidence, each.fix) if text]
    parts = {
        part for code in CODES[1:] for text in shown for part, is_own in language(code).explanation(text) if not is_own
    }
    return sorted(parts)


def not_passed(report: CheckReport) -> dict[str, Grade]:
    return {f.check: f.grade for f in report.findings if f.grade is not PASS}


def finding(report: CheckReport, check: str) -> Finding:
    return next(finding for finding in report.findings if finding.check == check)


# --- sound agents ----------------------------------------------------------------------------------------------------


@pytest.mark.docker
@pytest.mark.parametrize(
    ("agent", "policy"),
    [
        ("house-python", "gomocup-swap2"),
        ("house-stratego", "stratego-seed"),
        ("house-qchess", "qchess-2013"),
    ],
)
def test_a_sound_agent_passes_every_check(examined: Examine, agent: str, policy: str) -> None:
    report = examined(agent, policy)

    assert not_passed(report) == {}
    assert report.untried == ()
    assert report.grade is PASS
    assert all(finding.fix == "" for finding in report.findings)


@pytest.mark.docker
def test_weak_play_is_a_warning(examined: Examine) -> None:
    report = examined("house-instant")

    assert not_passed(report) == {"win": WARNING, "block": WARNING, "rule": WARNING}
    assert "it answered 0,0 (a1), wanted 6,7 (g8) or 11,7 (l8)" in finding(report, "win").evidence


# --- flawed agents ---------------------------------------------------------------------------------------------------

FLAWS = {
    "keeps what it says in a buffer": (
        flawed.remembering("open(1, 'w')", flawed.answering("kept.write(answer + '\\n')")),
        {"start": FAIL},
        "did not flush its output",
        "flush stdout after every line",
    ),
    "keeps its moves in a buffer": (
        flawed.remembering(
            "open(1, 'w')",
            flawed.answering(
                f"kept.write(answer + '\\n') if {A_MOVE} else print(answer, flush=True)"
            ),
        ),
        {"time": FAIL},
        "did not flush its output",
        "flush stdout after every line",
    ),
    "speaks another protocol": (
        flawed.answering("print('id name Stone', flush=True)"),
        {"start": FAIL},
        "its last output was ignored: 'id name Stone'",
        "the protocol gomocup expects here: OK, alone on the line",
    ),
    "ends after its first answer": (
        flawed.answering("print(answer, flush=True)\nraise SystemExit"),
        {"start": FAIL},
        "exited with code 0",
        "read the next command after each answer",
    ),
    "sleeps, and later thinks without an end": (
        flawed.answering(
            f"import time\nif {A_MOVE}:\n    time.sleep(0.5)\n    while len(agent.board.stones) > 9:\n        pass\n"
            "print(answer, flush=True)"
        ),
        {"time": FAIL},
        "did not answer within the turn",
        "it thinks too long",
    ),
    "thinks without an end": (
        flawed.answering(f"while {A_MOVE}:\n    pass\nprint(answer, flush=True)"),
        {"time": FAIL},
        "did not answer within the turn",
        "it thinks too long",
    ),
    "sleeps": (
        flawed.answering(
            f"import time\nif {A_MOVE}:\n    time.sleep(100)\nprint(answer, flush=True)"
        ),
        {"time": FAIL},
        "did not answer within the turn",
        "it used no CPU time, so it is waiting",
    ),
    "reads lines that end in LF alone": (
        flawed.reading("(l.strip() for l in open(0, newline='\\n') if not l.endswith('\\r\\n'))"),
        {"line-ending": FAIL},
        "it does not understand lines that end in CR LF",
        'line_ending = "lf"',
    ),
    "hears BEGIN where it ends in LF alone": (
        flawed.reading("(l.strip() for l in open(0, newline='\\n') if l != 'BEGIN\\r\\n')"),
        {"line-ending": FAIL},
        "such as 'BEGIN'",
        'line_ending = "lf"',
    ),
    "hears DONE where it ends in LF alone, and says so late": (
        flawed.reading(
            "('' if l == 'DONE\\r\\n' else print('DEBUG END', flush=True) or l.strip() if 'END' in l else l.strip()"
            " for l in open(0, newline='\\n'))"
        ),
        {"line-ending": FAIL},
        "such as 'BOARD'",
        'line_ending = "lf"',
    ),
    "echoes the CR that it cannot read": (
        flawed.reading(
            "(print(f'UNKNOWN {l!r}', flush=True) or '' if l.startswith('BEGIN\\r') else l.strip()"
            " for l in open(0, newline='\\n'))"
        ),
        {"line-ending": FAIL},
        "with LF alone it answers",
        'line_ending = "lf"',
    ),
    "reads a board only where its lines end in LF alone": (
        flawed.answering(
            "print('ERROR no number' if sys.kept == 'DONE\\r\\n' else answer, flush=True)"
        ).replace(
            "filter(None, map(str.strip, sys.stdin))",
            "(setattr(sys, 'kept', l) or l.strip() for l in open(0, newline='\\n'))",
        ),
        {"line-ending": FAIL},
        "it does not understand lines that end in CR LF",
        'line_ending = "lf"',
    ),
    "leaks where it begins again": (
        flawed.hearing(
            "kept.append(bytearray(b'x') * (20 << 20)) if command in ('RESTART', 'BOARD') else None"
        ).replace("import sys\n", "import sys\n\nkept = []\n", 1),
        {"memory": WARNING},
        "in a new process, as in every contest game, it answered",
        "use less memory",
    ),
    "loses its board after some games": (
        flawed.hearing(
            "sys.modules['__main__'].games = getattr(sys.modules['__main__'], 'games', 0) + (command == 'RESTART')\n"
            "if command == 'BOARD' and getattr(sys.modules['__main__'], 'games', 0) > 4:\n"
            "    list(takewhile(lambda line: line != 'DONE', lines))\n    return '77,77'"
        ),
        {"board": WARNING, "win": WARNING, "block": WARNING, "rule": WARNING},
        "in a new process, as in every contest game, it answered",
        "each stone",
    ),
    "is silent when a stone is taken back, which no contest does": (
        flawed.hearing("if command == 'TAKEBACK':\n    return None"),
        {},
        "",
        "",
    ),
    "is silent at RESTART": (
        flawed.hearing("if command == 'RESTART':\n    return None"),
        {"restart": WARNING},
        "it did not answer 'RESTART",
        "answer RESTART with OK",
    ),
    "errs where a stone is in the corner": (
        flawed.hearing("if command == 'TURN' and rest == '0,0':\n    raise SystemExit('no corners')"),
        {},
        "",
        "",
    ),
    "answers with the names of squares": (
        flawed.hearing("if command in ('BEGIN', 'TURN', 'DONE'):\n    return 'd14'"),
        {"time": FAIL},
        " ms of 2000 ms allowed",
        "'d14' is not a move: answer with column and row from 0, alone on the line: 3,13",
    ),
    "does not flush": (
        flawed.HOUSE_PYTHON.replace(", flush=True", ""),
        {"start": WARNING},
        "it works here because Python runs unbuffered; elsewhere it writes 'OK' only at its end",
        "print(move, flush=True)",
    ),
    "wants a module that is not there": (
        flawed.remembering("__import__('numpy')"),
        {"start": FAIL},
        "ModuleNotFoundError: No module named 'numpy'",
        'the module numpy is missing here: the runtime numpy has it: set runtime = "numpy" in agent.toml; policy ',
    ),
    "wants a module that no runtime has": (
        flawed.remembering("__import__('win32api.more')"),
        {"start": FAIL},
        "ModuleNotFoundError: No module named 'win32api'",
        "the module win32api is missing here: only Python's standard library is installed",
    ),
    "wants a module with a name that no file can have": (
        flawed.remembering("__import__('n' * 300)"),
        {"start": FAIL},
        "ModuleNotFoundError: No module named 'nnn",
        "is missing here: only Python's standard library is installed",
    ),
    "wants a timer that no container has": (
        flawed.remembering("exit('mine: internal error: timerfd_create: Function not implemented')"),
        {"start": FAIL},
        "timerfd_create: Function not implemented",
        "link a program of GHC with -with-rtsopts=-V0",
    ),
    "is written in Python 2": (
        "#!/usr/bin/env python3\nimport sys\nprint 'MESSAGE hello'\n",
        {"start": FAIL},
        "Missing parentheses in call to 'print'",
        'runtime = "python2"',
    ),
    "refuses to start without a library": (
        flawed.hearing("if command == 'START':\n    return 'ERROR cannot load engine.dll'"),
        {"start": FAIL},
        "cannot load engine.dll",
        "send the file with the agent",
    ),
    "says why on stdout and leaves": (
        flawed.hearing("if command == 'BOARD':\n    print('MESSAGE no such CPU', flush=True)\n    sys.exit(4)"),
        {"board": FAIL},
        "its last words on stdout: 'MESSAGE no such CPU'",
        "fix the crash",
    ),
    "crashes when it hears of the board": (
        flawed.hearing("if command == 'BOARD':\n    raise SystemExit('I lost my board')"),
        {"board": FAIL},
        "I lost my board",
        "fix the crash",
    ),
    "does not know BEGIN": (
        flawed.hearing("if command == 'BEGIN':\n    return 'UNKNOWN'"),
        {"begin": FAIL, "time": WARNING},
        "refused to play on, saying 'UNKNOWN'",
        "support it",
    ),
    "answers BEGIN with words": (
        flawed.hearing("if command == 'BEGIN':\n    return '7,7 please'"),
        {"begin": FAIL},
        "cannot be read as a square",
        "after the move: write only 7,7 on the line",
    ),
    "answers TURN by a square that is taken": (
        flawed.hearing("if command == 'TURN':\n    return rest"),
        {"begin": FAIL, "turn": FAIL, "board": FAIL},
        "is taken by stone 2",
        "each stone",
    ),
    "is silent about itself": (
        flawed.hearing("if command == 'ABOUT':\n    return None"),
        {"about": WARNING},
        "it gave no description of itself",
        "answer ABOUT with one line",
    ),
    "does not know RESTART": (
        flawed.hearing("if command == 'RESTART':\n    return 'UNKNOWN'"),
        {"restart": WARNING},
        "it refused RESTART",
        "answer RESTART with OK",
    ),
    "takes all stones of a board for its opponent's": (
        flawed.hearing(
            "if command == 'BOARD':\n"
            "    lines = (f'{l[:-1]}2' if l.endswith('1') else l for l in lines)"
        ),
        {"win": WARNING, "block": WARNING},
        "wins in one: it answered",
        "may be for another position",
    ),
    "talks after its moves": (
        flawed.answering(
            f"import time\nprint(answer, flush=True)\nif {A_MOVE} and len(agent.board.stones) < 8:\n"
            "    time.sleep(0.1)\n    print('MESSAGE easy')"
        ),
        {"quiet": WARNING},
        "MESSAGE easy",
        "write the answer and nothing after it",
    ),
    "prints without an end": (
        flawed.answering(f"if {A_MOVE}:\n    print('x' * (2 << 20))\nprint(answer, flush=True)"),
        {"quiet": FAIL},
        "more than the bound of a turn",
        "print less",
    ),
    "stays when it is over": (
        flawed.ending("import time\ntime.sleep(100)"),
        {"end": WARNING},
        "it still ran 300 ms after the end",
        "exit at once",
    ),
    "takes more memory than there is": (
        flawed.answering(f"stuff = b'x' * (200 << 20) if {A_MOVE} else b''\nprint(answer, flush=True)"),
        {"memory": FAIL},
        "used more memory than its cap",
        "use less",
    ),
    "takes nearly all the memory": (
        flawed.remembering("b'x' * (110 << 20)"),
        {"memory": WARNING},
        "of 121.0 MiB; its limit is 64 MiB, and 57 MiB for its folders",
        "use less",
    ),
    "crashes in a long game": (
        flawed.hearing(
            "self.turns = 0 if command in ('START', 'RESTART', 'BOARD') else self.turns + (command == 'TURN')\n"
            "if self.turns > 3:\n    raise SystemExit('that is too long for me')"
        ),
        {"game-first": FAIL, "game-second": FAIL},
        "that is too long for me",
        "fix the crash",
    ),
}  # fmt: skip
"""By what is wrong: the agent, what is found, and what evidence and fix of the first finding say."""

KEPT = (
    "keeps what it says in a buffer",
    "ends after its first answer",
    "thinks without an end",
    "hears DONE where it ends in LF alone, and says so late",
    "echoes the CR that it cannot read",
    "leaks where it begins again",
    "is silent when a stone is taken back, which no contest does",
    "is silent at RESTART",
    "does not flush",
    "wants a module that is not there",
    "wants a module that no runtime has",
    "wants a module with a name that no file can have",
    "is written in Python 2",
    "refuses to start without a library",
    "says why on stdout and leaves",
    "answers BEGIN with words",
    "answers TURN by a square that is taken",
    "does not know RESTART",
    "takes all stones of a board for its opponent's",
    "talks after its moves",
    "prints without an end",
    "stays when it is over",
    "takes more memory than there is",
    "takes nearly all the memory",
    "crashes in a long game",
)
"""Flaws of the full lane: at least one of each check and of each advice."""

LATE_CHECKS = {"start", "restart", "time", "line-ending"}
"""Checks in which the judge waits for an agent."""

SEEN_BY_THE_BOX = {"start", "time", "memory", "quiet", "end"}
"""What a box has to see; the others are seen in what the agent says, in whatever box."""


@pytest.mark.docker
@pytest.mark.parametrize("flaw", [*KEPT, *of_evidence(*(flaw for flaw in FLAWS if flaw not in KEPT))])
def test_a_flaw_is_found_where_it_is_and_nowhere_else(examined: Examine, tmp_path: Path, flaw: str) -> None:
    source, expected, evidence, fix = FLAWS[flaw]

    # A longer start is waited for twice; an agent that stays is killed in any case.
    brief = ["clock.start_ms=2500"] * (not LATE_CHECKS.isdisjoint(expected)) + ["clock.close_ms=300"] * (
        "end" in expected
    )
    box: BoxKind = "docker" if SEEN_BY_THE_BOX.intersection(expected) else "process"
    report = examined(flawed.write(tmp_path, source), "gomocup-standard", *QUICK, *brief, box=box)

    assert not_passed(report) == expected
    if not expected:
        return
    first = finding(report, next(iter(expected)))
    assert evidence in first.evidence
    assert fix in first.fix
    assert report.grade is worst_grade(list(expected.values()))


LOADER = "#!/bin/sh\necho 'run: error while loading shared libraries: lib{name}.so.7: cannot open' >&2\nexit 127\n"
MISSING = {
    "an interpreter": ("#!/usr/bin/node\n", '["./run"]', "the program node", "the runtime node has it"),
    "what env looks for": ("#!/usr/bin/env node\n", '["./run"]', "the program node", "the runtime node has it"),
    "a command": ("", '["java", "-jar", "run"]', "the program java", 'set runtime = "java" in agent.toml'),
    "what a shell calls": ("#!/bin/sh\nperl run.pl\n", '["./run"]', "the program perl", "send it with the agent"),
    "a library": (LOADER, '["./run"]', "the library lib{name}.so.7", "the runtime {name} has it"),
}
"""What there is not: the agent, its command, and what its author has to hear; `name` is that of `riddle`."""


@pytest.fixture
def riddle() -> Iterator[str]:
    """An organiser's runtime that says that it has a library, which is called like it."""
    name = f"test-{uuid.uuid4().hex[:20]}"
    label = f'LABEL judge.image={name} judge.runtime="{{\\"provides\\":[\\"lib{name}.so.7\\"]}}"'
    with closing(docker.from_env()) as client:
        client.api.import_image_from_data(b"\0" * 1024, f"judge/{name}", "1", changes=[label])
        yield name
        client.images.remove(f"judge/{name}:1")


@pytest.mark.docker
@pytest.mark.parametrize("case", MISSING)
def test_missing_module_error_names_the_runtime_that_has_it(
    examined: Examine, tmp_path: Path, riddle: str, case: str
) -> None:
    program, command, what, fix = MISSING[case]
    (tmp_path / "run").write_text(program.format(name=riddle))
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "agent.toml").write_text(f'name = "poor"\ncommand = {command}\n')

    report = examined(str(tmp_path), "gomocup-standard", *QUICK)

    said = finding(report, "start").fix
    assert said.startswith(f"{what.format(name=riddle)} is missing here: ")
    assert fix.format(name=riddle) in said
    assert ("policy gomocup-standard has to admit it" in said) == (riddle in said or "node" in said)


@pytest.mark.docker
def test_module_next_to_another_folder_is_not_missing(examined: Examine, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("import src.board\n")
    (tmp_path / "agent.toml").write_text('name = "poor"\nruntime = "python"\ncommand = ["python3", "src/main.py"]\n')

    report = examined(str(tmp_path), "gomocup-standard", *QUICK)

    assert finding(report, "start").fix.startswith("src is in your archive, but Python searches for it in")


@pytest.mark.docker
def test_agent_may_declare_that_it_needs_lf(examined: Examine, tmp_path: Path) -> None:
    source = flawed.reading("(l.strip() for l in open(0, newline='\\n') if not l.endswith('\\r\\n'))")
    agent = flawed.write(tmp_path, source, manifest='line_ending = "lf"')

    report = examined(agent, "gomocup-standard", *QUICK, "clock.start_ms=2500", box="process")

    assert not_passed(report) == {}
    assert finding(report, "line-ending").evidence == "only lf, as in its agent.toml"


@pytest.mark.docker
def test_agent_that_ignores_the_limit_gets_a_hint(examined: Examine, tmp_path: Path) -> None:
    slow = flawed.answering(
        f"import time\nif {A_MOVE} and len(agent.board.stones) == 5:\n    time.sleep(1.1)\nprint(answer, flush=True)"
    )

    report = examined(flawed.write(tmp_path, slow), "gomocup-standard:fast")

    assert not_passed(report) == {"time": WARNING}
    assert "its limit was 1000 ms a turn" in finding(report, "time").evidence


@pytest.mark.docker
def test_black_on_a_forbidden_square_loses_in_renju(examined: Examine, tmp_path: Path) -> None:
    report = examined(flawed.write(tmp_path, flawed.knowing("(0, 1, 4)")), "renju-15", *QUICK)

    assert not_passed(report) == {"rule": FAIL}
    assert "overline" in finding(report, "rule").evidence
    assert report.untried == ("game-first", "game-second")


@pytest.mark.docker
def test_a_bad_answer_in_the_opening_fails(examined: Examine, tmp_path: Path) -> None:
    two = flawed.hearing(
        "if command == 'SWAP2BOARD':\n    list(takewhile(lambda l: l != 'DONE', lines))\n    return '1,1 9,9'"
    )

    report = examined(flawed.write(tmp_path, two), "gomocup-swap2", *QUICK)

    assert not_passed(report) == {"opening": FAIL}
    assert "2 stones where 3 are asked for" in finding(report, "opening").evidence


COLOURED = """
if command == 'SWAP2BOARD':
    rows = list(takewhile(lambda l: l != 'DONE', lines))
    for _ in rows:
        print('ERROR Color is not a valid value', flush=True)
    return '7,7 8,7 9,9'
""".strip()
"""Wants a third number in the rows of SWAP2BOARD, sees an empty board for lack of it, and lays three stones."""


@pytest.mark.docker
def test_engine_error_in_the_opening_is_in_the_report(examined: Examine, tmp_path: Path) -> None:
    """It is asked by BOARD then, and plays on; what it laid too late is not its answer."""
    report = examined(flawed.write(tmp_path, flawed.hearing(COLOURED)), "gomocup-swap2", *QUICK)

    assert not_passed(report) == {"opening": WARNING}
    assert "'ERROR Color is not a valid value'" in finding(report, "opening").evidence


@pytest.mark.docker
def test_engine_error_is_shown_as_the_fix(examined: Examine, tmp_path: Path) -> None:
    lost = "if command == 'BOARD' and list(takewhile(lambda l: l != 'DONE', lines)):\n    return '-1,0'"
    source = flawed.hearing(f"{COLOURED}\n{lost}")
    report = examined(flawed.write(tmp_path, source), "gomocup-swap2", *QUICK)

    opening = finding(report, "opening")
    assert FAIL is opening.grade
    assert "; before that it sent 'ERROR Color is not a valid value'" in opening.evidence
    assert "'ERROR Color is not a valid value'" in opening.fix


@pytest.mark.docker
def test_a_sound_engine_passes_the_checks_of_agi(examined: Examine, tmp_path: Path) -> None:
    report = examined(flawed.write(tmp_path, engine.SOUND, AGI), *AGI_POLICY)

    assert not_passed(report) == {}
    assert report.untried == ()
    assert finding(report, "about").evidence == "name sound one"


@pytest.mark.docker
def test_engine_that_ignores_stop_gets_a_hint(examined: Examine, tmp_path: Path) -> None:
    deaf = engine.thinking("time.sleep(2.5 if ms > 1000 else 0)")

    report = examined(flawed.write(tmp_path, deaf, AGI), *AGI_POLICY)

    assert not_passed(report) == {"stop": WARNING}
    assert finding(report, "stop").evidence.endswith("ms after STOP")
    assert "read stdin while you think" in finding(report, "stop").fix


@pytest.mark.docker
def test_an_engine_that_speaks_like_a_brain_is_unreadable(examined: Examine, tmp_path: Path) -> None:
    brain = engine.SOUND.replace("BESTMOVE {y:X}{x + 1:X}", "BESTMOVE {x},{y}")

    report = examined(flawed.write(tmp_path, brain, AGI), *AGI_POLICY)

    failed = {"begin": FAIL, "turn": FAIL, "board": FAIL, "win": FAIL, "block": FAIL, "rule": FAIL}
    assert not_passed(report) == failed
    assert "it probably means BESTMOVE 89" in finding(report, "begin").fix
    assert "'8,8' cannot be read as a square" in finding(report, "begin").evidence


@pytest.mark.docker
def test_of_other_protocols_whole_games_are_judged(examined: Examine, tmp_path: Path) -> None:
    silent = (
        "import sys\nlate = open(1, 'w')\n"
        "for line in sys.stdin:\n"
        "    if line.startswith('SELECTION?'):\n        late.write('0 0\\n')\n"
        "    elif line.startswith('QUIT'):\n        break\n"
    )

    report = examined(flawed.write(tmp_path, silent), "qchess-2013", "clock.turn_ms=1000")

    assert not_passed(report) == {"game-first": FAIL, "game-second": FAIL}
    assert "it wrote '0 0': it did not flush" in finding(report, "game-first").evidence
    assert report.untried == ("start", "time", "end")


@pytest.mark.docker
def test_an_agent_that_cannot_be_run_fails_to_start(examined: Examine, tmp_path: Path) -> None:
    (tmp_path / "agent.toml").write_text('name = "gone"\ncommand = ["./gone"]\n')

    report = examined(str(tmp_path))

    assert not_passed(report) == {"start": FAIL}
    assert "could not be run: No such file" in finding(report, "start").evidence
    assert "board" in report.untried


@pytest.mark.docker
def test_a_library_that_is_missing_is_named(examined: Examine, tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text("int mine(void) { return 1; }\n")
    (tmp_path / "main.c").write_text("int mine(void);\nint main(void) { return mine(); }\n")
    for words in (
        ["-shared", "-fPIC", "-o", "libmine.so.3", "mine.c"],
        ["-o", "pbrain-x", "main.c", "-L.", "-l:libmine.so.3"],
    ):
        subprocess.run(["gcc", *words], cwd=tmp_path, check=True)

    report = examined(str(tmp_path / "pbrain-x"))

    assert not_passed(report) == {"start": FAIL}
    assert "exited with code 127" in finding(report, "start").evidence
    assert "the library libmine.so.3 is missing here: link statically" in (finding(report, "start").fix)


@pytest.mark.docker
def test_an_agent_of_another_game_is_the_users_mistake(examined: Examine) -> None:
    with pytest.raises(InputError, match="house-qchess speaks qchess, which carries quantum-chess, not gomoku"):
        examined("house-qchess", "gomocup-standard")
