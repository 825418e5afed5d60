"""All pages of a site, as an export has them."""

from collections.abc import Iterator, Sequence

from judge.contest_view.view import ContestView
from judge.site.pages import Page
from judge.site.site import About, Proof, pages_of_records, pages_of_results
from judge.translations.language import ENGLISH, Language, languages


def site(contest: ContestView, about: About, proof: Proof, shown: Sequence[Language] = (ENGLISH,)) -> Iterator[Page]:
    """Pages with data of records, then the others."""
    yield from pages_of_records(contest, about, proof, shown)
    yield from pages_of_results(contest, shown)


def texts(contest: ContestView, *codes: str) -> dict[str, str]:
    """The pages in some languages, or in English, as text."""
    found = site(contest, {}, Proof("", "", ()), languages(codes or ["en"]))
    return {path: data.decode(errors="replace") for path, data in found}
