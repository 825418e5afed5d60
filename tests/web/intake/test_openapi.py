"""Whatever the service says may be sent is sent to it, and what it answers is what it says it answers."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from schemathesis import Case, GenerationMode
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import negative_data_rejection
from schemathesis.specs.openapi.schemas import OpenApiSchema

from judge.submissions.service import IntakeDirectory
from tests.examples import sized
from tests.patience import PATIENCE_S
from tests.web.intake.conftest import Service, ended, make_token, send

EXAMPLES = sized(5, 20)
"""For each path and each mode: cases that the description allows, and cases that it forbids."""

PATHS = [
    ("/health", "GET"),
    ("/health/ready", "GET"),
    ("/contest", "GET"),
    ("/submissions", "GET"),
    ("/submissions", "POST"),
    ("/submissions/{id}", "GET"),
    ("/submissions/{id}", "DELETE"),
    ("/submissions/{id}/log", "GET"),
    ("/submissions/{id}/report", "GET"),
    ("/submissions/{id}/practice", "GET"),
    ("/submissions/{id}/practice", "POST"),
    ("/submissions/{id}/challenges", "GET"),
    ("/submissions/{id}/challenges", "POST"),
    ("/submissions/{id}/withdrawal", "POST"),
]


@pytest.fixture(scope="module")
def described(service: Service) -> OpenApiSchema:
    """What the service says of itself."""
    return schemathesis.openapi.from_url(f"{service.url}/openapi.json")


@pytest.fixture(scope="module")
def known(desk: IntakeDirectory, service: Service) -> str:
    """A token, of an author who has sent something: the numbers 1 and 2 of this contest."""
    token = make_token(desk, "eve")
    with service.client(token) as client:
        numbers = [send(client, upload) for upload in ("good eves", "bad eves")]
        assert [1, 2] == numbers
        for number in numbers:
            ended(client, number)
    return token


def test_every_path_is_tried(described: OpenApiSchema) -> None:
    found = {(path, method.upper()) for path in described for method in described[path]}
    assert set(PATHS) == found


def is_allowed(operation: APIOperation[Any, Any, Any, Any], case: Case[Any], url: str) -> bool:
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
    """What a parameter may mean."""
    yield text
    with suppress(ValueError):
        yield TypeAdapter(int).validate_python(text)


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("path", "method"), PATHS)
def test_responses_match_the_openapi_description(
    described: OpenApiSchema, known: str, path: str, method: str, mode: GenerationMode
) -> None:
    operation = described[path][method]
    if mode is GenerationMode.NEGATIVE and not (operation.query or operation.path_parameters):
        # Nothing is asked of whoever asks, so nothing can be wrong.
        return
    known_numbers = {"id": 1} if mode is GenerationMode.POSITIVE and "{id}" in path else None
    cases = [operation.as_strategy(generation_mode=mode)]
    if known_numbers:
        cases.append(operation.as_strategy(generation_mode=mode, path_parameters=known_numbers))

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(cases))
    def try_one(case: Case[Any]) -> None:
        # A pattern cannot say which characters are printable.
        assume(all(str((case.query or {}).get(name, "")).isprintable() for name in ("filename", "title")))
        response = case.call(headers={"Authorization": f"Bearer {known}"})
        excluded: list[Any] = (
            [negative_data_rejection] if is_allowed(operation, case, str(response.request.url)) else []
        )
        case.validate_response(response, excluded_checks=excluded)

    try_one()


def test_the_service_is_well_afterwards(service: Service) -> None:
    assert 200 == httpx.get(f"{service.url}/health", timeout=PATIENCE_S).status_code
    assert [] == [line for line in service.logged() if "exception" in line]
