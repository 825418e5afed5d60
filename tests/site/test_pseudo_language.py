"""Pages in a language whose words are half as long again: what is cut off, and which text is in no message."""

import re
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from babel.messages.mofile import write_mo

from judge.broadcast.events import GameStarted
from judge.broadcast.running import events_of_record
from judge.broadcast.state import Live
from judge.catalog.files import steps_of
from judge.site.game_files import read_stored
from judge.site.game_page import GamePageContext, game_pages
from judge.site.pages import ASSETS, PagePlace, asset
from judge.site.site import Proof
from judge.translations.language import Language
from judge.web.live.paint import Painter
from judge.web.live.running_pages import RunningPages
from scripts.messages import read_catalogue
from tests.publish.cups import Cup
from tests.site.browser import Browser
from tests.site.test_browser import pages_of
from tests.site.whole_site import site

_KEPT = re.compile(r"(%\(\w+\)s|%%|\{\w*\}|</?\w[^>]*>|&\w+;)")
_ACCENTS = str.maketrans("aeiouyAEIOUYcnsz", "áéíóúýÁÉÍÓÚÝčňšž")

CUT = """[...document.querySelectorAll("body *")].filter((element) => {
  const style = getComputedStyle(element);
  const hides = (overflow) => ["hidden", "clip"].includes(overflow);
  return !element.closest(".unseen, svg") && element.clientWidth > 0 && (
    (hides(style.overflowX) && element.scrollWidth > element.clientWidth + 1) ||
    (hides(style.overflowY) && element.scrollHeight > element.clientHeight + 1));
}).map((element) => element.outerHTML.slice(0, 200))"""
"""The elements whose contents are not seen whole, and cannot be scrolled to."""

UNTRANSLATED = """(() => {
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement, textContent } = walker.currentNode;
    const names = "bdi, code, pre, svg, script, .languages, [lang]:not(html)";
    if (!parentElement.closest(names)) found.push(textContent.trim());
  }
  return found.filter((text) => /[A-Za-z]{3,} [A-Za-z]{3,}/.test(text) && !text.includes("\\u27e6"));
})()"""
"""The texts of several words that stand in the code and in no message."""


DATA = {"A small cup between scripts."}
"""What the contest's own file and policy say."""


def pseudo(message: str) -> str:
    """A message with accents, half as long again and between brackets; what is filled in stays as it is."""
    parts = [part if at % 2 else part.translate(_ACCENTS) for at, part in enumerate(_KEPT.split(message))]
    words = re.findall(r"[A-Za-z]{2,}", _KEPT.sub("", message))
    longer = " ".join(word.translate(_ACCENTS)[::-1] for word in words[: (len(words) + 1) // 2])
    return f"\u27e6{''.join(parts)} {longer}\u27e7"


@pytest.fixture(scope="module")
def language() -> Language:
    """It has every message that the Czech catalogue has."""
    catalogue = read_catalogue("cs")
    for message in catalogue:
        if message.id:
            message.string = translated(message)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Language("xx", "cs", "Pseudo", "cs_CZ", messages=GNUTranslations(compiled))


def translated(message: Message) -> str | tuple[str, ...]:
    if message.context == "unit":
        return str(message.id)
    if isinstance(message.id, str):
        return pseudo(message.id)
    return tuple(pseudo(message.id[-1]) for _ in message.string or ())


@pytest.fixture(scope="module")
def written(language: Language, cup: Cup, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of a contest, of one of its games, and of running games."""
    folder = tmp_path_factory.mktemp("pseudo")
    contest = cup.contest.read()
    proof = Proof("key", "f" * 64, [("contest.toml", "a" * 64)], True, [])
    pages = dict(site(contest, {}, proof, [language]))
    game = contest.played[0]
    assert game.result is not None
    file = read_stored(cup.contest.planned.files, game.result.record)
    context = GamePageContext(contest.name, game, ("001", "002"), "", "")
    place = PagePlace("games/00001.html", language, [language])
    pages[place.file] = next(game_pages(steps_of(file), file.record, context, [place]))
    live = Live()
    live.apply(GameStarted(game=2, attempt=1, at=file.record.started_at, first=game.first, second=game.second))
    for event in events_of_record(file, 2):
        live.apply(event)
    policy = file.record.spec.policy
    running, here = RunningPages(contest.name, policy, {}, Painter(policy)), PagePlace("live.html", language)
    pages["live.html"] = running.all(live, 1, here).data
    here = PagePlace("games/00002.html", language, [language])
    pages["games/00002.html"] = running.one(live.games[2], live, 1, here).data
    for path, data in {
        **pages,
        **{name: asset(name) for name in ASSETS},
        "live.js": asset("live.js", "judge.web.live"),
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def test_a_language_of_long_words_is_cut_off_nowhere_and_covers_every_text(browser: Browser, written: Path) -> None:
    browser.set_view(360)
    for page in (*pages_of(written), written / "live.html", written / "games/00002.html"):
        browser.open(page)
        assert browser.ask("document.documentElement.scrollWidth") <= 360, page
        assert [] == browser.ask(CUT), page
        assert DATA >= set(browser.ask(UNTRANSLATED)), page
    # What is looked for would be found.
    browser.ask("Object.assign(document.querySelector('h1').style, {overflow: 'hidden', width: '2em', height: '1em'})")
    assert 1 == len(browser.ask(CUT))
    browser.set_view(1000)
