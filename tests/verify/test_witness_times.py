"""A witness signs any time; one that no calendar has is no signature for both verifiers."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.cli.contest.verify import verify as verify_command
from judge.transparency.checkpoint import COSIGNATURE, key_id, read_checkpoint, verifier_key
from tests.publish.public import Public, sign_again
from tests.transparency.standard_witness import StandardWitness
from tests.verify.by_node import verify

NAME = "witness.example.org"
LATEST = 253_402_300_799


@pytest.mark.parametrize("seconds", [0, LATEST, LATEST + 1, 10**12, 2**62, 2**64 - 1])
def test_both_verifiers_take_the_same_times(
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
