"""Atom feeds (RFC 4287): changes of contests, and the results of an agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree import ElementTree

from judge.base.text import plain_text
from judge.contest_view.values import Participant
from judge.contest_view.view import ContestView
from judge.journal.events import Accepted
from judge.record.spec import outcome_sentence, score_text
from judge.translations.language import Language

ATOM = "http://www.w3.org/2005/Atom"

MAX_RESULTS = 100


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """`at` is in UTC, `link` is relative to the feed."""

    id: str
    at: str
    title: str
    link: str
    summary: str


def write_feed(title: str, identity: str, file_name: str, entries: Sequence[FeedEntry], language: str = "en") -> bytes:
    """Entries are newest first."""
    feed = ElementTree.Element("feed", {"xmlns": ATOM, "xml:lang": language})
    _add(feed, "title", title)
    _add(feed, "id", f"urn:judge:{plain_text(identity)}")
    _add(feed, "updated", entries[0].at if entries else datetime.fromtimestamp(0, UTC).isoformat())
    ElementTree.SubElement(feed, "link", rel="self", href=file_name)
    for each in entries:
        entry = ElementTree.SubElement(feed, "entry")
        _add(entry, "title", each.title)
        _add(entry, "id", f"urn:judge:{each.id}")
        _add(entry, "updated", each.at)
        ElementTree.SubElement(entry, "link", href=each.link)
        author = ElementTree.SubElement(entry, "author")
        _add(author, "name", "judge")
        _add(entry, "summary", each.summary)
    data: bytes = ElementTree.tostring(feed, "utf-8", xml_declaration=True)
    return data


def _add(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, name).text = plain_text(text)


def agent_feed(contest: ContestView, agent: Participant, language: Language) -> bytes:
    """An agent's last results. A repeated game is a new entry."""
    ended = {(line.game, line.attempt): line.at for line in contest.journal if isinstance(line.change, Accepted)}
    found: list[FeedEntry] = []
    for game in contest.games:
        result, at = game.result, ended.get((game.id, game.attempt))
        if result is None or at is None or agent.name not in game.agents:
            continue
        names = (contest.by_name[game.first].title, contest.by_name[game.second].title)
        words = outcome_sentence(result.verdict, result.winning_seat, names, result.reason)
        found.append(
            FeedEntry(
                f"{contest.name}:{agent.name}:{game.number}:{game.attempt}",
                at,
                f"{names[0]} – {names[1]} {score_text(result.verdict, result.winning_seat)}",  # noqa: RUF001
                f"../games/{game.stem}.html",
                language.sentence(words) or words,
            )
        )
    found.sort(key=lambda entry: entry.at, reverse=True)
    title = f"{agent.title} · {contest.snapshot.shown_name}"
    return write_feed(title, f"{contest.name}:{agent.name}", f"{agent.stem}.xml", found[:MAX_RESULTS], language.tag)
