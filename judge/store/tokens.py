"""Tokens: shown once, valid until revoked, stored as SHA-256, enough for 256 random bits."""

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
from judge.store.types import ORGANISER

PREFIX = "judge-"
"""Identifies tokens published by mistake."""
ENTROPY_BYTES = 32
AUTHOR_CHARACTERS = 64
RESERVED_AUTHORS = (ORGANISER, "judge")
"""Actors in journals."""

_NO_HASH = "0" * 64
"""So that unknown tokens take the same steps."""


class TokenRole(StrEnum):
    """Rights of a token."""

    AUTHOR = "author"
    WATCH = "watch"
    ORGANISER = "organiser"


ORGANISER_ROLES = (TokenRole.WATCH, TokenRole.ORGANISER)


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """A token's holder and rights."""

    name: str
    role: TokenRole
    made_at: str
    made_by: str


class Tokens(ContestDatabase):
    """A contest's tokens."""

    def make(self, author: str, who: str, role: TokenRole = TokenRole.AUTHOR) -> str:
        """An additional token, shown only once. Raises InputError."""
        checked_author(author, role)
        token = PREFIX + secrets.token_urlsafe(ENTROPY_BYTES)
        values = {"contest": self._contest, "author": author, "role": role}
        with self._writing() as connection:
            connection.execute(insert(tokens).values(hash=_hash(token), made_at=self._stamp(), made_by=who, **values))
        return token

    def revoke(self, name: str, who: str) -> int:
        """Revoke all tokens of a name; return their number. Raises InputError without one."""
        with self._writing() as connection:
            is_valid = (tokens.c.contest == self._contest, tokens.c.author == name, tokens.c.revoked_at.is_(None))
            revoked = update(tokens).where(*is_valid).values(revoked_at=self._stamp(), revoked_by=who)
            number = connection.execute(revoked).rowcount
            if not number:
                raise InputError(f"{name!r} has no token in {self._contest!r}")
            return number

    def author_of(self, token: str) -> str | None:
        """Holder of a valid author's token."""
        holder = self._holder(token)
        return None if holder is None or holder.role is not TokenRole.AUTHOR else holder.name

    def organiser_of(self, token: str) -> TokenHolder | None:
        """Holder of a valid organiser's token."""
        holder = self._holder(token)
        return None if holder is None or holder.role not in ORGANISER_ROLES else holder

    def holders(self) -> list[TokenHolder]:
        """One per valid token, oldest first."""
        query = select(tokens).where(tokens.c.contest == self._contest, tokens.c.revoked_at.is_(None))
        return [_holder_of(row) for row in self._rows(query.order_by(tokens.c.made_at, tokens.c.author))]

    def adopt(self, others: "Tokens") -> int:
        """Copy another contest's valid tokens, which stay valid there; return their number."""
        query = select(tokens).where(tokens.c.contest == others._contest, tokens.c.revoked_at.is_(None))
        rows = [{**row._mapping, "contest": self._contest} for row in others._rows(query)]
        if rows:
            with self._writing() as connection:
                connection.execute(insert(tokens), rows)
        return len(rows)

    def _holder(self, token: str) -> TokenHolder | None:
        wanted = _hash(token)
        is_valid = (tokens.c.hash == wanted, tokens.c.contest == self._contest, tokens.c.revoked_at.is_(None))
        row = self._first(select(tokens).where(*is_valid))
        # The lookup's time depends on the hash, which is useless to an attacker.
        is_known = hmac.compare_digest(_NO_HASH if row is None else row.hash, wanted)
        if row is None or not is_known:
            return None
        return _holder_of(row)


def checked_author(author: str, role: TokenRole = TokenRole.AUTHOR) -> str:
    """Raises InputError for an invalid or reserved name."""
    if role is TokenRole.AUTHOR and author.casefold() in RESERVED_AUTHORS:
        raise InputError(f"author {author!r}: the name is reserved; choose another one")
    fits = 0 < len(author) <= AUTHOR_CHARACTERS and is_printable(author)
    if not fits or author != author.strip():
        raise InputError(f"author {author[:80]!r}: 1 to {AUTHOR_CHARACTERS} printable characters, no blank at an end")
    return author


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _holder_of(row: Row[Any]) -> TokenHolder:
    return TokenHolder(row.author, TokenRole(row.role), row.made_at, row.made_by)
