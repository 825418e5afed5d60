"""Renders templates: every value is made printable, cut and escaped, and no page may load anything from elsewhere.

What a template prints is text, unless a template marks it up or it is one of our own pictures. So a template cannot
forget to escape; it can only choose a shorter length (`|name`).
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from judge.publish.model import PublishedContest, Stream
from judge.text import duration, number, plain_text, points_text

Page = tuple[str, bytes]
"""The path of a file from the top of the site, and its contents."""

LONGEST_NAME = 48
"""Characters of an agent's name on a page."""

STYLE, VIEWER, VERIFIER = "style.css", "viewer.js", "verify.mjs"
ASSETS = (STYLE, VIEWER, VERIFIER)
"""Our own files that the pages use; they are at the top of the site."""

POLICY = (
    "default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""What a page may load: these files, from its own site (`file:` for a page that is opened from disk)."""


LIVE_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""What a page of a running contest may load, besides: the events, and itself as it is now."""


def asset(name: str) -> bytes:
    """One of `ASSETS`."""
    return files(__package__).joinpath("templates", name).read_bytes()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("judge.publish"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_print,
        auto_reload=False,
    )
    environment.filters |= {
        "name": short_name,
        "cut": plain_text,
        "points": points_text,
        "number": number,
        "duration": duration,
    }
    environment.globals |= {"policy": POLICY, "stream": None}
    return environment


def short_name(text: str) -> str:
    """An agent's name as it is shown on a page."""
    return plain_text(text, LONGEST_NAME)


def _print(value: object) -> object:
    """For jinja2: what is printed of a value."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return plain_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def render(template: str, root: str, values: Mapping[str, Any], stream: Stream | None = None) -> bytes:
    """A page; `root` leads from it to the top of the site, such as `../`. With a `stream` it goes on by itself."""
    live: Mapping[str, Any] = {} if stream is None else {"stream": stream, "policy": LIVE_POLICY}
    return _environment().get_template(template).render(root=root, **values, **live).encode()


def render_for(contest: PublishedContest, template: str, here: str, values: Mapping[str, Any], root: str = "") -> bytes:
    """A page of a contest; `here` is its tab of the navigation, empty if it has none."""
    common: dict[str, Any] = {"contest_name": contest.name, "here": here, "contest": contest}
    return render(template, root, {**common, **values}, contest.stream)


def picture(svg: str) -> Markup:
    """An SVG of our own painters, which escape what they are given."""
    return Markup(svg)  # noqa: S704 it is markup, and none of it is a stranger's
