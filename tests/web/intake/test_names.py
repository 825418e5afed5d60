"""Names of agents over HTTP: which are refused, by whom they are taken, and when."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from judge.base.errors import InputError
from judge.journal.events import SubmissionState
from judge.store.types import NameTakenError
from judge.submissions.service import IntakeDirectory
from judge.web.schemas import UploadQuery
from tests.examples import of_evidence
from tests.web.intake.conftest import Service, ended, make_contest, make_token, send, serving
from tests.web.intake.test_intake import error_of

LIMITS = """
uploads_per_hour = 0
waiting_per_author = 0
requests_per_minute = 100000
address_requests_per_minute = 100000
"""

LISTED = '[[agents]]\npath = "anna"\nname = "Anna"\n[[agents]]\npath = "zoe.py"\n'

FORMATS = [*of_evidence("round-robin", "swiss\nrounds = 3", "knockout"), "ladder\ntotal_games = 9"]


def write_contest(folder: Path, form: str) -> IntakeDirectory:
    """A contest whose file lists agents. `anna` does not exist yet."""
    folder.mkdir(exist_ok=True)
    (folder / "zoe.py").write_text("print()\n")
    made = make_contest(folder, LIMITS + LISTED)
    name, _, more = form.partition("\n")
    file = folder / "contest.toml"
    file.write_text(file.read_text().replace('name = "round-robin"', f'name = "{name}"\n{more}'))
    return made


@contextmanager
def author_of(desk: IntakeDirectory, service: Service, author: str) -> Iterator[httpx.Client]:
    with service.client(make_token(desk, author)) as client:
        yield client


def listed(name: str) -> str:
    return f"the contest's file lists an agent called {name!r}: choose another name"


@pytest.mark.parametrize("form", FORMATS)
def test_name_of_a_listed_agent_is_refused_before_the_start(tmp_path: Path, form: str) -> None:
    desk = write_contest(tmp_path, form)
    with serving(desk) as service, author_of(desk, service, "ada") as ada:
        for name in ("Anna", "anna", "ZOE"):
            named = ada.post("/submissions", params={"filename": "a.zip", "name": name}, content=b"good five")
            assert (409, listed(name)) == error_of(named)
        for name in ("ANNA", "zoe"):
            found = ended(ada, send(ada, f"good {name}"))
            assert ("refused", listed(name)) == (found["state"], found["why"])
        assert "passed" == ended(ada, send(ada, "good five"))["state"]


def test_names_of_listed_agents_are_those_of_the_file_now(service: Service, desk: IntakeDirectory) -> None:
    file = desk.folder / "contest.toml"
    text = file.read_text()
    with author_of(desk, service, "mia") as mia, closing(desk.register()) as register:
        refused = send(mia, "bad five")
        ended(mia, refused)
        file.write_text(f'{text}\n[[agents]]\npath = "anna"\nname = "five"\n')
        named = mia.post("/submissions", params={"filename": "a.zip", "name": "five"}, content=b"good mias")
        assert (409, listed("five")) == error_of(named)
        found = ended(mia, send(mia, "good five"))
        assert ("refused", listed("five")) == (found["state"], found["why"])
        with pytest.raises(NameTakenError, match="lists an agent called 'five'"):
            register.approve(refused, "Olga", "looks well")
        file.write_text(text)
        assert SubmissionState.APPROVED is register.approve(refused, "Olga", "looks well").state


@pytest.mark.parametrize(
    ("title", "why"),
    [
        ("x" * 300, f"display name '{'x' * 80}': at most 48 printable characters"),
        ("\u202eevif", "at most 48 printable characters"),
        ("\u3164", "it shows nothing"),
        ("\u0301a", "0 to 4 marks follow a letter"),
    ],
)
def test_invalid_display_name_is_refused_by_service_and_client(ada: httpx.Client, title: str, why: str) -> None:
    status, error = error_of(ada.post("/submissions", params={"filename": "a.zip", "title": title}, content=b"good x"))
    assert (422, True) == (status, why in error)
    with pytest.raises(InputError, match=why):
        UploadQuery(filename="a.zip", title=title)


def test_display_name_of_an_upload_is_that_of_its_first_version(service: Service, desk: IntakeDirectory) -> None:
    with author_of(desk, service, "zoe") as zoe, author_of(desk, service, "kim") as kim:
        assert "Žofinka 五" == ended(zoe, send(zoe, "good zoes", title="  Z\u030cofinka  五 "))["title"]
        assert "Žofinka 五" == ended(zoe, send(zoe, "good again zoes"))["title"]
        taken = kim.post("/submissions", params={"filename": "a.zip", "title": "ŽOFINKA 五"}, content=b"good kims")
        assert (409, "another agent is called 'ŽOFINKA 五': choose another name") == error_of(taken)
