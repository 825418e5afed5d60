"""The tokens of authors and organisers: shown once, kept as a hash, and valid until they are revoked.

The token has 256 bits of chance in it, so a plain SHA-256 is enough: there is nothing to guess that a slow hash would
protect.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, insert, select, update

from judge.base.errors import InputError
from judge.base.text import is_printable
from judge.store.database import ContestDatabase
from judge.store.tables import tokens

PREFIX = "judge-"
"""So that a token that was published by mistake is known for what it is."""
ENTROPY_BYTES = 32
AUTHOR_CHARACTERS = 64

_NO_HASH = "0" * 64
"""What the hash of a token is compared with that nobody has: the same steps as for one that somebody has."""


class TokenRole(StrEnum):
    """What a token is good for."""

    AUTHOR = "author"
    """To submit, and to see what is one's own."""
    WATCH = "watch"
    """To see all that an organiser sees."""
    ACT = "act"
    """That, and to decide."""


ORGANISER_ROLES = (TokenRole.WATCH, TokenRole.ACT)


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """Whose token it is, and what it is good for."""

    name: str
    role: TokenRole
    made_at: str
    made_by: str


class Tokens(ContestDatabase):
    """The tokens of one contest. Safe to use from several processes at once."""

    def make(self, author: str, who: str, role: TokenRole = TokenRole.AUTHOR) -> str:
        """A new token for an author or an organiser, beside those that hold already; it can be had only now.
        InputError."""
        checked_author(author)
        token = PREFIX + secrets.token_urlsafe(ENTROPY_BYTES)
        values = {"contest": self._contest, "author": author, "role": role}
        with self._writing() as connection:
            connection.execute(insert(tokens).values(hash=_hash(token), made_at=self._stamp(), made_by=who, **values))
        return token

    def revoke(self, author: str, who: str) -> int:
        """Revoke every token of an author, and return how many. Raises InputError if there was none."""
        return self._revoke(author, who, (TokenRole.AUTHOR,))

    def revoke_organiser(self, name: str, who: str) -> int:
        """Revoke every token of an organiser, and return how many. Raises InputError if there was none."""
        return self._revoke(name, who, ORGANISER_ROLES)

    def _revoke(self, name: str, who: str, roles: tuple[TokenRole, ...]) -> int:
        with self._writing() as connection:
            done = connection.execute(
                update(tokens)
                .where(
                    tokens.c.contest == self._contest,
                    tokens.c.author == name,
                    tokens.c.role.in_(roles),
                    tokens.c.revoked_at.is_(None),
                )
                .values(revoked_at=self._stamp(), revoked_by=who)
            )
            if not done.rowcount:
                kind = "author" if TokenRole.AUTHOR in roles else "organiser"
                raise InputError(f"{kind} {name!r} has no token in {self._contest!r}")
            return done.rowcount

    def author_of(self, token: str) -> str | None:
        """The author of a token; None if it was never made, or was revoked, or is an organiser's."""
        holder = self._holder(token)
        return None if holder is None or holder.role is not TokenRole.AUTHOR else holder.name

    def organiser_of(self, token: str) -> TokenHolder | None:
        """The organiser of a token; None if it was never made, or was revoked, or is an author's."""
        holder = self._holder(token)
        return None if holder is None or holder.role not in ORGANISER_ROLES else holder

    def organisers(self) -> list[TokenHolder]:
        """Whoever has an organiser's token that holds, a row for each token, oldest first."""
        query = select(tokens).where(
            tokens.c.contest == self._contest, tokens.c.role.in_(ORGANISER_ROLES), tokens.c.revoked_at.is_(None)
        )
        return [_holder_of(row) for row in self._rows(query.order_by(tokens.c.made_at, tokens.c.author))]

    def _holder(self, token: str) -> TokenHolder | None:
        wanted = _hash(token)
        query = select(tokens).where(
            tokens.c.hash == wanted, tokens.c.contest == self._contest, tokens.c.revoked_at.is_(None)
        )
        row = self._first(query)
        # The database looked for the hash as fast as it could; what an attacker could learn of it opens nothing.
        is_known = hmac.compare_digest(_NO_HASH if row is None else row.hash, wanted)
        if row is None or not is_known:
            return None
        return _holder_of(row)


def checked_author(author: str) -> str:
    """`author`, if it can be an author's name; InputError."""
    fits = 0 < len(author) <= AUTHOR_CHARACTERS and is_printable(author)
    if not fits or author != author.strip():
        raise InputError(f"author {author[:80]!r}: 1 to {AUTHOR_CHARACTERS} printable characters, no blank at an end")
    return author


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _holder_of(row: Row[Any]) -> TokenHolder:
    return TokenHolder(row.author, TokenRole(row.role), row.made_at, row.made_by)
