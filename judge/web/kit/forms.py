"""Forms of pages: fields, site and proof."""

import hmac
from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

from fastapi import Request

from judge.base.errors import InputError

MAX_FORM_BYTES = 8192
MAX_FIELDS = 16


async def form_fields(request: Request) -> Mapping[str, str]:
    """First field of each name. Raises InputError."""
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_FORM_BYTES:
            raise InputError(f"the form has more than {MAX_FORM_BYTES} bytes: send less text")
    try:
        fields = parse_qs(data.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        raise InputError(f"the form has more than {MAX_FIELDS} fields") from None
    return {name: values[0] for name, values in fields.items()}


def check_site(request: Request) -> None:
    """Raise InputError for a request that another site caused."""
    foreign = InputError("this form was sent from another site: open the page of the contest, and send it there")
    site = request.headers.get("sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        raise foreign
    # Older browsers, and all over plain HTTP, omit Sec-Fetch-Site. An origin `null` may be any page without a referrer.
    origins = [origin for origin in request.headers.getlist("origin") if origin != "null" or site is None]
    if any(not _is_own(origin, request) for origin in origins):
        raise foreign


def _is_own(origin: str, request: Request) -> bool:
    """A proxy may name the host without the port."""
    try:
        sent, host = urlsplit(origin), urlsplit(f"//{request.headers.get('host', '')}")
        default = {"https": 443, "http": 80}.get(sent.scheme)
        is_same_port = host.port is None or host.port == (sent.port or default)
    except ValueError:
        return False
    is_downgraded = request.url.scheme == "https" and sent.scheme != "https"
    return bool(sent.hostname) and sent.hostname == host.hostname and is_same_port and not is_downgraded


def proof_of(token: str, purpose: str) -> str:
    """Only pages sent to the token's owner contain it."""
    return hmac.new(token.encode("utf-8", "replace"), purpose.encode("utf-8", "replace"), "sha256").hexdigest()


def is_proof(token: str, purpose: str, proof: str) -> bool:
    """Whether a proof is valid for this purpose."""
    return hmac.compare_digest(proof_of(token, purpose).encode(), proof.encode("utf-8", "replace"))
