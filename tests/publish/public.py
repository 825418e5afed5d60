"""An export in a test."""

import shutil
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.publish.keys import public_pem


class Public:
    """An export: its directories, the organiser's key, and the public key, which everybody got from another source."""

    def __init__(self, folder: Path, key: Ed25519PrivateKey) -> None:
        self.directory = folder / "public"
        self.private = folder / "private"
        self.key = key
        self.public_key = folder / "announced.pem"
        self.public_key.write_bytes(public_pem(key.public_key()))

    def copy_to(self, folder: Path) -> "Public":
        shutil.copytree(self.directory, folder / "public")
        return Public(folder, self.key)
