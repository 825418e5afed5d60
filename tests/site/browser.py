"""The browser of the tests, which also checks pages with axe-core."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from scripts import browser
from scripts.browser import find_browser
from tests.examples import EVIDENCE, evidence

_AXE = Path(__file__).parents[2] / ".build/axe/node_modules/axe-core/axe.min.js"
_EVERY_RULE = {"rules": [{"id": "target-size", "enabled": True}]}
"""Of the rules for WCAG 2.2 AA, the one that axe-core does not run unless it is asked to."""


View = tuple[str, int, bool]

VIEWS: Sequence[View] = (
    [*product(("", "cs/", "zh/"), (1280, 390, 360), (False, True))]
    if EVIDENCE
    else [("", 1280, False), ("cs/", 360, True), ("zh/", 390, False)]
)
"""Language folders, widths and darkness in which a page is checked. The full lane has each of them once."""


def views_of(pages: Sequence[str]) -> Iterator[tuple[View, Sequence[str]]]:
    """The views, each with the pages that are checked in it. In the full lane every page is in the narrowest view, and
    several pages share the others."""
    narrowest = min(width for _, width, _ in VIEWS)
    wider = [view for view in VIEWS if view[1] > narrowest]
    for view in VIEWS:
        is_shared = not EVIDENCE and view in wider and len(pages) > 1
        yield view, pages[wider.index(view) :: len(wider)] if is_shared else pages


WIDTHS = [390, pytest.param(1280, marks=evidence)]
"""Widths of a page on which an author or organiser acts."""


@cache
def axe_source() -> str:
    if not _AXE.is_file():
        pytest.skip("axe-core is not here; scripts/test installs it")
    return _AXE.read_text()


MOST_LOOKS = 10
"""So often a page is looked at that changes while it is."""


class Browser(browser.Browser):
    def check(self, width: int, page: object = "") -> None:
        """axe-core finds nothing wrong with the page, which is no wider than its window."""
        assert [] == self.violations(), page
        assert self.ask("document.documentElement.scrollWidth") <= width, page

    @contextmanager
    def without_scripts(self) -> Iterator[None]:
        self.block_scripts(True)
        try:
            yield
        finally:
            self.block_scripts(False)

    def violations(self, *rules: str) -> list[str]:
        """What axe-core finds wrong with the page, by these rules or by all of them: a line for each element.

        If the page changes meanwhile it is looked at again: places of before and after do not belong together.
        """
        # Without its style sheets, which a page may still wait for, nothing has its size or its colour.
        self.wait_for("document.readyState === 'complete'")
        assert self.ask("document.body.checkVisibility()"), "nothing is wrong with a page that is not shown"
        self.ask(f"{axe_source()};axe.configure({json.dumps(_EVERY_RULE)})")
        only = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
        for _ in range(MOST_LOOKS):
            before = self.ask("document.documentElement.outerHTML")
            found = self.ask(
                f"""axe.run({json.dumps({"resultTypes": ["violations"], **only})}).then(
                  ({{violations}}) => violations.flatMap(
                    ({{id, help, nodes}}) => nodes.map(({{html}}) => `${{id}}: ${{help}}: ${{html}}`)
                  ))"""
            )
            if self.ask("document.documentElement.outerHTML") == before:
                break
        assert isinstance(found, list)
        return found


__all__ = ["VIEWS", "WIDTHS", "Browser", "find_browser", "views_of"]
