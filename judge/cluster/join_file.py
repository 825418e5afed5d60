"""The file with which a machine joins a cluster.

Its owner cannot pose as a scheduler or connect to other workers.
"""

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from cryptography.hazmat.primitives.serialization import Encoding
from distributed.security import Security
from pydantic import BaseModel, ConfigDict, Field

from judge.base.durable_files import create_private
from judge.base.errors import InputError
from judge.base.parsing import parse_json
from judge.cluster.keys import AUTHORITY, WORKERS, check_host, issue, load_authority, private_pem
from judge.cluster.security import Address, parse_address, refuse_damaged, tls_security

SUFFIX = ".join"
LARGEST = 1 << 16


class JoinFile(BaseModel):
    """Keys and certificates are PEM."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document: Literal["judge-worker-1"] = "judge-worker-1"
    scheduler: str
    name: str = Field(pattern=r"^[A-Za-z0-9:][A-Za-z0-9._:-]*$", max_length=254)
    """The scheduler accepts the worker under no other name."""
    authority: str
    certificate: str
    key: str

    @property
    def address(self) -> Address:
        """Raises InputError."""
        return parse_address(self.scheduler)

    def security(self) -> Security:
        """dask's settings for this worker."""
        return tls_security(self.authority, self.certificate, self.key)


def invite(folder: Path, hosts: Sequence[str], scheduler: Address, days: int) -> list[Path]:
    """Write a join file per host. Raises InputError if a host has one."""
    hosts = [check_host(host) for host in hosts]
    paths = [folder / f"{host}{SUFFIX}" for host in hosts]
    if scheduler.scheme != "tls":
        raise InputError(f"{scheduler}: workers join with tls://; on loopback no file is needed")
    for path in paths:
        if path.exists():
            raise InputError(f"{path} already exists: remove it to make another")
    try:
        authority, _ = load_authority(folder, AUTHORITY, days)
        workers, key = load_authority(folder, WORKERS, days)
        for host, path in zip(hosts, paths, strict=True):
            certificate, own = issue(host, workers, key, days)
            made = JoinFile(
                scheduler=str(scheduler),
                name=host,
                authority=authority.public_bytes(Encoding.PEM).decode(),
                certificate=certificate.public_bytes(Encoding.PEM).decode(),
                key=private_pem(own).decode(),
            )
            create_private(path, made.model_dump_json(indent=2).encode() + b"\n")
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}") from None
    return paths


def read_join_file(path: Path) -> JoinFile:
    """Raises InputError if the file is invalid or readable by other users."""
    try:
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InputError(f"{path} is readable by other users: chmod 600 {path}")
        with path.open("rb") as file:
            data = file.read(LARGEST)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}: judge cluster invite makes such a file") from None
    joined = parse_json(JoinFile, data, f"{path}: not a file that judge cluster invite makes")
    try:
        parse_address(joined.scheduler)
    except InputError as error:
        raise InputError(f"{path}: scheduler: {error}") from None
    refuse_damaged(joined.security(), f"{path}: authority, certificate or key")
    return joined
