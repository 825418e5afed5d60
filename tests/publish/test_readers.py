"""The page of a game for every reader: by the accessibility tree and by keyboard."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.publish.public import Public
from tests.site.browser import Browser


class Tree:
    """What a screen reader has of a page."""

    def __init__(self, browser: Browser) -> None:
        nodes = browser.accessibility(whole=True)
        self._nodes: Mapping[str, Mapping[str, Any]] = {node["nodeId"]: node for node in nodes}

    def below(self, top: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """All nodes below one, in reading order."""
        for child in top.get("childIds", ()):
            node = self._nodes.get(child)
            if node is not None:
                yield node
                yield from self.below(node)

    def find(self, role: str, name: str = "") -> Mapping[str, Any]:
        return next(node for node in self._nodes.values() if role == _role(node) and (not name or name == _name(node)))

    def rows(self, table: Mapping[str, Any]) -> list[list[str]]:
        cells = ("cell", "gridcell", "rowheader", "columnheader")
        return [
            [self.text(cell) for cell in self.below(row) if _role(cell) in cells]
            for row in self.below(table)
            if _role(row) == "row"
        ]

    def text(self, top: Mapping[str, Any]) -> str:
        return " ".join(_name(node) for node in self.below(top) if _role(node) == "StaticText")


def _role(node: Mapping[str, Any]) -> str:
    return "" if node.get("ignored") else str(node["role"]["value"])


def _name(node: Mapping[str, Any]) -> str:
    return str(node.get("name", {}).get("value", ""))


def test_a_screen_reader_hears_each_move_once_in_order_and_both_clocks(browser: Browser, exported: Public) -> None:
    browser.set_view(1000)
    browser.open(exported.directory / "games/00001.html")
    tree = Tree(browser)
    head, *rows = tree.rows(tree.find("group", "List of moves"))
    last = browser.ask("Number(document.querySelector('svg.film').dataset.last)")

    assert ["#", "Agent", "Move", "Time", "Left", "Memory", "Evaluation", "Depth", "Messages"] == head
    # The number of the stone; two stones are of the opening.
    assert [str(number + 2) for number in range(1, last + 1)] == [row[0] for row in rows]
    assert all(re.fullmatch(r"[a-o]\d+", row[2]) for row in rows)
    assert all(row[4] for row in rows)


def test_a_screen_reader_can_read_any_square(browser: Browser, exported: Public) -> None:
    browser.open(exported.directory / "games/00001.html", "#1")
    browser.ask("document.querySelector('.squares').open = true; new Promise((done) => setTimeout(done))")
    tree = Tree(browser)
    head, *rows = tree.rows(tree.find("group", "The position as a table"))
    move = browser.ask("document.querySelector('.moves .now').cells[2].textContent")

    assert list("abcdefghijklmno") == [name for name in head if name]
    assert [str(number) for number in range(1, 16)] == [row[0] for row in rows]
    cells = [(f"{column}{row[0]}", text) for row in rows for column, text in zip(head[1:], row[1:], strict=True)]
    squares = {name: text for name, text in cells if text}
    assert {"black 1", "white 2", "black 3"} == set(squares.values())
    assert "black 3" == squares[move]


def test_step_is_reported_once(browser: Browser, exported: Public) -> None:
    browser.open(exported.directory / "games/00001.html", "#1")
    browser.ask(
        """globalThis.said = []; new MutationObserver(() => said.push(document.querySelector(".caption").textContent))
        .observe(document.querySelector(".caption"), {childList: true, characterData: true, subtree: true})"""
    )
    for _ in range(3):
        browser.press("ArrowRight")
    moves = browser.ask("[...document.querySelectorAll('.moves tbody tr')].map((row) => row.cells[2].textContent)")

    said = browser.ask("said")
    assert 3 == len(said)
    assert all(text.endswith(f" {move}") for text, move in zip(said, moves[1:4], strict=True))
    live = "[...document.querySelectorAll('[aria-live], [role=status], [role=log], [role=alert]')].length"
    assert 1 == browser.ask(live)


def test_everything_is_reached_by_keyboard_and_shows_where_one_is(browser: Browser, exported: Public) -> None:
    browser.set_view(1000)
    browser.open(exported.directory / "games/00001.html")
    wanted = browser.ask(
        "document.querySelectorAll('a[href], button, input, summary, [tabindex=\"0\"]:not(.squares *)').length"
    )
    focused = """(() => { const at = document.activeElement, style = getComputedStyle(at);
      globalThis.seen ??= new Set(); seen.add(at);
      return [at.matches("a") ? at.getAttribute("href") : at.className || at.tagName, style.outlineStyle]; })()"""
    trail = []
    for _ in range(wanted):
        browser.press("Tab")
        trail.append(browser.ask(focused))

    assert wanted == browser.ask("seen.size")
    assert {"solid"} == {outline for _, outline in trail}
    browser.ask("document.querySelector('a[href=\"#2\"]').focus()")
    browser.press("Enter")
    assert "2" == browser.ask("document.querySelector('.film').dataset.now")
    browser.ask("document.querySelector('.squares summary').focus()")
    browser.press("Enter")
    assert browser.ask("document.querySelector('.squares').open")
