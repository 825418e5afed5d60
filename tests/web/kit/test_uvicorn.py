"""The internals of uvicorn that `judge.web.kit.connections` uses, and the versions that pyproject.toml allows."""

import inspect
import tomllib
from importlib.metadata import version
from pathlib import Path

import uvicorn
from packaging.requirements import Requirement
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from judge.submissions.intake import IntakePolicy
from judge.web.kit.connections import bounded_by, uvicorn_options

OVERRIDDEN = {"connection_made", "connection_lost", "data_received", "on_response_complete"}
"""The methods of uvicorn's protocol that the subclass extends."""

OF_A_CONNECTION = {"client", "cycle", "loop", "transport"}
OF_A_REQUEST = {"scope", "response_complete"}
"""The attributes that the subclass reads."""


def test_the_installed_version_is_in_the_range_of_pyproject() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    web = [Requirement(text) for text in project["optional-dependencies"]["web"]]
    (required,) = [each for each in web if each.name == "uvicorn"]

    assert {"<", ">="} == {bound.operator for bound in required.specifier}
    assert version("uvicorn") in required.specifier


def test_the_subclass_overrides_methods_of_uvicorn_and_no_others() -> None:
    defined = {name for name, value in vars(bounded_by(IntakePolicy(), 10)).items() if inspect.isfunction(value)}

    assert OVERRIDDEN == defined & vars(H11Protocol).keys()


def test_a_connection_and_a_request_have_the_attributes_that_are_read() -> None:
    assert set(H11Protocol.__init__.__code__.co_names) >= OF_A_CONNECTION
    assert set(RequestResponseCycle.__init__.__code__.co_names) >= OF_A_REQUEST
    assert "on_response_complete" in H11Protocol.handle_events.__code__.co_names


def test_uvicorn_has_the_options_that_are_set() -> None:
    assert set(inspect.signature(uvicorn.Config).parameters) >= uvicorn_options(IntakePolicy(), 10).keys()
