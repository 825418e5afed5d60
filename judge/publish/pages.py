"""Templates into pages: every value is made plain, cut and escaped on its way in, and no page may load from elsewhere.

What a template prints is text unless it is marked up by a template, or is a picture of ours. So a template cannot
forget to escape; it can only choose a shorter length (`|name`).
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from judge.publish.formatting import LONGEST_NAME, LONGEST_TEXT, halves, plain
from judge.text import duration, number

STYLE, VIEWER = "style.css", "viewer.js"
ASSETS = (STYLE, VIEWER)
"""Files of ours that every page uses; they lie at the top of the site."""

POLICY = (
    "default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""What a page may load: its two files, from where it lies itself (`file:` for a page that was opened from disk)."""


def asset(name: str) -> bytes:
    """A file of ours."""
    return files(__package__).joinpath("templates", name).read_bytes()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("judge.publish"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
        auto_reload=False,
    )
    environment.filters.update({"name": _name, "cut": plain, "halves": halves, "number": number, "duration": duration})
    environment.globals["policy"] = POLICY
    return environment


def _name(text: str) -> str:
    return plain(text, LONGEST_NAME)


def _shown(value: object) -> object:
    """For jinja2: what is printed of a value that is no markup."""
    if isinstance(value, Markup):
        return value
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return plain(str(value), LONGEST_TEXT) if isinstance(value, str) else value


def render(template: str, root: str, values: Mapping[str, Any]) -> bytes:
    """A page; `root` leads from it to the top of the site, such as `../`."""
    return _environment().get_template(template).render(root=root, **values).encode()


def picture(svg: str) -> Markup:
    """An SVG that was written by our own painters, which escape what they are given."""
    return Markup(svg)  # noqa: S704 it is markup, and none of it is a stranger's
