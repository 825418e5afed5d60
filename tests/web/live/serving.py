"""`judge serve` on a free port, with a check for tests in the place of the real one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.attacks.serving import serving
from tests.web.intake.conftest import Service
from tests.web.intake.standing_in import GATE


@contextmanager
def serving_all(folder: Path, proxy: str = "", root_path: str = "", *others: Path) -> Iterator[Service]:
    """The pages, the intake and the authors' pages of a contest, or of several."""
    options = (*map(str, others), f"--proxy={proxy}", f"--root-path={root_path}")
    with serving(folder, *options, without=[GATE]) as running:
        yield Service(running.process, running.port, running.log)
