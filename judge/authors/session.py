"""Who looks at a page: an author, by the token in a cookie.

A link carries the token behind `#`, which no browser sends to anybody. A form sends it once, in the body of a POST, and
gets it back as a cookie that scripts cannot read, that goes to this site alone and only in requests that this site has
caused. So a token is in no address, no log and no Referer; and there is nothing to store: the cookie ends with its
token.
"""

from collections.abc import Mapping
from urllib.parse import parse_qs

from fastapi import Request
from fastapi.responses import Response

from judge.errors import InputError
from judge.intake.app import AppState
from judge.intake.authentication import UnauthorizedError

COOKIE = "judge-author"

MOST_FORM_BYTES = 8192
MOST_FIELDS = 16


def author_of(state: AppState, request: Request) -> str | None:
    """The author who is signed in; None if nobody is. Raises TooMuchError."""
    token = request.cookies.get(COOKIE, "")
    if not token:
        return None
    try:
        return signed_in(state, request, token)
    except UnauthorizedError:
        return None


def signed_in(state: AppState, request: Request, token: str) -> str:
    """The author of a token. Raises UnauthorizedError, TooMuchError."""
    author = state.authors.author(token, request.client.host if request.client else "")
    request.state.author = author
    return author


async def sent_form(request: Request) -> Mapping[str, str]:
    """The fields of the form in a request, the first of each name. Raises InputError."""
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > MOST_FORM_BYTES:
            raise InputError(f"the form has more than {MOST_FORM_BYTES} bytes: send less text")
    try:
        fields = parse_qs(data.decode("ascii", "replace"), max_num_fields=MOST_FIELDS)
    except ValueError:
        raise InputError(f"the form has more than {MOST_FIELDS} fields") from None
    return {name: values[0] for name, values in fields.items()}


async def sent_token(request: Request) -> str:
    """The token of the form in a request; from a whole link what is behind the `#`. Raises InputError."""
    return (await sent_form(request)).get("token", "").strip().rpartition("#")[2]


def check_site(request: Request) -> None:
    """Raise InputError for a request that a page of another site has caused."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise InputError("another site has sent this form: open the page of the contest, and send it there")


def sign_in(request: Request, response: Response, token: str, cookie: str = COOKIE, folder: str = "") -> None:
    """Set the cookie, which ends with the browser and goes to the paths of `folder` alone."""
    response.set_cookie(
        cookie,
        token,
        path=_path(request, folder),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def sign_out(request: Request, response: Response, cookie: str = COOKIE, folder: str = "") -> None:
    """Remove the cookie."""
    response.delete_cookie(
        cookie, path=_path(request, folder), secure=request.url.scheme == "https", httponly=True, samesite="strict"
    )


def _path(request: Request, folder: str) -> str:
    return f"{request.scope.get('root_path', '')}/{folder}"
