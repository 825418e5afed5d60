"""The text of the project avoids the phrases of CONTRIBUTING.md: no package or document gets more of them."""

from tests.prose import counts, stored


def test_no_package_or_document_has_more_avoided_phrases_than_before() -> None:
    before = stored()

    risen = {
        f"{place}: {kind}": f"{before.get(place, {}).get(kind, 0)} -> {n}"
        for place, kinds in counts().items()
        for kind, n in kinds.items()
        if n > before.get(place, {}).get(kind, 0)
    }

    assert {} == risen, "`python -m tests.prose PATH` lists them"
