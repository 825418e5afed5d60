"""A hook of mkdocs: links to files outside docs/ become plain text, because the site contains docs/ alone."""

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page without links that leave docs/."""
    folder = (DOCS / page.file.src_uri).parent

    def inside(match: re.Match[str]) -> str:
        target = (folder / match[2]).resolve()
        return match[0] if target.is_relative_to(DOCS) else match[1]

    return LINK.sub(inside, markdown)
