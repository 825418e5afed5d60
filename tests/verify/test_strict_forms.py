"""The verifier refuses values that another reader could take for others; the organiser makes the log fit."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from judge.referee.spec import FolderRecord
from judge.store.types import JournalLine
from judge.verify.export import verify_export
from tests.publish.public import Public
from tests.verify.log_forgeries import rewrite

RECORD = "records/00002.json"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The lower byte of the character is that of the true one.
        ('"START 15', '"\u0153TART 15'),
        (',0,">","START', ',0.4,">","START'),
        (',0,">","START', ',256,">","START'),
        (',0,">","START', ',0,">>","START'),
    ],
)
def test_entry_of_a_transcript_has_one_form(old: str, new: str, logged_copy: Public) -> None:
    path = logged_copy.directory / RECORD
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()

    def fit(lines: list[JournalLine]) -> None:
        at = max(number for number, line in enumerate(lines) if line.event == "accepted")
        lines[at] = replace(lines[at], digest=digest)

    rewrite(logged_copy, fit)
    assert any(RECORD in problem for problem in verify_export(logged_copy.directory, logged_copy.public_key).problems)


@pytest.mark.parametrize(
    "values", [{"attempt": 10**18}, {"attempt": -1}, {"digest": 5}, {"at": "0000-03-02T18:00:00.000+00:00"}]
)
def test_line_of_the_log_has_one_form(values: dict[str, Any], logged_copy: Public) -> None:
    rewrite(logged_copy, lambda lines: lines.__setitem__(6, replace(lines[6], **values)))
    assert verify_export(logged_copy.directory, logged_copy.public_key).problems


@pytest.mark.parametrize("event", ["Disqualified", "\uff41\uff43\uff43\uff45\uff50\uff54\uff45\uff44", "", "rated"])
def test_event_that_judge_does_not_write_is_a_problem(event: str, logged_copy: Public) -> None:
    """Only a ladder rates agents."""
    rewrite(logged_copy, lambda lines: lines.append(replace(lines[-1], event=event, game=None, attempt=None)))
    problems = verify_export(logged_copy.directory, logged_copy.public_key).problems
    assert any("judge writes no such event" in problem or "no ladder" in problem for problem in problems)


def test_digest_of_a_folder_has_one_form() -> None:
    with pytest.raises(ValidationError, match="digest"):
        FolderRecord(digest="\u202ewinner")
