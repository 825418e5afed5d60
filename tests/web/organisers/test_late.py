"""Late submissions that organisers permit."""

from contextlib import closing
from pathlib import Path

import pytest

from judge.contest.contest import open_store
from judge.store.types import NotNowError
from tests.web.organisers.office import Office, unbegun

CLOSED = "[submissions]\ncloses = 2020-03-31T18:00:00Z\n"
FINAL = b"The contest has begun: a late submission cannot be permitted any more."


def upload(found: Office, author: str) -> int:
    headers = {"authorization": f"Bearer {found.tokens[author]}", "content-type": "application/zip"}
    status, _, _ = found.ask("POST", "/submissions?filename=late.zip", "", b"PK\x03\x04 late", **headers)
    return status


def test_author_with_permission_submits_after_the_end_until_the_start(tmp_path: Path) -> None:
    with unbegun(tmp_path / "cup", tables=CLOSED) as found:
        found.console.state.authors.tokens.make("bob", "test")
        check = found.console.state.receiver.check_open
        assert 409 == upload(found, "author")
        assert "order.html?action=late&amp;target=ada" in found.page("authors.html")
        form = found.form("late", "ada", why="the site was down")

        first, second = found.post(form), found.post(form)

        assert (303, 303) == (first[0], second[0])
        assert "ada may submit until the contest begins" in found.page(first[1]["location"])
        assert 1 == found.page("journal.html").count("ada: the site was down")
        assert 201 == upload(found, "author")
        with pytest.raises(NotNowError, match="submissions closed at"):
            check("bob")
        assert (
            b"there is no author"
            in found.ask("GET", "/organiser/order.html?action=late&target=nobody", found.tokens["act"])[2]
        )
        with closing(open_store(found.console.planned)) as store:
            store.freeze(found.console.planned.name, "a" * 64)
        assert 409 == upload(found, "author")
        status, _, body = found.post({**form, "id": "0" * 32})
        assert (422, True) == (status, FINAL in body)
        assert "action=late" not in found.page("authors.html")
