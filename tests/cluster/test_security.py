"""Who is let in: nobody over plain TCP but this machine itself, and over TLS only who has keys of our authority."""

import asyncio
import re
import signal
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from judge.base.errors import HostError, InputError
from judge.cli import cluster as commands
from judge.cluster import connection, daemons
from judge.cluster.bound_scheduler import checked_message
from judge.cluster.cluster import open_cluster
from judge.cluster.live_moves import LiveMoves
from judge.cluster.security import invite, make_keys, parse_address, read_join_file, security_of
from judge.store.contests import Store
from tests.attacks.scheduler import ADDRESS, REGISTER, is_greeted, is_refused, tls_context
from tests.cluster.machines import Machines
from tests.patience import PATIENCE_S, until


@pytest.mark.parametrize(
    "address", ["tcp://0.0.0.0:8786", "tcp://10.0.0.1:8786", "tcp://[::]:8786", "tcp://judge.example"]
)
def test_plain_tcp_beyond_loopback_is_refused_by_all_three(address: str, tmp_path: Path) -> None:
    with closing(Store(f"sqlite:///{tmp_path / 'cup.db'}")) as store:
        for opens in (
            lambda: open_cluster(address, None, store, "cup", tmp_path, ()),
            lambda: commands.scheduler(address),
            lambda: commands.worker(address),
            lambda: commands.worker("tls://10.0.0.1", tmp_path, listen=address),
        ):
            with pytest.raises(InputError, match="plain TCP is refused beyond loopback"):
                opens()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "tcp://[::1]:9", "tcp://localhost:9"])
def test_plain_tcp_is_for_this_machine(address: str) -> None:
    assert address == str(parse_address(address))


@pytest.mark.parametrize("text", ["10.0.0.1:8786", "http://10.0.0.1", "tls://", "tls://a:b", ""])
def test_invalid_address_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="an address is such as"):
        parse_address(text)


def test_tls_needs_keys_of_this_host_that_others_cannot_read(tmp_path: Path) -> None:
    address = parse_address("tls://10.0.0.1")
    (folder,) = make_keys(tmp_path / "keys", ["one"], 30)
    (folder / "key.pem").chmod(0o640)
    for place, why in ((None, "judge cluster"), (tmp_path, "is missing"), (folder, "chmod 600")):
        with pytest.raises(InputError, match=why):
            security_of(address, place)


