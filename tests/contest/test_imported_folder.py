"""The folder of an imported contest: what `judge contest run` plays, complete or not there."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.base.resources import POLICIES
from judge.catalog.managers import ImportedAgent, ImportedContest
from judge.contest.imported_contest import needs_boxes, write_imported
from judge.contest.plan import Planned, load_plan
from judge.contest.resolved_format import resolved_format
from judge.sandbox.box import BoxPolicy
from judge.submissions.trees import TaskHost
from judge.tournament.formats.base import skip_of

BRAIN = "#!/usr/bin/python3\nprint('OK')\n"


def tournament(folder: Path, **programs: str | bytes) -> ImportedContest:
    """Of single programs, which no box is needed for; two that can play unless others are given."""
    agents = []
    for file, text in (programs or {"pbrain-five.py": BRAIN, "pbrain-six.py": BRAIN}).items():
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


def written(contest: ImportedContest, folder: Path, lines: list[str], host: TaskHost | None = None) -> Planned:
    """The plan of the folder that is written; `lines` gets a line of each agent."""

    def tell(agent: ImportedAgent, text: str, is_good: bool) -> None:
        lines.append(f"{'ok' if is_good else 'FAIL'} {agent.name}: {text}")

    write_imported(contest, folder / "cup", host or TaskHost(BoxPolicy(freeze="none"), (), folder), tell)
    return load_plan(folder / "cup")


def test_the_folder_is_a_contest_that_can_be_planned(tmp_path: Path) -> None:
    contest, lines = tournament(tmp_path), list[str]()

    assert not needs_boxes(contest)
    planned = written(contest, tmp_path, lines)

    assert ["ok pbrain-five: one file, 'pbrain-five.py'", "ok pbrain-six: one file, 'pbrain-six.py'"] == lines
    assert 3 == len(planned.openings())
    assert ("round-robin", 6) == (planned.plan.format.name, planned.plan.format.games)
    assert BRAIN == (tmp_path / "cup/programs/pbrain-five/pbrain-five.py").read_text()
    assert "# line 13: remote: not imported" in planned.text
    assert ["pbrain-five", "pbrain-six"] == [agent.name for agent in planned.plan.agents]
    with pytest.raises(InputError, match="exists; a contest is never overwritten"):
        written(contest, tmp_path, lines)


def test_ratings_become_a_file_of_the_contest(tmp_path: Path) -> None:
    ratings = {"pbrain-five": 1900, "pbrain-six": 0}
    planned = written(replace(tournament(tmp_path), skip_difference=400, ratings=ratings), tmp_path, [])

    skip = skip_of(resolved_format(planned, [(name, "") for name in ratings]))
    assert skip is not None
    assert (400, ratings) == (skip.rating_difference, {name: skip.rating_of(name) for name in ratings})


def test_programs_that_cannot_play_are_all_named_and_nothing_is_written(tmp_path: Path) -> None:
    programs = {"pbrain-five.py": BRAIN, "OLD.exe": "MZ", "pbrain-six.txt": "no program"}
    lines = list[str]()

    with pytest.raises(InputError, match="line 5: engines: 2 of 3 programs cannot be played: OLD, pbrain-six;"):
        written(tournament(tmp_path, **programs), tmp_path, lines)

    assert ["ok", "FAIL", "FAIL"] == [line.split()[0] for line in lines]
    assert str(tmp_path) not in "".join(lines)
    assert not (tmp_path / "cup").exists()
    assert [] == [path for path in tmp_path.iterdir() if "partial" in path.name]


def test_a_policy_that_is_a_file_comes_along(tmp_path: Path) -> None:
    policy_file = tmp_path / "theirs.toml"
    policy_file.write_text(
        (POLICIES / "gomocup-freestyle.toml").read_text().replace("turn_ms = 30000", "turn_ms = 31000")
    )

    planned = written(replace(tournament(tmp_path), policy=f"{policy_file}:fast"), tmp_path, [])
    policy_file.unlink()

    assert ("policy.toml:fast", 5000) == (planned.plan.policy, load_plan(planned.path).policy.clock.turn_ms)
    assert "turn_ms = 31000" in (tmp_path / "cup/policy.toml").read_text()


def test_a_remark_cannot_leave_its_comment(tmp_path: Path) -> None:
    hostile = replace(tournament(tmp_path), remarks=("a\nseed = 1\r\x00\x1b[2J",))

    assert written(hostile, tmp_path, []).plan.seed is None


@pytest.mark.docker
def test_archives_are_unpacked_in_a_box(tmp_path: Path) -> None:
    from judge.contest.host_setup import build_missing_images
    from judge.sandbox.machine.cores import whole_cores
    from judge.submissions.trees import IMAGE

    build_missing_images([IMAGE], print)
    archives = {}
    for name, member in (("FIVE.zip", "pbrain-five.py"), ("EVIL.zip", "../pbrain-evil.py")):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr(member, BRAIN)
        archives[name] = data.getvalue()
    contest = tournament(tmp_path, **archives)
    (tmp_path / "room").mkdir()
    lines = list[str]()

    assert needs_boxes(contest)
    boxes = TaskHost(BoxPolicy(freeze="none"), tuple(whole_cores()[0]), tmp_path / "room")
    with pytest.raises(InputError, match="1 of 2 programs cannot be played: EVIL"):
        written(contest, tmp_path, lines, boxes)

    assert lines[0].startswith("ok FIVE: 1 file")
    assert lines[1].startswith("FAIL EVIL: '../pbrain-evil.py'")
