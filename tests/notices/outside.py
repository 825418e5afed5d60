"""A network with receivers on the internet, of which this process is a host: a public address, names, certificates.

It writes what became of the notices to each receiver, as JSON: the states, the last reason, the requests that came.
"""

import ctypes
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from judge.notices.policy import NoticePolicy
from judge.notices.sender import NoticeSender, new_secret
from judge.store.notices import Notices
from tests.notices.receiving import OK, receiving, says
from tests.notices.test_sender import ended, refuse

NEW_NETWORK, NEW_MOUNTS = 0x40000000, 0x00020000
PUBLIC = "93.184.216.34"
NAME, INSIDE = "hooks.example.com", "inside.example.com"


def enter(folder: Path) -> None:
    """Go into a network that has this address and these names alone."""
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_NETWORK | NEW_MOUNTS):
        raise OSError(ctypes.get_errno(), "unshare")
    hosts = folder / "hosts"
    hosts.write_text(f"{PUBLIC} {NAME}\n127.0.0.1 {INSIDE}\n")
    for words in (
        ("mount", "--make-rprivate", "/"),
        ("mount", "--bind", str(hosts), "/etc/hosts"),
        ("ip", "link", "set", "lo", "up"),
        ("ip", "addr", "add", f"{PUBLIC}/32", "dev", "lo"),
    ):
        subprocess.run(words, check=True, timeout=60)


def tell(folder: Path, receivers: Mapping[str, tuple[str, Path]]) -> Mapping[str, object]:
    """To each receiver, a host with keys, a test notice and one of a refused submission."""
    store = f"sqlite:///{folder / 'cup.db'}"
    deliveries = {}
    policy = NoticePolicy(tries=1)
    with closing(Notices(store, "cup")) as notices, NoticeSender(notices, "cup", policy, folder, folder / "lock"):
        for name, (host, keys) in receivers.items():
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(keys / "cert.pem", keys / "key.pem")
            with receiving(says(OK), PUBLIC, tls) as receiver:
                notices.set_webhook(name, f"https://{host}:{receiver.port}/hook", new_secret())
                refuse(store, name)
                found = ended(notices, name, 2)
            kinds = [json.loads(request.partition(b"\r\n\r\n")[2])["type"] for request in receiver.requests]
            deliveries[name] = [[each.state for each in found], found[-1].why, kinds]
    return deliveries


def main() -> None:
    folder = Path(sys.argv[1])
    os.environ["SSL_CERT_FILE"] = str(folder / "known/ca.pem")
    enter(folder)
    receivers = {
        "good": (NAME, folder / "known" / NAME),
        "other": (NAME, folder / "known/other.example.com"),
        "unknown": (NAME, folder / "unknown" / NAME),
        "inside": (INSIDE, folder / "known" / NAME),
    }
    (folder / "told.json").write_text(json.dumps(tell(folder, receivers)))


if __name__ == "__main__":
    main()
