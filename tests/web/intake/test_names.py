"""Names of agents over HTTP: which are refused, by whom they are taken, and when."""

from contextlib import closing

import httpx
import pytest

from judge.base.errors import InputError
from judge.journal.events import SubmissionState
from judge.store.types import NameTakenError
from judge.submissions.service import IntakeDirectory
from judge.web.schemas import UploadQuery
from tests.web.intake.conftest import Service, ended, make_token, send
from tests.web.intake.test_intake import error_of


def listed(name: str) -> str:
    return f"the contest's file lists an agent called {name!r}: choose another name"


def test_names_of_listed_agents_are_those_of_the_file_now(service: Service, desk: IntakeDirectory) -> None:
    file = desk.folder / "contest.toml"
    text = file.read_text()
    with service.client(make_token(desk, "mia")) as mia, closing(desk.register()) as register:
        refused = send(mia, "bad five")
        ended(mia, refused)
        file.write_text(f'{text}\n[[agents]]\npath = "anna"\nname = "five"\n')
        for name in ("five", "FIVE"):
            named = mia.post("/submissions", params={"filename": "a.zip", "name": name}, content=b"good mias")
            assert (409, listed(name)) == error_of(named)
            found = ended(mia, send(mia, f"good {name}"))
            assert ("refused", listed(name)) == (found["state"], found["why"])
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
