"""Two hosts with one contest on one PostgreSQL: one runs it, the other says who does, and takes over when it dies."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from judge.base.errors import HostError, InputError, StoreLostError
from judge.journal.events import ImagesChanged
from judge.store.contests import Store
from judge.store.types import EntryRow
from tests.store.server import execute

pytestmark = pytest.mark.slow

HOLDER = """
import sys, time
from judge.store.contests import Store
with Store(sys.argv[1]).lease("cup", "judge on one, process 1"):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def stores(postgresql: str) -> Iterator[tuple[Store, Store]]:
    one, two = Store(postgresql), Store(postgresql)
    yield one, two
    one.close()
    two.close()


def end_sessions(url: str) -> None:
    """As when the database is restarted, or takes a holder for lost."""
    sessions = "application_name LIKE 'judge on %' AND datname = current_database()"
    execute(url, f"SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE {sessions}")  # noqa: S608 our text


def write_and_lose(store: Store, url: str) -> None:
    with store._writing() as connection:
        connection.execute(text("UPDATE contests SET state = 'late' WHERE name = 'fenced'"))
        end_sessions(url)


def test_second_runner_of_a_contest_is_refused_with_the_name_of_the_first(stores: tuple[Store, Store]) -> None:
    one, two = stores
    with one.lease("cup", "judge on one, process 1"), two.lease("another cup", "judge on two, process 2"):
        with pytest.raises(InputError, match="judge on one, process 1 runs cup"), two.lease("cup", "judge on two"):
            pass
        with pytest.raises(InputError, match="judge on two, process 2 runs another cup"), one.lease("another cup", "x"):
            pass

    with two.lease("cup", "judge on two"):
        two.check_lease()


def test_the_lease_of_a_killed_judge_is_free(postgresql: str, stores: tuple[Store, Store]) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, postgresql], stdout=subprocess.PIPE)
    assert holder.stdout
    assert b"held\n" == holder.stdout.readline()
    with pytest.raises(InputError, match="judge on one, process 1 runs cup"), stores[1].lease("cup", "judge on two"):
        pass
    holder.send_signal(signal.SIGKILL)
    holder.communicate()

    while True:  # the server notices the end of the connection in a moment
        try:
            with stores[1].lease("cup", "judge on two"):
                break
        except InputError:
            continue


def test_holder_takes_its_lease_again_unless_another_has_it(postgresql: str, stores: tuple[Store, Store]) -> None:
    one, two = stores
    with one.lease("cup", "judge on one"):
        end_sessions(postgresql)
        one.check_lease()
        with pytest.raises(InputError, match="judge on one runs cup"), two.lease("cup", "judge on two"):
            pass

        end_sessions(postgresql)
        with two.lease("cup", "judge on two"), pytest.raises(HostError, match="judge on two has taken over cup"):
            one.check_lease()


def test_process_without_the_lease_writes_nothing(postgresql: str, stores: tuple[Store, Store]) -> None:
    one, two = stores
    one.create("fenced", "{}", [EntryRow("a", 1, "{}")])
    with one.lease("fenced", "judge on one"):
        one.remark("fenced", ImagesChanged("in time"))
        with pytest.raises(StoreLostError):
            write_and_lose(one, postgresql)
        with two.lease("fenced", "judge on two"):
            for _ in range(2):  # no new connection is made in silence
                with pytest.raises(StoreLostError):
                    one.remark("fenced", ImagesChanged("late"))
            two.remark("fenced", ImagesChanged("the next one's"))
            with pytest.raises(HostError, match="judge on two has taken over fenced"):
                one.check_lease()
        one.check_lease()
        one.remark("fenced", ImagesChanged("with the lease again"))

    assert "open" == two.state("fenced")
    words = [line.text for line in two.journal("fenced") if line.event == "images"]
    assert ["in time", "the next one's", "with the lease again"] == words


def test_sqlite_needs_none(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'cup.db'}")
    with store.lease("cup", "one"), store.lease("cup", "two"):
        store.check_lease()
    store.close()
