"""A sample of an export is replayed, and its output cannot be mistaken for a complete verification."""

import itertools
from fractions import Fraction

import pytest

from judge.cli.contest.verify import SAMPLE_EXIT_CODE, verify
from judge.publish.verify.export import verify_export
from judge.publish.verify.sample import Sample, chance_to_find, percent_to_find
from tests.publish.public import Public, change, sign_again


def forge(public: Public, number: int) -> None:
    """Change the reason in the record of a game, as an organiser could."""
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
