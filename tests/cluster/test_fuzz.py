"""Whatever the files and messages of a cluster hold: a value or a refusal, within a bound of work for each byte."""

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.cluster.messages import Arrived, Lacks, Played, read_answer, read_receipt
from judge.cluster.security import (
    AUTHORITY,
    CERTIFICATE,
    KEY,
    WORKERS,
    JoinFile,
    invite,
    load_authority,
    make_keys,
    parse_address,
    read_join_file,
    security_of,
)
from tests.examples import examples
from tests.hostile import assert_bounded, byte_changes, read_or_refuse

SCHEDULER = parse_address("tls://10.0.0.1:8786")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The authorities, a scheduler's keys and a worker's join file."""
    folder = tmp_path_factory.mktemp("keys")
    make_keys(folder, ["here"], 1)
    invite(folder, ["worker"], SCHEDULER, 1)
    join(folder / "worker.join")
    return folder


def join(path: Path) -> None:
    """Read a join file, and make what dask needs to connect as its worker."""
    path.chmod(0o600)
    joined = read_join_file(path)
    assert "tls" == joined.address.scheme
    for role in ("worker", "scheduler"):
        assert joined.security().get_connection_args(role)


@given(st.data())
@settings(max_examples=examples(150))
def test_any_join_file_is_read_or_refused(keys: Path, data: st.DataObject) -> None:
    valid = (keys / "worker.join").read_bytes()

    read_or_refuse(join, keys / "any.join", data.draw(byte_changes(valid)))


@pytest.mark.parametrize("field", JoinFile.model_fields)
@pytest.mark.parametrize(
    "value", ["", "a", "\0", "tls://[::1", "-----BEGIN CERTIFICATE-----\nA\n", "é" * 4000, "\ud800"]
)
def test_any_value_of_a_join_file_is_read_or_refused(keys: Path, field: str, value: str) -> None:
    joined = JoinFile.model_validate_json((keys / "worker.join").read_bytes())
    data = json.dumps(joined.model_dump() | {field: value}).encode()

    read_or_refuse(join, keys / "any.join", data)


AUTHORITY_KEY = AUTHORITY.replace(".pem", "-key.pem")
HERE: dict[str, Callable[[Path], object]] = {
    **dict.fromkeys((AUTHORITY, AUTHORITY_KEY), lambda folder: load_authority(folder, AUTHORITY, 1)),
    **dict.fromkeys(
        (f"here/{name}" for name in (AUTHORITY, CERTIFICATE, KEY, WORKERS)),
        lambda folder: security_of(SCHEDULER, folder / "here", takes_workers=True).get_listen_args("scheduler"),
    ),
}
"""Files of keys, and what reads them in the folder of all keys."""


@pytest.mark.parametrize("name", HERE)
@given(st.data())
@settings(max_examples=examples(40))
def test_any_file_of_keys_is_read_or_refused(keys: Path, name: str, data: st.DataObject) -> None:
    folder = keys.with_name("changed-keys")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(keys, folder)
    valid = (folder / name).read_bytes()

    (folder / name).chmod(0o600)
    read_or_refuse(lambda _: HERE[name](folder), folder / name, data.draw(byte_changes(valid)))


DIGEST = "0" * 64
MESSAGES: dict[str, tuple[Callable[[bytes], object], bytes]] = {
    "played": (read_answer, Played(record=b"{}", states={DIGEST: b"a"}).model_dump_json().encode()),
    "lacks": (read_answer, Lacks(agents=(DIGEST,), images=("a",)).model_dump_json().encode()),
    "arrived": (read_receipt, Arrived(bytes=1).model_dump_json().encode()),
}


@pytest.mark.parametrize("message", MESSAGES)
@given(st.data())
@settings(max_examples=examples(100))
def test_any_message_of_a_worker_is_read_or_refused(message: str, data: st.DataObject) -> None:
    read, valid = MESSAGES[message]
    sent = data.draw(byte_changes(valid, (b"", b"\0", b'"', b"[", b"{", b"0,", b"null", b"\\u0000", b"[]")))

    def attempt() -> None:
        with suppress(InputError):
            read(sent)

    assert read(valid)
    assert_bounded(attempt, len(sent))
