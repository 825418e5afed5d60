"""The player of a service exports a contest that is over, of any size, once for each state of its results."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from judge.base.worker_processes import MAX_SERIAL_TASKS
from judge.contest.orders.contest_orders import Disqualify
from judge.contest.run_process import ContestProcess
from judge.publish.kept_exports import kept_exports
from judge.publish.verify.export import verify_export
from judge.store.orders import Orders, OrganiserOrder
from judge.store.submissions import Register
from judge.transparency.keys import KEY_FILE, make_key, public_pem
from judge.web.player.contest_player import ContestPlayer
from tests.broadcast.logs import PAIR
from tests.broadcast.test_recorder import until
from tests.publish.cups import Cup

STARTED = "\n[contest]\nstarts = 2020-01-01T00:00:00Z\n"

pytestmark = pytest.mark.long


def exported(cup: Cup) -> Sequence[Path]:
    """The public parts of the exports whose order is done, newest first."""
    with closing(Orders(cup.planned.store_url, cup.planned.name)) as orders:
        return [path for _, path in kept_exports(cup.folder) if orders.get(path.parent.name) is not None]


def test_contest_of_many_games_is_exported_again_after_a_change_of_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.web.player.contest_player.RETRY_EXPORT_S", 0.0)
    games = MAX_SERIAL_TASKS + 6
    with Cup(tmp_path / "cup", PAIR, form=f'name = "round-robin"\ngames = {games}', more=STARTED) as cup:
        cup.play()
        key = make_key(cup.folder / KEY_FILE)
        (cup.folder / "organiser.pem").write_bytes(public_pem(key.public_key()))
        with (
            closing(Register(cup.planned.store_url, cup.planned.name)) as register,
            ContestPlayer(cup.planned, register, ContestProcess(cup.planned.path)),
        ):
            until(lambda: len(exported(cup)) == 1, "there is no export")
            order = OrganiserOrder("Olga", Disqualify.action, "anna", "two entries")
            Disqualify(cup.contest, order).carry_out()
            until(lambda: len(exported(cup)) == 2, "there is no second export")

        newest, first = (verify_export(path, cup.folder / "organiser.pem") for path in exported(cup))

    assert [] == [*newest.problems, *first.problems]
    assert (games, games) == (newest.replayed, first.replayed)
