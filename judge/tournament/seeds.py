"""A contest's chance: a secret of 256 bits, committed to before the first game and revealed after the last one.

The commitment is the SHA-256 of the secret's 32 bytes and stands in the document that a contest is frozen as. From the
secret, from the entries, from the first checkpoint of the log after they were frozen and from the signatures of it by
the witnesses that the contest announces follows the contest's own key (`contest_key`), so nobody chooses the draw: the
secret was fixed before the entries were, and nobody but a witness knows what it will sign. From that key follow
(`judge.referee.seeds`):

- the ranks, where they are drawn: `"seeds"`; the lots of a Swiss: `"swiss"`;
- the order in which the openings come for the n-th time, from 0, where it is shuffled: `n`;
- the seed of a game: `"game", round, table, game, attempt`. An attempt that did not count has shown the agents its
  chance, so the next one has another.

A contest whose file gives a seed has neither secret nor commitment: who knows that number can foretell its chance.
"""

import hashlib
import secrets
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from judge.referee.seeds import Key, Seed, derived
from judge.transparency.checkpoint import Checkpoint, origin_of


def new_secret() -> Key:
    """Of the host's own randomness."""
    return secrets.token_hex(32)


def commitment_to(secret: Key) -> str:
    """What is published of a secret before it is revealed."""
    return hashlib.sha256(bytes.fromhex(secret)).hexdigest()


class Freeze(BaseModel):
    """A contest's log when its entries were frozen, before anything was drawn: its first checkpoint after that."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    leaves: int = Field(ge=1)
    root: Key
    """SHA-256."""
    entries: Key
    """SHA-256 of the entries and of all other terms (`judge.tournament.snapshot.terms_digest`)."""
    witnessed: dict[str, Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]] = {}
    """The signatures of that checkpoint without a time, by the names of the witnesses."""

    def checkpoint(self, contest: str) -> Checkpoint:
        """The checkpoint, unsigned."""
        return Checkpoint(origin_of(contest), self.leaves, bytes.fromhex(self.root))


def contest_key(secret: Key, name: str, freeze: Freeze | None = None) -> Key:
    """What all chance of the contest called `name` follows from. `freeze` None: before there were logs."""
    if freeze is None:
        return derived(secret, "contest", name)
    signed = (part for pair in sorted(freeze.witnessed.items()) for part in pair)
    return derived(secret, "draw", name, freeze.entries, freeze.leaves, freeze.root, *signed)


def game_seed(key: Key, round_: int, table: int, game: int, attempt: int) -> Seed:
    """The seed of one attempt of a game."""
    return derived(key, "game", round_, table, game, attempt)
