"""Contests in which agents ponder: pages, the verifier and the independent reading."""

from pathlib import Path
from typing import Any

import pytest

from judge.export.export import PageOptions
from judge.verify.export import verify_export
from tests.contests import PAIR, nothing
from tests.publish.cups import Cup
from tests.publish.public import Public, change
from tests.verify.second_opinion import second_opinion

PONDERS = 'change = ["clock.ponder=true"]\n[slots]\ncores = 2'


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Public:
    folder = tmp_path_factory.mktemp("pondering")
    with Cup(folder / "cup", PAIR, more=PONDERS, drawn=nothing) as cup:
        cup.play()
        return cup.export(folder, pages=PageOptions(languages=("en", "cs", "zh")))


def test_both_verifiers_accept_it(exported: Public) -> None:
    assert [] == list(verify_export(exported.directory, exported.public_key).problems)
    assert [] == second_opinion(exported.directory, exported.public_key)


@pytest.mark.parametrize("cores", [[], [[1], []], [[1], [1]], [[1, 3], [3]], [[1], [9]], [[1, 3]]])
def test_cores_that_are_not_the_seats_own_are_found(exported: Public, cores: list[list[int]], tmp_path: Path) -> None:
    forged = exported.copy_to(tmp_path)
    record = min((forged.directory / "records").iterdir())

    def share(file: Any) -> None:
        file["record"]["placement"]["seat_cores"] = cores

    change(record, share)
    found = verify_export(forged.directory, forged.public_key).problems

    assert any("does not divide the slot's cores between the seats" in problem for problem in found), found


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("index.html", "Agents also think in the opponent&#39;s time, each on its own cores."),
        ("cs/index.html", "Programy přemýšlejí i v čase soupeře, každý na vlastních jádrech."),
        ("zh/index.html", "引擎在对手的时间内也思考，各用自己的核心。"),  # noqa: RUF001
    ],
)
def test_front_page_states_it_in_each_language(exported: Public, page: str, words: str) -> None:
    assert words in (exported.directory / page).read_text(encoding="utf-8")
