"""The verifier refuses values that another reader could take for others; the organiser makes the log fit."""

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import ValidationError

from judge.base.parsing import canonical_json
from judge.cli.contest.verify import verify as verify_command
from judge.journal.state import JournalLine
from judge.publish.manifest import MANIFEST, SIGNATURE
from judge.publish.verify.export import verify_export
from judge.record.spec import FolderRecord
from judge.sandbox.evidence import Evidence
from judge.transparency.checkpoint import COSIGNATURE, key_id, read_checkpoint, verifier_key
from tests.publish.public import Public, sign_again
from tests.transparency.standard_witness import StandardWitness
from tests.verify.by_node import problems as problems_by_node
from tests.verify.by_node import verify
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


def test_file_in_the_manifest_has_no_other_keys(logged_copy: Public) -> None:
    path = logged_copy.directory / MANIFEST
    document = json.loads(path.read_bytes())
    document["files"][0]["winner"] = "anna"
    path.write_text(f"{canonical_json(document)}\n")
    (logged_copy.directory / SIGNATURE).write_bytes(logged_copy.key.sign(path.read_bytes()))

    (problem,) = verify_export(logged_copy.directory, logged_copy.public_key).problems
    assert "manifest.json: not a manifest" in problem
    assert ["manifest.json: not canonical JSON"] == problems_by_node(logged_copy.directory, logged_copy.public_key)


def test_digest_of_a_folder_has_one_form() -> None:
    with pytest.raises(ValidationError, match="digest"):
        FolderRecord(digest="\u202ewinner")


@pytest.mark.parametrize("report", ["exited 03", f"exited {'9' * 60}"])
def test_report_in_the_evidence_has_one_form(report: str) -> None:
    with pytest.raises(ValidationError, match="not a report as the judge writes it"):
        Evidence.model_validate({"report": report})


NAME = "witness.example.org"
LATEST = 253_402_300_799
"""The last second that a calendar has."""


@pytest.mark.parametrize("seconds", [0, LATEST, LATEST + 1, 10**12, 2**62, 2**64 - 1])
def test_both_verifiers_take_the_same_times_of_witnesses(
    seconds: int, logged_copy: Public, capsys: pytest.CaptureFixture[str]
) -> None:
    key, public = Ed25519PrivateKey.from_private_bytes(bytes(range(32))), logged_copy
    checkpoint = read_checkpoint((public.directory / "log/checkpoint").read_bytes(), "it")
    path = public.directory / f"log/witness/{key_id(NAME, COSIGNATURE, key.public_key()).hex()}"
    path.parent.mkdir()
    path.write_bytes(StandardWitness(NAME, key, now=lambda: seconds).cosigned(checkpoint.note))
    sign_again(public)
    keys = public.directory.parent / "keys"
    keys.write_text(f"{verifier_key(NAME, COSIGNATURE, key.public_key())}\n")

    if seconds > LATEST:
        with pytest.raises(SystemExit, match="1"):
            verify_command(public.directory, public.public_key, witness=keys)
    else:
        verify_command(public.directory, public.public_key, witness=keys)
    said = capsys.readouterr().out
    assert ("no checkpoint of the export is signed by the witness" in said) == (seconds > LATEST)
    code, lines = verify(public.directory, public.public_key, "--witness", keys)
    assert (code, any(NAME in line for line in lines)) == (int(seconds > LATEST), True)
