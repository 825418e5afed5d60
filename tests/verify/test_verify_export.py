"""An export verifies, whole or by a sample, and every false statement in it is found, also one that is signed."""

import itertools
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.cli.contest.verify import SAMPLE_EXIT_CODE, verify
from judge.publish.manifest import PUBLIC_KEY
from judge.publish.verify.export import difference, verify_export
from judge.publish.verify.sample import Sample, chance_to_find, percent_to_find
from tests.publish.public import Public, change, sign_again


def test_an_untouched_export_verifies(exported: Public) -> None:
    report = verify_export(exported.directory, exported.public_key)

    assert () == tuple(report.problems)
    assert report.is_over
    assert not report.manifest.is_own_key
    assert ("spring-cup", 21, 1, 0) == (report.contest, report.replayed, report.uncounted, report.unfinished)


def test_key_from_the_directory_is_reported_as_such(exported: Public) -> None:
    """Given by name or not, it proves that nothing was changed, but not who signed."""
    inside = verify_export(exported.directory, exported.directory / PUBLIC_KEY)

    assert verify_export(exported.directory, None).manifest.is_own_key
    assert inside.manifest.is_own_key
    assert () == tuple(inside.problems)


RECORD = "records/00001.json"
LIES: dict[str, tuple[str, Callable[[Any], object] | str, str]] = {
    # The attempt is a whole record of the same game, with its own seed.
    "a void as the result": (
        "records/00003.json",
        "records/00003.attempt-1.json",
        "records/00003.json: has another seed than the contest's seed gives",
    ),
    "a void that counts": (
        RECORD,
        lambda file: file["record"].update(verdict="void", winner=None),
        f"{RECORD}: void, so it cannot count",
    ),
    "other rules": (
        "contest.json",
        lambda frozen: frozen["policy"]["clock"].update(turn_ms=7),
        "a record of another game than the scheduled one",
    ),
}
"""The file, its change or new content (a text is the name of another file), and the problem.

tests/verify/forgeries.py has more, each of which tests/corpus tries.
"""


@pytest.mark.parametrize("lie", LIES)
def test_signed_lie_is_found(lie: str, copy: Public) -> None:
    name, new, problem = LIES[lie]
    path = copy.directory / name
    if callable(new):
        change(path, new)
    else:
        path.write_bytes((copy.directory / new).read_bytes())
    sign_again(copy)

    assert any(problem in each for each in verify_export(copy.directory, copy.public_key).problems)


def test_lost_game_marked_unplayed_shows_as_open(copy: Public) -> None:
    """Everything may be made to fit that, but the contest is not over then, and says so."""
    change(copy.directory / "data/games.json", lambda rows: rows[4].update(state="pending", attempt=None))
    sign_again(copy)
    report = verify_export(copy.directory, copy.public_key)

    assert 1 == report.unfinished
    assert not report.is_over
    assert any("standings" in each for each in report.problems)


def test_the_description_of_the_columns_may_be_that_of_another_version(copy: Public) -> None:
    (copy.directory / "data/README.md").write_text("# Columns, as an earlier judge described them")
    sign_again(copy)

    assert () == tuple(verify_export(copy.directory, copy.public_key).problems)


def test_a_directory_that_was_never_exported_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give a directory that judge contest export wrote"):
        verify_export(tmp_path, None)


@pytest.mark.parametrize(
    ("table", "expected", "found"),
    [
        # Numbers of another machine may differ in their last digits.
        (b'[{"elo": 12.30000001}]', b'[{"elo": 12.3}]', ""),
        (b'[{"elo": 12}]', b'[{"elo": 12.0}]', ""),
        (b'[{"elo": 12.3000001}]', b'[{"elo": 12.3}]', "[0].elo is 12.3000001"),
        (b'[{"games": 12.0}]', b'[{"games": 12}]', "[0].games is 12.0"),
        (b'[{"elo": 12.4}]', b'[{"elo": 12.3}]', "[0].elo is 12.4, expected 12.3"),
        (b'[{"elo": 1}, {"elo": 1}]', b'[{"elo": 1}]', "the length of the table is 2, expected 1"),
        (b'[{"elo": 1, "more": 2}]', b'[{"elo": 1}]', "the list of keys of [0] is 'elo, more', expected 'elo'"),
        (b'[{"elo": [1]}]', b'[{"elo": 1}]', "found the length of [0].elo, expected [0].elo"),
        (b'[{"elo": true}]', b'[{"elo": 1}]', "[0].elo is True, expected 1"),
        (b'[{"elo": NaN}]', b'[{"elo": 1}]', "it: NaN is not JSON"),
        (b'[{"elo": 1' + b"0" * 400 + b"}]", b'[{"elo": 1}]', "[0].elo is 1000000"),
        (b"[" * 100_000, b'[{"elo": 1}]', "it cannot be read: maximum recursion depth exceeded"),
        (b'[{"elo": 1}', b'[{"elo": 1}]', "it cannot be read: Expecting ',' delimiter"),
    ],
)
def test_the_first_difference_of_a_table_is_named(table: bytes, expected: bytes, found: str) -> None:
    named = difference("a.json", table, expected)
    assert named.startswith(found)
    assert bool(found) == bool(named)


