"""Whatever the descriptions of the service allow or forbid is sent to it, with every kind of token: it never fails, and
answers as it says."""

from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from schemathesis import Case, GenerationMode
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import negative_data_rejection

from judge.web.organisers.app import router
from judge.web.organisers.console import ACTIONS
from judge.web.player.status import PlayerFiles
from tests.examples import sized
from tests.golden.routes import serving
from tests.web.organisers.office import Office, office, proof, submit
from tests.web.service import FORM

EXAMPLES = sized(3, 50)
"""For each path, each mode and each kind of token; a long proof takes 200."""

ALL = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)

Operation = APIOperation[Any, Any, Any, Any]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with office(tmp_path_factory.mktemp("cup")) as each:
        submit(each, "good")
        submit(each, "bad", "it is slow")
        yield each


@pytest.fixture(scope="module")
def url(found: Office) -> Iterator[str]:
    planned = found.console.planned
    with (
        closing(PlayerFiles(planned.folder, planned.name)) as player,
        serving(found.service, planned.plan.intake) as client,
    ):
        assert player.take()
        yield str(client.base_url).rstrip("/")


def is_allowed(operation: Operation, case: Case[Any], url: str) -> bool:
    """Whether the description allows the parameters of a request.

    Those of a case that it forbids may be allowed all the same: chance, which knows our words, puts back what was left
    out, the right token takes the place of a wrong one, and what has no name of ours is ignored.
    """
    sent = dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
    sent |= {name: str(value) for name, value in (case.path_parameters or {}).items()}
    return all(
        any(map(parameter.is_valid, readings(sent[parameter.name])))
        if parameter.name in sent
        else not parameter.is_required
        for parameter in (*operation.query, *operation.path_parameters)
    )


def readings(text: str) -> Iterator[object]:
    yield text
    with suppress(ValueError):
        yield TypeAdapter(int).validate_python(text)


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("kind", ["none", "author", "act"])
def test_answers_are_as_described_and_grant_no_access(found: Office, url: str, kind: str, mode: GenerationMode) -> None:
    """Each token is in every place where one may be. Organisers' pages have no public description."""
    before, token = found.dump(), found.tokens.get(kind, "")
    headers = {"Authorization": f"Bearer {token}", "Cookie": f"judge-organiser={token}; judge-author={token}"}
    app = FastAPI()
    app.include_router(router)
    public = schemathesis.openapi.from_url(f"{url}/openapi.json")
    for described in (public, schemathesis.openapi.from_dict(app.openapi())):
        for path, operation in ((each, described[each][method]) for each in described for method in described[each]):
            # A stream does not end, and a request without parameters cannot be wrong.
            can_be_wrong = bool(operation.query or operation.path_parameters)
            if path != "/events" and (mode is GenerationMode.POSITIVE or can_be_wrong):
                is_described = described is public and (kind == "author" or not path.startswith("/submissions"))
                for cases in strategies(operation, path, mode):
                    try_cases(url, kind, headers if token else {}, operation, cases, is_described)
    if kind != "author":
        assert before == found.dump()


def strategies(operation: Operation, path: str, mode: GenerationMode) -> Iterator[st.SearchStrategy[Case[Any]]]:
    """Cases of any number, and those of the author's submission."""
    yield operation.as_strategy(generation_mode=mode)
    if mode is GenerationMode.POSITIVE and path.startswith("/submissions/{id}"):
        yield operation.as_strategy(generation_mode=mode, path_parameters={"id": 1})


def try_cases(
    url: str, kind: str, headers: dict[str, str], operation: Operation, cases: Any, is_described: bool
) -> None:
    @ALL
    @given(case=cases)
    def try_one(case: Case[Any]) -> None:
        # A pattern cannot say which characters are printable.
        assume(all(str((case.query or {}).get(name, "")).isprintable() for name in ("filename", "title")))
        response = case.call(base_url=url, headers=headers)
        path, status = operation.path, response.status_code
        assert status < 500, (path, status, response.content)
        is_public = path in ("/organiser/sign-out", "/organiser/index.html")
        if kind != "act" and path.startswith("/organiser/") and not is_public:
            assert status == 401, (path, status)
        if kind != "author" and path.startswith("/submissions"):
            assert status == 401, (path, status)
        if is_described:
            allowed = is_allowed(operation, case, str(response.request.url))
            case.validate_response(response, excluded_checks=[negative_data_rejection] if allowed else [])

    try_one()


FIELDS = {
    "action": st.sampled_from([*(set(ACTIONS) - {"export", "publish"}), "x"]) | st.text(max_size=40),
    "target": st.sampled_from(["", "1", "2", "3", "anna", "-carl", "99", "0x1", "1e3"]) | st.text(max_size=200),
    "attempt": st.sampled_from(["0", "1", "2", "-1"]) | st.text(max_size=20),
    "id": st.sampled_from(["0" * 32, "f" * 32, "a" * 31, "../x"]) | st.text(max_size=50),
    "why": st.sampled_from(["", " ", "because", "x" * 2000]) | st.text(max_size=100),
    "proof": st.sampled_from(["right", "right", "right", "", "0" * 64]) | st.text(max_size=70),
}


@pytest.mark.parametrize("kind", ["none", "author", "watch", "act"])
def test_no_form_crashes_the_service_and_only_authorised_users_change_anything(found: Office, kind: str) -> None:
    token, before = found.tokens.get(kind, ""), found.dump()

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
