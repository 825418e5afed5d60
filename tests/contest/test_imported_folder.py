"""The folder of an imported contest: what `judge contest run` plays, complete or not there."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.base.resources import POLICIES
from judge.contest.folders.imported import needs_boxes, write_imported
from judge.contest.league_seats import resolved_format
from judge.contest.plan import load_plan
from judge.records.managers import ImportedAgent, ImportedContest
from judge.sandbox.box import BoxPolicy
from judge.submissions.trees import TaskHost
from judge.tournament.formats.base import skip_of

BRAIN = "#!/usr/bin/python3\nprint('OK')\n"


class Heard:
    """What was told of each agent."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, agent: ImportedAgent, text: str, is_good: bool) -> None:
        self.lines.append(f"{'ok' if is_good else 'FAIL'} {agent.name}: {text}")


def tournament(folder: Path, **programs: str | bytes) -> ImportedContest:
    """Of single programs, which no box is needed for."""
    agents = []
    for file, text in programs.items():
        path = folder / file
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        agents.append(ImportedAgent(name=path.stem, path=path, named_in="cup.txt, line 5: engines"))
    return ImportedContest(
        name="cup",
        policy="gomocup-freestyle",
        changes=(),
        format="round-robin",
        games=6,
        openings=("0,0, 1,1, 2,-1", "-3,-4, -2,-2", "1,1, 1,2"),
        failure_limit=0.1,
        failures_after=12,
        agents=tuple(agents),
        remarks=("line 13: remote: not imported",),
    )


def host(folder: Path) -> TaskHost:
    return TaskHost(BoxPolicy(freeze="none"), (), folder)


def test_the_folder_is_a_contest_that_can_be_planned(tmp_path: Path) -> None:
    contest = tournament(tmp_path, **{"pbrain-five.py": BRAIN, "pbrain-six.py": BRAIN})
    heard = Heard()

    assert not needs_boxes(contest)
    write_imported(contest, tmp_path / "cup", host(tmp_path), heard)
    planned = load_plan(tmp_path / "cup")

    assert ["ok pbrain-five: one file, 'pbrain-five.py'", "ok pbrain-six: one file, 'pbrain-six.py'"] == heard.lines
    assert 3 == len(planned.openings())
    assert ("round-robin", 6) == (planned.plan.format.name, planned.plan.format.games)
    assert BRAIN == (tmp_path / "cup/programs/pbrain-five/pbrain-five.py").read_text()
    assert "# line 13: remote: not imported" in planned.text
    assert ["pbrain-five", "pbrain-six"] == [agent.name for agent in planned.plan.agents]


def test_ratings_become_a_file_of_the_contest(tmp_path: Path) -> None:
    contest = replace(
        tournament(tmp_path, **{"pbrain-five.py": BRAIN, "pbrain-six.py": BRAIN}),
        skip_difference=400,
        ratings={"pbrain-five": 1900, "pbrain-six": 0},
    )
    write_imported(contest, tmp_path / "cup", host(tmp_path), Heard())

    rated = resolved_format(load_plan(tmp_path / "cup"), [("pbrain-five", ""), ("pbrain-six", "")])
    skip = skip_of(rated)
    assert skip is not None
    assert (400, 1900, 0) == (skip.rating_difference, skip.rating_of("pbrain-five"), skip.rating_of("pbrain-six"))


def test_programs_that_cannot_play_are_all_named_and_nothing_is_written(tmp_path: Path) -> None:
    contest = tournament(tmp_path, **{"pbrain-five.py": BRAIN, "OLD.exe": "MZ", "pbrain-six.txt": "no program"})
    heard = Heard()

    with pytest.raises(InputError, match="line 5: engines: 2 of 3 programs cannot be played: OLD, pbrain-six;"):
        write_imported(contest, tmp_path / "cup", host(tmp_path), heard)

    assert ["ok", "FAIL", "FAIL"] == [line.split()[0] for line in heard.lines]
    assert str(tmp_path) not in "".join(heard.lines)
    assert not (tmp_path / "cup").exists()
    assert [] == [path for path in tmp_path.iterdir() if "partial" in path.name]


def test_a_folder_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    contest = tournament(tmp_path, **{"pbrain-five.py": BRAIN, "pbrain-six.py": BRAIN})
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup/mine").touch()

    with pytest.raises(InputError, match="exists; a contest is never overwritten"):
        write_imported(contest, tmp_path / "cup", host(tmp_path), Heard())


def test_a_policy_that_is_a_file_comes_along(tmp_path: Path) -> None:
    """A game of another package has no policy among ours."""
    contest = tournament(tmp_path, **{"pbrain-five.py": BRAIN, "pbrain-six.py": BRAIN})
    own = tmp_path / "theirs.toml"
    own.write_text((POLICIES / "gomocup-freestyle.toml").read_text().replace("turn_ms = 30000", "turn_ms = 31000"))

    write_imported(replace(contest, policy=f"{own}:fast"), tmp_path / "cup", host(tmp_path), Heard())
    own.unlink()

    planned = load_plan(tmp_path / "cup")
    assert ("policy.toml:fast", 5000) == (planned.plan.policy, planned.policy.clock.turn_ms)
    assert "turn_ms = 31000" in (tmp_path / "cup/policy.toml").read_text()


def test_a_remark_cannot_leave_its_comment(tmp_path: Path) -> None:
    contest = tournament(tmp_path, **{"pbrain-five.py": BRAIN, "pbrain-six.py": BRAIN})
    hostile = replace(contest, remarks=("a\nseed = 1\r\x00\x1b[2J",))

    write_imported(hostile, tmp_path / "cup", host(tmp_path), Heard())

    assert load_plan(tmp_path / "cup").plan.seed is None


@pytest.mark.docker
def test_archives_are_unpacked_in_a_box(tmp_path: Path) -> None:
    from judge.contest.host_setup import build_missing_image
    from judge.sandbox.machine.cores import whole_cores
    from judge.submissions.trees import IMAGE

    build_missing_image(IMAGE, print)
    archives = {}
    for name, member in (("FIVE.zip", "pbrain-five.py"), ("EVIL.zip", "../pbrain-evil.py")):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr(member, BRAIN)
        archives[name] = data.getvalue()
    contest = tournament(tmp_path, **archives)
    (tmp_path / "room").mkdir()
    heard = Heard()

    assert needs_boxes(contest)
    boxes = TaskHost(BoxPolicy(freeze="none"), tuple(whole_cores()[0]), tmp_path / "room")
    with pytest.raises(InputError, match="1 of 2 programs cannot be played: EVIL"):
        write_imported(contest, tmp_path / "cup", boxes, heard)

    assert heard.lines[0].startswith("ok FIVE: 1 file")
    assert heard.lines[1].startswith("FAIL EVIL: '../pbrain-evil.py'")
