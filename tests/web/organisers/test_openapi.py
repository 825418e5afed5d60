"""Whatever the descriptions of the service allow or forbid is sent to it, with every kind of token: it never fails."""

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlencode

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.schemas import OpenApiSchema

from judge.web.organisers.actions import ACTIONS
from judge.web.organisers.app import router
from tests.examples import sized
from tests.web.organisers.office import FORM, Office, office, proof, submit
from tests.web.service import Answer, call

EXAMPLES = sized(3, 50)
"""For each path, each mode and each kind of token; a long proof takes 200."""

KINDS = ("none", "author", "watch", "act")

ALL = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """A contest with games and submissions."""
    with office(tmp_path_factory.mktemp("cup")) as each:
        submit(each, "good")
        submit(each, "bad", "it is slow")
        yield each


def public(found: Office) -> OpenApiSchema:
    """What everybody can ask for, and what authors can."""
    status, _, body = found.ask("GET", "/openapi.json")
    assert 200 == status
    return schemathesis.openapi.from_file(body.decode())


def organisers(found: Office) -> OpenApiSchema:
    """What organisers can ask for; nobody is given this description."""
    app = FastAPI()
    app.include_router(router)
    return schemathesis.openapi.from_dict(app.openapi())


def token_of(found: Office, kind: str) -> str:
    return found.tokens.get(kind, "")


def send(found: Office, case: Case[Any], kind: str) -> Answer:
    """One request with a token in every place where one may be."""
    headers = {str(name): str(value) for name, value in (case.headers or {}).items()}
    if token := token_of(found, kind):
        headers["authorization"] = f"Bearer {token}"
        headers["cookie"] = f"judge-organiser={token}; judge-author={token}"
    body = case.body if isinstance(case.body, bytes) else b""
    query = urlencode(case.query or {}, doseq=True, errors="replace")
    path = unquote(case.formatted_path)
    return asyncio.run(call(found.service, case.method, path, headers, query, body))


def operations(schema: OpenApiSchema) -> Iterator[tuple[str, Any]]:
    for path in schema:
        for method in schema[path]:
            yield path, schema[path][method]


def tried(found: Office, kind: str, path: str, cases: st.SearchStrategy[Case[Any]]) -> None:
    """Send some cases of a path."""

    @ALL
    @given(case=cases)
    def try_one(case: Case[Any]) -> None:
        status, _, body = send(found, case, kind)
        assert status < 500, (path, status, body)
        if kind not in ("watch", "act") and path.startswith("/organiser/") and path not in OF_NOBODY:
            assert status == 401, (path, status)
        if kind != "author" and path.startswith("/submissions"):
            assert status == 401, (path, status)

    try_one()


OF_NOBODY = ("/organiser/sign-out", "/organiser/index.html")
"""What anybody may ask for."""

LEFT_OUT = ("/events", "/organiser/health.html")
"""A stream, which needs a connection; and a page that asks the Engine, which has a test of its own."""


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("none", GenerationMode.POSITIVE),
        ("author", GenerationMode.POSITIVE),
        ("act", GenerationMode.POSITIVE),
        ("act", GenerationMode.NEGATIVE),
    ],
)
def test_no_request_crashes_the_service_or_grants_access(found: Office, kind: str, mode: GenerationMode) -> None:
    before = found.dump()
    for described in (public(found), organisers(found)):
        for path, operation in operations(described):
            # Where nothing is asked of whoever asks, nothing can be wrong.
            can_be_wrong = bool(operation.query or operation.path_parameters)
            if path not in LEFT_OUT and (mode is GenerationMode.POSITIVE or can_be_wrong):
                tried(found, kind, path, operation.as_strategy(generation_mode=mode))
    if kind != "author":
        assert before == found.dump()


FIELDS = {
    "action": st.sampled_from([*(set(ACTIONS) - {"export", "publish"}), "x"]) | st.text(max_size=40),
    "target": st.sampled_from(["", "1", "2", "3", "anna", "-carl", "99", "0x1", "1e3"]) | st.text(max_size=200),
    "attempt": st.sampled_from(["0", "1", "2", "-1"]) | st.text(max_size=20),
    "id": st.sampled_from(["0" * 32, "f" * 32, "a" * 31, "../x"]) | st.text(max_size=50),
    "why": st.sampled_from(["", " ", "because", "x" * 2000]) | st.text(max_size=100),
    "proof": st.sampled_from(["right", "right", "right", "", "0" * 64]) | st.text(max_size=70),
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_form_crashes_the_service_and_only_authorised_users_change_anything(found: Office, kind: str) -> None:
    token = token_of(found, kind)
    before = found.dump()

    @settings(ALL, max_examples=10 * EXAMPLES)
    @given(form=st.fixed_dictionaries({}, optional=FIELDS), path=st.sampled_from(["orders", "orders", "session"]))
    def try_one(form: dict[str, str], path: str) -> None:
        if form.get("proof") == "right":
            form = {**form, "proof": proof(token)}
        body = urlencode(form, errors="replace").encode()
        status, headers, answer = found.ask("POST", f"/organiser/{path}", token, body, **FORM)
        assert status < 500, (form, answer)
        assert kind == "act" or status != 303, form
        assert "set-cookie" not in headers

    try_one()
    if kind != "act":
        assert before == found.dump()