@pytest.mark.parametrize(
    ("table", "expected", "found"),
    [
        (b"elo\r\n12.30000001\r\n", b"elo\r\n12.3\r\n", "line 2, elo is '12.30000001', expected '12.3'"),
        (b'a,b\r\n1,""\r\n', b"a,b\r\n1,12.3\r\n", "line 2, b is '', expected '12.3'"),
        (b"a\r\n1\r\n", b"a\r\n1\r\n2\r\n", "found the end, expected line 3, a"),
        (b"a,b\r\n", b"a\r\n1\r\n", "found line 1, column 2, expected line 2, a"),
        (b"a,x\r\n1,2\r\n", b"a,b\r\n1,2\r\n", "line 1, column 2 is 'x', expected 'b'"),
        (b"a\r\n1,2\r\n", b"a\r\n1\r\n", "found line 2, column 2, expected the end"),
    ],
)
def test_the_first_difference_of_a_csv_is_named(table: bytes, expected: bytes, found: str) -> None:
    assert found == difference("a.csv", table, expected)


def forge(public: Public, number: int) -> None:
    change(public.directory / f"records/{number:05d}.json", lambda file: file["record"].update(reason="forged"))
    sign_again(public)


def sampled(public: Public, capsys: pytest.CaptureFixture[str], seed: str = "") -> str:
    with pytest.raises(SystemExit, match=str(SAMPLE_EXIT_CODE)):
        verify(public.directory, public.public_key, sample=4, sample_seed=seed)
    return capsys.readouterr().out


def test_sample_replays_its_games_only_and_compares_all_digests_with_the_log(copy: Public) -> None:
    forge(copy, 4)
    for seed in map(str, range(12)):
        sample = Sample(5, seed)
        report = verify_export(copy.directory, copy.public_key, sample=sample)

        found = [problem for problem in report.problems if "replay" in problem or "reason" in problem]
        assert bool(found) == (4 in sample.choose(range(1, 21))), seed
        assert report.problems
        assert (5, 20) == (report.replayed - report.uncounted, report.sampled_of)


def test_untouched_export_has_no_problem_in_any_sample(exported: Public) -> None:
    for size in (1, 7, 20, 1000):
        report = verify_export(exported.directory, exported.public_key, sample=Sample(size, "a"))
        assert [] == report.problems
        assert min(size, 20) == report.replayed - report.uncounted


def test_wrong_claim_of_a_sampled_game_contradicts_its_record(copy: Public) -> None:
    def swap(rows: list[dict[str, object]]) -> None:
        rows[3]["winner"] = rows[3]["second"] if rows[3]["winner"] == rows[3]["first"] else rows[3]["first"]

    change(copy.directory / "data/games.json", swap)
    sign_again(copy)

    report = verify_export(copy.directory, copy.public_key, sample=Sample(20, "a"))
    assert any("data/games.json" in problem for problem in report.problems)


def test_manifest_has_all_files_of_a_sampled_export(copy: Public) -> None:
    (copy.directory / "records/00007.json").write_text("{}")
    report = verify_export(copy.directory, copy.public_key, sample=Sample(1, "a"))
    assert "records/00007.json: changed" in report.problems


def test_choice_depends_on_the_seed_alone() -> None:
    assert Sample(3, "a").choose(range(1, 100)) == Sample(3, "a").choose(reversed(range(1, 100)))
    assert Sample(3, "a").choose(range(1, 100)) != Sample(3, "b").choose(range(1, 100))


@pytest.mark.parametrize(("forged", "sampled", "games"), [(1, 2, 6), (2, 2, 6), (3, 2, 6), (2, 5, 6), (1, 6, 6)])
def test_chance_to_find_is_the_share_of_all_samples(forged: int, sampled: int, games: int) -> None:
    samples = list(itertools.combinations(range(games), sampled))
    found = sum(min(sample) < forged for sample in samples)
    assert chance_to_find(forged, sampled, games) == pytest.approx(float(Fraction(found, len(samples))))


def test_only_a_certain_finding_is_printed_as_certain() -> None:
    """A sample of 100 can miss 1,000 of 2,090 games, though the probability is 1 in double precision."""
    assert 1.0 == chance_to_find(1000, 100, 2090)
    assert "99.9 %" == percent_to_find(1000, 100, 2090)
    assert "100 %" == percent_to_find(11, 10, 20)
    assert "0 %" == percent_to_find(1, 1, 100_000)


def test_command_names_the_sample_and_exits_with_its_own_code(
    exported: Public, copy: Public, capsys: pytest.CaptureFixture[str]
) -> None:
    out = sampled(exported, capsys, "lots")
    assert "sample   4 of 20 games replayed, chosen by --sample-seed lots\n" in out
    assert "probability to find at least one of k forged games: 1: 20 %, 10: 95.6 %\n" in out
    assert out.endswith("SAMPLE ok, NOT verified: spring-cup, 4 of 20 games replayed\n")

    first = sampled(exported, capsys)
    assert first == sampled(exported, capsys, first.partition("--sample-seed ")[2].split()[0])

    forge(copy, 4)
    with pytest.raises(SystemExit, match="1"):
        verify(copy.directory, copy.public_key, sample=20)
