"""The fairness certificate of an export: from the records, computed again, and not to be bent."""

import json
import re
from typing import Any

import pytest

from judge.cli.contest.verify import fairness_lines, verify
from judge.publish.manifest import write_manifest
from judge.statistics.fairness import fairness_tests
from judge.verify.export import verify_export
from tests.publish.public import Public, change
from tests.statistics.simulated_contests import play


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


def test_export_without_the_certificate_is_refused(copy: Public) -> None:
    for name in ("fairness.csv", "fairness.json"):
        (copy.directory / "data" / name).unlink()

    missing = problems(copy)

    assert ["fairness.csv", "fairness.json"] == [
        each.partition(": No such file")[0].rpartition("/")[2] for each in missing
    ]


def test_verify_reports_the_result_of_the_tests(exported: Public, capsys: pytest.CaptureFixture[str]) -> None:
    verify(exported.directory, exported.public_key)

    said = capsys.readouterr().out
    assert "fairness no effect of the machines (slots, hosts, hours, order, neighbours) was found in" in said


def test_first_move_advantage_is_no_effect_of_the_machines() -> None:
    tests = fairness_tests(*play(1, 400, slots=1, hosts=1, helped=0.3))

    headline, advantage = fairness_lines(tests)

    assert headline.startswith("no effect of the machines")
    assert re.fullmatch(
        r"the first player: \+0\.\d+ points a game \(\+0\.\d+ to \+0\.\d+\), adjusted p = [\de.-]+; "
        r"this comes from the game, not from a machine",
        advantage,
    )


def test_effect_of_a_machine_is_the_headline() -> None:
    lines = list(fairness_lines(fairness_tests(*play(1, 800, agents=6, differ=0.5, slow={0: 1.05, 2: 1.05}))))

    assert re.match(r"effects of the machines were found in \d of \d+ tests", lines[0])
    assert any(re.match(r"host host-\d: [+-]\d+\.\d % time a move \([+-]", line) for line in lines)


def test_page_lists_tests_that_were_not_made_in_one_closed_list(exported: Public) -> None:
    page = (exported.directory / "fairness.html").read_text()

    (folded,) = re.findall(r"<details><summary>Not tested: (\d+)</summary><ul>(.*?)</ul></details>", page)
    assert int(folded[0]) == folded[1].count("<li>") > 0
    assert "nothing to compare" not in page.replace(folded[1], "")


@pytest.mark.parametrize("language", ["", "cs/", "zh/"])
def test_the_page_has_every_test_in_every_language(language: str, exported: Public) -> None:
    page = (exported.directory / f"{language}fairness.html").read_text()

    made = [row for row in rows(exported) if row["p"] is not None]
    assert 0 < len(made) == page.count('<th scope="row">')
    others = len(rows(exported)) - len(made)
    assert others == page.count("<li>")
    assert {"": "No effect of", "cs/": "nebyl nalezen", "zh/": "没有发现"}[language] in page
