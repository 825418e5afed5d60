"""Who sends a request: the author of its token, and how often tokens may be tried."""

from typing import NoReturn

from judge.base.errors import InputError
from judge.store.submission_types import TooMuchError
from judge.store.tokens import Tokens
from judge.submissions.intake import IntakePolicy
from judge.web.kit.rate_limit import RateLimit, address_key


class UnauthorizedError(InputError):
    """The token is missing or not valid."""


class Authenticator:
    """Knows authors by their tokens, for all paths of a service together."""

    def __init__(self, tokens: Tokens, limits: IntakePolicy) -> None:
        self._tokens = tokens
        self._strangers = RateLimit(limits.strangers_per_minute)
        self._authors = RateLimit(limits.requests_per_minute)

    def author(self, token: str, address: str) -> str:
        """The author of a token, which a client at this address has sent, empty if none.

        Raises UnauthorizedError, and TooMuchError if the author or the address sends too many requests.
        """
        # A missing token is looked for as a wrong one is.
        name = self._tokens.author_of(token)
        if name is None:
            self.refuse(address)
        self.count(name)
        return name

    def refuse(self, address: str) -> NoReturn:
        """Raise UnauthorizedError for a request without a token that holds, or TooMuchError if there are too many."""
        wait_s = self._strangers.spend(address_key(address))
        if wait_s:
            raise TooMuchError("too many requests without a valid token", wait_s)
        raise UnauthorizedError("the token is missing or not valid: send Authorization: Bearer TOKEN")

    def count(self, name: str) -> None:
        """Count a request of whoever proved the name. Raises TooMuchError if there are too many."""
        wait_s = self._authors.spend(name)
        if wait_s:
            raise TooMuchError("too many requests with your token", wait_s)
