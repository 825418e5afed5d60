"""The service is killed in the middle of orders: each is carried out as a whole or not at all, and then once."""

import json
import logging
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from judge.base.logs import set_level
from judge.contest_games import GameState
from judge.journal.events import Resumed, Stopped
from judge.store.orders import new_order_id
from tests.examples import sized
from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S
from tests.web.organisers.office import Office, office, proof, submit
from tests.web.service import FORM, ask, service_of

KILLS = sized(5, 50)
"""Each at a random moment of an order; the long proof takes 200."""

LATEST_S = 0.03
"""An order takes a third of it."""


def serve_orders(folder: Path) -> None:
    """A service that is sent orders: a line of stdin is a cookie's token and a form, as JSON; stdout is for answers."""
    set_level(logging.ERROR)
    with service_of(folder) as (app, _):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        for line in sys.stdin:
            token, body = json.loads(line)
            cookie = f"judge-organiser={token}"
            status, _, found = ask(app, "POST", "/organiser/orders", cookie, body.encode(), **FORM)
            sys.stdout.write(json.dumps([status, found.decode()]) + "\n")
            sys.stdout.flush()


@contextmanager
def service(folder: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", __name__, str(folder)]
    with ForkedProcess(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert "ready\n" == answer(process)
            yield process
        finally:
            process.kill()


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], PATIENCE_S)[0], "no answer"
    return process.stdout.readline()


def send(process: subprocess.Popen[str], token: str, form: dict[str, str]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps([token, urlencode(form)]) + "\n")
    process.stdin.flush()


def prepared_void(found: Office) -> tuple[str, str]:
    """The first game, with a result; the attempt."""
    found.cup.store.set_state(found.cup.contest.name, Resumed(""))
    found.cup.play(1)
    game = found.cup.store.games(found.cup.contest.name)[0]
    assert GameState.DONE == game.state
    return "1", str(game.attempt)


def prepared_replay(found: Office) -> tuple[str, str]:
    """A game is held, and the contest stopped; its number."""
    prepared_resume(found)
    (game, *_) = found.cup.store.listed(found.cup.contest.name, GameState.HELD)
    return str(game.number), "0"


def prepared_resume(found: Office) -> tuple[str, str]:
    store, name = found.cup.store, found.cup.contest.name
    store.set_state(name, Resumed(""))
    issued = store.issue(name, "here")
    assert issued is not None
    store.void(issued.id, issued.attempt, "void", None, allowed=1)
    store.set_state(name, Stopped(issued.first, issued.second, 1, "void"))
    return "", "0"


ACTIONS: dict[str, tuple[Callable[[Office], tuple[str, str]], int]] = {
    "pause": (lambda _: ("", "0"), 1),
    "resume": (prepared_resume, 2),
    "replay": (prepared_replay, 2),
    "void": (prepared_void, 1),
    "refuse": (lambda found: (str(submit(found, "slow")), "0"), 1),
}
"""What must be there before an order, and how many lines of journals tell of it."""


def count_lines(found: Office, why: str) -> int:
    """The lines that tell of an order."""
    lines = found.cup.store.journal(found.cup.contest.name)
    register = found.console.state.register
    changes = [change for each in register.submissions() for change in register.journal(each.id)]
    return sum(why in line.text for line in lines) + sum(why == change.why for change in changes)


def test_no_order_is_half_done_and_none_is_done_twice(tmp_path: Path) -> None:
    chance = random.Random(18)
    with office(tmp_path / "cup") as found:
        token = found.tokens["act"]
        last: tuple[str, str, dict[str, str], int] = ("", "", {}, 0)
        for number in range(KILLS + 1):
            action, (prepare, lines) = list(ACTIONS.items())[number % len(ACTIONS)]
            with service(found.cup.folder) as process:
                why, of, form, expected = last
                for _ in range(2 if form else 0):
                    send(process, token, form)
                    status, body = json.loads(answer(process))
                    assert 303 == status, (of, body)
                assert not form or expected == count_lines(found, why), of
                if number == KILLS:
                    break
                target, attempt = prepare(found)
                why = f"reason {number:04d}."
                form = {"action": action, "target": target, "attempt": attempt, "why": why}
                form |= {"id": new_order_id(), "proof": proof(token)}
                send(process, token, form)
                # The moment of the kill is what is tried here.
                until = time.monotonic() + chance.uniform(0, LATEST_S)
                while time.monotonic() < until:
                    pass
                process.send_signal(signal.SIGKILL)
                process.wait(PATIENCE_S)
            is_noted = found.console.orders.get(form["id"]) is not None
            assert (lines if is_noted else 0) == count_lines(found, why), (action, is_noted)
            last = (why, action, form, lines)
        assert KILLS == len(found.console.orders.latest(KILLS + 1))


if __name__ == "__main__":
    serve_orders(Path(sys.argv[1]))
