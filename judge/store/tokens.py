"""An author's token: shown once, kept as a hash, ended by the organiser.

The token has 256 bits of chance in it, so a plain SHA-256 is enough: there is nothing to guess that a slow hash would
protect.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import Engine, insert, select, update

from judge.errors import InputError
from judge.store.connection import connect
from judge.store.tables import tokens
from judge.text import is_printable

PREFIX = "judge-"
"""So that a token that was published by mistake is known for what it is."""
ENTROPY_BYTES = 32
AUTHOR_CHARACTERS = 64


class Tokens:
    """The tokens of one contest. Safe to use from several processes at once."""

    def __init__(self, url: str, contest: str, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Connect and migrate; InputError or HostError as `connect`."""
        self._engine: Engine = connect(url)
        self._contest = contest
        self._now = now

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def make(self, author: str, who: str) -> str:
        """A new token for an author, beside those that hold already; it can be had only now. InputError."""
        checked_author(author)
        token = PREFIX + secrets.token_urlsafe(ENTROPY_BYTES)
        with self._engine.begin() as connection:
            connection.execute(
                insert(tokens).values(
                    hash=_hash(token), contest=self._contest, author=author, made_at=self._stamp(), made_by=who
                )
            )
        return token

    def revoke(self, author: str, who: str) -> int:
        """Revoke every token of an author, and return how many. Raises InputError if there was none."""
        with self._engine.begin() as connection:
            done = connection.execute(
                update(tokens)
                .where(tokens.c.contest == self._contest, tokens.c.author == author, tokens.c.revoked_at.is_(None))
                .values(revoked_at=self._stamp(), revoked_by=who)
            )
            if not done.rowcount:
                raise InputError(f"author {author!r} has no token in {self._contest!r}")
            return done.rowcount

    def author_of(self, token: str) -> str | None:
        """The author of a token; None if it was never made, or was revoked."""
        wanted = _hash(token)
        query = select(tokens).where(
            tokens.c.hash == wanted, tokens.c.contest == self._contest, tokens.c.revoked_at.is_(None)
        )
        with self._engine.connect() as connection:
            row = connection.execute(query).first()
        # The database looked for the hash as fast as it could; what an attacker could learn of it opens nothing.
        if row is None or not hmac.compare_digest(row.hash, wanted):
            return None
        return str(row.author)

    def _stamp(self) -> str:
        return self._now().isoformat(timespec="milliseconds")


def checked_author(author: str) -> str:
    """`author`, if it can be an author's name; InputError."""
    fits = 0 < len(author) <= AUTHOR_CHARACTERS and is_printable(author)
    if not fits or author != author.strip():
        raise InputError(f"author {author[:80]!r}: 1 to {AUTHOR_CHARACTERS} printable characters, no blank at an end")
    return author


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
