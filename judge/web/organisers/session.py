"""Who looks at a page: an organiser, by the token in a cookie; see `judge.web.kit.session`, whose rules hold here.

A form that orders something carries a proof besides, which only pages that this service has sent to the owner of the
token can have.
"""

import hashlib
import hmac

from anyio import CapacityLimiter, to_thread
from fastapi import Request
from starlette.types import Scope

from judge.base.errors import InputError
from judge.store.tokens import TokenHolder, TokenRole, Tokens
from judge.web.kit.authentication import Authenticator
from judge.web.kit.session import sent_cookie

COOKIE = "judge-organiser"

_PROOF = b"judge: a form of an organiser"


class MayNotActError(InputError):
    """A token that is good for watching was used to act."""


def organiser_of(authors: Authenticator, tokens: Tokens, request: Request, token: str) -> TokenHolder:
    """The organiser of a token. Raises UnauthorizedError, TooMuchError."""
    holder = tokens.organiser_of(token) if token else None
    if holder is None:
        authors.refuse(request.client.host if request.client else "")
    name = f"organiser {holder.name}"
    authors.count(name)
    request.state.author = name
    return holder


_LOOK_UPS = CapacityLimiter(2)


async def has_organiser_cookie(tokens: Tokens, scope: Scope) -> bool:
    """Whether a request has the cookie of an organiser."""
    token = sent_cookie(scope, COOKIE)
    return bool(token) and await to_thread.run_sync(tokens.organiser_of, token, limiter=_LOOK_UPS) is not None


def proof_of(token: str) -> str:
    """What a form of the owner of a token carries."""
    return hmac.new(token.encode("utf-8", "replace"), _PROOF, hashlib.sha256).hexdigest()


def check_proof(token: str, proof: str) -> None:
    """Raise InputError for a form that was not sent from a page of the owner of the token."""
    if not hmac.compare_digest(proof_of(token).encode(), proof.encode("utf-8", "replace")):
        raise InputError("this form is not from a page that was sent to you: open it again, and send it there")


def check_may_act(organiser: TokenHolder) -> None:
    """Raise MayNotActError unless the token is good for more than watching."""
    if organiser.role is not TokenRole.ACT:
        raise MayNotActError("your token is good for watching: ask for one with --role act to give orders")