def test_keys_name_their_owners_who_alone_can_read_them_and_have_one_authority(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    folders = make_keys(keys, ["10.0.0.1", "worker-2.example"], 30)

    names = [
        x509.load_pem_x509_certificate((folder / "cert.pem").read_bytes())
        .extensions.get_extension_for_class(x509.SubjectAlternativeName)
        .value
        for folder in folders
    ]
    assert ["10.0.0.1"] == [str(a) for a in names[0].get_values_for_type(x509.IPAddress)]
    assert ["worker-2.example"] == names[1].get_values_for_type(x509.DNSName)
    private = [keys / "ca-key.pem", *(folder / "key.pem" for folder in folders)]
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in private}
    assert {"ca.pem", "workers-ca.pem", "cert.pem", "key.pem"} == {path.name for path in folders[0].iterdir()}
    # A later host gets keys of the same authority, and an earlier one keeps its keys.
    (later,) = make_keys(keys, ["three"], 30)
    assert (folders[0] / "ca.pem").read_bytes() == (later / "ca.pem").read_bytes()
    with pytest.raises(InputError, match="already exists"):
        make_keys(keys, ["three"], 30)
    with pytest.raises(InputError, match="neither the name of a host"):
        make_keys(keys, ["../three"], 30)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the keys of 127.0.0.1, and as soon as there are `doors` with the files of two workers."""
    return tmp_path_factory.mktemp("tls") / "keys"


@pytest.fixture(scope="module")
def doors(folder: Path) -> Iterator[list[tuple[str, int]]]:
    """Where a scheduler and a worker, which joined by its file, listen with TLS."""
    (keys,) = make_keys(folder, ["127.0.0.1"], 1)
    machines = Machines(folder.parent, scheme="tls", keys=keys)
    try:
        machines.start_scheduler()
        (file, _) = invite(folder, ["127.0.0.1", "other"], parse_address(machines.address), 1)
        machines.join("w1", file=file)
        machines.wait_for_scheduler()
        until(lambda: "worker serves" in machines.says("w1"), "a worker")
        found = re.search(r"worker serves.*at=tls://127\.0\.0\.1:(\d+)", machines.says("w1"))
        assert found
        yield [("127.0.0.1", machines.port), ("127.0.0.1", int(found[1]))]
    finally:
        machines.stop()


@pytest.mark.parametrize("which", [0, 1], ids=["scheduler", "worker"])
def test_a_peer_without_our_certificate_is_not_heard(doors: list[tuple[str, int]], which: int, tmp_path: Path) -> None:
    (strangers,) = make_keys(tmp_path, ["stranger"], 1)
    for certificate in (None, strangers):
        assert not is_greeted(doors[which], tls_context(certificate))
    answer = b""
    with socket.create_connection(doors[which], 20) as door, suppress(ConnectionResetError):
        door.sendall(bytes(64))
        while data := door.recv(100):
            answer += data
    assert answer[:1] in (b"", b"\x15")  # to plain words nothing, or a TLS alert


def test_worker_refuses_another_worker_also_as_its_scheduler(doors: list[tuple[str, int]], folder: Path) -> None:
    """The authority of workers is trusted by schedulers alone."""
    other = read_join_file(folder / "other.join")
    (folder / "cert.pem").write_text(other.certificate)
    (folder / "key.pem").write_text(other.key)
    assert not is_greeted(doors[1], tls_context(folder))

    passing_for_scheduler = other.security().get_listen_args("scheduler")["ssl_context"]
    for security in (
        read_join_file(folder / "127.0.0.1.join").security(),
        security_of(parse_address("tls://127.0.0.1"), folder / "127.0.0.1"),
    ):
        caller = security.get_connection_args("client")["ssl_context"]
        with pytest.raises(ssl.SSLCertVerificationError):
            shake_hands(caller, passing_for_scheduler)


def shake_hands(caller: ssl.SSLContext, called: ssl.SSLContext) -> None:
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [caller.wrap_bio(back, there), called.wrap_bio(there, back, server_side=True)]
    for _ in range(3):
        for side in sides:
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ({"op": "register-client", "client": "x", "versions": {}}, "sent a request that workers may not send"),
        ({"op": "gather", "keys": ["x"]}, "sent a request that workers may not send"),
        ({**REGISTER, "name": "127.0.0.1", "address": ADDRESS}, "certificate is not of 127.0.0.1"),
        ({**REGISTER, "name": "other", "address": "tls://10.0.0.9:1"}, "calls from 127.0.0.1"),
        ({"op": "unregister", "address": "THE WORKER", "stimulus_id": "x"}, "speaks for another worker"),
        ({"op": "heartbeat_worker", "address": "THE WORKER", "metrics": {}}, "speaks for another worker"),
    ],
    ids=lambda value: value["op"] if isinstance(value, dict) else "",
)
def test_a_worker_can_speak_to_the_scheduler_for_itself_only(
    doors: list[tuple[str, int]], folder: Path, message: dict[str, Any], why: str
) -> None:
    host, port = doors[0]
    at = f"tls://{host}:{doors[1][1]}"
    message = {key: at if value == "THE WORKER" else value for key, value in message.items()}
    before = (folder.parent / "scheduler.log").read_text().count(why)

    assert asyncio.run(is_refused(f"tls://{host}:{port}", folder / "other.join", message))

    assert before + 1 == (folder.parent / "scheduler.log").read_text().count(why)


def test_worker_with_the_join_file_of_another_address_gets_a_hint(folder: Path, doors: list[tuple[str, int]]) -> None:
    """Once: it asks again every second."""
    machines = Machines(folder.parent / "elsewhere", scheme="tls")
    (file,) = invite(folder, ["127.0.0.9"], parse_address(f"tls://127.0.0.1:{doors[0][1]}"), 1)
    machines.folder.mkdir()
    try:
        machines.join("w9", file=file)
        until(lambda: "it calls from 127.0.0.1 with the file of 127.0.0.9" in machines.says("w9"), "the reason")
        read = read_join_file(file)
        asked = {"name": read.name, "address": "tls://127.0.0.1:1"}
        assert asyncio.run(is_refused(str(read.address), file, {**REGISTER, **asked}))
        assert 1 == (folder.parent / "scheduler.log").read_text().count("with the file of 127.0.0.9")
    finally:
        machines.stop()


def test_registered_worker_submits_no_tasks_and_reports_only_itself() -> None:
    """Its stream reaches, in dask, what clients may say too."""
    released = {"op": "release-worker-data", "key": "x", "stimulus_id": "y"}
    messages = [released | {"worker": "tls://of.another:1"}, {"op": "update-graph"}, "OK", None]

    assert [released, None, "OK", None] == [checked_message(each) for each in messages]


def test_a_join_file_is_private_and_made_once(tmp_path: Path) -> None:
    address = parse_address("tls://10.0.0.1")
    (file,) = invite(tmp_path, ["10.0.0.2"], address, 30)

    assert ("10.0.0.2", address) == (read_join_file(file).name, read_join_file(file).address)
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)
    with pytest.raises(InputError, match="already exists"):
        invite(tmp_path, ["10.0.0.2"], address, 30)
    with pytest.raises(InputError, match="no file is needed"):
        invite(tmp_path, ["10.0.0.3"], parse_address("tcp://127.0.0.1"), 30)
    file.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        read_join_file(file)
    with pytest.raises(InputError, match="judge cluster"):
        read_join_file(tmp_path / "none.join")
    with pytest.raises(InputError, match="give --join"):
        commands.worker("tls://10.0.0.1", join=file)


def test_a_contest_with_keys_of_another_authority_finds_no_scheduler(
    doors: list[tuple[str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CONNECT_S", 2.0)
    (strangers,) = make_keys(tmp_path, ["stranger"], 1)
    address = parse_address(f"tls://{doors[0][0]}:{doors[0][1]}")

    with pytest.raises(HostError, match="keys of the same authority"):
        connection.SchedulerConnection(address, security_of(address, strangers), LiveMoves())


CONNECT = """
import signal, sys
from judge.cluster.connection import SchedulerConnection
from judge.cluster.live_moves import LiveMoves
from judge.cluster.security import parse_address, security_of

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever has started this may have switched it off
address = parse_address(f"tcp://127.0.0.1:{sys.argv[1]}")
SchedulerConnection(address, security_of(address, None), LiveMoves())
"""


def test_ctrl_c_ends_the_wait_for_a_scheduler_at_once() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        words = [sys.executable, "-c", CONNECT, str(silent.getsockname()[1])]
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
            silent.accept()[0].close()
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=PATIENCE_S)

    assert "KeyboardInterrupt" == said.splitlines()[-1]
    assert "ignored" not in said
    assert -signal.SIGINT == process.returncode


def test_refusal_is_logged_once_until_its_reason_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(daemons.log, "warning", lambda _event, why: logged.append(why), raising=False)
    daemons._log_once.cache_clear()
    for port in range(5):
        answer = f"{{'status': 'error', 'message': 'it calls from ::1', 'port': {port}}}"
        assert "it calls from ::1" == daemons.log_refusal(f"Unexpected response from register: {answer}")
    assert ["it calls from ::1"] == logged
    assert daemons.log_refusal("{'message': 'name taken, one', 'x'") == "name taken, one"
    assert ["it calls from ::1", "name taken, one"] == logged
    # A scheduler that cannot be reached has refused nothing.
    for port in range(5):
        assert daemons.log_refusal(f"Timed out trying to connect to tls://10.0.0.1:{4000 + port} after 30 s") is None
    assert 3 == len(logged)
