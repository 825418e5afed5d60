"""Pages in a browser: in each language, width and darkness, and without scripts."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.site.browser import Browser, views_of


def check_views(browser: Browser, url: str, *pages: str) -> None:
    """No page is wider than its window, and axe-core finds nothing wrong with it."""
    for (folder, width, dark), shown in views_of(pages):
        browser.look(width, dark)
        for page in shown:
            browser.visit(f"{url}/{folder}{page}")
            assert browser.ask("document.documentElement.scrollWidth") <= width, (folder, page)
            assert [] == browser.violations(), (folder, page)
    browser.look(1000)


def text_of(browser: Browser) -> str:
    """What the page shows."""
    return str(browser.ask("document.querySelector('main').innerText"))


@contextmanager
def without_scripts(browser: Browser) -> Iterator[None]:
    browser.block_scripts(True)
    try:
        yield
    finally:
        browser.block_scripts(False)
