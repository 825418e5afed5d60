"""The real service on a free port, with a check for tests: python -m tests.web.intake.serving DIR."""

import sys
from pathlib import Path

from judge.cli.guard import guarded
from tests.web.intake.standing_in import process


def main(folder: Path) -> None:
    # Here, for a worker of the service imports this module again, and only what it needs.
    from judge.cli.submit import open_intake
    from judge.web.intake.serve import serve
    from judge.web.kit.connections import listening, parse_listen_address

    with listening(parse_listen_address("127.0.0.1:0"), beyond_loopback=False) as listener:
        port = listener.getsockname()[1]
        serve(open_intake(folder), process, listener, ready=lambda: _say(f"{port}\n"))


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    guarded(lambda: main(Path(sys.argv[1])))
