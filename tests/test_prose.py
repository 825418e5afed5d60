"""The text of the project avoids the phrases of CONTRIBUTING.md: their number, and that of words, may only fall."""

from tests.prose import counts, stored


def test_no_package_or_document_has_more_avoided_phrases_than_before() -> None:
    before = stored()

    risen = {
        f"{place}: {kind}": f"{before.get(place, {}).get(kind, 0)} -> {n}"
        for place, kinds in counts().items()
        for kind, n in kinds.items()
        if kind != "words" and n > before.get(place, {}).get(kind, 0)
    }

    assert {} == risen, "`python -m tests.prose PATH` lists them"


def test_no_package_has_more_words_of_docstrings_and_comments_than_before() -> None:
    before = stored()

    risen = {
        place: f"{before[place]['words']} -> {kinds['words']}"
        for place, kinds in counts().items()
        if "words" in kinds and place in before and kinds["words"] > before[place]["words"] + ROOM
    }

    assert {} == risen, "shorten docstrings and comments of these packages"


ROOM = 200
"""Words that a package may grow by: new code has docstrings."""


def test_counts_are_lowered_with_the_text() -> None:
    now = counts()

    fallen = {
        f"{place}: {kind}": f"{n} -> {now.get(place, {}).get(kind, 0)}"
        for place, kinds in stored().items()
        for kind, n in kinds.items()
        if kind != "words" and now.get(place, {}).get(kind, 0) < n
    }

    assert {} == fallen, "`python -m tests.prose --lower` stores them"
