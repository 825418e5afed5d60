"""A witness of a contest's log, on another machine: it signs each checkpoint that goes on from the last one it signed.

An organiser who shows two histories to two people must show one of them to no witness, or have a witness refuse.
"""

import re
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from judge.durable_files import read_bounded
from judge.errors import HostError, InputError
from judge.publish.log import LOG
from judge.transparency.checkpoint import LARGEST_CHECKPOINT, Checkpoint, read_checkpoint
from judge.transparency.merkle import Tree
from judge.transparency.tiles import CHECKPOINT, WIDTH, read_hashes

TIMEOUT_S = 30

Read = Callable[[str, int], bytes]
"""Reads a file of a site, by its path and its largest size; HostError or InputError if it cannot."""


def reader_of(site: str) -> Read:
    """Reads the files of a site, or of an export: a URL or a directory. Raises InputError for another kind of URL."""
    if "://" not in site:
        return lambda path, most: read_bounded(Path(site) / path, most)
    if not re.fullmatch(r"https?://[!-~]+", site):
        raise InputError(f"{site[:80]!r}: not a directory, nor an address such as https://example.org/cup/")
    return lambda path, most: _fetched(f"{site.rstrip('/')}/{path}", most)


def _fetched(url: str, most: int) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310 http or https
            data: bytes = answer.read(most + 1)
    except (URLError, HTTPException, OSError) as error:
        raise HostError(f"{url}: {error}") from None
    if len(data) > most:
        raise InputError(f"{url}: larger than {most} bytes; a judge serves no such file")
    return data


def newest(read: Read) -> Checkpoint:
    """The checkpoint of a site. Raises InputError if it has none."""
    path = LOG + CHECKPOINT
    return read_checkpoint(read(path, LARGEST_CHECKPOINT), path)


def refusal(read: Read, new: Checkpoint, old: Checkpoint | None, key: Ed25519PublicKey) -> str:
    """Why a checkpoint is not one that goes on from `old`, the last one that was signed; empty if it is.

    `key` is the organiser's. Reads the hashes of all leaves from the site; raises InputError or HostError if it cannot.
    """
    if not new.is_signed(key):
        return "it is not signed by the organiser's key"
    if old is not None and old.origin != new.origin:
        return f"it is of another log, {new.origin!r} instead of {old.origin!r}"
    if old is not None and new.size < old.size:
        return f"it has {new.size} leaves, and the last one had {old.size}: leaves were dropped"
    tree = Tree()
    for hashed in read_hashes(lambda path: _tile(read, path), new.size):
        tree.append_hash(hashed)
    if tree.root() != new.root:
        return "its root is not that of the leaves of the site"
    if old is not None and tree.root(old.size) != old.root:
        return f"the first {old.size} leaves are not those of the last one: one at least was dropped, added or changed"
    return ""


def _tile(read: Read, path: str) -> bytes:
    """A tile of hashes; one that is full meanwhile is not there any more with fewer."""
    full, is_partial, width = path.partition(".p/")
    try:
        return read(LOG + path, 32 * WIDTH)
    except (HostError, InputError):
        if not is_partial:
            raise
        return read(LOG + full, 32 * WIDTH)[: 32 * int(width)]
