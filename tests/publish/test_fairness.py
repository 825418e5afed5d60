"""The fairness certificate of an export: from the records, computed again, and not to be bent."""

import json
from typing import Any

import pytest

from judge.cli.contest.verify import verify
from judge.publish.manifest import write_manifest
from judge.verify.export import verify_export
from tests.publish.public import Public, change


def rows(public: Public) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((public.directory / "data/fairness.json").read_bytes())
    return found


def problems(public: Public) -> list[str]:
    """After the organiser has signed again."""
    write_manifest(public.directory, "spring-cup", public.key)
    return list(verify_export(public.directory, public.public_key).problems)


def test_certificate_compares_the_record_conditions(exported: Public) -> None:
    levels = {(row["factor"], row["response"]): row["levels"] for row in rows(exported)}

    assert {"slot", "host", "hour", "order", "neighbours", "seat"} == {factor for factor, _ in levels}
    assert {"score", "time a move"} == {response for _, response in levels}
    # Twenty games: four slots of five games each are too rare to be compared, two hosts are not.
    assert (1, 2) == (levels["slot", "score"], levels["host", "score"])
    assert all(row["p"] is None or row["found"] > 0 for row in rows(exported))


def test_it_is_computed_again(exported: Public) -> None:
    report = verify_export(exported.directory, exported.public_key)

    assert report.fairness is not None
    assert [(row["factor"], row["games"]) for row in rows(exported)] == [
        (test.factor, test.games) for test in report.fairness
    ]


@pytest.mark.parametrize("column", ["p", "adjusted", "effect", "low", "high", "found"])
def test_a_number_that_was_made_nicer_is_found(column: str, copy: Public) -> None:
    def nicer(found: Any) -> None:
        row = next(row for row in found if row["p"] is not None)
        row[column] += 0.2

    change(copy.directory / "data/fairness.json", nicer)

    (problem,) = problems(copy)
    assert problem.startswith("data/fairness.json: differs from the records")
    assert column in problem


def test_a_game_that_was_put_on_another_host_does_not_fit_the_certificate(copy: Public) -> None:
    """Nothing else in a record depends on where it was played."""
    for number in (1, 2, 3, 4, 5):
        change(
            copy.directory / f"records/{number:05d}.json",
            lambda file: file["record"]["placement"].update(host="host-1"),
        )

    assert any("data/fairness" in problem for problem in problems(copy))


def test_invalid_time_is_a_problem(copy: Public) -> None:
    change(copy.directory / "records/00001.json", lambda file: file["record"].update(started_at="noon"))

    assert "records/00001.json: started_at 'noon' is not a time" in problems(copy)


def test_half_a_certificate_is_not_enough(copy: Public) -> None:
    (copy.directory / "data/fairness.csv").unlink()

    assert any("fairness.csv" in problem for problem in problems(copy))


def test_export_of_an_earlier_version_reports_missing_signatures(
    copy: Public, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("fairness.csv", "fairness.json"):
        (copy.directory / "data" / name).unlink()

    assert [] == problems(copy)
    verify(copy.directory, copy.public_key)
    assert "fairness the export has no certificate" in capsys.readouterr().out


def test_verify_reports_the_result_of_the_tests(exported: Public, capsys: pytest.CaptureFixture[str]) -> None:
    verify(exported.directory, exported.public_key)

    assert "tests of slots, hosts, hours, order, neighbours and seats" in capsys.readouterr().out


@pytest.mark.parametrize("language", ["", "cs/", "zh/"])
def test_the_page_has_every_test_in_every_language(language: str, exported: Public) -> None:
    page = (exported.directory / f"{language}fairness.html").read_text()

    made = [row for row in rows(exported) if row["p"] is not None]
    assert 0 < len(made) == page.count('<th scope="row">')
    others = len(rows(exported)) - len(made)
    assert others == page.count("<li>")
    assert {"": "No effect of", "cs/": "nebyl nalezen", "zh/": "没有发现"}[language] in page
