"""An agent's feed of results: served, in each language, in files, and linked from its pages."""

from pathlib import Path
from xml.etree import ElementTree

import httpx

from judge.web.live.serve import publish_once
from tests.broadcast.logs import PAIR, accept, play_next, recorder
from tests.publish.cups import Cup
from tests.site.browser import VIEWS, Browser
from tests.web.live.serving import serving_all

ATOM = "{http://www.w3.org/2005/Atom}"


def read(data: bytes) -> list[tuple[str, str, str]]:
    """Title, link and summary of each entry."""
    feed = ElementTree.fromstring(data)  # noqa: S314 our own
    return [
        (
            entry.findtext(f"{ATOM}title") or "",
            entry.find(f"{ATOM}link").get("href") or "",  # type: ignore[union-attr]
            entry.findtext(f"{ATOM}summary") or "",
        )
        for entry in feed.iter(f"{ATOM}entry")
    ]


def test_feed_has_each_result_of_the_agent_newest_first(browser: Browser, tmp_path: Path) -> None:
    form = 'name = "round-robin"\ngames = 4'
    with Cup(tmp_path / "cup", PAIR, form=form) as cup, recorder(cup) as log:
        for _ in range(2):
            accept(cup, *play_next(cup))
        log.finish()
        with serving_all(cup.folder) as service:
            answer = httpx.get(f"{service.url}/agents/001.xml", timeout=60)
            assert "application/atom+xml" == answer.headers["content-type"].partition(";")[0]
            found = read(answer.content)
            assert ["../games/00002.html", "../games/00001.html"] == [link for _, link, _ in found]
            first, second = PAIR
            assert found[0][0].startswith(f"{second} – {first} ")  # noqa: RUF001
            assert 200 == httpx.get(f"{service.url}/agents/{found[0][1]}", timeout=60).status_code
            czech = read(httpx.get(f"{service.url}/cs/agents/001.xml", timeout=60).content)
            assert [entry[:2] for entry in found] == [entry[:2] for entry in czech]
            assert all(one[2] != other[2] for one, other in zip(found, czech, strict=True))

            browser.leave()
            for language, width, dark in VIEWS:
                browser.look(width, dark)
                for page in ("agents/001.html", "live.html?agent=1"):
                    browser.visit(f"{service.url}/{language}{page}")
                    assert [] == browser.violations(), (language, page)
                    browser.ask("[...document.links].find(a => a.href.endsWith('agents/001.xml')).focus()")
                    assert "A" == browser.ask("document.activeElement.tagName")
            browser.look(1000)
            browser.leave()
        # A repeated game is a new entry.
        cup.store.annul(cup.store.games(cup.contest.name)[0].id, "the wrong board")
        accept(cup, *play_next(cup))
        log.finish()
        publish_once(cup.planned.path, tmp_path / "public")
        published = ElementTree.parse(tmp_path / "public/agents/001.xml")  # noqa: S314 our own
        identities = [entry.findtext(f"{ATOM}id") for entry in published.iter(f"{ATOM}entry")]
        assert 2 == len(identities) == len(set(identities))
        assert any(str(identity).endswith(":1:2") for identity in identities)
