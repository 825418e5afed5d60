"""The type of entries of `judge.pages`: pages that other packages add to an export, as `pages/NAME.html`."""

from collections.abc import Callable
from dataclasses import dataclass

from judge.base.registry import Registry
from judge.contest_view.view import ContestView

FOLDER = "pages/"


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page of a contest, in English; `title` is the text of the link to it.

    `render` must depend only on terms, agents, games and results: verifiers render the page again and compare it.
    Raises InputError for contests that it is not for.
    """

    name: str
    title: str
    render: Callable[[ContestView], bytes]

    @property
    def path(self) -> str:
        return f"{FOLDER}{self.name}.html"


PAGES = Registry("judge.pages", "page", PageEntry)
