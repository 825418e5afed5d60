"""Who looks at a page: an author, by the token in a cookie.

A link carries the token behind `#`, which no browser sends to anybody. A form sends it once, in the body of a POST, and
gets it back as a cookie that scripts cannot read, that goes to this site alone and only in requests that this site has
caused. So a token is in no address, no log and no Referer; and there is nothing to store: the cookie ends with its
token.

Over TLS the cookie's name begins with `__Host-`: browsers let no other host set it, not even a neighbour under the same
domain. Such a cookie is for all paths of its host, so its name has the service's root path.
"""

import hmac
import re
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from fastapi import Request
from fastapi.responses import Response
from starlette.types import Scope

from judge.base.errors import InputError
from judge.web.kit.authentication import Authenticator, UnauthorizedError

COOKIE = "judge-author"

HOST_PREFIX = "__Host-"
"""Of the names of cookies that browsers accept only over TLS, from the host itself and for all its paths."""

MOST_FORM_BYTES = 8192
MOST_FIELDS = 16

_CHANGE = b"judge: sign in as another author"


def author_of(authors: Authenticator, request: Request) -> str | None:
    """The author who is signed in; None if nobody is. Raises TooMuchError."""
    token = sent_cookie(request.scope, COOKIE)
    if not token:
        return None
    try:
        return signed_in(authors, request, token)
    except UnauthorizedError:
        return None


def signed_in(authors: Authenticator, request: Request, token: str) -> str:
    """The author of a token. Raises UnauthorizedError, TooMuchError."""
    author = authors.author(token, request.client.host if request.client else "")
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


def sent_token(form: Mapping[str, str]) -> str:
    """The token of a form; from a whole link what is behind the `#`."""
    return form.get("token", "").strip().rpartition("#")[2]


def check_site(request: Request) -> None:
    """Raise InputError for a request that a page of another site has caused."""
    foreign = InputError("another site has sent this form: open the page of the contest, and send it there")
    site = request.headers.get("sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        raise foreign
    # Older browsers, and all of them over plain HTTP, send no Sec-Fetch-Site. `null` is what a page without a referrer
    # sends, ours or another one: the browser must say which.
    origins = [origin for origin in request.headers.getlist("origin") if origin != "null" or site is None]
    if any(not _is_own(origin, request) for origin in origins):
        raise foreign


def _is_own(origin: str, request: Request) -> bool:
    """Whether an `Origin` is this service. A server in front may name the host without the port."""
    try:
        sent, host = urlsplit(origin), urlsplit(f"//{request.headers.get('host', '')}")
        default = {"https": 443, "http": 80}.get(sent.scheme)
        is_same_port = host.port is None or host.port == (sent.port or default)
    except ValueError:
        return False
    is_downgraded = request.url.scheme == "https" and sent.scheme != "https"
    return bool(sent.hostname) and sent.hostname == host.hostname and is_same_port and not is_downgraded


# --- the cookie -------------------------------------------------------------------------------------------------------


def cookie_name(scope: Scope, cookie: str) -> str:
    """The name of a cookie in this service."""
    if scope["scheme"] != "https":
        return cookie
    folder = re.sub(r"[^A-Za-z0-9]+", "-", scope.get("root_path", "")).strip("-")
    return f"{HOST_PREFIX}{cookie}{f'-{folder}' if folder else ''}"


def sent_cookie(scope: Scope, cookie: str) -> str:
    """The token in a request's cookie; empty if there is none, or if there are two different ones."""
    found = _sent_cookies(scope, cookie)
    return _unquoted(found.pop()) if len(found) == 1 else ""


def check_cookie(scope: Scope, cookie: str) -> None:
    """Raise InputError for two different cookies: another site has set one of them."""
    if len(_sent_cookies(scope, cookie)) > 1:
        raise InputError(
            f"your browser sends two different cookies {cookie_name(scope, cookie)}, and another site may have set one "
            "of them: delete the cookies of this site, and sign in again"
        )


def _sent_cookies(scope: Scope, cookie: str) -> set[str]:
    wanted = cookie_name(scope, cookie)
    found = set()
    for header, value in scope["headers"]:
        if header == b"cookie":
            pairs = (pair.partition("=") for pair in value.decode("latin-1").split(";"))
            found |= {text.strip() for name, _, text in pairs if name.strip() == wanted}
    return found


def _unquoted(value: str) -> str:
    try:
        return SimpleCookie(f"x={value}")["x"].value
    except (CookieError, KeyError):
        return ""


def sign_in(request: Request, response: Response, token: str, cookie: str = COOKIE, folder: str = "") -> None:
    """Set the cookie, which ends with the browser. Without TLS it goes to the paths of `folder` alone."""
    response.set_cookie(
        cookie_name(request.scope, cookie),
        token,
        path=_path(request, folder),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def sign_out(request: Request, response: Response, cookie: str = COOKIE, folder: str = "") -> None:
    """Remove the cookie."""
    response.delete_cookie(
        cookie_name(request.scope, cookie),
        path=_path(request, folder),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def _path(request: Request, folder: str) -> str:
    return "/" if request.url.scheme == "https" else f"{request.scope.get('root_path', '')}/{folder}"


# --- signing in over another session ----------------------------------------------------------------------------------


def proof_of_change(current: str, token: str) -> str:
    """What the form carries that changes the session of one token to another: only a page that was sent to the owner
    of the current one has it."""
    return hmac.new(
        current.encode("utf-8", "replace"), _CHANGE + token.encode("utf-8", "replace"), "sha256"
    ).hexdigest()


def confirms_change(current: str, token: str, proof: str) -> bool:
    """Whether a form carries this proof."""
    return hmac.compare_digest(proof_of_change(current, token).encode(), proof.encode("utf-8", "replace"))
