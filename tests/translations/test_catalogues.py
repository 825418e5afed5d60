"""The catalogues have every message of the code, no other, and what stands in braces and tags stays as it is."""

import re
from collections.abc import Sequence

import pytest
from babel.messages.catalog import Catalog

from judge.games.types import Verdict
from judge.protocols import PROTOCOLS, protocol_entry
from judge.protocols.checks import ASKED, CHECKS
from judge.record.spec import outcome_sentence
from judge.referee.blame import FAULTS, RULED, TABLE
from judge.site.pages import MAX_SENTENCE_CHARACTERS
from judge.translations.language import CODES, ENGLISH, SENTENCE, language
from scripts.messages import forms, read_catalogue, template
from tests.releases import require_for_release

OTHERS = CODES[1:]
_MARKUP = re.compile(r"%\(\w+\)s|%%|\{\w+\}|<[^>]*>")
_OF_LANGUAGE = re.compile(r' hreflang="\w+"')


def keys(catalogue: Catalog) -> set[tuple[object, str | None]]:
    return {(message.id, message.context) for message in catalogue if message.id}


@pytest.mark.parametrize("code", OTHERS)
def test_a_catalogue_of_a_release_has_every_message_of_the_code_and_no_other(code: str) -> None:
    """After a change of a message: `.venv/bin/python scripts/messages.py`, then translate what it counts."""
    catalogue = read_catalogue(code)

    require_for_release(f"messages that {code}.po lacks", keys(template()) - keys(catalogue))
    require_for_release(f"messages that only {code}.po has", keys(catalogue) - keys(template()))
    require_for_release(
        f"messages without a translation in {code}.po",
        [message.id for message in catalogue if not all(forms(message.string))],
    )
    assert [] == list(catalogue.obsolete)
    assert not any(message.fuzzy for message in catalogue)


@pytest.mark.parametrize(("code", "others"), [("zh", "[À-ÖØ-öø-ſ]"), ("cs", "[一-鿿]")])
def test_a_translation_is_not_in_the_other_language(code: str, others: str) -> None:
    texts = [form for message in read_catalogue(code) if message.id for form in forms(message.string)]

    assert [] == [text for text in texts if re.search(others, text)]


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_keeps_names_and_tags(code: str) -> None:
    for message in read_catalogue(code):
        wanted = sorted(_MARKUP.findall(forms(message.id)[-1]))
        for form in filter(None, forms(message.string) if message.id else []):
            assert wanted == sorted(_MARKUP.findall(_OF_LANGUAGE.sub("", form))), message.id
            # Messages stand in attributes, and templates do not escape them; sentences are escaped.
            assert "<" in form or '"' not in form or message.context == SENTENCE, message.id


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("en", ["0 games", "1 game", "2 games", "5 games", "22 games"]),
        ("cs", ["0 partií", "1 partie", "2 partie", "5 partií", "22 partií"]),
        ("zh", ["0 局", "1 局", "2 局", "5 局", "22 局"]),
    ],
)
def test_counts_have_the_forms_of_the_language(code: str, expected: Sequence[str]) -> None:
    one, many = "<b>%(count)s</b> game", "<b>%(count)s</b> games"
    texts = [language(code).ngettext(one, many, count) % {"count": count} for count in (0, 1, 2, 5, 22)]

    assert expected == [re.sub("</?b>", "", text) for text in texts]


@pytest.mark.parametrize(
    ("code", "times", "number"),
    [
        ("en", ["1.5 s", "2 min 59 s"], "12,345"),
        ("cs", ["1,5 s", "2 min 59 s"], "12\xa0345"),
        ("zh", ["1.5 秒", "2 分 59 秒"], "12,345"),
    ],
)
def test_numbers_and_times_are_written_as_in_the_language(code: str, times: list[str], number: str) -> None:
    assert times == [language(code).measure(text) for text in ("1.5 s", "2 min 59 s")]
    assert "v1.2s" == language("zh").measure("v1.2s")
    assert number == language(code).grouped(12345)


