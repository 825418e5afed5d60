"""An export verifies, and every false statement in it is found, also one that the organiser has signed."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.publish.manifest import PUBLIC_KEY, write_manifest
from judge.transparency.checkpoint import read_checkpoint
from judge.transparency.keys import make_key, public_pem
from judge.verify.export import VerificationReport, difference, verify_export
from tests.publish.cups import STRONG_TO_WEAK, Cup, crasher, player
from tests.publish.public import Public


def checked(public: Public) -> VerificationReport:
    return verify_export(public.directory, public.public_key)


def signed_again(public: Public) -> VerificationReport:
    """What is left to find when the organiser himself lies."""
    write_manifest(public.directory, "spring-cup", public.key)
    return checked(public)


def change(path: Path, how: Callable[[Any], None]) -> None:
    document = json.loads(path.read_bytes())
    how(document)
    path.write_text(json.dumps(document))


def test_an_untouched_export_verifies(exported: Public) -> None:
    report = checked(exported)

    assert () == tuple(report.problems)
    assert report.is_over
    assert not report.manifest.is_own_key
    assert ("spring-cup", 21, 1, 0) == (
        report.contest,
        report.replayed,
        report.uncounted,
        report.unfinished,
    )


def test_key_from_the_directory_is_reported_as_such(exported: Public) -> None:
    """Given by name or not, it proves that nothing was changed, but not who signed."""
    inside = verify_export(exported.directory, exported.directory / PUBLIC_KEY)

    assert verify_export(exported.directory, None).manifest.is_own_key
    assert inside.manifest.is_own_key
    assert () == tuple(inside.problems)


# --- somebody else changes it ----------------------------------------------------------------------------------------


def test_signature_with_another_key_is_found(copy: Public, tmp_path: Path) -> None:
    key = make_key(tmp_path / "mallory.key")
    checkpoint = copy.directory / "log/checkpoint"
    checkpoint.write_bytes(replace(read_checkpoint(checkpoint.read_bytes(), ""), signatures=()).signed(key).note)
    write_manifest(copy.directory, "spring-cup", key)

    problem, other = checked(copy).problems
    assert problem.startswith("manifest.sig: not signed by the key")
    assert "log/checkpoint: not signed by the organiser's key" == other
    # With the key that mallory left there all fits: therefore the loud warning.
    assert () == tuple(verify_export(copy.directory, None).problems)


def test_an_extra_file_is_found(copy: Public) -> None:
    (copy.directory / "extra.html").write_text("hello")

    assert ["extra.html: not in the manifest"] == list(checked(copy).problems)


def test_a_changed_page_is_found(copy: Public) -> None:
    page = copy.directory / "index.html"
    page.write_text(page.read_text().replace("anna", "bert"))

    assert ["index.html: changed"] == list(checked(copy).problems)


def test_a_removed_record_is_found(copy: Public) -> None:
    (copy.directory / "records/00007.json").unlink()

    problems = checked(copy).problems
    assert "records/00007.json: missing" == problems[0]
    assert problems[1].startswith("records/00007.json: no record")


# --- the organiser lies and signs it ---------------------------------------------------------------------------------


def test_a_swapped_result_in_the_standings_is_found(copy: Public) -> None:
    def swap(rows: Any) -> None:
        rows[0]["agent"], rows[1]["agent"] = rows[1]["agent"], rows[0]["agent"]

    change(copy.directory / "data/standings.json", swap)

    (problem,) = signed_again(copy).problems
    assert problem == ("data/standings.json: differs from the records: [0].agent is '-carl', expected 'anna'")


def test_a_point_more_in_the_csv_is_found(copy: Public) -> None:
    path = copy.directory / "data/standings.csv"
    path.write_text(path.read_text().replace("\n5,crash.test,1,", "\n5,crash.test,9,"))

    (problem,) = signed_again(copy).problems
    assert problem == "data/standings.csv: differs from the records: line 6, column 3 is '9', expected '1'"


def test_a_forged_winner_of_a_record_is_found(copy: Public) -> None:
    def forge(record: Any) -> None:
        record["record"]["winner"] = 1 - record["record"]["winner"]

    change(copy.directory / "records/00001.json", forge)

    problems = signed_again(copy).problems
    assert any(each.startswith("records/00001.json: winner: the replay gives") for each in problems)


def test_a_record_of_another_game_in_its_place_is_found(copy: Public) -> None:
    """The two play again with seats changed, so the winner would be another."""
    records = copy.directory / "records"
    shutil.copy(records / "00002.json", records / "00001.json")

    problems = signed_again(copy).problems
    assert "records/00001.json: a record of another game than the scheduled one" == problems[0]


def test_a_void_that_is_passed_off_as_the_result_is_found(copy: Public) -> None:
    """The attempt that did not count is a whole record of the same game; each attempt has a seed of its own."""
    records = copy.directory / "records"
    shutil.copy(records / "00003.attempt-1.json", records / "00003.json")

    problems = signed_again(copy).problems
    assert "records/00003.json: has another seed than the contest's seed gives" == problems[0]


def test_a_void_record_cannot_count(copy: Public) -> None:
    change(copy.directory / "records/00001.json", lambda file: file["record"].update(verdict="void", winner=None))

    assert "records/00001.json: void, so it cannot count" in signed_again(copy).problems


def test_a_game_that_is_left_out_of_the_schedule_is_found(copy: Public) -> None:
    change(copy.directory / "data/games.json", lambda rows: rows.pop(4))

    assert "game 5 is missing in games.json" in signed_again(copy).problems


def test_lost_game_marked_unplayed_shows_as_open(copy: Public) -> None:
    """Everything may be made to fit that, but the contest is not over then, and says so."""

    def unplay(rows: Any) -> None:
        rows[4] |= {"state": "pending", "attempt": None}

    change(copy.directory / "data/games.json", unplay)
    report = signed_again(copy)

    assert 1 == report.unfinished
    assert not report.is_over
    assert any("standings" in each for each in report.problems)


def test_an_agent_that_is_cancelled_without_a_decision_is_found(copy: Public) -> None:
    change(copy.directory / "data/games.json", lambda rows: rows[4].update(state="cancelled"))

    assert "game 5: cancelled, but no agent is disqualified or withdrawn" in signed_again(copy).problems


def test_other_pairings_than_those_that_follow_are_found(copy: Public) -> None:
    def swap(rows: Any) -> None:
        rows[0], rows[1] = (
            rows[1] | {"table": rows[0]["table"]},
            rows[0] | {"table": rows[1]["table"]},
        )

    change(copy.directory / "data/pairings.json", swap)

    problems = signed_again(copy).problems
    assert "round 1 does not follow from the entries and the earlier results" in problems


def test_other_rules_than_those_that_were_frozen_give_other_games(copy: Public) -> None:
    change(copy.directory / "contest.json", lambda frozen: frozen["policy"]["clock"].update(turn_ms=7))

    problems = signed_again(copy).problems
    assert any("a record of another game than the scheduled one" in each for each in problems)


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("data/games.json", b"[{}]", "not a table of an export: the key '0.number' is missing"),
        ("data/games.json", b"{", "not a table of an export"),
        ("contest.json", b"{}", "not a contest of this judge"),
        ("records/00001.json", b"\xff", "not a record of a game"),
    ],
)
def test_invalid_export_is_reported(copy: Public, name: str, data: bytes, problem: str) -> None:
    (copy.directory / name).write_bytes(data)

    assert any(problem in each for each in signed_again(copy).problems)


def test_a_directory_that_was_never_exported_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give a directory that judge contest export wrote"):
        verify_export(tmp_path, None)


# --- contests of other kinds -----------------------------------------------------------------------------------------


def exported_of(cup: Cup, folder: Path) -> Public:
    public = cup.export(folder)
    cup.close()
    return public


def test_a_swiss_contest_is_drawn_again_round_by_round(tmp_path: Path) -> None:
    """With a bye in each round, an agent that fails too often and is put out, and cancelled games."""
    cast = {**STRONG_TO_WEAK, "always": crasher("always", 0), "zoe": player("zoe", 0.7)}
    form = 'name = "swiss"\nrounds = 5\ngames = 2'
    cup = Cup(tmp_path / "cup", cast, form, more="[failures]\nlimit = 0.5\nafter = 4")
    cup.play()
    public = exported_of(cup, tmp_path)
    report = checked(public)

    assert () == tuple(report.problems)
    assert report.is_over
    assert ["always disqualified: failed in 100 % of its games; 50 % are allowed"] == list(report.decisions)

    change(public.directory / "data/disqualified.json", lambda rows: rows.clear())
    problems = signed_again(public).problems
    assert any("does not follow from the entries and the earlier results" in each for each in problems)


def test_running_contest_reports_how_much_is_missing(tmp_path: Path) -> None:
    cup = Cup(tmp_path / "cup", STRONG_TO_WEAK)
    cup.play(6)
    public = exported_of(cup, tmp_path)
    report = checked(public)

    assert () == tuple(report.problems)
    assert not report.is_over
    assert (6, 14) == (report.replayed, report.unfinished)
    assert "14 of 20 games have no result" in (public.directory / "index.html").read_text()


def test_annulled_game_is_published_with_the_result_that_counts(
    tmp_path: Path,
) -> None:
    cup = Cup(tmp_path / "cup", STRONG_TO_WEAK)
    cup.play(2)
    first = cup.contest.results()[0].id
    cup.store.annul(first, "the wrong opening file")
    cup.play()
    public = exported_of(cup, tmp_path)

    assert () == tuple(checked(public).problems)
    (row,) = json.loads((public.directory / "data/attempts.json").read_bytes())
    assert (1, 1, "annulled") == (row["number"], row["attempt"], row["state"])


def test_numbers_of_another_machine_may_differ_in_their_last_digits() -> None:
    assert "" == difference("a.json", b'[{"elo": 12.30000001}]', b'[{"elo": 12.3}]')
    assert "" == difference("a.json", b'[{"elo": 12}]', b'[{"elo": 12.0}]')
    assert difference("a.json", b'[{"games": 12.0}]', b'[{"games": 12}]')
    assert difference("a.json", b'[{"elo": 12.3000001}]', b'[{"elo": 12.3}]')
    assert difference("a.csv", b"elo\r\n12.30000001\r\n", b"elo\r\n12.3\r\n")
    assert "[0].elo is 12.4, expected 12.3" == difference("a.json", b'[{"elo": 12.4}]', b'[{"elo": 12.3}]')
    assert "line 2, column 1 is '', expected '12.3'" == difference("a.csv", b'a\r\n""\r\n', b"a\r\n12.3\r\n")


@pytest.mark.parametrize(
    ("table", "found"),
    [
        (b'[{"elo": 1}, {"elo": 1}]', "the length of the table is 2, expected 1"),
        (b'[{"elo": 1, "more": 2}]', "the list of keys of [0] is 'elo, more', expected 'elo'"),
        (b'[{"elo": [1]}]', "found the length of [0].elo, expected [0].elo"),
        (b'[{"elo": true}]', "[0].elo is True, expected 1"),
        (b'[{"elo": NaN}]', "it: NaN is not JSON"),
        (b'[{"elo": 1' + b"0" * 400 + b"}]", "[0].elo is 1000000"),
        (b"[" * 100_000, "it cannot be read: maximum recursion depth exceeded"),
        (b'[{"elo": 1}', "it cannot be read: Expecting ',' delimiter"),
    ],
)
def test_the_first_difference_of_a_table_is_named(table: bytes, found: str) -> None:
    assert difference("a.json", table, b'[{"elo": 1}]').startswith(found)


def test_a_row_or_a_cell_too_many_is_a_difference() -> None:
    assert "found the end, expected line 3, column 1" == difference("a.csv", b"a\r\n1\r\n", b"a\r\n1\r\n2\r\n")
    assert "found line 1, column 2, expected line 2, column 1" == difference("a.csv", b"a,b\r\n", b"a\r\n1\r\n")


def test_the_description_of_the_columns_may_be_that_of_another_version(copy: Public) -> None:
    (copy.directory / "data/README.md").write_text("# Columns, as an earlier judge described them")

    assert () == tuple(signed_again(copy).problems)


def test_the_public_key_is_the_one_that_signed(exported: Public) -> None:
    assert public_pem(exported.key.public_key()) == (exported.directory / PUBLIC_KEY).read_bytes()
