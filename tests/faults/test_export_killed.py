"""`kill -9` of an export at random moments: the folder has no export or a whole one, and the next export completes."""

import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.contest.file_names import EXPORTS
from judge.publish.export.export import write_export
from judge.publish.verify.export import verify_export
from judge.transparency.keys import KEY_FILE, make_key
from tests.examples import of_evidence, sized
from tests.faults.test_backup_killed import SEED, calls_of, in_a_fork, left_in, temporary
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.store.server import database

__all__ = ["temporary"]

KILLS = sized(4, 50)


@pytest.fixture(params=["sqlite", *of_evidence("postgresql")])
def cup(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cup]:
    with database(request.param) as url, Cup(tmp_path / "cup", STRONG_TO_WEAK, more=f'store = "{url}"') as made:
        make_key(made.folder / KEY_FILE)
        made.play(4)
        yield made


def test_export_killed_at_any_moment_is_repeated(cup: Cup, temporary: Path) -> None:
    plan, exports = str(cup.planned.path), cup.folder / EXPORTS
    calls = calls_of(lambda: write_export(plan, "measured"))
    moments, killed = random.Random(SEED), 0
    for number in range(KILLS):
        code = in_a_fork(lambda: write_export(plan, "killed"), moments.randint(1, calls))
        killed += code == -signal.SIGKILL
        assert code in (0, -signal.SIGKILL)
        if (public := exports / "killed/public").exists():
            assert [] == verify_export(public, None).problems
            (exports / "killed").rename(exports / f"whole-{number}")  # complete, though perhaps killed afterwards
    assert killed

    write_export(plan, "killed")
    assert [] == verify_export(exports / "killed/public", None).problems
    assert [] == list(exports.rglob(".*.partial"))
    assert [] == left_in(temporary)
