"""The player of a service: what it exports and when, and what the service reports about it."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from judge.base.errors import InputError
from judge.base.worker_processes import MAX_SERIAL_TASKS
from judge.cli.contest.verify import verify
from judge.cli.submit import open_intake
from judge.contest.file_names import EXPORTS
from judge.contest.orders.contest_orders import Disqualify
from judge.contest.run_process import ContestProcess
from judge.contest.window_keeper import WindowKeeper
from judge.journal.events import Revealed
from judge.publish.kept_exports import kept_exports
from judge.publish.verify.export import verify_export
from judge.store.orders import Orders, OrganiserOrder
from judge.store.submissions import Register
from judge.store.tokens import TokenRole
from judge.submissions.service import SubmissionGate
from judge.transparency.keys import KEY_FILE, make_key, public_pem
from judge.web.player.contest_player import ContestPlayer
from judge.web.player.status import MISTAKE, NO_PLAYER, NOT_OPENED, PlayerFiles, PlayerStatus, player_status
from tests.attacks.serving import serving as judge_serve
from tests.broadcast.logs import PAIR
from tests.contests import nothing
from tests.patience import until
from tests.publish.cups import Cup
from tests.store.server import running
from tests.web.intake.conftest import ended, make_contest, make_token, players_of, send, serving
from tests.web.live.serving import serving_all

STARTED = "\n[contest]\nstarts = 2020-01-01T00:00:00Z\n"

pytestmark = pytest.mark.long


def exported(cup: Cup) -> Sequence[Path]:
    """The public parts of the exports whose order is done, newest first."""
    with closing(Orders(cup.planned.store_url, cup.planned.name)) as orders:
        return [path for _, path in kept_exports(cup.folder) if orders.get(path.parent.name) is not None]


def test_contest_of_many_games_is_exported_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.web.player.contest_player.RETRY_EXPORT_S", 0.0)
    games = MAX_SERIAL_TASKS + 6
    with Cup(tmp_path / "cup", PAIR, form=f'name = "round-robin"\ngames = {games}', more=STARTED, drawn=nothing) as cup:
        cup.play()
        key = make_key(cup.folder / KEY_FILE)
        (cup.folder / "organiser.pem").write_bytes(public_pem(key.public_key()))
        with (
            closing(Register(cup.planned.store_url, cup.planned.name)) as register,
            closing(PlayerFiles(cup.folder, cup.planned.name)) as files,
            ContestPlayer(cup.planned, register, ContestProcess(cup.planned.path), files),
        ):
            until(lambda: len(exported(cup)) == 1, "there is no export")
            shutil.rmtree(cup.folder / EXPORTS)  # as in a restored folder
            until(lambda: len(exported(cup)) == 1, "there is no export again")
            order = OrganiserOrder("Olga", Disqualify.action, "anna", "two entries")
            Disqualify(cup.contest, order).carry_out()
            until(lambda: len(exported(cup)) == 2, "there is no second export")

        newest, first = (verify_export(path, cup.folder / "organiser.pem") for path in exported(cup))
        with pytest.raises(SystemExit):
            verify(cup.folder, sample=1)
        shutil.rmtree(exported(cup)[0].parent)
        with pytest.raises(InputError, match=r"results changed after its newest export .*two entries"):
            verify(cup.folder, sample=1)

    assert [] == [*newest.problems, *first.problems]
    assert (games, games) == (newest.replayed, first.replayed)


def test_contest_whose_file_has_a_mistake_when_the_player_starts_is_played_after_the_repair(tmp_path: Path) -> None:
    desk = make_contest(tmp_path)
    path = tmp_path / "contest.toml"
    text = path.read_text()
    organiser = {"judge-organiser": make_token(desk, "Olga", TokenRole.ORGANISER)}
    with serving(desk, is_alone=False) as service, service.client(make_token(desk, "ada")) as ada:
        path.write_text(f"{text}\nunknwon = 1\n")
        kill_player(service.process.pid)
        until(lambda: player_status(tmp_path, "cup").mistake != "", "the mistake is not reported")
        broken, ready = ada.get("/health"), ada.get("/health/ready")
        page = httpx.get(f"{service.url}/organiser/index.html", cookies=organiser)
        number = send(ada, "good one")
        path.write_text(text)

        assert "passed" == ended(ada, number)["state"]
        until(lambda: ada.get("/health").status_code == 200, "the repair is not reported")
    assert (503, 200) == (broken.status_code, ready.status_code)
    assert MISTAKE in broken.json()["error"]
    assert "unknwon" in page.text


def kill_player(service: int) -> None:
    """A service starts it again. Kills also the processes that render pages."""
    for process in players_of(service):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def test_other_contests_are_played_while_the_store_of_one_is_unreachable(tmp_path: Path) -> None:
    with running() as server:
        # The first one starts first.
        lost, other = (make_contest(tmp_path / name) for name in ("cup", "other"))
        for path, old, new in ((lost, "\n", f"\nstore = {json.dumps(server.url)}\n"), (other, '"cup"', '"other"')):
            file = path.folder / "contest.toml"
            file.write_text(file.read_text().replace(old, new, 1))
        lost, other = (open_intake(path.folder) for path in (lost, other))
        token = make_token(other, "ada")
        with serving_all(lost.folder, "", "", other.folder) as service:
            with service.client(token) as ada:
                ada.base_url = httpx.URL(f"{service.url}/other/")
                server.end()
                kill_player(service.process.pid)
                until(lambda: NOT_OPENED in player_status(lost.folder, "cup").problems, "the failure is not reported")
                assert "passed" == ended(ada, send(ada, "good one"))["state"]
                assert () == player_status(other.folder, "other").problems
                server.start()
                until(lambda: player_status(lost.folder, "cup") == PlayerStatus(), "it is not tried again")
                assert not [line for line in service.logged() if "was lost" in str(line.get("error"))][1:]
            with service.client(make_token(lost, "eve")) as eve:
                eve.base_url = httpx.URL(f"{service.url}/cup/")
                assert "passed" == ended(eve, send(eve, "good two"))["state"]
            failures = [line for line in service.logged() if line["event"] == "a contest is not played"]
            assert ["cup"] == [line["contest"] for line in failures]
            assert "cannot be reached" in failures[0]["error"]


def test_health_reports_that_nobody_plays_also_after_a_killed_player(tmp_path: Path) -> None:
    make_contest(tmp_path)
    with closing(PlayerFiles(tmp_path, "cup")) as files:
        files.write(PlayerStatus())
    with judge_serve(tmp_path, "--no-play") as running, httpx.Client(base_url=running.url) as viewer:
        health, ready = viewer.get("/health"), viewer.get("/health/ready")
        with closing(PlayerFiles(tmp_path, "cup")) as files:
            files.write(PlayerStatus())
            played = viewer.get("/health")

    assert [503, 200, 200] == [each.status_code for each in (health, ready, played)]
    assert NO_PLAYER in health.json()["error"]


class TwoRuns(ContestProcess):
    """The first one fails."""

    count = 0

    def _start(self) -> None:
        self.count += 1
        self._process = subprocess.Popen(["false" if self.count == 1 else "true"])


def test_export_waits_for_reveal_and_failed_run_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.contest.run_process.RETRY_INTERVAL_S", 0.0)
    freeze = "[freeze]\nlast_rounds = 1\nreveal_at = 2020-01-02T00:00:00Z\n"
    with Cup(tmp_path / "cup", PAIR, more=f"{STARTED}{freeze}", drawn=nothing) as cup:
        cup.play()
        make_key(cup.folder / KEY_FILE)
        process = TwoRuns(cup.planned.path)
        with (
            closing(Register(cup.planned.store_url, cup.planned.name)) as register,
            closing(PlayerFiles(cup.folder, cup.planned.name)) as files,
        ):
            player = ContestPlayer(cup.planned, register, process, files)
            player.act()
            assert ("", 0) == (player._writing, process.count)
            WindowKeeper(cup.planned, SubmissionGate(cup.planned.plan.windows)).apply()
            reveals = cup.store.last_lines(cup.contest.name, 2, Revealed)
            assert [Revealed("the set moment")] == [line.change for line in reveals]

            def is_exported() -> bool:
                player.act()
                return bool(exported(cup))

            until(is_exported, "there is no export")

            # A run writes the revealed games to the event log.
            def has_ended() -> bool:
                player.act()
                return process.count == 2 and process._process is None

            until(has_ended, "the run that failed is not repeated")
            player.act()
        assert (2, False) == (process.count, process.has_failed)
        assert [] == list(verify_export(exported(cup)[0], None).problems)
