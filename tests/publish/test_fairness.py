"""The fairness certificate of an export: from the records, computed again, and not to be bent."""

import re

from judge.cli.contest.verify import fairness_lines
from judge.publish.verify.export import verify_export
from judge.statistics.fairness import fairness_tests
from tests.publish.public import Public, change, sign_again
from tests.statistics.simulated_contests import play


def problems(public: Public) -> list[str]:
    sign_again(public)
    return list(verify_export(public.directory, public.public_key).problems)


def test_a_game_that_was_put_on_another_host_does_not_fit_the_certificate(copy: Public) -> None:
    for number in (1, 2, 3, 4, 5):
        record = copy.directory / f"records/{number:05d}.json"
        change(record, lambda file: file["record"]["placement"].update(host="host-1"))

    assert any("data/fairness" in problem for problem in problems(copy))


def test_export_without_a_part_of_the_certificate_is_refused(copy: Public) -> None:
    for count, name in enumerate(("fairness.csv", "fairness.json"), 1):
        (copy.directory / "data" / name).unlink()
        missing = problems(copy)
        assert count == len(missing)
        assert any(f"{name}: No such file" in each for each in missing)


def test_effect_of_a_machine_is_the_headline_unlike_a_first_move_advantage() -> None:
    headline, advantage = fairness_lines(fairness_tests(*play(1, 400, slots=1, hosts=1, helped=0.3)))

    assert headline.startswith("no effect of the machines")
    assert re.fullmatch(
        r"the first player: \+0\.\d+ points a game \(\+0\.\d+ to \+0\.\d+\), adjusted p = [\de.-]+; "
        r"this comes from the game or its openings, not from a machine",
        advantage,
    )
    lines = list(fairness_lines(fairness_tests(*play(1, 800, agents=6, differ=0.5, slow={0: 1.05, 2: 1.05}))))
    assert re.match(r"effects of the machines were found in \d of \d+ tests", lines[0])
    assert any(re.match(r"host host-\d: [+-]\d+\.\d % time a move \([+-]", line) for line in lines)
