"""The whole service on a free port, with a check for tests: python -m tests.web.live.serving DIR."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType

from judge.cli.guard import guarded
from judge.cli.submit import open_intake
from judge.contest.plan import load_plan
from judge.web.authors import app as authors_app
from judge.web.intake.serve import listening, parse_listen_address, running_intake
from judge.web.kit import clients
from judge.web.live import hub
from judge.web.live.serve import serve
from tests.forked import ForkedProcess
from tests.web.intake.conftest import Service
from tests.web.intake.standing_in import process

DEFENCES: dict[str, list[tuple[ModuleType, str, object]]] = {
    "organisers' room": [(clients, "ORGANISER_ROOM", 0), (clients, "SIGN_IN_ROOM", 0)],
    "stream bound": [(hub, "MOST_UNSENT", 1 << 40), (hub, "PIECE_BYTES", 1 << 39)],
    "site": [(authors_app, "check_site", lambda _: None)],
    "question": [(authors_app, "confirms_change", lambda *_: True)],
}
"""What `without` names."""


@contextmanager
def serving_all(folder: Path, proxy: str = "", root_path: str = "", without: Sequence[str] = ()) -> Iterator[Service]:
    """The pages, the intake and the authors' pages of a contest, until the test is through with it. `without` names
    defences that are switched off."""
    log = folder / "service.log"
    words = [sys.executable, "-m", "tests.web.live.serving", str(folder), proxy, root_path, *without]
    with log.open("a") as stderr:
        running = ForkedProcess(words, stdout=subprocess.PIPE, stderr=stderr, text=True)
    assert running.stdout
    port = running.stdout.readline()
    assert port, log.read_text()
    try:
        yield Service(running, int(port), log)
    finally:
        running.terminate()
        running.wait()
        running.stdout.close()


def switch_off(defence: str) -> None:
    """Take a defence of the service away in this process."""
    for module, name, value in DEFENCES[defence]:
        assert hasattr(module, name)
        setattr(module, name, value)


def main(folder: Path, proxy: str, root_path: str) -> None:
    address = parse_listen_address("127.0.0.1:0")
    with (
        listening(address, beyond_loopback=False) as listener,
        running_intake(open_intake(folder), process) as intake,
    ):
        port = listener.getsockname()[1]
        ready = partial(_say, f"{port}\n")
        serve(load_plan(folder), listener, intake=intake, proxy=proxy, root_path=root_path, ready=ready)


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    for each in sys.argv[4:]:
        switch_off(each)
    guarded(lambda: main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
