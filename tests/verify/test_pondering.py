"""Contests in which agents ponder: pages, the verifier and the independent reading."""

from pathlib import Path

import pytest

from judge.publish.verify.export import verify_export
from tests.contests import PAIR, Recipe, nothing
from tests.publish.public import Public, change
from tests.verify.second_opinion import accepted

PONDERS = 'change = ["clock.ponder=true"]\n[slots]\ncores = 2'


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Public:
    recipe = Recipe("pondering", PAIR, more=PONDERS, options={"drawn": nothing})
    return recipe.export(tmp_path_factory.mktemp("pondering"))


def test_both_verifiers_accept_it_and_its_page_states_it(exported: Public) -> None:
    accepted(exported)
    page = (exported.directory / "index.html").read_text()
    assert "Agents also think in the opponent&#39;s time, each on its own cores." in page


@pytest.mark.parametrize("cores", [[], [[1], []], [[1], [1]], [[1, 3], [3]], [[1], [9]], [[1, 3]]])
def test_cores_that_are_not_the_seats_own_are_found(exported: Public, cores: list[list[int]], tmp_path: Path) -> None:
    forged = exported.copy_to(tmp_path)
    record = min((forged.directory / "records").iterdir())
    change(record, lambda file: file["record"]["placement"].update(seat_cores=cores))
    found = verify_export(forged.directory, forged.public_key).problems

    assert any("does not divide the slot's cores between the seats" in problem for problem in found), found
