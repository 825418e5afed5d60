"""A contest, its service, uploads, orders and notices share one PostgreSQL, which is killed and restarted."""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import httpx
import pytest

from judge.base.errors import InputError, StoreLostError
from judge.cli.submit import open_intake
from judge.contest.contest import open_store
from judge.contest.plan import load_plan
from judge.contest_games import AttemptState, GameState
from judge.journal.events import SubmissionState
from judge.notices.sender import new_secret
from judge.store.contests import Store
from judge.store.notices import SENT, Notices
from judge.store.tokens import TokenRole, Tokens
from tests.cli.conftest import SMALL
from tests.cli.contests import running as running_contest
from tests.cli.contests import write_contest
from tests.examples import sized
from tests.notices.receiving import OK, receiving, says
from tests.patience import PATIENCE_S
from tests.store.server import Server, running
from tests.web.intake.conftest import Service
from tests.web.live.serving import serving_all
from tests.web.live.watching import until

GAMES = sized(8, 12)
UPLOADS = sized(4, 6)
"""Of each author; every second one is refused by its check."""
AUTHORS = ("ada", "bob")
KILLS = sized(1, 2)

INTAKE = """
[intake]
uploads_per_hour = 0
waiting_per_author = 0
again_s = 0
requests_per_minute = 100000
address_requests_per_minute = 100000
[intake.notices]
plain = true
permit = ["127.0.0.0/8"]
tries = 20
again_s = 0.05
"""


def make_cup(folder: Path, server: Server) -> None:
    write_contest(folder, ["house-instant", "house-python"], GAMES, [*SMALL, "clock.starved_share=1"])
    path = folder / "contest.toml"
    path.write_text(f"store = {json.dumps(server.url)}\n{path.read_text()}{INTAKE}")


class Person:
    """A client of the service that tries again where the host fails."""

    def __init__(self, service: Service, *, token: str = "", cookie: str = "") -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {"sec-fetch-site": "same-origin"}
        cookies = {"judge-organiser": cookie} if cookie else {}
        self._client = httpx.Client(base_url=service.url, headers=headers, cookies=cookies, timeout=PATIENCE_S)
        self.failures = 0

    def ask(self, method: str, path: str, **sent: object) -> httpx.Response:
        while True:
            answer = self._client.request(method, path, **sent)  # type: ignore[arg-type]
            if answer.status_code != 503:
                return answer
            self.failures += 1
            time.sleep(0.05)

    def upload(self, name: str, number: int) -> None:
        word = "bad" if number % 2 else "good"
        params = {"filename": f"{name}.zip"}
        answer = self.ask("POST", "/submissions", params=params, content=f"{word} {name}-{number}".encode())
        assert 201 == answer.status_code, answer.text

    def order(self, action: str, target: str) -> str:
        shown = self.ask("GET", "/organiser/order.html", params={"action": action, "target": target})
        assert 200 == shown.status_code, shown.text
        fields: Mapping[str, str] = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', shown.text))
        given = self.ask("POST", "/organiser/orders", data={**fields, "why": "a test"})
        assert 303 == given.status_code, given.text
        done = self.ask("GET", f"/organiser/{given.headers['location']}")
        assert 200 == done.status_code, done.text
        return fields["id"]

    def close(self) -> None:
        self._client.close()


def done(store: Store) -> int:
    """Games with a result; asked again where the connection is one of before a kill."""
    with suppress(StoreLostError, InputError):
        store.state("cup")
    return store.counts("cup")[GameState.DONE] if "cup" in store.contest_names() else 0


def goes_on(store: Store, before: int) -> bool:
    return done(store) > before or done(store) == GAMES


def was_told(notices: Notices, author: str, expected: Mapping[str, int]) -> bool:
    sent = Counter(each.kind for each in notices.of(author, 100) if each.state == SENT)
    return expected == sent


@pytest.mark.long
@pytest.mark.docker
@pytest.mark.usefixtures("house")
def test_everything_at_once_on_one_database_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    with running() as server, receiving(says(OK)) as receiver:
        make_cup(folder, server)
        directory = open_intake(folder)
        with closing(Tokens(directory.store_url, directory.contest)) as made:
            tokens = {name: made.make(name, "test") for name in AUTHORS}
            organiser = made.make("Olga", "test", TokenRole.ORGANISER)
        with closing(open_intake(folder).notices()) as notices:
            for author in AUTHORS:
                notices.set_webhook(author, receiver.url, new_secret())
        with (
            serving_all(folder) as service,
            closing(open_store(load_plan(folder))) as store,
            closing(Person(service, cookie=organiser)) as olga,
            closing(Person(service, token=tokens["ada"])) as ada,
            closing(Person(service, token=tokens["bob"])) as bob,
            running_contest(tmp_path, "cup") as contest,
        ):
            drain = threading.Thread(target=contest.communicate)
            drain.start()
            until(lambda: done(store) >= 1, "no game is over")
            # While the contest runs: nothing plays the game of an order that comes after its end.
            olga.order("void", store.results("cup")[0].id)
            for number in range(UPLOADS // 2):
                ada.upload("ada", number)
                bob.upload("bob", number)
            for kill in range(KILLS):
                server.end("immediate")
                # While there is no database, an upload waits with its client, and games are played.
                late = [
                    threading.Thread(target=person.upload, args=(name, UPLOADS // 2 + kill))
                    for person, name in ((ada, "ada"), (bob, "bob"))
                ]
                for thread in late:
                    thread.start()
                until(lambda: min(ada.failures, bob.failures) > kill, "no author learns of the host's failure")  # noqa: B023
                server.start()
                for thread in late:
                    thread.join()
                until(partial(goes_on, store, done(store)), "no game goes on")
            ada.upload("ada", UPLOADS - 1)
            bob.upload("bob", UPLOADS - 1)
            drain.join()
            assert 0 == contest.returncode

            # Each game has one result, by an attempt that was accepted, and the order was carried out once.
            results = store.results("cup")
            assert GAMES == len(results) == len({result.id for result in results})
            lines = [line for line in store.journal("cup") if line.event in set(AttemptState)]
            accepted = Counter(line.game for line in lines if line.event == AttemptState.ACCEPTED)
            annulled = Counter(line.game for line in lines if line.event == AttemptState.ANNULLED)
            assert Counter({result.id: 1 for result in results}) == accepted - annulled
            assert 1 == annulled.total()
            with closing(open_intake(folder).register()) as register, closing(open_intake(folder).notices()) as notices:

                def states() -> Counter[SubmissionState]:
                    return Counter(one.state for one in register.submissions(limit=1000))

                until(
                    lambda: not states()[SubmissionState.RECEIVED] + states()[SubmissionState.PROCESSING],
                    "not all is processed",
                )
                # An upload may be registered although its client was told of a failure, and is then sent again.
                assert {SubmissionState.PASSED, SubmissionState.REFUSED} == set(states())
                assert min(states().values()) >= len(AUTHORS) * UPLOADS // 2
                refused = [
                    one.author for one in register.submissions(limit=1000) if one.state is SubmissionState.REFUSED
                ]
                for author in AUTHORS:
                    expected = {"test": 1, "refused": refused.count(author)}
                    until(
                        partial(was_told, notices, author, expected),
                        f"the notices to {author} are not those of what happened",
                    )
                    assert {SENT} == {each.state for each in notices.of(author, 100)}