@pytest.mark.parametrize("code", OTHERS)
def test_every_reason_fix_and_check_is_translated_for_a_release(code: str) -> None:
    """From the text that stands in a record. What the Engine or the host said of itself stays as it is."""
    from_the_host = {"the Engine does not answer; see that it runs"}
    texts = {row.because(row.example) for row in TABLE} - from_the_host
    texts |= {*FAULTS.values(), *(fix for _, fix in RULED.values() if fix)}
    checks = [*CHECKS, *ASKED, *(check for name in PROTOCOLS.names() for check in protocol_entry(name).checks)]
    texts |= {text for check in checks for text in (check.tries, check.fix) if text}

    assert len(texts) > 60
    untranslated = [text for text in texts if language(code).sentence(text) in (None, text)]
    require_for_release(f"reasons, fixes and checks without a translation in {code}.po", untranslated)


@pytest.mark.parametrize(
    ("english", "czech", "chinese"),
    [
        (
            outcome_sentence(Verdict.WIN, 0, ("anna", "bert"), "5 in a row, f5 to j9"),
            "vítězí anna: řada délky 5, f5 až j9",
            "anna 胜：5 连，f5 至 j9",
        ),
        (
            outcome_sentence(Verdict.FOUL, 1, ("anna", "bert"), "double three at h8"),
            "vítězí bert (zakázaný tah): dvojitá trojka (3×3) na h8",
            "bert 胜（禁手）：h8 为三三禁手",
        ),
        (
            outcome_sentence(Verdict.CRASH, 1, ("anna", "bert"), "was ended by signal 11 (SIGSEGV)"),
            "vítězí bert (pád programu): byl ukončen signálem 11 (SIGSEGV)",
            "bert 胜（崩溃）：被信号 11 (SIGSEGV) 终止",
        ),
        (
            "did not answer within the turn: 6000 ms of 5000 ms allowed, tolerance included",
            "neodpověděl v čase na tah: 6000 ms z povolených 5000 ms včetně tolerance",
            "步时超时：用时 6000 毫秒，允许 5000 毫秒（含容差）",
        ),
        (
            "7,7 (h8) is taken by stone 1 (black); before that it sent 'ERROR <b>; before that it sent'",
            "na 7,7 (h8) už leží kámen 1 (černý); předtím ohlásil 'ERROR <b>; before that it sent'",
            "7,7 (h8) 已有第 1 手的棋子（黑方）；此前曾输出 'ERROR <b>; before that it sent'",
        ),
    ],
)
def test_record_sentence_is_translated_with_its_values(english: str, czech: str, chinese: str) -> None:
    assert (english, czech, chinese) == tuple(language(code).sentence(english) for code in CODES)


def test_joined_sentences_are_translated_one_by_one() -> None:
    text = "it did not answer 'BEGIN'; its CPU time during this wait was 3 ms; own words"

    assert [
        ("neodpověděl na 'BEGIN'", True),
        ("čas procesoru za toto čekání byl 3 ms", True),
        ("own words", False),
    ] == language("cs").explanation(text)
    assert text == "; ".join(part for part, _ in ENGLISH.explanation(text))
    # A sentence that has a semicolon is translated as a whole.
    fix = "write the answer and nothing after it; stop all threads that print before you answer"
    assert [True, True] == [
        is_translated for _, is_translated in language("zh").explanation(f"{fix}; it holds no files")
    ]


@pytest.mark.parametrize("text", ["", "a foreign game ended oddly", "anna: bert", "{name} wins", "%(x)s", "x" * 5000])
def test_foreign_sentence_is_not_translated(text: str) -> None:
    assert [None, None] == [language(code).sentence(text) for code in OTHERS if not text.startswith("{")] or "{" in text
    assert text == ENGLISH.sentence(text)


def test_no_text_of_a_stranger_is_slow_to_compare() -> None:
    """Each name in a message games once: this would take minutes if the names could be tried anew."""
    for hostile in ("; " * 300, " wins" * 120, "; before that it sent " * 27, ": (" * 199, " - " * 200, " - : " * 120):
        for code in OTHERS:
            language(code).sentence(hostile[:MAX_SENTENCE_CHARACTERS])
            language(code).explanation(hostile[:MAX_SENTENCE_CHARACTERS])
