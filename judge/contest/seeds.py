"""A contest's chance: a secret of 256 bits, committed to before the first game and revealed after the last one.

The commitment is the SHA-256 of the secret's 32 bytes and stands in the document that a contest is frozen as. From the
secret follows the contest's own key, `derived(secret, "contest", name)`, and from that key (`judge.referee.seeds`):

- the ranks, where they are drawn: `"seeds"`; the lots of a Swiss: `"swiss"`;
- the order in which the openings come for the n-th time, from 0, where it is shuffled: `n`;
- the seed of a game: `"game", round, table, game, attempt`. An attempt that did not count has shown the agents its
  chance, so the next one has another.

A contest whose file gives a seed has neither secret nor commitment: who knows that number can foretell its chance.
"""

import hashlib
import secrets

from judge.referee.seeds import Key, Seed, derived


def new_secret() -> Key:
    """Of the host's own randomness."""
    return secrets.token_hex(32)


def commitment_to(secret: Key) -> str:
    """What is published of a secret before it is revealed."""
    return hashlib.sha256(bytes.fromhex(secret)).hexdigest()


def contest_key(secret: Key, name: str) -> Key:
    """What all chance of the contest called `name` follows from."""
    return derived(secret, "contest", name)


def game_seed(key: Key, round_: int, table: int, game: int, attempt: int) -> Seed:
    """The seed of one attempt of a game."""
    return derived(key, "game", round_, table, game, attempt)
