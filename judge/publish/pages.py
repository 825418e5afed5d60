"""The type of entries of `judge.pages`: pages that other packages add to an export, as `pages/NAME.html`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.registry import Registry
from judge.contest_view.view import ContestView

FOLDER = "pages/"

MAX_PAGE_BYTES = 16 << 20


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


def page_problems(directory: Path, contest: ContestView, names: Sequence[str]) -> Iterator[str]:
    """Render each of the pages `names` of an export again. A page whose package is missing is a problem."""
    for name in names:
        try:
            page = PAGES.entry(name.removeprefix(FOLDER).removesuffix(".html"))
            if page.path != name:
                yield f"{name}: unexpected file"
            elif page.render(contest) != read_bounded(directory / name, MAX_PAGE_BYTES):
                yield f"{name}: not the page that follows from the results"
        except InputError as error:
            yield f"{name}: it cannot be verified: {error}"
        except Exception as error:  # noqa: BLE001 code of another package
            yield f"{name}: it cannot be verified: {type(error).__name__}: {error}"
