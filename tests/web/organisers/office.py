"""A contest with submissions and games, and its whole service in this process, as an organiser sees it."""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from starlette.types import ASGIApp

from judge.cli.submit import open_intake
from judge.store.tokens import TokenRole
from judge.store.types import ProcessingResult, Upload
from judge.submissions.service import IntakeDirectory
from judge.transparency.keys import make_key
from judge.web.kit.session import proof_of
from judge.web.organisers.app import ORDER_FORM
from judge.web.organisers.console import Console
from tests.contests import Recipe
from tests.patience import until
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.web.service import FORM, Answer, ask, service_of

CAST = {name: STRONG_TO_WEAK[name] for name in ("anna", "bert", "-carl")}

PATIENCE = """
[intake]
requests_per_minute = 10000000
address_requests_per_minute = 10000000
strangers_per_minute = 10000000
[broadcast]
requests_per_minute = 10000000
"""

PLAYED = 5
"""Games that are over, of six."""


@dataclass
class Office:
    """The service, and tokens of all kinds."""

    begun: Cup | None
    service: ASGIApp
    console: Console
    directory: IntakeDirectory
    tokens: Mapping[str, str]

    @property
    def cup(self) -> Cup:
        assert self.begun is not None
        return self.begun

    def ask(self, method: str, path: str, token: str = "", body: bytes = b"", **headers: str) -> Answer:
        """One request with the cookie of a token."""
        cookie = f"judge-organiser={token}" if token else headers.pop("cookie", "")
        return ask(self.service, method, path, cookie, body, **headers)

    def page(self, path: str, who: str = "act") -> str:
        status, _, body = self.ask("GET", f"/organiser/{path}", self.tokens[who])
        assert 200 == status, (path, status, body)
        return body.decode()

    def form(self, action: str, target: str = "", **more: str) -> dict[str, str]:
        """The form of an order as its page has it, with a reason."""
        page = self.page(f"order.html?{urlencode({'action': action, 'target': target})}")
        fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))
        return {**fields, "why": f"because of {action}", **more}

    def post(self, form: Mapping[str, str], who: str = "act", **headers: str) -> Answer:
        body = urlencode(form).encode()
        return self.ask("POST", "/organiser/orders", self.tokens[who], body, **{**FORM, **headers})

    def order(self, action: str, target: str = "", **more: str) -> str:
        """Give an order; the page that says what was done."""
        status, headers, body = self.post(self.form(action, target, **more))
        assert 303 == status, body
        return self.done(headers["location"])

    def done(self, location: str) -> str:
        """The page of an order, when it is carried out."""
        until(lambda: 'http-equiv="refresh"' not in self.page(location), "the order is not carried out")
        return self.page(location)

    def dump(self) -> Sequence[str]:
        with closing(sqlite3.connect(self.cup.folder / "contest.db")) as database:
            return list(database.iterdump())


def proof(token: str) -> str:
    return proof_of(token, ORDER_FORM)


@contextmanager
def office(folder: Path, played: int = PLAYED) -> Iterator[Office]:
    with ExitStack() as stack:
        recipe = Recipe(f"office-{played}", CAST, more=PATIENCE, happens=lambda cup: cup.play(played, void=(2,)))
        cup = stack.enter_context(recipe.contest(folder))
        make_key(folder / "organiser.key")
        yield stack.enter_context(office_in(folder, cup))


@contextmanager
def unbegun(folder: Path, keys: str = "", tables: str = "", form: str = "round-robin") -> Iterator[Office]:
    folder.mkdir()
    plan = f"""\
name = "spring-cup"
about = "a cup in spring"
policy = "gomocup-freestyle"
{keys}
[format]
name = "{form}"
{tables}
[[agents]]
path = "house-instant"
name = "left"
"""
    (folder / "contest.toml").write_text(plan + PATIENCE)
    open_intake(folder)
    with office_in(folder, None) as found:
        yield found


@contextmanager
def office_in(folder: Path, cup: Cup | None) -> Iterator[Office]:
    with service_of(folder) as (service, console):
        tokens = console.state.authors.tokens
        made = {
            "act": tokens.make("Olga", "test", TokenRole.ORGANISER),
            "watch": tokens.make("Walt", "test", TokenRole.WATCH),
            "author": tokens.make("ada", "test"),
            "revoked": tokens.make("Rita", "test", TokenRole.ORGANISER),
        }
        tokens.revoke("Rita", "test")
        yield Office(cup, service, console, console.state.directory, made)


def submit(found: Office, name: str, refusal: str = "") -> int:
    with closing(found.directory.register()) as register:
        digest = found.directory.files.put(name.encode())
        taken = register.receive(Upload("ada", name, f"{name}.zip", digest, 10), worker="0" * 32)
        register.finish(taken.id, taken.attempt, ProcessingResult(refusal, name, "1" * 64, "{}", digest, None))
        return taken.id
