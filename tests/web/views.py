"""Pages in a browser: in each language, width and darkness."""

from tests.site.browser import Browser, views_of


def check_views(browser: Browser, url: str, *pages: str) -> None:
    """No page is wider than its window, and axe-core finds nothing wrong with it."""
    for (folder, width, dark), shown in views_of(pages):
        browser.set_view(width, dark)
        for page in shown:
            browser.visit(f"{url}/{folder}{page}")
            browser.check(width, (folder, page))
    browser.set_view(1000)


def text_of(browser: Browser) -> str:
    return str(browser.ask("document.querySelector('main').innerText"))
