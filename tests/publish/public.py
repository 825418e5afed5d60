"""An export in a test."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.publish.manifest import MANIFEST, write_manifest
from judge.transparency.keys import public_pem


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


def sign_again(public: Public) -> None:
    """As the organiser would: the manifest lists the forged files."""
    contest = json.loads((public.directory / MANIFEST).read_bytes())["contest"]
    write_manifest(public.directory, contest, public.key)


def change(path: Path, how: Callable[[Any], object]) -> None:
    document = json.loads(path.read_bytes())
    how(document)
    path.write_text(json.dumps(document))
