"""Tournament files of GomocupJudge: what they plan in our words, and every mistake with its line and the fix."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_gomocup.tournament import MAX_FILE_BYTES, POLICIES, agent_name, read_tournament
from tournaments import FIELDS, OPENINGS, write_tournament
from typer.testing import CliRunner

from judge.base.errors import InputError
from judge.cli import app
from judge.contest.plan import load_plan
from judge.record.policy import load_policy
from tests.examples import examples, sized
from tests.hostile import byte_changes, read_or_refuse


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_tournament(path)
    return str(caught.value)


def test_a_tournament_of_gomocup_is_a_policy_of_ours_unchanged(tmp_path: Path) -> None:
    contest = read_tournament(write_tournament(tmp_path))

    assert ("freestyle-2026", "gomocup-freestyle", ()) == (contest.name, contest.policy, contest.changes)
    assert ("round-robin", 6) == (contest.format, contest.games)
    assert ("0,0, 1,1, 2,-1", "-3,-4, -2,-2", "1,1, 1,2") == contest.openings
    assert ["FIVE", "pbrain-six", "SEVEN.B"] == [agent.name for agent in contest.agents]
    assert (0.1, 12) == (contest.failure_limit, contest.failures_after)
    assert () == contest.remarks


@pytest.mark.parametrize(("number", "named"), [(number, each) for number, each in POLICIES.items()])
def test_every_rule_has_its_policy(number: int, named: tuple[str, object], tmp_path: Path) -> None:
    contest = read_tournament(write_tournament(tmp_path, rule=str(number), board="15"))
    policy = load_policy(contest.policy, contest.changes)

    assert (contest.policy, policy.game.options["rule"]) == named
    assert (15, 15) == (policy.game.options["width"], policy.game.options["height"])


def test_other_numbers_are_changes_of_the_policy(tmp_path: Path) -> None:
    path = write_tournament(tmp_path, time_turn="300", time_match="9000", tolerance="50", memory="73400320", board="15")
    contest = read_tournament(path)
    policy = load_policy(contest.policy, contest.changes)

    assert (300, 9000, 50) == (policy.clock.turn_ms, policy.clock.match_ms, policy.clock.tolerance_ms)
    assert (73400320, 15) == (policy.limits.memory_bytes, policy.game.options["width"])


def test_first_against_all_is_a_gauntlet_and_zero_means_the_gomocupjudge_default(tmp_path: Path) -> None:
    assert "gauntlet" == read_tournament(write_tournament(tmp_path, tournament="")).format

    contest = read_tournament(write_tournament(tmp_path, tournament="0"))
    assert "round-robin" == contest.format
    assert ["line 6: tournament: GomocupJudge reads 0 as a round robin"] == [
        r.partition(",")[0] for r in contest.remarks
    ]


def test_untranslatable_fields_are_named(tmp_path: Path) -> None:
    path = write_tournament(tmp_path, remote="our-host", rule="8", extra="1")
    remarks = read_tournament(path).remarks

    assert {"extra", "remote", "rule"} == {remark.split(": ")[1] for remark in remarks}


def test_ratings_leave_out_pairs(tmp_path: Path) -> None:
    """A negative rating is unknown to GomocupJudge."""
    path = write_tournament(tmp_path, rating_diff="400", engine_ratings="1900 -1 1700")
    contest = read_tournament(path)

    assert (400, {"FIVE": 1900, "pbrain-six": 0, "SEVEN.B": 1700}) == (contest.skip_difference, contest.ratings)
    assert ((), 6) == (contest.remarks, contest.failures_after)


@pytest.mark.parametrize("difference", ["", "0"])
def test_without_a_difference_all_pairs_meet(difference: str, tmp_path: Path) -> None:
    contest = read_tournament(write_tournament(tmp_path, rating_diff=difference, engine_ratings="1900 1400 1700"))
    assert (0, {}) == (contest.skip_difference, contest.ratings)


def test_gauntlet_has_no_ratings(tmp_path: Path) -> None:
    contest = read_tournament(
        write_tournament(tmp_path, tournament="", rating_diff="400", engine_ratings="1900 1400 1700")
    )
    assert 0 == contest.skip_difference
    assert any("in a gauntlet all pairs meet" in remark for remark in contest.remarks)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"board": None}, "board is missing; add a line such as board = 20"),
        ({"board": "40"}, "line 2: board: '40': write a number of squares along a side from 5 to 26"),
        ({"rule": "2"}, "line 3: rule: 2 is not a rule of GomocupJudge; known are 0 freestyle"),
        ({"time_turn": "5s"}, "line 7: time_turn: '5s': write a number of milliseconds from 1"),
        ({"time_match": "0"}, "line 8: time_match: '0': write a number"),
        ({"memory": "350"}, "line 10: memory: '350': write a number of bytes (367001600 are 350 MiB)"),
        ({"name": "a/b"}, "line 1: name: 'a/b': a contest's name has only"),
        ({"engines": "ONE.zip"}, "line 5: engines: 1 programs; a tournament has from 2 to 500"),
        ({"engines": "ONE.zip ONE.exe"}, "line 5: engines: 'ONE.exe' would be called ONE in the tables"),
        ({"engines": "ONE.zip ../../TWO.zip"}, "line 5: engines: '../../TWO.zip': name a file in the directory engine"),
        ({"opening": "../secret"}, "line 4: opening: '../secret.txt': name a file in the directory opening"),
        ({"opening": "none"}, "line 4: opening: 'none.txt' is missing; it should be in"),
        ({"rating_diff": "9", "engine_ratings": "1"}, "engine_ratings: 1 ratings for 3 engines"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_the_fix(fields: dict[str, str | None], said: str, tmp_path: Path) -> None:
    path = write_tournament(tmp_path, **fields)

    assert refused(path).startswith(str(path))
    assert said in refused(path)


@pytest.mark.parametrize(
    ("openings", "said"),
    [
        ("0,0\n0,0,1\n", "line 2: '1' is a dx without its dy"),
        ("0,0\n10,0\n", "line 2: '10,0'"),
        ("0,0, 1,1\n\n0,0,1,1,\n", "line 3: the same opening as in line 1; remove one of the two"),
        ("0,0, 5,5, 1,0, 6,5, 2,0, 7,5, 3,0, 8,5, 4,0\n", "line 1: '4,0'"),
    ],
)
def test_a_mistake_in_the_openings_is_named_with_its_line(openings: str, said: str, tmp_path: Path) -> None:
    path = write_tournament(tmp_path, openings)

    assert f"{tmp_path / 'opening/twelve.txt'}, {said}" in refused(path)


def test_an_empty_file_of_openings_is_an_empty_board(tmp_path: Path) -> None:
    contest = read_tournament(write_tournament(tmp_path, ""))

    assert ((), 2) == (contest.openings, contest.games)


def test_twice_the_same_field_no_field_and_a_large_file_are_refused(tmp_path: Path) -> None:
    path = write_tournament(tmp_path)
    text = path.read_text()
    path.write_text(f"{text}board = 15\n")
    assert "line 14: board: it is already set in line 2; remove one of the two" in refused(path)
    path.write_text(f"{text}board 15\n")
    assert "line 14: 'board 15' is not a field; write key = value" in refused(path)
    path.write_text(text + "#" * MAX_FILE_BYTES)
    assert f"larger than the limit of {MAX_FILE_BYTES} bytes" in refused(path)


def test_a_named_pipe_in_place_of_the_tournament_is_not_waited_for(tmp_path: Path) -> None:
    path = write_tournament(tmp_path)
    path.unlink()
    os.mkfifo(path)

    assert "a special file, which is not read" in refused(path)


def test_no_link_is_followed(tmp_path: Path) -> None:
    path = write_tournament(tmp_path)
    secret = tmp_path / "secret"
    secret.write_text("0,0\n")
    for name in ("opening/twelve.txt", "engine/FIVE.zip"):
        (tmp_path / name).unlink()
        (tmp_path / name).symlink_to(secret)
        assert "is a link, which is not followed" in refused(path)


PIECES = (b"", b"\0", b"\xff", b"\n", b"=", b",", b" 0,0", b"9", b" A.zip", b"#", b"../")
LONG = "n" * 300
VALUES = (
    "",
    "0",
    "-1",
    "9" * 400,
    "1e9",
    "²",
    ".",
    "..",
    "/",
    "\0",
    LONG,
    f"{LONG} {LONG}",
    "A.zip " * 600,
    "=",
    "#",
    "\ud800",
)


@pytest.mark.parametrize("field", FIELDS)
def test_any_value_of_a_field_is_read_or_refused(field: str, tmp_path: Path) -> None:
    path = write_tournament(tmp_path)
    for value in VALUES:
        lines = "".join(f"{key} = {text}\n" for key, text in (FIELDS | {field: value}).items())
        read_or_refuse(read_tournament, path, lines.encode("utf-8", "surrogatepass"))


@given(st.data())
@settings(max_examples=examples(sized(60, 150)))
def test_any_tournament_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = write_tournament(tmp_path_factory.getbasetemp() / "any-tournament")
    sent = data.draw(byte_changes(path.read_bytes(), PIECES))

    read_or_refuse(lambda it: load_policy((contest := read_tournament(it)).policy, contest.changes), path, sent)


@given(st.data())
@settings(max_examples=examples(sized(40, 100)))
def test_any_file_of_openings_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = write_tournament(tmp_path_factory.getbasetemp() / "any-openings")
    sent = data.draw(byte_changes(OPENINGS.encode(), PIECES))

    read_or_refuse(lambda _: read_tournament(path), path.parents[1] / "opening/twelve.txt", sent)


@pytest.mark.parametrize(
    ("file", "name"), [("YIXIN16.zip", "YIXIN16"), ("A.B.zip", "A.B"), (".zip", "zip"), ("Ä b.zip", "__b")]
)
def test_agents_are_called_as_their_files(file: str, name: str) -> None:
    assert name == agent_name(file)


def test_command_names_next_steps_and_untranslatable_parts(tmp_path: Path) -> None:
    write_tournament(tmp_path, engines="pbrain-five.py pbrain-six.py", remote="host")
    for name in ("pbrain-five.py", "pbrain-six.py"):
        (tmp_path / "engine" / name).write_text("#!/usr/bin/python3\nprint('OK')\n")
    file, folder = tmp_path / "tournament/cup.txt", tmp_path / "mine"
    done = CliRunner().invoke(app, ["contest", "import", "gomocup", str(file), str(folder)])

    assert 0 == done.exit_code, done.output
    assert f"{folder}/contest.toml: 2 agents, 3 openings; look at it, then" in done.stdout
    assert "line 13: remote: not imported" in done.stderr
    assert 2 == len(load_plan(folder).plan.agents)
