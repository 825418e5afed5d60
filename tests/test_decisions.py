"""The pages of docs/decisions have one form, and the index lists all of them."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs/decisions"
PAGES = sorted(FOLDER.glob("[0-9]*.md"))


def test_index_lists_every_page_with_its_title() -> None:
    rows = re.findall(r"^\| \[(\d{4})\]\((.+?)\) \| (.+?) \|$", (FOLDER / "README.md").read_text(), re.MULTILINE)

    titles = [page.read_text().partition("\n")[0].partition(". ")[2] for page in PAGES]
    assert rows == [(page.name[:4], page.name, title) for page, title in zip(PAGES, titles, strict=True)]
    assert [int(number) for number, _, _ in rows] == list(range(1, len(PAGES) + 1))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_has_all_sections(page: Path) -> None:
    text = page.read_text()

    assert ["Context", "Decision", "Consequences"] == re.findall(r"^## (.+)$", text, re.MULTILINE)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (FOLDER / target).exists(), target
    for code in re.findall(r"Code: (.+?)\.(?: Documentation|\n\n)", text, re.DOTALL):
        for path in re.findall(r"`(.+?)`", code):
            assert (FOLDER.parents[1] / path).exists(), path
