"""The player of a service exports a contest that is over, of any size, once for each state of its results."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from judge.base.worker_processes import MAX_SERIAL_TASKS
from judge.contest.orders.contest_orders import Disqualify
from judge.contest.run_process import ContestProcess
from judge.contest.window_keeper import WindowKeeper
from judge.journal.events import Revealed
from judge.publish.kept_exports import kept_exports
from judge.publish.verify.export import verify_export
from judge.store.orders import Orders, OrganiserOrder
from judge.store.submissions import Register
from judge.submissions.windows import SubmissionGate
from judge.transparency.keys import make_key, public_pem
from judge.transparency.log import KEY_FILE
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


def test_export_waits_for_the_reveal_at_its_moment(tmp_path: Path) -> None:
    freeze = "[freeze]\nlast_rounds = 1\nreveal_at = 2020-01-02T00:00:00Z\n"
    with Cup(tmp_path / "cup", PAIR, more=f"{STARTED}{freeze}") as cup:
        cup.play()
        make_key(cup.folder / KEY_FILE)
        process, runs = ContestProcess(cup.planned.path), list[int]()

        def start() -> bool:
            runs.append(1)
            return True

        process.ensure = start  # type: ignore[method-assign]
        with closing(Register(cup.planned.store_url, cup.planned.name)) as register:
            player = ContestPlayer(cup.planned, register, process)
            player._take_lock()
            assert player._lock is not None
            with player._lock:
                player.act()
                assert ("", []) == (player._writing, runs)
                WindowKeeper(cup.planned, SubmissionGate(cup.planned.plan.windows)).apply()
                reveals = cup.store.last_lines(cup.contest.name, 2, Revealed)
                assert [Revealed("the set moment")] == [line.change for line in reveals]

                def is_exported() -> bool:
                    player.act()
                    return bool(exported(cup))

                until(is_exported, "there is no export")
        # A run writes the revealed games to the event log.
        assert [1] == runs
        assert [] == list(verify_export(exported(cup)[0], None).problems)
