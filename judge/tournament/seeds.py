"""A contest's chance: a secret of 256 bits, committed to before the first game and revealed after the last.

The commitment is the SHA-256 of the secret, stored in the contest's document. The contest's key (`contest_key`) is
derived from the secret, the entries and the log's first checkpoint after lock-in
(docs/decisions/0009-log-and-witnesses.md). Derived from the key (`judge.record.seeds`):

- drawn ranks: `"seeds"`; lots of a Swiss: `"swiss"`;
- the order of shuffled openings in the n-th pass, from 0: `n`;
- the seed of a game: `"game", round, table, game, attempt`.
"""

import hashlib
import secrets

from pydantic import Field

from judge.base.parsing import FrozenModel
from judge.record.seeds import Key, Seed, derived


def new_secret() -> Key:
    """A random secret."""
    return secrets.token_hex(32)


def commitment_to(secret: Key) -> str:
    """The commitment to a secret."""
    return hashlib.sha256(bytes.fromhex(secret)).hexdigest()


class Freeze(FrozenModel):
    """First checkpoint of a contest's log after lock-in, before any draw."""

    leaves: int = Field(ge=1)
    root: Key
    """SHA-256."""
    entries: Key
    """SHA-256 of terms (`judge.tournament.snapshot.terms_digest`)."""


def contest_key(secret: Key, name: str, freeze: Freeze | None = None) -> Key:
    """A contest's key. `freeze` None: a version without logs."""
    if freeze is None:
        return derived(secret, "contest", name)
    return derived(secret, "draw", name, freeze.entries, freeze.leaves, freeze.root)


def game_seed(key: Key, round_: int, table: int, game: int, attempt: int) -> Seed:
    """An attempt's seed."""
    return derived(key, "game", round_, table, game, attempt)
